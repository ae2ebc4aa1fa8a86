package workflows_test

import (
	"go.temporal.io/sdk/client"
)

// What a branch of a recorded fork does: it fails, it ends after the others, or never.
const (
	failingBranch = "run: act, args: {fail: boom}"
	lateBranch    = "type: wait, for: 1s"
	endlessBranch = "run: block"
)

// forkShapes are the shapes of forks, each policy with branches that fail.
var forkShapes = []shape{
	{name: "fork_any_failed", graph: "any_failed", input: `{}`},
	{name: "fork_first_success", graph: "first_success", input: `{}`},
	{name: "fork_first_success_failed", graph: "first_success_failed", input: `{}`},
	{name: "fork_quorum", graph: "quorum_met", input: `{}`},
	{name: "fork_quorum_unreachable", graph: "quorum_missed", input: `{}`},
	{name: "fork_collect", graph: "collected", input: `{}`},
	{name: "fork_merge_refused", graph: "merge_refused", input: `{}`},
	{name: "fork_merge_called", graph: "merge_called", input: `{}`},
	{name: "fork_child", graph: "branch_child", input: `{}`, child: "b#1"},
	{name: "fork_pause_dismissed", graph: "pause_dismissed", input: `{}`},
	{name: "fork_cancelled", graph: "fork_stopped", input: `{}`, act: func(w *world, run client.WorkflowRun) {
		w.when(run, "the branch's action", started)
		w.cancel(run)
	}},
}

// forkShapeGraphs are their documents.
func forkShapeGraphs() []string {
	of := func(id, fields string, branches ...string) string {
		return "version: 1\nid: " + id + "\nentry: f\nnodes:" + forkOf(fields, branches...) + plainJoin + "\n"
	}
	return []string{
		of("any_failed", ", join_policy: any", "a: "+failingBranch, "b: "+endlessBranch),
		of("first_success", ", join_policy: first_success", "a: "+failingBranch, "b: "+lateBranch, "c: "+endlessBranch),
		of("first_success_failed", ", join_policy: first_success", "a: "+failingBranch, "b: "+failingBranch),
		of("quorum_met", ", join_policy: {quorum: 2}", "a: "+failingBranch, gives("b", "1", "{k: 1}"), "c: "+lateBranch, "d: "+endlessBranch),
		of("quorum_missed", ", join_policy: {quorum: 3}", "a: "+failingBranch, gives("b", "1", "{}"), "c: "+failingBranch, "d: "+endlessBranch),
		of("collected", ", join_policy: collect", "a: "+failingBranch, gives("b", "1", "{k: 1}"), "c: "+lateBranch),
		of("merge_refused", "", gives("a", "1", "{k: 1}"), gives("b", "2", "{k: 2}")),
		of("merge_called", ", merge: {call: merge}", gives("a", "1", "{k: 1}"), gives("b", "2", "{k: 2}")),
		of("branch_child", "", gives("a", "1", "{}"), "b: "+inside("{id: first, run: act, args: {output: 2, delta: {seen: 3}}, next: end}")),
		of("pause_dismissed", ", join_policy: any", "a: type: pause", "b: "+lateBranch),
		of("fork_stopped", "", "a: "+endlessBranch, "b: type: pause", "c: "+lateBranch),
	}
}
