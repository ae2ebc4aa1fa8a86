package workflows_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/tidemill/tidemill/activities"
	"github.com/tidemill/tidemill/graph"
	"github.com/tidemill/tidemill/internal/historytest"
	"github.com/tidemill/tidemill/internal/temporaltest"
)

// local makes a node one that runs locally.
const local = "mode: local, idempotent: true, timeout: 1s, "

// localNodes are nodes of a kind that runs locally, in a line.
func localNodes(ids ...string) string {
	var nodes strings.Builder
	for i, id := range ids {
		next := graph.End
		if i+1 < len(ids) {
			next = ids[i+1]
		}
		fmt.Fprintf(&nodes, "\n  - {id: %s, run: add, %sargs: {count: \"${ state.count }\"}, delta: {count: \"${ result }\"}, next: %s}", id, local, next)
	}
	return nodes.String()
}

func localGraph(id, entry, nodes string) string {
	return "version: 1\nid: " + id + "\nentry: " + entry + "\nmax_steps: 100000\nnodes:" + nodes + "\n"
}

// localCounts is what a history with local actions holds, apart from the ends of
// tasks that took too long because the machine had much else to do.
type localCounts struct{ events, markers, scheduled, timers int }

func (w *world) localCounts(run client.WorkflowRun) localCounts {
	w.tb.Helper()
	const flushed = 6 // events
	history := w.history(run)
	flushes := 0
	for _, event := range history.GetEvents() {
		if event.GetActivityTaskScheduledEventAttributes().GetActivityType().GetName() == activities.NameFlush {
			flushes++
		}
	}
	return localCounts{
		events:    temporaltest.Count(history) - flushed*flushes,
		markers:   temporaltest.Count(history, enumspb.EVENT_TYPE_MARKER_RECORDED),
		scheduled: temporaltest.Count(history, enumspb.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED) - flushes,
		timers:    temporaltest.Count(history, enumspb.EVENT_TYPE_TIMER_STARTED),
	}
}

// Local actions in a line stay in one workflow task: a marker each, and nothing
// else.
func TestLocalLine(t *testing.T) {
	t.Parallel()
	w := setup(t, parts{
		edit: noAttributes, register: registerAdd,
		graphs: []string{localGraph("local_line", "a", localNodes("a", "b", "c", "d", "e"))},
	})
	run := w.run("local_line", json.RawMessage(`{"count":1}`))
	require.Equal(t, "6", w.output(run))
	require.Equal(t, localCounts{events: 11, markers: 6}, w.localCounts(run))
}

// noAttributes keeps the events of search attributes out of what is counted.
func noAttributes(o *activities.Options) { o.SearchAttributes = nil }

// What local actions have done in the task in which the worker is lost is done
// again, and nothing before it: that is what at least once means here.
func TestLocalWorkerLost(t *testing.T) {
	t.Parallel()
	acts, server := newScript(), shared.Server(t)
	var killed atomic.Bool
	const step = "run: act, " + local
	p := parts{
		graphs: []string{localGraph("local_lost", "far", "\n  - {id: far, run: act, next: a}\n  - {id: a, "+step+"next: b}\n  - {id: b, "+step+
			"next: c}\n  - {id: c, run: kill, "+local+"next: d}\n  - {id: d, "+step+"args: {output: done}, next: end}")},
		register: func(r *activities.Registry) {
			acts.register(r)
			activities.Register(r, "kill", func(ctx context.Context, _ struct{}) (any, error) {
				killed.Store(true)
				return acts.note(ctx), nil
			})
		},
	}
	w := &world{tb: t, server: server, queue: server.TaskQueue(t), client: server.Client(t, mortal(&killed))}
	live := server.Client(t)
	t.Cleanup(w.replayAll)
	w.start(p)
	w.client = live
	run := w.runWith(client.StartWorkflowOptions{WorkflowTaskTimeout: 2 * time.Second}, "local_lost")
	temporaltest.Wait(t, 10*time.Second, "the worker to be lost", killed.Load)
	w.start(p)
	require.Equal(t, `"done"`, w.output(run))
	require.Equal(t, []string{"far#1", "a#1", "b#1", "c#1", "d#1", "a#1", "b#1", "c#1", "d#1"}, acts.called(run.GetID()))
}

// mortal makes a client from which nothing comes once it is killed, as from a
// process that is gone.
func mortal(killed *atomic.Bool) func(*client.Options) {
	return func(o *client.Options) {
		o.ConnectionOptions.DialOptions = append(o.ConnectionOptions.DialOptions, grpc.WithChainUnaryInterceptor(
			func(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
				if !killed.Load() {
					if err := invoke(ctx, method, req, reply, cc, opts...); err != nil || !killed.Load() {
						return err
					}
				}
				return status.Error(codes.NotFound, "killed")
			}))
	}
}

// Local branches run side by side.
func TestLocalFork(t *testing.T) {
	t.Parallel()
	var all sync.WaitGroup
	all.Add(3)
	w := setup(t, parts{
		edit: noAttributes,
		register: func(r *activities.Registry) {
			activities.Register(r, "meet", func(ctx context.Context, _ struct{}) (string, error) {
				all.Done()
				all.Wait() // nobody leaves before the others are there
				return activities.Info(ctx).Node, nil
			})
		},
		graphs: []string{localGraph("local_fork", "f",
			forkOf("", "a: run: meet, "+local+"retry: {max_attempts: 1}", "b: run: meet, "+local+"reads: []", "c: run: meet, "+local+"reads: []")+plainJoin)},
	})
	run := w.run("local_fork")
	require.JSONEq(t, `{"a":"a","b":"b","c":"c"}`, w.output(run))
	require.Zero(t, w.localCounts(run).scheduled)
}

// A branch that has lost is told to stop and waited for before the join runs,
// as a remote one is; the SDK's own cancellation would leave it behind.
func TestLocalLoserIsAwaited(t *testing.T) {
	t.Parallel()
	began := make(chan struct{})
	var stopped, joinSaw atomic.Bool
	w := setup(t, parts{
		register: func(r *activities.Registry) {
			activities.Register(r, "first", func(context.Context, struct{}) (int, error) {
				<-began
				return 1, nil
			})
			activities.Register(r, "second", func(ctx context.Context, _ struct{}) (int, error) {
				close(began)
				<-ctx.Done()
				stopped.Store(true)
				return 0, activities.Cancelled("none")
			})
			activities.Register(r, "join", func(context.Context, struct{}) (int, error) {
				joinSaw.Store(stopped.Load())
				return 2, nil
			})
		},
		graphs: []string{localGraph("local_loser", "f", forkOf(", join_policy: any", "a: run: second, "+local+"reads: []", "b: run: first, "+local+"reads: []")+
			"\n  - {id: j, type: join, run: join, "+local+"next: end}")},
	})
	run := w.run("local_loser")
	require.Equal(t, "2", w.output(run))
	require.True(t, joinSaw.Load())
	require.Zero(t, w.localCounts(run).scheduled)
}

// Beside an open remote node a local one is an ordinary activity, and local
// again when that has ended: its result must not hang on a task that an ending
// from outside may have repeated.
func TestLocalBesideRemote(t *testing.T) {
	t.Parallel()
	acts := newScript()
	w := setup(t, parts{
		edit: noAttributes, register: acts.register,
		graphs: []string{localGraph("local_beside", "f", forkOf("", "far: run: act", "near: run: act, "+local+"reads: []")+
			"\n  - {id: j, type: join, run: act, "+local+"next: s}")},
	})
	run := w.run("local_beside")
	w.output(run)
	counts := w.localCounts(run)
	require.Equal(t, 2, counts.scheduled, "the remote branch and the one beside it")
	require.Equal(t, 3, counts.markers, "the pin, the join and what its successor gives")
	require.ElementsMatch(t, []string{"far#1", "j#1", "near#1"}, acts.called(run.GetID()))
}

// A local action in a long loop keeps every workflow task within its bounds.
func TestLocalLoop(t *testing.T) {
	t.Parallel()
	const turns = 2_000
	w := setup(t, parts{register: registerAdd, graphs: []string{localGraph("local_loop", "again",
		"\n  - {id: again, type: loop, while: state.count < 2000, body: a, done: end, max_iterations: 20000}"+
			strings.Replace(localNodes("a"), "next: end", "next: again", 1))}})
	run := w.run("local_loop", json.RawMessage(`{"count":0}`))
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	var count int
	require.NoError(t, run.Get(ctx, &count))
	require.Equal(t, turns, count)
	markers := 0
	for _, id := range w.runsOf(run) { // a slow machine needs more tasks, and with them perhaps a second run
		markers += temporaltest.Count(temporaltest.History(t, w.client, run.GetID(), id), enumspb.EVENT_TYPE_MARKER_RECORDED)
	}
	require.Greater(t, markers, turns)
}

// A query and a cancel in the middle of a long way of local actions are heard at
// the next flush.
func TestLocalLoopAnswers(t *testing.T) {
	t.Parallel()
	w := setup(t, parts{register: registerAdd, graphs: []string{
		strings.Replace(localGraph("local_endless", "a", strings.Replace(localNodes("a"), "next: end", "next: a", 1)), "100000", "2000000000", 1),
	}})
	run := w.run("local_endless", json.RawMessage(`{"count":0}`))
	w.inTheMiddle(run)
	w.cancel(run)
	kind, _ := w.failure(run)
	require.Equal(t, "cancelled", kind)
}

// Failures of local actions are values: retried by the machine, routed, and
// typed as those of remote ones.
func TestLocalFailures(t *testing.T) {
	t.Parallel()
	w := setup(t, parts{
		edit: noAttributes,
		register: func(r *activities.Registry) {
			newScript().register(r)
			registerFill(r)
			activities.Register(r, "panic", func(context.Context, struct{}) (int, error) { panic("no") })
			activities.Register(r, "deaf", func(context.Context, struct{}) (int, error) { select {} })
			activities.Register(r, "final", func(context.Context, struct{}) (int, error) {
				return 0, activities.NewError("no_stock", "none left").NotRetryable()
			})
			activities.Register(r, "pages", func(ctx context.Context, _ struct{}) (string, error) {
				var page string
				if found, err := activities.HeartbeatDetails(ctx, &page); found || err != nil {
					return "on from " + page, err
				}
				return "", errors.Join(activities.Heartbeat(ctx, "page 7"), errors.New("once"))
			})
		},
		graphs: []string{localFailures},
	})
	for _, c := range []struct {
		name, want string
		timers     int
	}{
		{"retried", `"done"`, 0},
		{"backed_off", `"done"`, 1},
		{"exhausted", `"retry_exhausted"`, 0},
		{"final", `"no_stock"`, 0},
		{"panic", `"action_exception"`, 0},
		{"deaf", `"action_timed_out"`, 0},
		{"large", `"output_too_large"`, 0},
		{"pages", `"on from page 7"`, 0},
		{"paused", `{"way":"paused"}`, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := w.in(t)
			run := w.run("local_failures", map[string]string{"way": c.name})
			if c.name == "paused" {
				w.paused(run)
				w.signal(run, "resume", map[string]bool{"yes": true})
			}
			require.JSONEq(t, c.want, w.output(run))
			counts := w.localCounts(run)
			require.Equal(t, []int{0, c.timers}, []int{counts.scheduled, counts.timers})
		})
	}
}

const localFailures = `
version: 1
id: local_failures
entry: which
nodes:
  - {id: which, type: branch, cases: [
      {when: "state.way == 'retried'", to: retried}, {when: "state.way == 'backed_off'", to: backed_off},
      {when: "state.way == 'exhausted'", to: exhausted}, {when: "state.way == 'final'", to: final},
      {when: "state.way == 'panic'", to: panic}, {when: "state.way == 'deaf'", to: deaf},
      {when: "state.way == 'large'", to: large}, {when: "state.way == 'paused'", to: paused}], default: pages}
  - {id: retried, run: act, mode: local, idempotent: true, timeout: 1s, args: {fail: boom, until: 2, output: done}, retry: {max_attempts: 3, backoff: 0s}, next: end}
  - {id: backed_off, run: act, mode: local, idempotent: true, timeout: 1s, args: {fail: boom, until: 1, output: done}, retry: {max_attempts: 3}, next: end}
  - {id: exhausted, run: act, mode: local, idempotent: true, timeout: 1s, args: {fail: boom}, retry: {max_attempts: 3, backoff: 0s}, on_error: shown, next: end}
  - {id: final, run: final, mode: local, idempotent: true, timeout: 1s, retry: {max_attempts: 3}, on_error: shown, next: end}
  - {id: panic, run: panic, mode: local, idempotent: true, timeout: 1s, on_error: shown, next: end}
  - {id: deaf, run: deaf, mode: local, idempotent: true, timeout: 100ms, on_error: shown, next: end}
  - {id: large, run: fill, mode: local, idempotent: true, timeout: 1s, args: {bytes: 262144}, on_error: shown, next: end}
  - {id: pages, run: pages, mode: local, idempotent: true, timeout: 1s, retry: {max_attempts: 2, backoff: 0s}, next: end}
  - {id: paused, run: act, mode: local, idempotent: true, timeout: 1s, args: {control: pause}, next: end}
  - {id: shown, type: set, output: "${ input.type }", next: end}
`

// A local action that its worker does not have is looked for elsewhere, as a
// remote one is, and the run says what it waits for.
func TestLocalMissingAction(t *testing.T) {
	t.Parallel()
	graphs := []string{localGraph("local_missing", "go", "\n  - {id: go, run: ship, "+local+"next: end}")}
	w := setup(t, parts{graphs: graphs})
	run := w.run("local_missing")
	w.until(run, "the missing action to be named", func(r graph.Report) bool {
		return len(r.Waiting) == 1 && r.Waiting[0].Reason == "no worker has action `ship`"
	})
	w.start(parts{register: func(r *activities.Registry) {
		activities.Register(r, "ship", func(context.Context, struct{}) (string, error) { return "shipped", nil })
	}})
	w.worker.Stop()
	require.Equal(t, `"shipped"`, w.output(run))
}

// Large results of local branches that run side by side are sent to the server
// at once. They must fit, or the task would fail for ever.
func TestLocalForkOfLargeResults(t *testing.T) {
	t.Parallel()
	var branches []string
	for i := range 30 {
		branches = append(branches, fmt.Sprintf("b%d: run: fill, %sargs: {bytes: 262000}", i, local))
	}
	w := setup(t, parts{register: registerFill, graphs: []string{localGraph("local_large", "f", forkOf("", branches...)+plainJoin)}})
	run := w.run("local_large")
	w.runs = nil // replayed here: its tasks hold more than others may
	w.server.Excuse(run.GetID())
	kind, _ := w.failure(run)
	require.Equal(t, graph.ErrTypeForkBranchFailed, kind)
	for i, task := range temporaltest.Tasks(w.history(run)) {
		require.LessOrEqual(t, task.Bytes, 2<<20+64<<10, "bytes of workflow task %d", i)
	}
	recording := historytest.Record(t, w.client, run.GetID(), run.GetRunID())
	require.NoError(t, historytest.TryReplay(recording, worker.WorkflowReplayerOptions{}, registerReplay))
}

// An ending in the middle of a deploy: the worker that stops lets a local action
// end, and no attempt is counted twice.
func TestLocalWorkerStops(t *testing.T) {
	t.Parallel()
	began := make(chan struct{}, 2)
	p := parts{
		worker: worker.Options{WorkerStopTimeout: 5 * time.Second},
		register: func(r *activities.Registry) {
			activities.Register(r, "slow", func(ctx context.Context, _ struct{}) (int, error) {
				began <- struct{}{}
				select {
				case <-ctx.Done():
					return 0, ctx.Err()
				case <-time.After(300 * time.Millisecond):
					return activities.Info(ctx).Attempt, nil
				}
			})
		},
		graphs: []string{localGraph("local_stops", "a", "\n  - {id: a, run: slow, "+local+"next: end}")},
	}
	w := setup(t, p)
	run := w.runWith(client.StartWorkflowOptions{WorkflowTaskTimeout: 2 * time.Second}, "local_stops")
	<-began
	w.start(p)
	w.worker.Stop()
	require.Equal(t, "1", w.output(run))
}
