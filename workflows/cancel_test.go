package workflows_test

import (
	"context"
	"errors"
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

const cancelled = `
version: 1
id: cancelled
entry: which
max_steps: 2000000000
nodes:
  - id: which
    type: branch
    cases:
      - {when: "state.phase == 'action'", to: action}
      - {when: "state.phase == 'stubborn'", to: stubborn}
      - {when: "state.phase == 'honest'", to: honest}
      - {when: "state.phase == 'wait'", to: wait}
      - {when: "state.phase == 'pause'", to: pause}
      - {when: "state.phase == 'backoff'", to: backoff}
      - {when: "state.phase == 'interrupted'", to: interrupted}
    default: ahead
  - {id: action, run: beat, on_error: never, retry: {max_attempts: 3}, next: end}
  - {id: stubborn, run: deaf, cancel_grace: 1s, on_error: never, next: end}
  - {id: honest, run: honest, next: end}
  - {id: wait, type: wait, for: 1h, next: end}
  - {id: pause, type: pause, expires: 1h, on_expire: never, next: end}
  - {id: backoff, run: broken, retry: {max_attempts: 3, backoff: 1h, max_backoff: 1h}, on_error: never, next: end}
  - {id: interrupted, run: missing, on_error: never, next: end}
  - {id: ahead, type: set, delta: {count: 1}, next: more}
  - {id: more, type: branch, cases: [{when: "state.count == 1", to: ahead}], default: end}
  - {id: never, type: set, output: never, next: end}
`

// activityIs recognises a run whose open activity is in a state, on an attempt.
func (w *world) activityIs(run client.WorkflowRun, state enumspb.PendingActivityState, attempt int32) bool {
	w.tb.Helper()
	described, err := w.client.DescribeWorkflow(w.tb.Context(), run.GetID(), last(run))
	require.NoError(w.tb, err)
	open := described.RawResponse.GetPendingActivities()
	return len(open) == 1 && open[0].GetState() == state && open[0].GetAttempt() == attempt
}

// phases are what a run can be busy with when it is cancelled, how that is
// recognised, and what the cancelled node says of its effect.
var phases = []struct {
	name, effect string
	reached      func(*world, client.WorkflowRun) bool
}{
	{"action", "unknown", started},
	{"stubborn", "unknown", started},
	{"honest", "none of it", started},
	{"wait", "", reports(func(r graph.Report) bool { return len(r.Waiting) == 1 })},
	{"pause", "", reports(func(r graph.Report) bool { return len(r.Pauses) == 1 })},
	{"backoff", "none", func(w *world, run client.WorkflowRun) bool {
		return w.activityIs(run, enumspb.PENDING_ACTIVITY_STATE_SCHEDULED, 2)
	}},
	{"interrupted", "", reports(func(r graph.Report) bool { return len(r.Waiting) == 1 && r.Waiting[0].NextCheck != nil })},
	{"ahead", "", reports(func(r graph.Report) bool { return r.Steps > 500 })},
}

// started recognises a run whose action is under way.
func started(w *world, run client.WorkflowRun) bool {
	return w.activityIs(run, enumspb.PENDING_ACTIVITY_STATE_STARTED, 1)
}

func reports(fits func(graph.Report) bool) func(*world, client.WorkflowRun) bool {
	return func(w *world, run client.WorkflowRun) bool { return fits(w.status(run)) }
}

// when waits until a run is in a phase.
func (w *world) when(run client.WorkflowRun, what string, reached func(*world, client.WorkflowRun) bool) {
	w.tb.Helper()
	temporaltest.Wait(w.tb, 30*time.Second, what, func() bool { return reached(w, run) })
}

// Whatever a run is busy with, a cancel ends it as Canceled, not as Completed
// and not as Failed; nothing is started any more, on_error does not catch it,
// and no timer stays open.
func TestCancelInEachPhase(t *testing.T) {
	t.Parallel()
	over := make(chan struct{})
	t.Cleanup(func() { close(over) })
	w := setup(t, parts{graphs: []string{cancelled}, register: func(r *activities.Registry) {
		registerBeat(r)
		activities.Register(r, "deaf", func(ctx context.Context, _ struct{}) (any, error) {
			go func() { _ = beatUntilDone(ctx) }()
			<-over
			return "late", nil
		})
		activities.Register(r, "honest", func(ctx context.Context, _ struct{}) (any, error) {
			_ = beatUntilDone(ctx)
			return nil, activities.Cancelled("none of it")
		})
		activities.Register(r, "broken", func(context.Context, struct{}) (any, error) { return nil, errors.New("broken") })
	}})
	runs := make([]client.WorkflowRun, len(phases))
	for i, phase := range phases {
		runs[i] = w.run("cancelled", map[string]string{"phase": phase.name})
	}
	for i, phase := range phases {
		w.when(runs[i], phase.name, phase.reached)
		w.cancel(runs[i])
	}
	for i, phase := range phases {
		kind, report := w.failure(runs[i])
		require.Equal(t, "cancelled", kind, phase.name)
		require.Equal(t, graph.StatusCancelled, report.Status, phase.name)
		require.Equal(t, enumspb.WORKFLOW_EXECUTION_STATUS_CANCELED, w.closed(runs[i]), phase.name)
		require.Equal(t, graph.ErrTypeCancelled, report.Error.Type, phase.name)
		if phase.effect == "" {
			require.Nil(t, report.Error.Cause, phase.name)
		} else {
			require.Equal(t, phase.effect, report.Error.Cause.Effect, phase.name)
		}
		require.Empty(t, w.openTimers(runs[i]), phase.name)
	}
}

// A cancel that waits for a worker together with other things comes first: the
// run must not complete, and no node may be called, after cancel was asked.
func TestCancelComesFirst(t *testing.T) {
	t.Parallel()
	acts := newScript()
	documents := []string{
		"{version: 1, id: short, entry: a, nodes: [{id: a, type: set, output: done, next: end}]}",
		"{version: 1, id: called, entry: a, nodes: [{id: a, run: act, next: end}]}",
		approval,
	}
	w := setup(t, parts{graphs: documents, register: acts.register})
	answered := w.run("approval", map[string]int{"order": 7})
	w.paused(answered)
	w.worker.Stop()
	short, called := w.run("short"), w.run("called")
	w.signal(answered, workflows.SignalResume, map[string]bool{"approved": true})
	for _, run := range []client.WorkflowRun{short, called, answered} {
		w.cancel(run)
	}
	w.worker = w.start(parts{graphs: documents, register: acts.register})
	for _, run := range []client.WorkflowRun{short, called, answered} {
		kind, _ := w.failure(run)
		require.Equal(t, "cancelled", kind, run.GetID())
		require.Zero(t, temporaltest.Count(w.history(run), enumspb.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED), run.GetID())
	}
	require.Empty(t, acts.called(called.GetID()))
}

// An action that does not listen is left behind after its grace, not before.
func TestCancelGrace(t *testing.T) {
	t.Parallel()
	over := make(chan struct{})
	t.Cleanup(func() { close(over) })
	told := make(chan time.Time, 1)
	w := setup(t, parts{
		graphs: []string{"{version: 1, id: graceful, entry: a, nodes: [{id: a, run: deaf, cancel_grace: 2s, next: end}]}"},
		register: func(r *activities.Registry) {
			activities.Register(r, "deaf", func(ctx context.Context, _ struct{}) (any, error) {
				_ = beatUntilDone(ctx)
				told <- time.Now()
				<-over
				return "late", nil
			})
		},
	})
	run := w.run("graceful")
	w.when(run, "the action", started)
	w.cancel(run)
	kind, report := w.failure(run)
	require.Equal(t, "cancelled", kind)
	require.Equal(t, "unknown", report.Error.Cause.Effect)
	require.GreaterOrEqual(t, time.Since(<-told), 2*time.Second)
}
