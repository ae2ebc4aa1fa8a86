package workflows_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"

	"github.com/tidemill/tidemill/activities"
	"github.com/tidemill/tidemill/graph"
	"github.com/tidemill/tidemill/internal/temporaltest"
)

// once is a graph of one node that may be attempted once.
const once = `
version: 1
id: once
entry: hold
nodes: [{id: hold, run: hold, retry: {max_attempts: 1}, next: end}]
`

// holder is the action "hold": its first call lasts until it is told to end,
// the others return at once.
type holder struct {
	deaf    bool          // the first call does not listen
	over    chan struct{} // lets a deaf call go
	started atomic.Int32
}

func hold(tb testing.TB, deaf bool) *holder {
	tb.Helper()
	h := &holder{deaf: deaf, over: make(chan struct{})}
	tb.Cleanup(func() { close(h.over) })
	return h
}

func (h *holder) register(r *activities.Registry) { activities.Register(r, "hold", h.act) }

func (h *holder) act(ctx context.Context, _ struct{}) (any, error) {
	if h.started.Add(1) > 1 {
		return map[string]any{"attempt": activities.Info(ctx).Attempt, "key": activities.Info(ctx).Key}, nil
	}
	if h.deaf {
		<-h.over
		return "too late", nil
	}
	return nil, beatUntilDone(ctx)
}

// beatUntilDone keeps heartbeats flowing, so that what the server asks of an
// activity is heard within a second and not only at the wrapper's next beat.
func beatUntilDone(ctx context.Context) error {
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
			if err := activities.Heartbeat(ctx, "here"); err != nil {
				return err
			}
		}
	}
}

func (h *holder) awaitStart(tb testing.TB) {
	tb.Helper()
	temporaltest.Wait(tb, 10*time.Second, "the action to start", func() bool { return h.started.Load() > 0 })
}

// A worker that stops in the middle of a node that may be attempted once is no
// attempt: another worker finishes the node, under the same key. Whether the
// action listens must not matter.
func TestWorkerStops(t *testing.T) {
	t.Parallel()
	for name, deaf := range map[string]bool{"the action listens": false, "the action is deaf": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := hold(t, deaf)
			p := parts{graphs: []string{once}, register: h.register, worker: worker.Options{WorkerStopTimeout: 5 * time.Second}}
			w := setup(t, p)
			run := w.run("once")
			h.awaitStart(t)
			w.start(p)
			w.worker.Stop()

			require.JSONEq(t, `{"attempt":1,"key":"`+run.GetRunID()+`/hold#1"}`, w.output(run))
			history := w.history(run)
			require.Equal(t, 2, temporaltest.Count(history, enumspb.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED))
			for _, event := range history.GetEvents() {
				if scheduled := event.GetActivityTaskScheduledEventAttributes(); scheduled != nil {
					require.Equal(t, "hold#1", scheduled.ActivityId)
				}
			}
		})
	}
}

// An operator's reset is no attempt either.
func TestActivityReset(t *testing.T) {
	t.Parallel()
	h := hold(t, false)
	w := setup(t, parts{graphs: []string{once}, register: h.register})
	run := w.run("once")
	h.awaitStart(t)
	w.cli(run, "activity", "reset", "--activity-id", "hold#1")
	require.JSONEq(t, `{"attempt":1,"key":"`+run.GetRunID()+`/hold#1"}`, w.output(run))
}

const ship = `
version: 1
id: deliver
entry: go
nodes: [{id: go, run: ship, max_interruptions: 0, next: end}]
`

// A run whose action no worker has must wait, say the missing name where
// people look, and go on when a worker has it; it costs no interruption.
func TestMissingAction(t *testing.T) {
	t.Parallel()
	w := setup(t, parts{graphs: []string{ship}})
	run := w.run("deliver")
	report := w.until(run, "the missing action to be named", func(r graph.Report) bool { return len(r.Waiting) == 1 })
	require.Equal(t, graph.StatusRunning, report.Status)
	require.Equal(t, "no worker has action `ship`", report.Waiting[0].Reason)
	require.Equal(t, graph.Address("go#1"), report.Waiting[0].Address)
	require.Contains(t, w.details(run), "no worker has action")
	require.Contains(t, w.details(run), "ship")

	w.start(parts{register: func(r *activities.Registry) {
		activities.Register(r, "ship", func(context.Context, struct{}) (string, error) { return "shipped", nil })
	}})
	w.worker.Stop()
	require.Equal(t, `"shipped"`, w.output(run))
	require.Equal(t, graph.StatusCompleted, w.status(run).Status)
}

const silent = `
version: 1
id: %s
entry: hold
nodes: [{id: hold, run: silent, max_interruptions: %d, retry: {max_attempts: %d}, next: end}]
`

// A worker that is gone is seen by its missing heartbeats, before the node's
// timeout, and is no attempt. A node that must never start twice fails instead,
// also when it may be tried again after a failure: the server would do that.
func TestWorkerLost(t *testing.T) {
	t.Parallel()
	over := make(chan struct{})
	t.Cleanup(func() { close(over) })
	// Without our wrapper no heartbeat is sent, as from a worker that was killed.
	var calls atomic.Int32
	lost := func(ctx context.Context, _ graph.Task) (*graph.Result, error) {
		if activity.GetInfo(ctx).Attempt > 1 {
			return &graph.Result{Output: []byte(`"started twice"`)}, nil
		}
		if activity.GetInfo(ctx).WorkflowType.Name == "twice" && calls.Add(1) > 1 {
			return &graph.Result{Output: []byte(`"finished"`)}, nil
		}
		<-over
		return nil, errors.New("nobody hears this")
	}
	w := setup(t, parts{
		graphs: []string{
			fmt.Sprintf(silent, "twice", 1, 1), fmt.Sprintf(silent, "never_twice", 0, 1), fmt.Sprintf(silent, "never_again", 0, 3),
		},
		foreign: func(r worker.Registry) { r.RegisterActivityWithOptions(lost, activity.RegisterOptions{Name: "silent"}) },
	})
	twice, runs := w.run("twice"), []client.WorkflowRun{w.run("never_twice"), w.run("never_again")}
	require.Equal(t, `"finished"`, w.output(twice))
	for _, never := range runs {
		kind, report := w.failure(never)
		require.Equal(t, graph.ErrTypeWorkerLost, kind)
		require.Equal(t, "hold", report.Error.Node)
	}
}

// What an action left in its heartbeat is there for the next try, though an
// interruption is a new scheduling: a deploy must not lose an action's progress.
func TestHeartbeatDetailsOutliveInterruption(t *testing.T) {
	t.Parallel()
	began := make(chan struct{}, 1)
	p := parts{
		graphs: []string{"version: 1\nid: pages\nentry: read\nnodes: [{id: read, run: read, next: end}]\n"},
		edit:   func(o *activities.Options) { o.StopGrace = 10 * time.Millisecond },
		register: func(r *activities.Registry) {
			activities.Register(r, "read", func(ctx context.Context, _ struct{}) (string, error) {
				var page string
				if found, err := activities.HeartbeatDetails(ctx, &page); found || err != nil {
					return "on from " + page, err
				}
				if err := activities.Heartbeat(ctx, "page 7"); err != nil {
					return "", err
				}
				began <- struct{}{}
				<-ctx.Done()
				return "", ctx.Err()
			})
		},
	}
	w := setup(t, p)
	run := w.run("pages")
	<-began
	w.start(p)
	w.worker.Stop()
	require.Equal(t, `"on from page 7"`, w.output(run))
}
