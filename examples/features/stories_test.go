package features_test

import (
	"slices"

	"github.com/tidemill/tidemill"
	"github.com/tidemill/tidemill/graph"
)

// stories are all that is asserted of the graphs: at least one run of each, and
// one for every way that its comment speaks of.
func stories() []story {
	return slices.Concat(values(), flow(), waiting(), failures(), neighbours(), forks(), merges(), children(), maps())
}

func values() []story {
	const mixed = `{"morning":"ada","evening":"ben"}`
	return []story{
		{graph: "values", input: `{"item":"lamp","quantity":3,"price":12.5}`, output: `{"label":"3 OF LAMP","total":37.5}`},
		{graph: "reducers", input: `{"morning":"ada","evening":"ada"}`, output: `{"log":["opened","closed"],"total":200.5,"cashier":"ada"}`},
		{graph: "reducers", input: mixed, status: tidemill.StatusFailed, failure: graph.ErrTypeReducerConflict},
		{graph: "schemas", input: `{"text":"about 21.5 degrees"}`, output: `{"celsius":21.5}`},
		{graph: "schemas", input: `{"text":"warm"}`, output: `{"celsius":null}`},
		{graph: "local", input: `{"code":"sek"}`, output: `"SEK"`},
		{graph: "local", input: `{"code":"kronor"}`, output: `"no code of three letters"`},
	}
}

func flow() []story {
	return []story{
		{graph: "branch", input: `{"total":1001}`, output: `"needs approval"`},
		{graph: "branch", input: `{"total":1000}`, output: `"goes through with a note"`},
		{graph: "branch", input: `{"total":100}`, output: `"goes through"`},
		{graph: "edges", input: `{"celsius":-4}`, output: `"skating"`},
		{graph: "edges", input: `{"celsius":4}`, output: `"swimming"`},
		{graph: "edges", input: `{"celsius":400}`, output: `"steam"`},
		{graph: "dynamic", input: `{"red":3,"blue":1}`, output: `"the blue team"`},
		{graph: "dynamic", input: `{"red":1,"green":0}`, status: tidemill.StatusFailed, failure: graph.ErrTypeTargetNotAllowed},
		{graph: "callbacks", input: `{"words":[],"wanted":2}`, output: `"a short one: TIDE TIDE"`},
		{graph: "callbacks", input: `{"words":["ebb"],"wanted":4}`, output: `"a long one: EBB TIDE TIDE TIDE"`},
		{graph: "loop", input: `{"debt":100,"instalment":40}`, output: `"paid in 3 instalments"`},
		{graph: "loop", input: `{"debt":100,"instalment":5}`, output: `"still owes 40 after a year"`},
		{graph: "control", input: `{"luggage":"none"}`, output: `"at the gate: empty hands, 0 checked in"`},
		{graph: "control", input: `{"luggage":"bag"}`, output: `"at the gate: a ticket, 1 checked in"`},
		{graph: "control", input: `{"luggage":"snake"}`, output: `"not on this flight"`},
		{graph: "control", input: `{"luggage":"papers"}`, output: `"in the office"`},
		{graph: "control", input: `{"luggage":"box"}`, output: `"in the office"`},
		{graph: "control", input: `{"luggage":"parcel"}`, answers: []answer{{"inspect#1", `"books"`}}, output: `"at the gate: books, 0 checked in"`},
	}
}

func waiting() []story {
	return []story{
		{graph: "wait", input: `{"at":"2001-01-01T00:00:00Z"}`, output: `"it is time: 2001-01-01T00:00:00Z"`},
		{graph: "deadline", input: `{}`, status: tidemill.StatusTimedOut, failure: graph.ErrTypeDeadlineExceeded},
		{graph: "pause", input: `{"who":"ada","days":3}`, answers: []answer{{"approve#1", `{"approved":true,"note":"enjoy"}`}}, output: `"granted: enjoy"`},
		{graph: "pause", input: `{"who":"ada","days":300}`, answers: []answer{{"approve#1", `{"approved":false}`}}, output: `"denied"`},
		{graph: "expiry", input: `{"dish":"soup"}`, answers: []answer{{"approve#1", `true`}}, output: `"ordered: soup"`},
		{graph: "expiry", input: `{"dish":"stew"}`, output: `"nobody was there"`},
	}
}

func failures() []story {
	return []story{
		{graph: "retry", input: `{"fails":0,"with":""}`, output: `"answered at attempt 1"`},
		{graph: "retry", input: `{"fails":1,"with":"unavailable"}`, output: `"answered at attempt 2"`},
		{graph: "retry", input: `{"fails":3,"with":"unavailable"}`, status: tidemill.StatusFailed, failure: "retry_exhausted/unavailable"},
		{graph: "retry", input: `{"fails":1,"with":"bad_request"}`, status: tidemill.StatusFailed, failure: "bad_request"},
		{graph: "on-error", input: `{"card":"good"}`, output: `"receipt charge#1"`},
		{graph: "on-error", input: `{"card":"declined"}`, output: `"another card, please: the bank declines"`},
		{graph: "on-error", input: `{"card":"foreign"}`, output: `"tried 2 times, and tomorrow again"`},
		{graph: "on-error", input: `{"card":"stolen"}`, status: tidemill.StatusFailed, failure: "card_stolen"},
		{graph: "admission", input: `{"card":"good"}`, output: `"RECEIPT CHARGE#1"`},
		{graph: "admission", input: `{"card":"stolen"}`, output: `"cash only"`},
		{graph: "fail", input: `{"hour":9}`, output: `"welcome"`},
		{graph: "fail", input: `{"hour":17}`, status: tidemill.StatusFailed, failure: "closed_now"},
	}
}

func neighbours() []story {
	return []story{
		{graph: "http", input: `{"currency":"SEK"}`, output: `"1 EUR is 11.2 SEK"`},
		{graph: "http", input: `{"currency":"XYZ"}`, output: `"no such currency"`},
		{graph: "node-result", input: `{"amount":50}`, output: `{"booked":50,"by":"a rule"}`},
		{graph: "node-result", input: `{"amount":500}`, answers: []answer{{"decide#1", `{"by":"mara"}`}}, output: `{"booked":500,"by":"mara"}`},
		{graph: "node-result", input: `{"amount":5000}`, output: `"refused"`},
		{graph: "node-result", input: `{"amount":-5}`, output: `"refused"`},
		{graph: "node-result", input: `{"amount":0}`, output: `"nothing to book"`},
		{graph: "secrets", input: `{}`, output: `"an old coin"`},
		{graph: "foreign", input: `{"item":"lamp"}`, output: `"lamp lies on shelf B4"`},
		{graph: "foreign", input: `{"item":"sofa"}`, output: `"sofa is sold out"`},
	}
}

func forks() []story {
	return []story{
		{graph: "fork-all", input: `{"flight":200,"hotel":300,"car":90}`, output: `{"total":590}`},
		{graph: "fork-all", input: `{"flight":200,"hotel":null,"car":90}`, status: tidemill.StatusFailed, failure: "fork_branch_failed/no_quote"},
		{graph: "fork-any", input: `{}`, answers: []answer{{"person#1", `7`}}, output: `"gate 7"`},
		{graph: "fork-any", input: `{"silence":true}`, output: `"gate 1"`},
		{graph: "fork-first-success", input: `{"north":null,"south":4}`, output: `{"south":4}`},
		{graph: "fork-quorum", input: `{"ada":1,"ben":null,"cleo":1}`, output: `{"votes":2}`},
		{graph: "fork-quorum", input: `{"ada":1,"ben":null,"cleo":null}`, status: tidemill.StatusFailed, failure: "fork_join_unsatisfied/no_quote"},
		{graph: "fork-collect", input: `{"east":7,"west":null}`, output: `{"answered":[7],"missing":["no_quote"]}`},
		{graph: "fork-recovery", input: `{"article":1,"adverts":2}`, output: `"article 1, adverts 2"`},
		{graph: "fork-recovery", input: `{"article":1,"adverts":null}`, output: `"article 1, adverts none"`},
	}
}

func merges() []story {
	return []story{
		{graph: "merge-conflict", input: `{"left":9,"right":9}`, output: `"9 sheep"`},
		{graph: "merge-conflict", input: `{"left":9,"right":8}`, status: tidemill.StatusFailed, failure: graph.ErrTypeForkMergeFailed},
		{graph: "merge-ordered", input: `{"model":120,"expert":150}`, output: `{"estimate":150,"seen":["guess","model","expert"]}`},
		{graph: "merge-callback", input: `{"ada":70,"ben":90}`, output: `"sold to ben for 90"`},
	}
}

func children() []story {
	return []story{
		{graph: "parcel", input: `{"to":"Oslo","kilos":2}`, output: `"to Oslo for 9"`},
		{graph: "child", input: `{"to":"Oslo","kilos":2}`, output: `"to Oslo for 9"`},
		{graph: "child", input: `{"to":"Oslo","kilos":200}`, output: `"by truck: 200 kg to Oslo; at most 30 go"`},
		{graph: "inline-child", input: `{"guests":["ada","ben","cleo"]}`, answers: []answer{{"party#1/ask#1", `2`}}, output: `"cake for 2, 4 slices"`},
	}
}

func maps() []story {
	const two, three = `{"name":"north","price":5},{"name":"south","price":null}`, `,{"name":"west","price":null}`
	const parcels = `{"to":"Oslo","kilos":2},{"to":"Rome","kilos":50}`
	return []story{
		{graph: "map", input: `{"shops":[` + two + `]}`, output: `["north asks 5",null]`},
		{graph: "map", input: `{"shops":[` + two + three + `]}`, status: tidemill.StatusFailed, failure: "map_tolerance_exceeded/no_quote"},
		{graph: "map", input: `{"shops":[]}`, output: `[]`},
		{graph: "map-recovery", input: `{"shelves":[7,null]}`, output: `[7,"shelf 1: no_quote"]`},
		{
			graph: "map-pause", input: `{"people":["Ada","Ben"]}`, output: `"1 coffee, 1 tea"`,
			answers: []answer{{"survey#1/1", `"tea"`}, {"survey#1/0", `"coffee"`}},
		},
		{graph: "map-graphs", input: `{"parcels":[` + parcels + `]}`, output: `{"sent":1,"held":["Rome"]}`},
	}
}
