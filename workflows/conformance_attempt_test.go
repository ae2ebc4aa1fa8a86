package workflows_test

import (
	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"

	"github.com/tidemill/tidemill/graph"
	"github.com/tidemill/tidemill/internal/temporaltest"
)

// attemptScenarios are the numbered rules of attempts and the deadline.
func attemptScenarios() []scenario {
	return []scenario{
		{
			name:    "row 40, attempts cost no step",
			nodes:   `[{id: a, run: act, args: {fail: boom, until: 2, output: done}, retry: {max_attempts: 3, backoff: 10ms}, next: end}]`,
			options: `{"max_steps":1}`,
			output:  `"done"`, calls: []string{"a#1", "a#1", "a#1"},
		},
		{
			name:    "row 116, attempts run out",
			nodes:   `[{id: a, run: act, args: {fail: boom}, retry: {max_attempts: 2, backoff: 10ms}, next: end}]`,
			failure: graph.ErrTypeRetryExhausted + "/" + graph.ErrTypeActionException, calls: []string{"a#1", "a#1"},
		},
		{
			name:    "row 45, a delta that is no object fails at the first attempt",
			nodes:   `[{id: a, run: act, args: {delta: 5}, retry: {max_attempts: 3, backoff: 10ms}, next: end}]`,
			failure: graph.ErrTypeInvalidStateDelta, calls: []string{"a#1"},
		},
		{
			name:    "row 45, what is no result fails at the first attempt",
			nodes:   `[{id: a, run: garbage, retry: {max_attempts: 3, backoff: 10ms}, next: end}]`,
			failure: graph.ErrTypeInvalidActionResult,
			verify: func(w *world, run client.WorkflowRun) {
				require.Equal(w.tb, 1, temporaltest.Count(w.history(run), enumspb.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED))
			},
		},
		{
			name:    "row 45, an output that is not JSON fails at the first attempt",
			nodes:   `[{id: a, run: act, args: {control: nan}, retry: {max_attempts: 3, backoff: 10ms}, next: end}]`,
			failure: graph.ErrTypeInvalidOutput, calls: []string{"a#1"},
		},
		{
			name:    "row 45, a control that cannot be followed fails at the first attempt",
			nodes:   `[{id: a, run: act, args: {control: route, target: "no node"}, retry: {max_attempts: 3, backoff: 10ms}, next: end}]`,
			failure: graph.ErrTypeInvalidControl, calls: []string{"a#1"},
		},
		{
			name:   "row 114, the third attempt succeeds and knows its number",
			nodes:  `[{id: a, run: act, args: {fail: boom, until: 2, control: attempt}, retry: {max_attempts: 3, backoff: 0s}, next: end}]`,
			output: `3`, steps: 1, calls: []string{"a#1", "a#1", "a#1"},
		},
		{
			name:    "row 115, attempts that take too long",
			nodes:   `[{id: a, run: block, timeout: 25ms, retry: {max_attempts: 2, backoff: 0s}, next: end}]`,
			failure: graph.ErrTypeRetryExhausted + "/" + graph.ErrTypeActionTimedOut, steps: 1,
		},
		{
			name:    "row 116, one attempt fails bare",
			nodes:   `[{id: a, run: act, args: {fail: boom}, next: end}]`,
			failure: graph.ErrTypeActionException, calls: []string{"a#1"},
		},
		{
			name:  "row 117, a cancel does not wait for a backoff to end",
			nodes: `[{id: a, run: act, args: {fail: boom}, retry: {max_attempts: 2, backoff: 1h, max_backoff: 1h}, next: end}]`,
			drive: func(w *world, run client.WorkflowRun) {
				w.when(run, "the backoff", func(w *world, run client.WorkflowRun) bool {
					return w.activityIs(run, enumspb.PENDING_ACTIVITY_STATE_SCHEDULED, 2)
				})
				w.cancel(run)
			},
			failure: graph.ErrTypeCancelled + "/" + graph.ErrTypeCancelled, calls: []string{"a#1"},
		},
		{
			// A budget of zero is refused by the compiler; the smallest there is ends at once.
			name:    "row 119, a budget of next to nothing",
			nodes:   `[{id: a, type: wait, for: 1h, next: b}, {id: b, run: act, next: end}]`,
			options: `{"deadline":"1ns"}`,
			failure: graph.ErrTypeDeadlineExceeded, calls: []string{},
			verify: func(w *world, run client.WorkflowRun) {
				require.Equal(w.tb, graph.StatusTimedOut, w.status(run).Status)
			},
		},
	}
}

// brokenScenarios are runs whose author's code or expressions are broken. D2:
// each must close as a failure of the run. One that escapes from the workflow
// code fails the task instead, again and again, and the run is stuck.
func brokenScenarios() []scenario {
	fails := func(name, nodes, failure string) scenario {
		return scenario{name: "D2, " + name, nodes: nodes, input: `{"text":"x"}`, failure: failure}
	}
	const rest = "{id: b, run: act, next: j}, {id: j, type: join, next: end}"
	return []scenario{
		fails("an action panics", `[{id: a, run: act, args: {fail: panic}, next: end}]`, graph.ErrTypeActionException),
		fails("an action dereferences nil", `[{id: a, run: act, args: {fail: nil}, retry: {max_attempts: 2, backoff: 0s}, next: end}]`,
			graph.ErrTypeRetryExhausted+"/"+graph.ErrTypeActionException),
		fails("an action's goroutine ends", `[{id: a, run: act, args: {fail: exit}, next: end}]`, graph.ErrTypeActionException),
		fails("a choice panics", `[{id: a, type: dynamic, choose: {call: panic}, targets: [end]}]`, graph.ErrTypeRouteFailed),
		fails("a choice dereferences nil", `[{id: a, type: dynamic, choose: {call: nil}, targets: [end]}]`, graph.ErrTypeRouteFailed),
		fails("a choice fails", `[{id: a, type: dynamic, choose: {call: error}, targets: [end]}]`, graph.ErrTypeRouteFailed),
		fails("a predicate panics", `[{id: a, type: loop, while: {call: panic}, body: b, max_iterations: 1}, {id: b, run: act, next: a}]`,
			graph.ErrTypeGraphLoopFailed),
		fails("a route panics", `[{id: a, type: set, next: {route: {call: panic}}}]`, graph.ErrTypeRouteFailed),
		fails("a merge panics", `[{id: a, type: fork, branches: [b], join: j, merge: {call: panic}}, `+rest+`]`, graph.ErrTypeForkMergeFailed),
		fails("arguments panic", `[{id: a, run: act, args: {call: panic}, next: end}]`, graph.ErrTypeExpressionFailed),
		fails("a foreign activity's arguments panic", `[{id: a, run: {activity: None}, args: {call: nil}, next: end}]`, graph.ErrTypeExpressionFailed),
		fails("an expression divides by zero", `[{id: a, type: set, output: "${ 1 / 0 }", next: end}]`, graph.ErrTypeExpressionFailed),
		fails("an expression misses a key", `[{id: a, run: act, args: {output: "${ state.none.at }"}, next: end}]`, graph.ErrTypeExpressionFailed),
		fails("a condition is no condition", `[{id: a, type: branch, cases: [{when: "state.text", to: end}], default: end}]`, graph.ErrTypeExpressionFailed),
		fails("a moment is none", `[{id: a, type: wait, until: "${ state.text }", next: end}]`, graph.ErrTypeExpressionFailed),
		fails("an expression that costs too much",
			`[{id: a, type: set, output: "${ [1,2,3,4,5,6,7,8,9].map(a, [1,2,3,4,5,6,7,8,9].map(b, [1,2,3,4,5,6,7,8,9].map(c, [1,2,3,4,5,6,7,8,9].map(d, [1,2,3,4,5,6,7,8,9].map(e, a+b+c+d+e))))) }", next: end}]`,
			graph.ErrTypeExpressionFailed),
	}
}
