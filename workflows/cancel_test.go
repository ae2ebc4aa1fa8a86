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

// phases are what a run can be busy with when it is cancelled, how that is
// recognised, and what the cancelled node says of its effect.
var phases = []struct {
	name, effect string
	reached      func(graph.Report) bool
}{
	{"action", "unknown", active("action#1")},
	{"stubborn", "unknown", active("stubborn#1")},
	{"honest", "none of it", active("honest#1")},
	{"wait", "", func(r graph.Report) bool { return len(r.Waiting) == 1 }},
	{"pause", "", func(r graph.Report) bool { return len(r.Pauses) == 1 }},
	{"backoff", "none", active("backoff#1")},
	{"interrupted", "", func(r graph.Report) bool { return len(r.Waiting) == 1 && r.Waiting[0].NextCheck != nil }},
	{"ahead", "", func(r graph.Report) bool { return r.Steps > 500 }},
}

func active(address graph.Address) func(graph.Report) bool {
	return func(r graph.Report) bool { return r.Nodes[len(r.Nodes)-1].Node == address.Leaf().Node }
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
		w.until(runs[i], phase.name, phase.reached)
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
	w.until(run, "the action", active("a#1"))
	w.cancel(run)
	kind, report := w.failure(run)
	require.Equal(t, "cancelled", kind)
	require.Equal(t, "unknown", report.Error.Cause.Effect)
	require.GreaterOrEqual(t, time.Since(<-told), 2*time.Second)
}
