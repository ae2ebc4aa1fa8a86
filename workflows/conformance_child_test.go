package workflows_test

import (
	"encoding/json"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"

	"github.com/tidemill/tidemill/graph"
	"github.com/tidemill/tidemill/internal/temporaltest"
	"github.com/tidemill/tidemill/workflows"
)

// inside is the fields of a node that runs a child graph of some nodes, in one
// line; the child begins at first.
func inside(nodes string) string {
	return "type: workflow, workflow: {version: 1, id: inner, entry: first, nodes: [" + nodes + "]}"
}

const asksAndGoesOn = `{id: first, run: act, args: {output: "child-intermediate", delta: {inside: true}}, next: approval},` +
	` {id: approval, type: pause, next: after}, {id: after, run: act, args: {output: "child-final"}, next: end}`

// childScenarios are the numbered rules of child graphs, seen from above.
func childScenarios() []scenario {
	around := func(child string) string {
		return "\n  - {id: a, run: act, args: {output: A}, next: c}\n  - {id: c, " + child + ", next: z}\n  - {id: z, run: act, args: {output: \"parent ${ input }\"}, next: end}"
	}
	return []scenario{
		{
			name:  "row 102, a child asks, and goes on where it stood",
			nodes: around(inside(asksAndGoesOn)),
			drive: func(w *world, run client.WorkflowRun) {
				report := w.paused(run)
				require.Equal(w.tb, graph.Address("c#1/approval#1"), report.Pauses[0].ID)
				require.JSONEq(w.tb, `{}`, string(report.State), "nothing of an open child is the parent's")
				child := w.child(run, "c#1")
				require.Equal(w.tb, `"child-intermediate"`, string(w.checkpoint(child).Output))
			},
			answer: `{"approved":true}`,
			output: `"parent child-final"`, state: `{"inside":true}`, steps: 3, calls: []string{"a#1", "c#1/first#1", "c#1/after#1", "z#1"},
		},
		{
			name:  "row 105, one at a time: the sibling of a child that asks waits for its place",
			nodes: forkOf(", max_concurrency: 1", "a: "+inside(asksAndGoesOn), gives("b", "2", "{k: 1}")) + plainJoin,
			drive: func(w *world, run client.WorkflowRun) {
				require.Equal(w.tb, graph.Address("a#1/approval#1"), w.paused(run).Pauses[0].ID)
			},
			answer: `"yes"`,
			output: `{"a":"child-final","b":2}`, state: `{"inside":true,"k":1}`, calls: []string{"a#1/first#1", "a#1/after#1", "b#1"},
		},
		{
			// The seeds give the whole state of a child back, which conflicts; here what it changed.
			name: "row 107, two children, of which one changes a key that was there",
			nodes: forkOf("", "a: "+inside("{id: first, type: set, delta: {k: 2}, output: 1, next: end}"),
				"b: "+inside("{id: first, type: set, delta: {l: 3}, output: 2, next: end}")) + plainJoin,
			input:  `{"k":1}`,
			output: `{"a":1,"b":2}`, state: `{"k":2,"l":3}`,
		},
		{
			name: "row 107, two children that set one key to two values",
			nodes: forkOf("", "a: "+inside("{id: first, type: set, delta: {k: '${ 2 }'}, next: end}"),
				"b: "+inside("{id: first, type: set, delta: {k: '${ 3 }'}, next: end}")) + plainJoin,
			input:   `{"k":1}`,
			failure: graph.ErrTypeForkMergeFailed, state: `{"k":1}`,
		},
		{
			name: "row 108, a child that fails begins anew at its first node",
			nodes: around("retry: {max_attempts: 2, backoff: 10ms}, " + inside(`{id: first, run: act, args: {output: "${ run.address }"}, next: last},`+
				` {id: last, type: set, output: "${ input == 'c#1/first#1' ? 1 / 0 : input }", next: end}`)),
			output: `"parent c#1~2/first#1"`, steps: 3, calls: []string{"a#1", "c#1/first#1", "c#1~2/first#1", "z#1"},
		},
		{
			// In the reference the child's own failure is lost to its parent; here it is the cause.
			name:    "row 109, a child fails",
			nodes:   around(inside("{id: first, run: act, args: {fail: boom, delta: {lost: 1}}, next: end}")),
			failure: graph.ErrTypeChildFailed + "/" + graph.ErrTypeActionException, state: `{}`,
		},
		{
			name:    "row 110, what is handed to the child does not fit it",
			nodes:   around("type: workflow, workflow: {version: 1, id: inner, entry: first, input_schema: {required: [topic]}, nodes: [{id: first, run: act, next: end}]}"),
			failure: graph.ErrTypeChildStartFailed + "/" + graph.ErrTypeInputSchema, calls: []string{"a#1"},
		},
		{
			// In the reference a child's own timeout has no effect; here its deadline holds.
			name:    "row 111, a child's deadline",
			nodes:   around("deadline: 1s, " + inside("{id: first, type: wait, for: 1h, next: end}")),
			failure: graph.ErrTypeChildTimedOut + "/" + graph.ErrTypeDeadlineExceeded,
		},
		{
			name:    "row 113, the parent's timeout around a child",
			nodes:   around("timeout: 1s, " + inside("{id: first, run: beat, next: end}")),
			failure: graph.ErrTypeActionTimedOut + "/" + graph.ErrTypeCancelled,
			verify: func(w *world, run client.WorkflowRun) {
				require.NotEqual(w.tb, enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING, w.closed(w.child(run, "c#1")), "the child has ended too")
			},
		},
		{
			name: "row 134, a child combines from nothing, and nothing is counted twice",
			head: "state_reducers: {total: sum, log: append}",
			nodes: around("type: workflow, workflow: {version: 1, id: inner, entry: first, state_reducers: {total: sum, log: append}, nodes: [" +
				"{id: first, type: set, delta: {total: 4, log: [one]}, next: last}, {id: last, run: act, args: {delta: {total: 3}}, next: end}]}"),
			input:  `{"total":5,"log":["before"]}`,
			output: `"parent null"`, state: `{"log":["before","one"],"total":12}`,
		},
		{
			// A13: the branch's failure comes two nodes before the join.
			name: "A13, a child fails early, beside a branch that goes on",
			nodes: forkOf("", "a: "+inside("{id: first, run: act, args: {fail: boom}, next: mid}, {id: mid, run: act, next: last}, {id: last, run: act, next: end}"),
				"b: run: beat") + plainJoin,
			failure: "fork_branch_failed/nested_workflow_failed/action_exception", calls: []string{"a#1/first#1"},
		},
		{
			// B21: one id at several levels, one gate each.
			name:  "B21, an answer opens one gate",
			nodes: "\n  - {id: first, type: pause, next: c}\n  - {id: c, " + inside("{id: first, type: pause, next: last}, {id: last, type: set, output: '${ input }', next: end}") + ", next: end}",
			drive: func(w *world, run client.WorkflowRun) {
				w.until(run, "the run's own gate", pausedAt("first#1"))
				w.signal(run, workflows.SignalResumePrefix+"c#1/first#1", "early")
				w.until(run, "the early answer to be refused", func(r graph.Report) bool { return r.Rejected.Count == 1 })
				w.signal(run, workflows.SignalResumePrefix+"first#1", "outer")
				w.until(run, "the child's gate", pausedAt("c#1/first#1"))
				w.signal(run, workflows.SignalResumePrefix+"first#1", "outer again")
				w.until(run, "the used id to be refused", func(r graph.Report) bool { return r.Rejected.Count == 2 && len(r.Pauses) == 1 })
			},
			answer: `"inner"`,
			output: `"inner"`,
		},
		{
			// B24: a question that nobody needs answered any more closes at every level.
			name:  "B24, a child asks, and its fork is decided without it",
			nodes: forkOf(", join_policy: any", "a: "+inside("{id: first, type: pause, expires: 1h, next: end}"), "b: type: pause") + plainJoin,
			drive: func(w *world, run client.WorkflowRun) {
				w.until(run, "both pauses", func(r graph.Report) bool { return len(r.Pauses) == 2 })
				w.signal(run, workflows.SignalResumePrefix+"b#1", 2)
			},
			output: `{"b":2}`,
			verify: func(w *world, run client.WorkflowRun) {
				require.Equal(w.tb, enumspb.WORKFLOW_EXECUTION_STATUS_CANCELED, w.closed(w.child(run, "a#1")))
				require.Empty(w.tb, w.openTimers(w.child(run, "a#1")))
				require.Len(w.tb, w.checkpoint(run).Answers, 2, "the child's pause is known to be closed")
			},
		},
		{
			// D1: what no retry can change is tried once in the child, and the child once:
			// neither the child's policy nor the server's repeats it.
			name: "D1, a final failure in a child",
			nodes: around("retry: {max_attempts: 3, backoff: 10ms, non_retryable: [nested_workflow_failed]}, " +
				inside("{id: first, run: act, args: {delta: 5}, retry: {max_attempts: 3, backoff: 10ms}, next: end}")),
			failure: graph.ErrTypeChildFailed + "/" + graph.ErrTypeInvalidStateDelta, calls: []string{"a#1", "c#1/first#1"},
			verify: func(w *world, run client.WorkflowRun) {
				require.Equal(w.tb, 1, temporaltest.Count(w.history(run), enumspb.EVENT_TYPE_START_CHILD_WORKFLOW_EXECUTION_INITIATED))
			},
		},
		{
			// An answer that ends the child in the same task must not be told to be late.
			name:  "an answer that is the child's last step",
			nodes: around(inside("{id: first, type: pause, delta: {said: '${ result }'}, next: end}")),
			drive: func(w *world, run client.WorkflowRun) {
				w.paused(run)
				result, err := w.resume(run, workflows.ResumeInput{Input: json.RawMessage(`7`), Actor: "ann"})
				require.NoError(w.tb, err)
				require.Equal(w.tb, graph.Address("c#1/first#1"), result.PauseID)
			},
			output: `"parent {\"said\":7}"`, state: `{"said":7}`,
			verify: func(w *world, run client.WorkflowRun) {
				require.Equal(w.tb, graph.ClosedAnswered, w.checkpoint(run).Answers[0].Closed)
				require.Equal(w.tb, "ann", w.checkpoint(run).Answers[0].Actor)
			},
		},
	}
}

// mapScenarios are maps, seen from outside.
func mapScenarios() []scenario {
	each := func(fields, item string) string {
		return "\n  - {id: m, type: map, items: \"${ state.list }\", item: {" + item + "}" + fields + ", next: end}"
	}
	const tenfold = `run: act, args: {output: "${ item * 10 + index }"}`
	return []scenario{
		{
			name: "outputs in the order of the list", nodes: each("", tenfold), input: `{"list":[3,1,2]}`,
			output: `[30,11,22]`, state: `{"list":[3,1,2]}`, steps: 1,
		},
		{name: "A21, the empty list", nodes: each("", tenfold), input: `{"list":[]}`, output: `[]`, steps: 1, calls: []string{}},
		{name: "A21, null is no list", nodes: each("", tenfold), input: `{"list":null}`, failure: graph.ErrTypeMapItemsInvalid, calls: []string{}},
		{name: "A21, an object is no list", nodes: each("", tenfold), input: `{"list":{}}`, failure: graph.ErrTypeMapItemsInvalid, calls: []string{}},
		{name: "A21, a text is no list", nodes: each("", tenfold), input: `{"list":"abc"}`, failure: graph.ErrTypeMapItemsInvalid, calls: []string{}},
		{name: "A21, a list that is missing", nodes: each("", tenfold), failure: graph.ErrTypeExpressionFailed, calls: []string{}},
		{
			name: "A23, each item's own status",
			nodes: each(`, max_concurrency: 1, tolerate: {count: 1}, key: "${ item.id }", output: "${ result.items.map(i, [i.key, i.status, i.output, i.attempts]) }"`,
				`run: act, args: {fail: "${ item.fail }", output: "${ item.id }"}, retry: {max_attempts: 2, backoff: 10ms}`),
			input:  `{"list":[{"id":"a","fail":""},{"id":"b","fail":"boom"},{"id":"c","fail":""}]}`,
			output: `[["a","completed","a",1],["b","failed",null,2],["c","completed","c",1]]`,
			calls:  []string{"m#1/0", "m#1/1", "m#1/1", "m#1/2"},
		},
		{
			name:    "one failure too many ends the map, and what is open is awaited",
			nodes:   each("", `run: act, args: {fail: "${ item }"}`) + "\n  - {id: unused, run: beat, next: end}",
			input:   `{"list":["", "boom", ""]}`,
			failure: graph.ErrTypeMapTolerance + "/" + graph.ErrTypeActionException,
		},
		{
			name:  "B4, items that ask have ids of their own, and an alias while it is the only one",
			nodes: each(`, key: "${ item }"`, `type: pause, summary: "${ item }"`),
			input: `{"list":["x","z"]}`,
			drive: func(w *world, run client.WorkflowRun) {
				report := w.until(run, "both pauses", func(r graph.Report) bool { return len(r.Pauses) == 2 && r.Status == graph.StatusPaused })
				require.Equal(w.tb, graph.Address("m#1/0"), report.Pauses[0].ID)
				require.Equal(w.tb, graph.Address("m#1/1"), report.Pauses[1].ID)
				w.signal(run, workflows.SignalResumePrefix+"m#1/1", "second")
				w.until(run, "the second to be answered", pausedAt("m#1/0"))
				w.signal(run, workflows.SignalResumePrefix+"m#1/x", "first")
			},
			output: `["first","second"]`,
		},
		{
			name: "D10, a cancel reaches what is open in a map, and below",
			nodes: forkOf("", "a: type: map, items: [1, 2], max_concurrency: 2, item: {run: beat}",
				"b: type: map, items: [1], item: {"+inside("{id: first, run: beat, next: end}")+"}", "c: type: map, items: [1], item: {type: pause, expires: 1h}") + plainJoin,
			drive: func(w *world, run client.WorkflowRun) {
				w.until(run, "the pause", func(r graph.Report) bool { return len(r.Pauses) == 1 })
				w.when(w.child(run, "b#1/0"), "the child's action", started)
				w.cancel(run)
			},
			failure: graph.ErrTypeCancelled + "/" + graph.ErrTypeCancelled,
			verify: func(w *world, run client.WorkflowRun) {
				require.Equal(w.tb, enumspb.WORKFLOW_EXECUTION_STATUS_CANCELED, w.closed(w.child(run, "b#1/0")))
				require.Empty(w.tb, w.openTimers(w.child(run, "b#1/0")))
			},
		},
		{
			name:   "a whole map is tried again under addresses of its own",
			nodes:  each(", retry: {max_attempts: 2, backoff: 10ms}", `run: act, args: {fail: "${ run.address == 'm#1/1' ? 'boom' : '' }", output: "${ run.address }"}`),
			input:  `{"list":[1,2]}`,
			output: `["m#1~2/0","m#1~2/1"]`, steps: 1,
		},
	}
}
