package workflows_test

import (
	"strings"

	"go.temporal.io/sdk/client"

	"github.com/tidemill/tidemill/activities"
	"github.com/tidemill/tidemill/graph"
	"github.com/tidemill/tidemill/workflows"
)

// moreShapes are the shapes of runs that something is out of the ordinary with: with
// how long they are, how large, who is called, and when somebody answers.
var moreShapes = []shape{
	{name: "large_result", graph: "large", input: `{"bytes":300000}`},
	{name: "large_state", graph: "large_state", input: `{}`},
	{name: "large_arguments", graph: "large_arguments", input: `{}`},
	{name: "local_flushed", graph: "flushed", input: `{"count":0}`},
	{name: "foreign", graph: "abroad", input: `{}`},
	{name: "callbacks", graph: "called", input: `{}`},
	{name: "loop_exhausted", graph: "exhausted", input: `{"count":0}`},
	{name: "wait_until", graph: "until", input: `{}`},
	{name: "retry_exhausted", graph: "given_up", input: `{}`},
	{name: "retry_slow", graph: "retried_slowly", input: `{}`},
	{name: "pause_early", graph: "asks_late", input: `{}`, act: func(w *world, run client.WorkflowRun) {
		w.signal(run, workflows.SignalResumePrefix+"ask#1", "too early")
		w.until(run, "the early answer to be refused", func(r graph.Report) bool { return r.Rejected.Count == 1 })
		w.paused(run)
		w.signal(run, workflows.SignalResumePrefix+"ask#1", "in time")
	}},
	{name: "expiry_unhandled", graph: "expires", input: `{}`},
	{name: "cancel_wait", graph: "sleeps", input: `{}`, act: func(w *world, run client.WorkflowRun) {
		w.until(run, "the wait", func(r graph.Report) bool { return r.Steps == 1 })
		w.cancel(run)
	}},
	{name: "map_failed", graph: "map_failed", input: `{"list":[1,2,3]}`},
	{name: "map_cancelled", graph: "map_blocked", input: `{"list":[1,2,3]}`, act: cancelOnceActive},
	{name: "map_children", graph: "map_children", input: `{"list":[1,2]}`, child: "each#1/1"},
	{name: "child_deadline", graph: "sub_deadline", input: `{}`, child: "sub#1"},
}

// moreShapeGraphs are their documents.
func moreShapeGraphs() []string {
	one := func(id, node string) string {
		return "version: 1\nid: " + id + "\nentry: a\nnodes: [{id: a, " + node + ", next: end}]\n"
	}
	return []string{
		one("large", `run: fill, args: {bytes: "${ state.bytes }"}`),
		"version: 1\nid: large_state\nentry: a\nstate_reducers: {all: append}\n" +
			"nodes: [{id: a, run: fill, args: {bytes: 15000}, output: small, delta: {all: ['${ result }']}, next: a}]\n",
		"version: 1\nid: large_arguments\nentry: a\nnodes:\n  - {id: a, run: fill, args: {bytes: 40000}, output: small, delta: {text: '${ result }'}, next: b}\n" +
			"  - {id: b, run: act, args: {output: '${ [state.text, state.text, state.text] }'}, next: end}\n",
		localGraph("flushed", "again", "\n  - {id: again, type: loop, while: state.count < 260, body: a, done: end, max_iterations: 1000}"+
			strings.Replace(localNodes("a"), "next: end", "next: again", 1)),
		one("abroad", `run: {activity: Foreign}, args: {x: 1}, output: "${ result }"`),
		"version: 1\nid: called\nentry: a\nnodes:\n  - {id: a, type: dynamic, choose: {call: choose}, targets: [b, end]}\n" +
			"  - {id: b, run: act, args: {call: arguments}, next: {route: {call: choose}}}\n",
		"version: 1\nid: exhausted\nentry: a\nnodes:\n  - {id: a, type: loop, while: 'true', body: b, done: end, max_iterations: 2, on_exhausted: c}\n" +
			"  - {id: b, run: add, args: {count: '${ state.count }'}, delta: {count: '${ result }'}, next: a}\n  - {id: c, type: set, output: enough, next: end}\n",
		one("until", `type: wait, until: "2020-01-02T03:04:05Z"`),
		one("given_up", "run: act, args: {fail: boom}, retry: {max_attempts: 2, backoff: 10ms}"),
		one("retried_slowly", "run: act, args: {fail: boom, until: 1, output: done}, retry: {max_attempts: 2, backoff: 1s}"),
		"version: 1\nid: asks_late\nentry: a\nnodes: [{id: a, type: wait, for: 2s, next: ask}, {id: ask, type: pause, next: end}]\n",
		one("expires", "type: pause, expires: 1s"),
		one("sleeps", "type: wait, for: 1h"),
		mapped("map_failed", "\n    tolerate: {count: 1}", `
      run: act
      args: {fail: "${ item > 1 ? 'boom' : '' }", output: "${ item }"}`),
		mapped("map_blocked", "\n    max_concurrency: 1", `
      run: block`),
		mapped("map_children", "", " {"+inside("{id: first, run: act, args: {output: '${ input }'}, next: end}")+"}"),
		nested("sub_deadline", "\n    deadline: 2s", `
        - {id: first, run: beat, next: end}`),
	}
}

// registerShapeCallbacks adds the callbacks that documents of shapes name.
func registerShapeCallbacks(r *activities.Registry) {
	activities.RegisterCallback(r, "merge", 1, mergeByID)
	activities.RegisterCallback(r, "choose", 1, func(s activities.Scope) (string, error) {
		if seen, err := s.State("seen", new(int)); seen || err != nil {
			return graph.End, err
		}
		return "b", nil
	})
	activities.RegisterCallback(r, "arguments", 1, func(activities.Scope) (map[string]any, error) {
		return map[string]any{"output": 1, "delta": map[string]any{"seen": 1}}, nil
	})
}
