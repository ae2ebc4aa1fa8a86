package workflows_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"

	"github.com/tidemill/tidemill/graph"
	"github.com/tidemill/tidemill/internal/temporaltest"
)

// child is the workflow of a child of a run, by its address.
func (w *world) child(run client.WorkflowRun, address string) client.WorkflowRun {
	w.tb.Helper()
	id := run.GetID() + "/" + address
	temporaltest.Wait(w.tb, 30*time.Second, "child "+address+" to start", func() bool {
		_, err := w.client.DescribeWorkflow(w.tb.Context(), id, "")
		return err == nil
	})
	return w.client.GetWorkflow(w.tb.Context(), id, "")
}

// nested runs a child graph between two nodes. What the child is and does is
// given as the fields of the workflow node and the nodes of the child.
func nested(id, fields, nodes string) string {
	return "version: 1\nid: " + id + `
entry: before
nodes:
  - {id: before, type: set, delta: {kept: 1, seen: 1}, output: "${ input }", next: sub}
  - id: sub
    type: workflow` + fields + `
    workflow:
      version: 1
      id: inner
      entry: first
      nodes:` + nodes + `
    next: after
  - {id: after, type: set, output: {result: "${ input }", state: "${ state }"}, next: end}
`
}

// A child gives its output, and as delta what it changed; its parent knows it by
// an id that names the place.
func TestChildCompletes(t *testing.T) {
	t.Parallel()
	acts := newScript()
	w := setup(t, parts{register: acts.register, graphs: []string{nested("parent", "", `
        - {id: first, run: act, args: {output: 5, delta: {seen: 2, new: "<&>"}}, next: last}
        - {id: last, run: act, args: {output: "${ input + 1 }"}, next: end}`)}})
	run := w.run("parent", map[string]int{"start": 1})
	require.JSONEq(t, `{"result":6,"state":{"kept":1,"new":"<&>","seen":2,"start":1}}`, w.output(run))
	child := w.child(run, "sub#1")
	require.Equal(t, []string{"sub#1/first#1", "sub#1/last#1"}, acts.called(child.GetID()))
	require.JSONEq(t, `{"changed":{"new":"<&>","seen":2},"output":6}`, w.output(child))
	require.Equal(t, "inner", w.status(child).Graph)

	parent, inner := w.history(run), w.history(child)
	require.Equal(t, 3, temporaltest.Count(parent, enumspb.EVENT_TYPE_WORKFLOW_TASK_COMPLETED), "first, child started, child ended")
	require.Zero(t, temporaltest.Count(inner, enumspb.EVENT_TYPE_SIGNAL_EXTERNAL_WORKFLOW_EXECUTION_INITIATED), "nothing is told that the server tells")
	require.Zero(t, temporaltest.Count(inner, enumspb.EVENT_TYPE_UPSERT_WORKFLOW_SEARCH_ATTRIBUTES))
}

// Rows 109 and 110: a child's failure is the cause of its node's, with its full
// address; a child that could not begin is told from one that failed.
func TestChildFails(t *testing.T) {
	t.Parallel()
	acts := newScript()
	w := setup(t, parts{register: acts.register, graphs: []string{
		nested("failing", "", `
        - {id: first, run: fail, args: {type: no_stock, message: none left, business: true}, next: end}`),
		nested("routed", `
    on_error: {cases: [{when: "error.type == 'nested_workflow_failed' && error.cause.type == 'no_stock'", to: after}]}`, `
        - {id: first, run: fail, args: {type: no_stock, message: none left}, next: end}`),
		nested("retried", `
    retry: {max_attempts: 3, backoff: 10ms}`, `
        - {id: first, run: act, args: {output: 1}, next: last}
        - {id: last, run: act, args: {fail: boom}, next: end}`),
		nested("refused", "", `
        - {id: first, type: set, next: end}
      input_schema: {type: object, required: [absent]}`),
	}})
	run := w.run("failing")
	kind, report := w.failure(run)
	require.Equal(t, graph.ErrTypeChildFailed, kind)
	require.Equal(t, graph.Address("sub#1"), report.Error.Address)
	require.Equal(t, "no_stock", report.Error.Cause.Type)
	require.Equal(t, graph.Address("sub#1/first#1"), report.Error.Cause.Address)
	require.True(t, report.Error.Business, "the author declared it")

	require.Contains(t, w.output(w.run("routed")), "nested_workflow_failed")

	run = w.run("retried")
	kind, report = w.failure(run)
	require.Equal(t, graph.ErrTypeRetryExhausted, kind)
	require.Equal(t, graph.ErrTypeChildFailed, report.Error.Cause.Type)
	require.Equal(t, graph.Address("sub#1~3/last#1"), report.Error.Cause.Cause.Address)
	for _, address := range []string{"sub#1", "sub#1~2", "sub#1~3"} {
		called := acts.called(w.child(run, address).GetID())
		require.Equal(t, []string{address + "/first#1", address + "/last#1"}, called)
	}

	run = w.run("refused")
	kind, report = w.failure(run)
	require.Equal(t, graph.ErrTypeChildStartFailed, kind)
	require.Equal(t, graph.ErrTypeInputSchema, report.Error.Cause.Type)
	require.True(t, w.status(w.child(run, "sub#1")).Refused)
}

// Row 108: a child that fails once is begun again at its first node, under an
// address of its own, and then gives the node its output.
func TestChildRetried(t *testing.T) {
	t.Parallel()
	w := setup(t, parts{register: newFlaky(1).register, graphs: []string{nested("again", `
    retry: {max_attempts: 2}`, `
        - {id: first, run: flaky, next: end}`)}})
	run := w.run("again")
	require.JSONEq(t, `{"result":"done","state":{"kept":1,"seen":1}}`, w.output(run))
	require.Equal(t, enumspb.WORKFLOW_EXECUTION_STATUS_FAILED, w.closed(w.child(run, "sub#1")))
	require.Equal(t, enumspb.WORKFLOW_EXECUTION_STATUS_COMPLETED, w.closed(w.child(run, "sub#1~2")))
}

// A child cancelled by somebody else is not begun again; one that an operator
// terminated is.
func TestChildEndedFromOutside(t *testing.T) {
	t.Parallel()
	w := setup(t, parts{graphs: []string{nested("outside", `
    retry: {max_attempts: 2}`, `
        - {id: first, type: pause, next: end}`)}})
	run := w.run("outside")
	w.paused(run)
	w.cancel(w.child(run, "sub#1"))
	kind, report := w.failure(run)
	require.Equal(t, graph.ErrTypeChildCancelled, kind)
	require.Equal(t, graph.ErrTypeCancelled, report.Error.Cause.Type)

	run = w.run("outside")
	w.until(run, "the pause", pausedAt("sub#1/first#1"))
	require.NoError(t, w.client.TerminateWorkflow(t.Context(), w.child(run, "sub#1").GetID(), "", "by an operator"))
	w.until(run, "the next attempt's pause", pausedAt("sub#1~2/first#1"))
	require.NoError(t, w.client.TerminateWorkflow(t.Context(), w.child(run, "sub#1~2").GetID(), "", "by an operator"))
	kind, report = w.failure(run)
	require.Equal(t, graph.ErrTypeRetryExhausted, kind)
	require.Equal(t, "terminated", report.Error.Cause.Cause.Type)
}

// Row 107: children that run side by side are in conflict only where both changed
// a key, not where they merely had it.
func TestChildrenInAFork(t *testing.T) {
	t.Parallel()
	child := func(id, nodes string) string {
		return "\n  - {id: " + id + ", type: workflow, workflow: {version: 1, id: g" + id + ", entry: x, nodes: [" + nodes + "]}, next: join}"
	}
	fork := func(id, second string) string {
		return "version: 1\nid: " + id + "\nentry: fork\nnodes:\n  - {id: fork, type: fork, branches: [a, b], join: join}" +
			child("a", "{id: x, type: set, delta: {k: 2}, output: 1, next: end}") + child("b", second) +
			"\n  - {id: join, type: join, output: \"${ state }\", next: end}\n"
	}
	w := setup(t, parts{graphs: []string{
		fork("apart", "{id: x, type: set, delta: {other: 3}, output: 1, next: end}"),
		fork("same", "{id: x, type: set, delta: {k: 3}, output: 1, next: end}"),
	}})
	input := map[string]int{"k": 1, "kept": 1}
	require.JSONEq(t, `{"k":2,"kept":1,"other":3}`, w.output(w.run("apart", input)))
	kind, _ := w.failure(w.run("same", input))
	require.Equal(t, graph.ErrTypeForkMergeFailed, kind)
}

// A child that loses in its fork is cancelled and awaited before the join runs.
func TestChildLosesInAFork(t *testing.T) {
	t.Parallel()
	w := setup(t, parts{register: registerBeat, graphs: []string{`
version: 1
id: racing
entry: fork
nodes:
  - {id: fork, type: fork, branches: [slow, quick], join: join, join_policy: any}
  - {id: slow, type: workflow, workflow: {version: 1, id: inner, entry: x, nodes: [{id: x, run: beat, next: end}]}, next: join}
  - {id: quick, type: wait, for: 2s, next: join}
  - {id: join, type: join, output: "${ run.started }", next: end}
`}})
	run := w.run("racing")
	w.output(run)
	child := w.status(w.child(run, "slow#1"))
	require.Equal(t, graph.StatusCancelled, child.Status)
	require.False(t, child.Finished.After(*w.status(run).Finished))
}
