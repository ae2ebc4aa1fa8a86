package graph_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill/graph"
)

// mapOver is a graph of a map m with further fields over the state's list, whose
// items run act unless the fields say otherwise. The run ends at s, which shows
// what the map gave.
func mapOver(fields string) string {
	if !strings.Contains(fields, "item:") {
		fields += ", item: {run: act}"
	}
	if !strings.Contains(fields, "items:") {
		fields += `, items: "${ state.list }"`
	}
	return "entry: m\nnodes:\n  - {id: m, type: map" + fields + ", next: s}\n" +
		"  - {id: s, type: set, delta: {got: \"${ input }\"}, next: end}\n"
}

const three = `{"list":["x","y","z"]}`

// The rules of maps.
func TestMaps(t *testing.T) {
	t.Parallel()
	runRows(t, []row{
		{
			// Outputs come in the order of the list, whoever was first. A map is one step.
			name: "in the order of the list", doc: mapOver(""), input: three,
			plays: plays{"m#1/0": {after(3, outputs(`0`))}, "m#1/1": {after(2, outputs(`1`))}, "m#1/2": {after(1, outputs(`2`))}},
			want:  want{status: graph.StatusCompleted, state: `{"got":[0,1,2],"list":["x","y","z"]}`, steps: 2},
		},
		{
			// A21: an empty list completes at once.
			name: "A21 the empty list", doc: mapOver(""), input: `{"list":[]}`,
			want: want{status: graph.StatusCompleted, state: `{"got":[],"list":[]}`, output: `[]`, steps: 2},
		},
		{
			name: "A21 null is no list", doc: mapOver(""), input: `{"list":null}`,
			want: want{status: graph.StatusFailed, failure: graph.ErrTypeMapItemsInvalid, at: "m#1", message: "list"},
		},
		{
			name: "A21 an object is no list", doc: mapOver(""), input: `{"list":{}}`,
			want: want{status: graph.StatusFailed, failure: graph.ErrTypeMapItemsInvalid, at: "m#1"},
		},
		{
			name: "A21 a list that is missing", doc: mapOver(""), input: `{}`,
			want: want{status: graph.StatusFailed, failure: graph.ErrTypeExpressionFailed, at: "m#1"},
		},
		{
			// The first failure is one too many; what is open is cancelled and awaited,
			// what was never taken up is not.
			name: "nothing is tolerated by default", doc: mapOver(", max_concurrency: 2"), input: three,
			plays: plays{"m#1/0": {after(1, fails("bad"))}, "m#1/1": {blocks().lasting(5 * time.Second)}},
			want: want{
				status: graph.StatusFailed, failure: "map_tolerance_exceeded/bad", at: "m#1",
				message: "1 of 3 items failed", seen: `m/item {"list":["x","y","z"]}; m/item {"list":["x","y","z"]}`,
			},
		},
		{
			name: "a tolerated number", doc: mapOver(", tolerate: {count: 1}"), input: three,
			plays: plays{"m#1/0": {outputs(`0`)}, "m#1/1": {fails("bad")}, "m#1/2": {outputs(`2`)}},
			want:  want{status: graph.StatusCompleted, output: `[0,null,2]`},
		},
		{
			name: "a tolerated share", doc: mapOver(", tolerate: {percent: 66}"), input: three,
			plays: plays{"m#1/0": {fails("bad")}, "m#1/1": {fails("bad")}, "m#1/2": {outputs(`2`)}},
			want:  want{status: graph.StatusFailed, failure: "map_tolerance_exceeded/bad", at: "m#1", message: "2 of 3"},
		},
		{
			name: "just the tolerated share", doc: mapOver(", tolerate: {percent: 67}"), input: three,
			plays: plays{"m#1/0": {fails("bad")}, "m#1/1": {fails("bad")}, "m#1/2": {outputs(`2`)}},
			want:  want{status: graph.StatusCompleted, output: `[null,null,2]`},
		},
		{
			// An item that recovers counts as completed.
			name: "on_error of an item", doc: mapOver(`, item: {run: act, on_error: {output: "${ error.type + string(index) }"}}`), input: three,
			plays: plays{"m#1/0": {fails("bad")}, "m#1/1": {outputs(`1`)}, "m#1/2": {fails("worse")}},
			want:  want{status: graph.StatusCompleted, output: `["bad0",1,"worse2"]`},
		},
		{
			// A23: what each item came to is told item by item.
			name: "A23 status per item", input: `{"list":["x","y"]}`,
			doc:   mapOver(`, key: "${ item }", tolerate: {count: 1}, item: {run: act, retry: {max_attempts: 2, backoff: 1s}}, output: "${ result }"`),
			plays: plays{"m#1/0": {outputs(`7`)}, "m#1/1": {fails("bad"), fails("bad")}},
			want: want{status: graph.StatusCompleted, output: `{"cancelled":0,"completed":1,"failed":1,"items":[` +
				`{"attempts":1,"error":null,"key":"x","output":7,"status":"completed"},` +
				`{"attempts":2,"error":{"address":"m#1/1","attempts":2,"cause":{"address":"","attempts":0,"cause":null,"message":"it failed","node":"","type":"bad"},` +
				`"message":"2 attempts failed, the last with bad: it failed","node":"m/item","type":"retry_exhausted"},"key":"y","output":null,"status":"failed"}]}`},
		},
		{
			name: "what an action changes in an item is not applied", doc: mapOver(""), input: `{"list":[1]}`,
			plays: plays{"m#1/0": {outputs(`7`, `{"k":1}`)}},
			want:  want{status: graph.StatusCompleted, state: `{"got":[7],"list":[1]}`},
		},
		{
			name: "the map's own delta", doc: mapOver(`, output: "${ result.completed }", delta: {turn: "${ result.failed }"}`), input: `{"list":[1]}`,
			plays: plays{"m#1/0": {outputs(`7`)}},
			want:  want{status: graph.StatusCompleted, state: `{"got":1,"list":[1],"turn":0}`},
		},
		{
			name: "an item cannot route", doc: mapOver(", tolerate: {count: 1}"), input: `{"list":[1]}`,
			plays: plays{"m#1/0": {routes("s")}},
			want:  want{status: graph.StatusCompleted, output: `[null]`},
		},
		{
			// The whole map is tried again, under addresses of its own.
			name: "retry of the map", doc: mapOver(`, retry: {max_attempts: 2, backoff: 1s}`), input: `{"list":[1,2]}`,
			plays: plays{
				"m#1/0": {outputs(`1`)}, "m#1/1": {fails("bad")},
				"m#1~2/0": {outputs(`3`)}, "m#1~2/1": {outputs(`4`)},
			},
			want: want{status: graph.StatusCompleted, output: `[3,4]`, steps: 2},
		},
		{
			name: "the map's timeout", doc: mapOver(`, timeout: 5s, max_concurrency: 1`), input: three,
			plays: plays{"m#1/0": {after(1, outputs(`0`))}, "m#1/1": {blocks().lasting(time.Second)}},
			want:  want{status: graph.StatusFailed, failure: graph.ErrTypeActionTimedOut, at: "m#1", message: "5s"},
		},
		{
			// A1: a second visit has addresses of its own.
			name: "A1 a map in a loop", input: `{"turn":0}`,
			doc: "entry: l\nnodes:\n  - {id: l, type: loop, while: \"state.turn < 2\", max_iterations: 5, body: m, done: end}\n" +
				"  - {id: m, type: map, items: [1], item: {run: act, args: {}}, delta: {turn: \"${ state.turn + 1 }\"}, next: l}\n",
			plays: plays{"m#1/0": {outputs(`1`)}, "m#2/0": {outputs(`2`)}},
			want:  want{status: graph.StatusCompleted, output: `[2]`, state: `{"turn":2}`},
		},
		{
			name: "a map as a branch", doc: fork("", "m, b", `m: type: map, items: [1, 2], item: {run: act}`),
			plays: plays{"m#1/0": {outputs(`1`)}, "m#1/1": {after(4, outputs(`2`))}, "b": {outputs(`3`)}},
			want:  want{status: graph.StatusCompleted, output: `{"b":3,"m":[1,2]}`},
		},
		{
			name: "a map that lost", doc: fork(", join_policy: any", "m, b", `m: type: map, items: [1, 2, 3], max_concurrency: 2, item: {run: act}`),
			plays: plays{"m#1/0": {blocks().lasting(time.Second)}, "m#1/1": {after(1, outputs(`2`))}, "b": {after(2, outputs(`3`))}},
			want:  want{status: graph.StatusCompleted, output: `{"b":3}`},
		},
	})
}

// No more items are open than the window allows, and they are taken up in order.
func TestTheWindowOfAMap(t *testing.T) {
	t.Parallel()
	script := plays{}
	for i := range 20 {
		script[fmt.Sprintf("m#1/%d", i)] = []play{after(1+i%3, outputs(fmt.Sprint(i)))}
	}
	list := "[" + strings.Trim(strings.Repeat("0,", 20), ",") + "]"
	s := tell(t, mapOver(", max_concurrency: 3"), `{"list":`+list+`}`, script)
	s.advance()
	for most := 0; s.m.Outcome() == nil; most = max(most, len(s.open)) {
		require.LessOrEqual(t, len(s.open), 3)
		require.True(t, s.step(time.Time{}))
	}
	for i, task := range s.tasks {
		require.Equal(t, graph.Address(fmt.Sprintf("m#1/%d", i)), task.Run.Address)
		require.Equal(t, i, task.Index)
	}
	require.Equal(t, graph.StatusCompleted, s.m.Status())
}

// B4: pauses in items have ids of their own; an item's key stands for its number
// while it is the only one.
func TestPausesInItems(t *testing.T) {
	t.Parallel()
	doc := mapOver(`, key: "${ item }", max_concurrency: 3, item: {type: pause, reason: approval, summary: "${ item }: ${ string(index) }"}`)
	s := tell(t, doc, `{"list":["x","y","y"]}`, nil).run()
	open := s.m.Pauses()
	require.Len(t, open, 3)
	require.Equal(t, graph.Address("m#1/0"), open[0].ID)
	require.Equal(t, "m#1/x", open[0].Alias)
	require.Equal(t, "y: 2", open[2].Summary)
	require.Equal(t, graph.StatusPaused, s.m.Status())
	require.Equal(t, graph.ErrTypePauseAmbiguous, s.answer(graph.Answer{Input: raw(`1`)}).Type)
	require.Equal(t, graph.ErrTypePauseAmbiguous, s.answer(graph.Answer{PauseID: "m#1/y", Input: raw(`1`)}).Type)
	require.Nil(t, s.answer(graph.Answer{PauseID: "m#1/x", Input: raw(`"a"`)}))
	require.Nil(t, s.answer(graph.Answer{PauseID: "m#1/2", Input: raw(`"c"`)}))
	require.Equal(t, graph.ErrTypePauseClosed, s.answer(graph.Answer{PauseID: "m#1/2", Input: raw(`"c"`)}).Type)
	require.Nil(t, s.answer(graph.Answer{PauseID: "m#1/y", Input: raw(`"b"`)}), "the other y is closed")
	require.Equal(t, `["a","b","c"]`, string(s.run().m.Outcome().Output))
}

// A long list is carried out by a run of its own, and comes to the same.
func TestALongMapHasARunOfItsOwn(t *testing.T) {
	t.Parallel()
	const items = graph.MaxInlineItems + 50
	script := plays{"m/item": nil}
	var list []string
	for i := range items {
		list = append(list, fmt.Sprint(i))
		script["m/item"] = append(script["m/item"], after(i%4, outputs(fmt.Sprint(i*2))))
	}
	doc := mapOver(`, max_concurrency: 50, item: {run: act, args: {sum: "${ item + state.plus }"}}, output: "${ result.completed }"`)
	s := tell(t, doc, `{"list":[`+strings.Join(list, ",")+`],"plus":1,"other":"not read"}`, script).run()
	require.Equal(t, graph.StatusCompleted, s.m.Status())
	require.Equal(t, fmt.Sprint(items), string(s.m.Outcome().Output))
	require.Empty(t, s.tasks)
	require.Len(t, s.finished, 1)
	child := s.finished[0]
	require.Len(t, child.tasks, items)
	require.Equal(t, graph.Address("m#1/249"), child.tasks[249].Run.Address)
	require.Equal(t, "first/m#1/249", child.tasks[249].Run.Key)
	require.Equal(t, `{"plus":1}`, string(child.tasks[0].State.Raw()))

	failing := plays{"m/item": append([]play{after(9, fails("bad"))}, script["m/item"]...)}
	s = tell(t, doc, `{"list":[`+strings.Join(list, ",")+`],"plus":1}`, failing).run()
	require.Equal(t, "map_tolerance_exceeded/bad", failureTypes(s.m.Outcome().Failure))
	require.Equal(t, graph.Address("m#1"), s.m.Outcome().Failure.Address)
}

// What becomes of a failed item is decided in the long map's own run, so that run
// needs the state it is made of.
func TestALongMapIsGivenWhatItsItemsNeed(t *testing.T) {
	t.Parallel()
	list := strings.Trim(strings.Repeat("0,", graph.MaxInlineItems+1), ",")
	doc := mapOver(`, item: {run: act, on_error: {output: "${ state.spare }"}}, output: "${ result.items[0].output }"`)
	script := plays{"m/item": {fails("bad")}}
	for range graph.MaxInlineItems {
		script["m/item"] = append(script["m/item"], outputs(`1`))
	}
	s := tell(t, doc, `{"list":[`+list+`],"spare":"a spare","other":1}`, script).run()
	require.Equal(t, graph.StatusCompleted, s.m.Status())
	require.Equal(t, `"a spare"`, string(s.m.Outcome().Output))
	require.Empty(t, s.finished[0].tasks[0].State, "the action itself reads nothing")
}

// A list that no history holds is refused before anything runs.
func TestAMapThatIsTooLong(t *testing.T) {
	t.Parallel()
	list := strings.Trim(strings.Repeat("0,", graph.MaxItems+1), ",")
	s := tell(t, mapOver(""), `{"list":[`+list+`]}`, nil).run()
	require.Equal(t, graph.ErrTypeMapItemsInvalid, s.m.Outcome().Failure.Type)
	require.Contains(t, s.m.Outcome().Failure.Message, "at most 10000")
	require.Empty(t, s.tasks)
}

// A cancel reaches every item, and waits for it.
func TestCancelOfAMap(t *testing.T) {
	t.Parallel()
	s := tell(t, mapOver(", max_concurrency: 2"), three, plays{
		"m#1/0": {blocks().lasting(time.Second)}, "m#1/1": {blocks().lasting(2 * time.Second)},
	}).run()
	s.cancel("enough")
	require.Nil(t, s.m.Outcome(), "its items have not stopped")
	require.Equal(t, graph.StatusCancelled, s.run().m.Status())
	require.Equal(t, 2*time.Second, s.now.Sub(noon))
}

// An alarm can tell what failed: the result of the map is in the details of its
// failure, cut to the failed items when it is large.
func TestTheAlarmPathOfAMap(t *testing.T) {
	t.Parallel()
	doc := mapOver(`, key: "${ item }", tolerate: {count: 1}, on_error: alarm`) +
		"  - {id: alarm, type: set, output: \"${ input.details.items.filter(i, i.status == 'failed').map(i, i.key) }\", next: end}\n"
	script := func(output string) plays {
		return plays{"m#1/0": {outputs(output)}, "m#1/1": {fails("bad")}, "m#1/2": {fails("bad")}}
	}
	for _, output := range []string{`"small"`, `"` + strings.Repeat("x", 70<<10) + `"`} {
		s := tell(t, doc, three, script(output)).run()
		require.Equal(t, graph.StatusCompleted, s.m.Status(), "%v", s.m.Outcome().Failure)
		require.Equal(t, `["y","z"]`, string(s.m.Outcome().Output))
	}
}

// D10: a map that is ending when its fork is decided without it is still awaited:
// what was asked to stop is open until it has stopped.
func TestAMapThatEndsWhileItsForkIsDecided(t *testing.T) {
	t.Parallel()
	doc := fork(", join_policy: any", "m, b", `m: type: map, items: [1, 2], item: {run: act}`)
	s := tell(t, doc, "", plays{
		"m#1/0": {after(1, fails("bad"))}, "m#1/1": {blocks().lasting(5 * time.Second)}, "b": {after(2, outputs(`3`))},
	})
	s.sleep(3 * time.Second)
	require.Nil(t, s.m.Outcome(), "the other item has not stopped")
	require.Equal(t, `{"b":3}`, string(s.run().m.Outcome().Output))
	require.Equal(t, 6*time.Second, s.now.Sub(noon))
}
