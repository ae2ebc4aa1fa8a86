package workflows_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"github.com/tidemill/tidemill/activities"
	"github.com/tidemill/tidemill/graph"
	"github.com/tidemill/tidemill/internal/temporaltest"
	"github.com/tidemill/tidemill/workflows"
)

// A fork of fifty remote actions must cost what fifty actions cost: three
// events each besides workflow tasks, all scheduled in one task.
func TestForkOfFifty(t *testing.T) {
	t.Parallel()
	var branches []string
	for i := range 50 {
		branches = append(branches, gives(fmt.Sprintf("b%02d", i), fmt.Sprint(i), fmt.Sprintf("{k%d: %d}", i, i)))
	}
	doc := "version: 1\nid: fifty\nentry: f\nnodes:" + forkOf("", branches...) + "\n  - {id: j, type: join, next: end}\n"
	doc = strings.Replace(doc, "\n  - {id: s, type: set, output: \"${ input }\", next: end}", "", 1)
	w := setup(t, parts{graphs: []string{doc}, register: newScript().register})
	run := w.run("fifty")
	require.Contains(t, w.output(run), `"b49":49`)
	history := w.history(run)
	tasks := temporaltest.Count(history, enumspb.EVENT_TYPE_WORKFLOW_TASK_SCHEDULED)
	require.Equal(t, 50, temporaltest.Count(history, enumspb.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED))
	require.Len(t, history.GetEvents(), 3+3*50+3*tasks, "start, pin, three an action, tasks, close")
}

// Branches whose tasks together are more than one workflow task may hold are
// scheduled in instalments; the run is neither stuck nor ended by the server.
func TestForkInInstalments(t *testing.T) {
	t.Parallel()
	var branches []string
	for i := range 12 {
		branches = append(branches, fmt.Sprintf("b%02d: run: length, args: {text: '${ state.text }'}", i))
	}
	doc := "version: 1\nid: instalments\nentry: f\nnodes:" + forkOf("", branches...) + plainJoin + "\n"
	w := setup(t, parts{graphs: []string{doc}, register: func(r *activities.Registry) {
		activities.Register(r, "length", func(_ context.Context, in struct{ Text string }) (int, error) { return len(in.Text), nil })
	}})
	run := w.run("instalments", map[string]string{"text": strings.Repeat("y", 300_000)})
	require.Contains(t, w.output(run), `"b11":300000`)
	scheduled := temporaltest.Count(w.history(run), enumspb.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED)
	require.Greater(t, scheduled, 12, "flushes stand between the instalments")
}

// B4, B5, B24 on a server: many pauses at once, of which the attribute lists
// twenty; each is answered under its own id, and what is open when the quorum is
// reached closes as expired.
func TestForkOfManyPauses(t *testing.T) {
	t.Parallel()
	var branches []string
	for i := range 25 {
		branches = append(branches, fmt.Sprintf("p%02d: type: pause, resume_schema: {type: integer}", i))
	}
	doc := "version: 1\nid: pauses\nentry: f\nnodes:" + forkOf(", join_policy: {quorum: 2}", branches...) + plainJoin + "\n"
	w := setup(t, parts{graphs: []string{doc}})
	run := w.run("pauses")
	report := w.paused(run)
	require.Len(t, report.Pauses, 25)
	described, err := w.client.DescribeWorkflow(t.Context(), run.GetID(), run.GetRunID())
	require.NoError(t, err)
	waiting, ok := described.TypedSearchAttributes.GetKeywordList(temporal.NewSearchAttributeKeyKeywordList(activities.AttributeWaiting))
	require.True(t, ok)
	require.Len(t, waiting, 21)
	require.Contains(t, waiting, "+5")
	require.LessOrEqual(t, len(w.details(run)), 3000)

	_, err = w.resume(run, workflows.ResumeInput{Input: json.RawMessage(`1`)})
	require.Equal(t, graph.ErrTypePauseAmbiguous, refusalType(t, err))
	w.signal(run, workflows.SignalResume, 1)
	w.until(run, "the plain signal to be refused", func(r graph.Report) bool { return r.Rejected.Count == 1 })
	w.signal(run, workflows.SignalResumePrefix+"p07#1", 7)
	_, err = w.resume(run, workflows.ResumeInput{PauseID: "p03#1", Input: json.RawMessage(`3`)})
	require.NoError(t, err)
	require.JSONEq(t, `{"p03":3,"p07":7}`, w.output(run))
	closed := map[graph.PauseClosed]int{}
	for _, answer := range w.checkpoint(run).Answers {
		closed[answer.Closed]++
	}
	require.Equal(t, map[graph.PauseClosed]int{graph.ClosedAnswered: 2, graph.ClosedExpired: 23}, closed)
}

// A14, D10: a cancel in the middle of a fork reaches every branch, whatever it
// is busy with, and what had ended is kept in the checkpoint.
func TestForkCancelled(t *testing.T) {
	t.Parallel()
	doc := "version: 1\nid: stopped\nentry: f\nnodes:" + forkOf("", gives("a", "1", "{k: 1}"), "b: run: block", "c: run: block",
		"d: type: wait, for: 1h", "e: type: pause, expires: 1h", "g: run: act, args: {fail: boom}, retry: {max_attempts: 2, backoff: 1h, max_backoff: 1h}") + plainJoin + "\n"
	w := setup(t, parts{graphs: []string{doc}, register: func(r *activities.Registry) {
		newScript().register(r)
		registerBlock(r)
	}})
	run := w.run("stopped")
	w.until(run, "a to have ended", func(r graph.Report) bool {
		return len(r.Pauses) == 1 && strings.Contains(string(forkedBranches(w, run)), `"id":"a","status":"completed"`)
	})
	w.cancel(run)
	kind, report := w.failure(run)
	require.Equal(t, "cancelled", kind)
	require.Equal(t, graph.StatusCancelled, report.Status)
	require.JSONEq(t, `{}`, string(report.State))
	require.Equal(t, 3, temporaltest.Count(w.history(run), enumspb.EVENT_TYPE_ACTIVITY_TASK_CANCELED), "both blocked branches, and the backoff")
	require.Empty(t, w.openTimers(run))
}

// forkedBranches are the branches of the open fork, as the checkpoint has them.
func forkedBranches(w *world, run client.WorkflowRun) json.RawMessage {
	for _, a := range w.checkpoint(run).Activations {
		if a.Branches != nil {
			raw, err := json.Marshal(a.Branches)
			require.NoError(w.tb, err)
			return raw
		}
	}
	return nil
}

// The deadline's clock runs while one branch of a fork is paused and another is
// not, and stands still once all that is left are pauses.
func TestForkClock(t *testing.T) {
	t.Parallel()
	doc := "version: 1\nid: clock\nentry: f\ndeadline: 3s\nnodes:" + forkOf("", "a: type: pause", "b: type: wait, for: 1s") + plainJoin + "\n"
	w := setup(t, parts{graphs: []string{doc}})
	run := w.run("clock")
	w.until(run, "the pause beside the wait", func(r graph.Report) bool { return len(r.Pauses) == 1 && r.Status == graph.StatusRunning })
	require.Nil(t, w.paused(run).Deadline)
	temporaltest.Wait(t, 10*time.Second, "longer than the deadline to pass", func() bool {
		return time.Since(w.status(run).Started) > 4*time.Second
	})
	w.signal(run, workflows.SignalResume, 1)
	require.JSONEq(t, `{"a":1,"b":{}}`, w.output(run))
}

// branchStands reports whether a branch of the open fork has a status.
func (w *world) branchStands(run client.WorkflowRun, id string, status graph.BranchStatus) bool {
	w.tb.Helper()
	for _, a := range w.checkpoint(run).Activations {
		for _, b := range a.Branches {
			if b.ID == id {
				return b.Status == status
			}
		}
	}
	return false
}
