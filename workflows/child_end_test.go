package workflows_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"

	"github.com/tidemill/tidemill/activities"
	"github.com/tidemill/tidemill/graph"
	"github.com/tidemill/tidemill/internal/temporaltest"
	"github.com/tidemill/tidemill/workflows"
)

// Cancelling a run reaches what its children do, and waits for it: the run must
// not be closed while something of it still acts.
func TestCancelReachesChildren(t *testing.T) {
	t.Parallel()
	acts := newScript()
	w := setup(t, parts{
		register: func(r *activities.Registry) { registerBeat(r); acts.register(r) },
		graphs: []string{
			nested("busy", "", `
        - {id: first, run: beat, next: last}
        - {id: last, run: act, next: end}`),
			nested("waiting_child", "", `
        - {id: first, type: pause, next: end}`),
		},
	})
	busy, paused := w.run("busy"), w.run("waiting_child")
	w.when(w.child(busy, "sub#1"), "the child's action", started)
	w.paused(paused)
	for _, run := range []client.WorkflowRun{busy, paused} {
		w.cancel(run)
		kind, report := w.failure(run)
		require.Equal(t, "cancelled", kind)
		child := w.child(run, "sub#1")
		require.Equal(t, enumspb.WORKFLOW_EXECUTION_STATUS_CANCELED, w.closed(child))
		require.False(t, w.status(child).Finished.After(*report.Finished))
		require.Empty(t, report.Pauses)
	}
	_, report := w.failure(busy)
	require.Equal(t, "unknown", report.Error.Cause.Effect, "of the action in the child")
	_, report = w.failure(paused)
	require.Equal(t, "none", report.Error.Cause.Effect, "a person was asked, nothing more")
	require.Empty(t, acts.called(w.child(busy, "sub#1").GetID()))
}

// A child must not outlive a run that can no longer end it, and then ends in good
// order: what it does is cancelled and awaited.
func TestChildOfATerminatedRun(t *testing.T) {
	t.Parallel()
	w := setup(t, parts{register: registerBeat, graphs: []string{nested("orphaned", "", `
        - {id: first, run: beat, next: end}`)}})
	run := w.run("orphaned")
	child := w.child(run, "sub#1")
	w.when(child, "the child's action", started)
	require.NoError(t, w.client.TerminateWorkflow(t.Context(), run.GetID(), run.GetRunID(), "by an operator"))
	kind, report := w.failure(child)
	require.Equal(t, "cancelled", kind)
	require.Equal(t, "unknown", report.Error.Cause.Effect)
}

// A child whose parent is gone can still be answered, and ends without telling
// anybody.
func TestAnswerToAnOrphan(t *testing.T) {
	t.Parallel()
	w := setup(t, parts{register: newScript().register, graphs: []string{nested("orphaned", "", `
        - {id: first, type: pause, next: end}`)}})
	run := w.run("orphaned")
	w.paused(run)
	child := w.child(run, "sub#1")
	w.worker.Stop()
	w.signal(child, workflows.SignalAnswer, graph.ForwardedAnswer{Request: "1", Answer: graph.Answer{PauseID: "sub#1/first#1", Input: json.RawMessage(`1`), Via: "signal"}})
	require.NoError(t, w.client.TerminateWorkflow(t.Context(), run.GetID(), run.GetRunID(), "by an operator"))
	w.worker = w.start(parts{register: newScript().register})
	temporaltest.Wait(t, 30*time.Second, "the child to close", func() bool {
		return w.closed(child) != enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING
	})
}

// Rows 111 and 113, and the budgets of time in general: the child ends at the first
// of its own deadline, its node's timeout and what is left of the run's, and each
// is told from the others. Here a nested deadline holds.
func TestChildRunsOutOfTime(t *testing.T) {
	t.Parallel()
	slow := `
        - {id: first, run: beat, next: end}`
	w := setup(t, parts{register: registerBeat, graphs: []string{
		nested("own", "\n    deadline: 1s", slow),
		nested("attempt", "\n    timeout: 1s\n    deadline: 1h", slow),
		nested("again", "\n    timeout: 1s\n    retry: {max_attempts: 2}", slow),
		"deadline: 2s\n" + nested("whole", "\n    deadline: 1h", slow),
	}})
	runs := map[string]client.WorkflowRun{}
	for _, id := range []string{"own", "attempt", "again", "whole"} {
		runs[id] = w.run(id)
	}
	kind, report := w.failure(runs["own"])
	require.Equal(t, graph.ErrTypeChildTimedOut, kind)
	require.Equal(t, graph.ErrTypeDeadlineExceeded, report.Error.Cause.Type)
	require.Equal(t, graph.StatusFailed, report.Status, "the run had time left")

	kind, _ = w.failure(runs["attempt"])
	require.Equal(t, graph.ErrTypeActionTimedOut, kind)

	kind, report = w.failure(runs["again"])
	require.Equal(t, graph.ErrTypeRetryExhausted, kind)
	require.Equal(t, graph.ErrTypeActionTimedOut, report.Error.Cause.Type)

	kind, report = w.failure(runs["whole"])
	require.Equal(t, graph.ErrTypeDeadlineExceeded, kind)
	require.Equal(t, graph.StatusTimedOut, report.Status)
	for id, run := range runs {
		child := w.child(run, "sub#1")
		require.NotEqual(t, enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING, w.closed(child), "%s: closed with its parent", id)
		require.NotEqual(t, enumspb.WORKFLOW_EXECUTION_STATUS_COMPLETED, w.closed(child), id)
		require.Empty(t, w.openTimers(child), id)
	}
}

// An id that an earlier run's child still has is waited for, and said so; it is no
// failure and no attempt.
func TestChildIDTaken(t *testing.T) {
	t.Parallel()
	w := setup(t, parts{graphs: []string{
		nested("taking", "", `
        - {id: first, type: set, output: 1, next: end}`),
		approval,
	}})
	holder, err := w.client.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{
		ID: w.id("taking") + "/sub#1", TaskQueue: w.queue,
	}, "approval", map[string]int{"order": 1})
	require.NoError(t, err)
	run := w.run("taking")
	w.until(run, "the id to be missed", func(r graph.Report) bool {
		return len(r.Waiting) == 1 && strings.Contains(r.Waiting[0].Reason, "still has the workflow id")
	})
	require.NoError(t, w.client.TerminateWorkflow(t.Context(), holder.GetID(), holder.GetRunID(), "done"))
	require.Contains(t, w.output(run), `"result":1`)
}

// An id that no server takes must fail the node, not the workflow task for ever.
func TestChildIDTooLong(t *testing.T) {
	t.Parallel()
	name := strings.Repeat("n", 60)
	text := fmt.Sprintf("{id: %s, type: pause, next: end}", name)
	for i := range 16 {
		text = fmt.Sprintf("{id: %s, type: workflow, workflow: {version: 1, id: g%d, entry: %s, nodes: [%s]}, next: end}", name, i, name, text)
	}
	w := setup(t, parts{graphs: []string{fmt.Sprintf("{version: 1, id: long, entry: %s, nodes: [%s]}", name, text)}})
	run := w.run("long")
	kind, report := w.failure(run)
	require.Equal(t, graph.ErrTypeChildFailed, kind)
	cause := report.Error
	for cause.Cause != nil {
		cause = cause.Cause
	}
	require.Equal(t, graph.ErrTypeChildStartFailed, cause.Type)
	require.Contains(t, cause.Message, "1000")
}
