package graph_test

import (
	"testing"

	"github.com/tidemill/tidemill/graph"
)

// abc is a line of three actions.
const abc = `entry: a
nodes:
  - {id: a, run: act, next: b}
  - {id: b, run: act, next: c}
  - {id: c, run: act, next: end}
`

// The values that nodes pass on, and what the run's output and state become.
// The numbers are those of the conformance catalogue.
func TestValuesPassedOn(t *testing.T) {
	t.Parallel()
	runRows(t, []row{
		{
			name: "21 stop ends the run with its output", doc: abc,
			plays: plays{"a": {outputs(`"X"`, `{"first":true}`)}, "b": {stops(`"S"`, `{"stopped":true}`)}},
			want: want{
				status: graph.StatusCompleted, output: `"S"`, state: `{"first":true,"stopped":true}`,
				seen: `a {}; b "X"`, steps: 2,
			},
		},
		{
			name: "23 ok gives no output, so the final state is the run's", doc: abc, input: `{"k":0}`,
			plays: plays{"a": {oks(`{"x":1}`)}, "b": {oks()}, "c": {oks(`{"y":"<&>"}`)}},
			want: want{
				status: graph.StatusCompleted, output: `{"k":0,"x":1,"y":"<&>"}`,
				seen: `a {"k":0}; b null; c null`, steps: 3,
			},
		},
		{
			// There is no complete here; stop with null says the same, and null is the output.
			name: "24 stop with null", doc: abc,
			plays: plays{"a": {stops(`null`, `{"x":1}`)}},
			want:  want{status: graph.StatusCompleted, output: `null`, state: `{"x":1}`, seen: `a {}`},
		},
		{
			name: "26 route leads past the edge, with null", doc: abc,
			plays: plays{"a": {routes("c", `{"d":1}`)}, "c": {oks()}},
			want:  want{status: graph.StatusCompleted, output: `{"d":1}`, seen: `a {}; c null`, steps: 2},
		},
		{
			name: "26 route keeps the output so far, and may lead to the end", doc: abc,
			plays: plays{"a": {outputs(`"kept"`)}, "b": {routes("$end", `{"d":1}`)}},
			want:  want{status: graph.StatusCompleted, output: `"kept"`, seen: `a {}; b "kept"`},
		},
		{
			name: "27 route to nowhere keeps the commit", doc: abc,
			plays: plays{"a": {routes("zz", `{"d":1}`)}},
			want: want{
				status: graph.StatusFailed, failure: "route_failed", at: "a#1", message: `"zz"`,
				state: `{"d":1}`, steps: 1,
			},
		},
		{
			name: "the last output is the run's", doc: abc,
			plays: plays{"a": {outputs(`1`)}, "b": {outputs(`{"z":1,"a":"<"}`)}, "c": {oks()}},
			want:  want{status: graph.StatusCompleted, output: `{"a":"<","z":1}`, seen: `a {}; b 1; c {"a":"<","z":1}`},
		},
		{
			name:  "null is a value of the state, not a deletion",
			doc:   abc,
			input: `{"k":1}`,
			plays: plays{"a": {oks(`{"k":null}`)}, "b": {oks()}, "c": {oks()}},
			want:  want{status: graph.StatusCompleted, output: `{"k":null}`},
		},
		{
			name: "46 a join without a fork passes on what it gets",
			doc: `entry: j
nodes:
  - {id: j, type: join, next: a}
  - {id: a, run: act, next: end}
`,
			input: `{"k":1}`, plays: plays{"a": {oks()}},
			want: want{status: graph.StatusCompleted, seen: `a {"k":1}`, steps: 2},
		},
		{
			name: "set without output passes its input on and is no output",
			doc: `entry: a
nodes:
  - {id: a, run: act, next: s}
  - {id: s, type: set, delta: {copy: "${ input }"}, next: b}
  - {id: b, run: act, next: end}
`,
			plays: plays{"a": {outputs(`"X"`)}, "b": {oks()}},
			want:  want{status: graph.StatusCompleted, output: `"X"`, state: `{"copy":"X"}`, seen: `a {}; b "X"`},
		},
		{
			name: "a literal output needs no decision",
			doc: `entry: s
nodes:
  - {id: s, type: set, output: {b: 1, a: "<&>"}, next: end}
`,
			want: want{status: graph.StatusCompleted, output: `{"a":"<&>","b":1}`, steps: 1},
		},
		{
			name: "an evaluated output of null is an output",
			doc: `entry: s
nodes:
  - {id: s, type: set, output: "${ state.?none.orValue(null) }", next: end}
`,
			input: `{"k":1}`,
			want:  want{status: graph.StatusCompleted, output: `null`},
		},
	})
}

// Decisions: branches, callbacks and edges with cases.
func TestDecisions(t *testing.T) {
	t.Parallel()
	const dynamic = `entry: d
nodes:
  - {id: d, type: dynamic, choose: {call: pick}, targets: [left, right]}
  - {id: left, run: act, next: end}
  - {id: right, run: act, next: end}
`
	pick := callbacks{"pick": computes(func(s graph.Scope) any { v, _ := s.State.Get("choice"); return v })}
	const edge = `entry: a
nodes:
  - {id: a, run: act, next: {cases: [{when: "input > 1", to: big}]}}
  - {id: big, type: set, output: big, next: end}
`
	runRows(t, []row{
		{
			name: "29 a callback chooses among the targets", doc: dynamic, calls: pick, input: `{"choice":"right"}`,
			plays: plays{"right": {outputs(`1`)}},
			want:  want{status: graph.StatusCompleted, seen: `d? {"choice":"right"}; right {"choice":"right"}`, steps: 2},
		},
		{
			name: "30 a callback chooses outside of the targets", doc: dynamic, calls: pick, input: `{"choice":"outside"}`,
			want: want{status: graph.StatusFailed, failure: "target_not_allowed", at: "d#1", message: "outside", steps: 1},
		},
		{
			name: "a callback that gives no text", doc: dynamic, calls: pick, input: `{"choice":7}`,
			want: want{status: graph.StatusFailed, failure: "route_failed", at: "d#1"},
		},
		{
			name: "a branch without a case that holds and without a default",
			doc: `entry: b
nodes:
  - {id: b, type: branch, cases: [{when: "false", to: end}]}
`,
			want: want{status: graph.StatusFailed, failure: "route_failed", at: "b#1", message: "no default", steps: 1},
		},
		{
			name: "the first case that holds wins, and a later one is not evaluated",
			doc: `entry: b
nodes:
  - {id: b, type: branch, cases: [{when: "state.i > 0", to: x}, {when: "state.none.at.all", to: z}], default: z}
  - {id: x, type: set, output: x, next: end}
  - {id: z, type: set, output: z, next: end}
`,
			input: `{"i":1}`,
			want:  want{status: graph.StatusCompleted, output: `"x"`},
		},
		{
			name: "a condition that fails fails the branch",
			doc: `entry: b
nodes:
  - {id: b, type: branch, cases: [{when: "state.none.at == 1", to: end}], default: end}
`,
			want: want{status: graph.StatusFailed, failure: "expression_failed", at: "b#1", message: "state.none.at"},
		},
		{
			name: "an edge with cases, taken", doc: edge, plays: plays{"a": {outputs(`2`)}},
			want: want{status: graph.StatusCompleted, output: `"big"`, steps: 2},
		},
		{
			// The commit stands: what the node did is not undone by a route that fails.
			name: "an edge without a case that holds keeps the commit", doc: edge,
			plays: plays{"a": {outputs(`1`, `{"i":1}`)}},
			want: want{
				status: graph.StatusFailed, failure: "route_failed", at: "a#1", state: `{"i":1}`, steps: 1,
			},
		},
		{
			name: "an edge whose condition fails is not an error of the node",
			doc: `entry: a
nodes:
  - {id: a, run: act, on_error: rescue, next: {cases: [{when: "input.none", to: end}], default: end}}
  - {id: rescue, type: set, output: rescued, next: end}
`,
			plays: plays{"a": {outputs(`{}`, `{"i":1}`)}},
			want:  want{status: graph.StatusFailed, failure: "expression_failed", at: "a#1", state: `{"i":1}`},
		},
		{
			name: "25 an edge may lead back to its node until a callback says no",
			doc: `entry: m
nodes:
  - {id: m, type: set, output: "${ state.count + 1 }", delta: {count: "${ state.count + 1 }"}, next: {route: {call: again}}}
`,
			input: `{"count":0}`,
			calls: callbacks{"again": computes(func(s graph.Scope) any {
				if number(s, "count") < 3 {
					return "m"
				}
				return "$end"
			})},
			want: want{status: graph.StatusCompleted, output: `3`, state: `{"count":3}`, steps: 3},
		},
		{
			name: "a route callback that names no node",
			doc: `entry: m
nodes:
  - {id: m, type: set, delta: {count: 1}, next: {route: {call: nowhere}}}
`,
			calls: callbacks{"nowhere": gives("zz")},
			want:  want{status: graph.StatusFailed, failure: "route_failed", at: "m#1", state: `{"count":1}`},
		},
		{
			name: "a callback that panics has failed",
			doc: `entry: m
nodes:
  - {id: m, type: set, next: {route: {call: bang}}}
`,
			calls: callbacks{"bang": func(graph.Scope) (any, error) { panic("bang") }},
			want:  want{status: graph.StatusFailed, failure: "route_failed", at: "m#1", message: "panicked"},
		},
	})
}

// A failed node leads to its on_error, with the error as the input.
func TestOnError(t *testing.T) {
	t.Parallel()
	const doc = `entry: a
nodes:
  - {id: a, run: act, next: end, on_error: {cases: [{when: "error.type == 'http_404'", to: unknown}], default: broken}}
  - {id: unknown, type: set, output: "${ input }", next: end}
  - {id: broken, run: act, next: end}
`
	runRows(t, []row{
		{
			name: "a case", doc: doc, plays: plays{"a": {fails("http_404").final()}},
			want: want{
				status: graph.StatusCompleted, steps: 2,
				output: `{"address":"a#1","attempts":1,"cause":null,"message":"it failed","node":"a","type":"http_404"}`,
			},
		},
		{
			name: "the default", doc: doc, plays: plays{"a": {fails("boom")}, "broken": {outputs(`"b"`)}},
			want: want{
				status: graph.StatusCompleted, output: `"b"`,
				seen: `a {}; broken {"address":"a#1","attempts":1,"cause":null,"message":"it failed","node":"a","type":"boom"}`,
			},
		},
		{
			name: "a failure in on_error's target ends the run", doc: doc,
			plays: plays{"a": {fails("boom")}, "broken": {fails("worse")}},
			want:  want{status: graph.StatusFailed, failure: "worse", at: "broken#1"},
		},
		{
			name: "no case and no default is the node's failure",
			doc: `entry: a
nodes:
  - {id: a, run: act, next: end, on_error: {cases: [{when: "error.type == 'x'", to: end}]}}
`,
			plays: plays{"a": {fails("boom")}},
			want:  want{status: graph.StatusFailed, failure: "boom", at: "a#1"},
		},
		{
			name: "a condition of on_error that fails",
			doc: `entry: a
nodes:
  - {id: a, run: act, next: end, on_error: {cases: [{when: "state.none == 'x'", to: end}]}}
`,
			plays: plays{"a": {fails("boom")}},
			want:  want{status: graph.StatusFailed, failure: "expression_failed", at: "a#1"},
		},
		{
			name: "exhausted retries say so, with the cause",
			doc: `entry: a
nodes:
  - {id: a, run: act, next: end, retry: {max_attempts: 2}, on_error: {cases: [{when: "error.cause.type == 'boom'", to: s}]}}
  - {id: s, type: set, output: "${ input.attempts }", next: end}
`,
			plays: plays{"a": times(2, fails("boom"))},
			want:  want{status: graph.StatusCompleted, output: `2`},
		},
		{
			// A cancelled activity is no error of the graph's: somebody wanted it so.
			name: "an activity cancelled from outside does not lead to on_error", doc: doc,
			plays: plays{"a": {{ending: graph.Ending{Kind: graph.Cancelled}}}},
			want:  want{status: graph.StatusFailed, failure: "cancelled", at: "a#1", steps: 1},
		},
		{
			name: "on_error of a set whose expression fails",
			doc: `entry: s
nodes:
  - {id: s, type: set, output: "${ state.none }", on_error: r, next: end}
  - {id: r, type: set, output: "${ input.type + ' at ' + input.address }", next: end}
`,
			want: want{status: graph.StatusCompleted, output: `"expression_failed at s#1"`},
		},
		{
			name: "on_error may lead to the end, with the state as output",
			doc: `entry: a
nodes:
  - {id: a, run: act, next: end, on_error: end}
`,
			input: `{"k":1}`, plays: plays{"a": {fails("boom")}},
			want: want{status: graph.StatusCompleted, output: `{"k":1}`},
		},
	})
}
