package activities_test

import (
	"context"
	"encoding/json"
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/testsuite"

	"github.com/tidemill/tidemill/activities"
	"github.com/tidemill/tidemill/graph"
	"github.com/tidemill/tidemill/internal/temporaltest"
)

func TestInfo(t *testing.T) {
	t.Parallel()
	require.Equal(t, graph.RunFacts{}, activities.Info(t.Context()), "outside an action there are no facts")
	b := action(setup(t), func(ctx context.Context, _ json.RawMessage) (graph.RunFacts, error) {
		return activities.Info(ctx), nil
	})
	task := b.task("")
	task.Before = 4
	var facts graph.RunFacts
	require.NoError(t, json.Unmarshal(b.run(task).Result.Output, &facts))
	require.Equal(t, "lineage/work#1", facts.Key)
	require.Equal(t, graph.Address("work#1"), facts.Address)
	require.Equal(t, 5, facts.Attempt, "attempts of earlier schedulings count")
}

// The server counts an attempt that was lost with its worker; the node must not.
// What earlier attempts left in their heartbeats tells them apart.
func TestAttemptsAreCountedApartFromInterruptions(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		before  int
		details any
		want    int
	}{
		"no heartbeat":       {0, nil, 1},
		"lost, none ended":   {0, map[string]any{"used": 0, "attempt": 3}, 1},
		"one of two ended":   {0, map[string]any{"used": 1, "attempt": 2}, 2},
		"scheduled again":    {2, map[string]any{"used": 3, "attempt": 2}, 4},
		"details not ours":   {2, "page 3", 3},
		"an object not ours": {2, map[string]any{"page": 3}, 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := action(setup(t), func(ctx context.Context, _ json.RawMessage) (int, error) {
				return activities.Info(ctx).Attempt, errors.New("x")
			})
			b.prepare = func(env *testsuite.TestActivityEnvironment) {
				if c.details != nil {
					env.SetHeartbeatDetails(c.details)
				}
			}
			task := b.task("retry: {max_attempts: 9}")
			task.Before = c.before
			require.Equal(t, c.want, b.run(task).Used)
		})
	}
}

// An attempt that ended must say so before the server starts the next, or that
// one would take it for a lost worker.
func TestEndedAttemptIsRecorded(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		err  error
		want string // last heartbeat; empty: none
	}{
		"failed":  {errors.New("x"), `{"used":1,"attempt":1,"details":{"page":2}}`},
		"final":   {activities.NewError("t", "x").NotRetryable(), ""},
		"success": {nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := action(setup(t), func(ctx context.Context, _ json.RawMessage) (any, error) {
				if c.want != "" {
					require.NoError(t, activities.Heartbeat(ctx, map[string]int{"page": 2}))
				}
				return nil, c.err
			})
			var last string
			b.prepare = func(env *testsuite.TestActivityEnvironment) {
				env.SetOnActivityHeartbeatListener(func(_ *activity.Info, details converter.EncodedValues) {
					var raw json.RawMessage
					if details.Get(&raw) == nil {
						last = string(raw)
					}
				})
			}
			b.run(b.task("retry: {max_attempts: 2}"))
			require.Equal(t, c.want, last)
		})
	}
}

func TestHeartbeatDetails(t *testing.T) {
	t.Parallel()
	_, err := activities.HeartbeatDetails(t.Context(), new(int))
	require.ErrorIs(t, err, activities.ErrNoAction)
	require.ErrorIs(t, activities.Heartbeat(t.Context(), 1), activities.ErrNoAction)

	b := action(setup(t), func(ctx context.Context, _ json.RawMessage) (any, error) {
		require.Error(t, activities.Heartbeat(ctx, make(chan int)))
		require.Error(t, activities.Heartbeat(ctx, strings.Repeat("x", 64<<10)))
		var page json.Number
		found, err := activities.HeartbeatDetails(ctx, &page)
		return map[string]any{"found": found, "page": page}, err
	})
	require.JSONEq(t, `{"found":false,"page":0}`, string(b.result("").Output))
	b.prepare = func(env *testsuite.TestActivityEnvironment) {
		env.SetHeartbeatDetails(map[string]any{"used": 0, "attempt": 1, "details": 7})
	}
	require.JSONEq(t, `{"found":true,"page":7}`, string(b.result("").Output))
}

// An action that does not listen must not keep the node beyond its timeout: the
// attempt is reported on time and the action left behind.
func TestTimeoutIsKeptByTheWrapper(t *testing.T) {
	t.Parallel()
	for name, deaf := range map[string]bool{"an action that listens": false, "a deaf action": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			release, cause := make(chan struct{}), make(chan error, 1)
			b := action(setup(t), func(ctx context.Context, _ json.RawMessage) (any, error) {
				if deaf {
					<-release
					return "late", nil
				}
				<-ctx.Done()
				cause <- context.Cause(ctx)
				return nil, ctx.Err()
			})
			start := time.Now()
			ending := b.failure("timeout: 100ms, retry: {max_attempts: 2}")
			require.Less(t, time.Since(start), 5*time.Second)
			close(release)
			require.Equal(t, graph.TimedOut, ending.Kind)
			require.Equal(t, graph.ErrTypeActionTimedOut, ending.Failure.Type)
			require.False(t, ending.Final)
			require.Equal(t, 1, ending.Used)
			if !deaf {
				require.ErrorContains(t, <-cause, "timeout")
			}
		})
	}
}

// A worker that stops tells its actions, waits a moment, and what they do not
// finish is an interruption and no attempt.
func TestWorkerStop(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		act  func(context.Context) (any, error)
		want graph.Ending
	}{
		"finishes by itself": {
			func(ctx context.Context) (any, error) { <-ctx.Done(); return "done", nil },
			graph.Ending{Kind: graph.Returned, Result: &graph.Result{Output: json.RawMessage(`"done"`)}},
		},
		"gives up": {
			func(ctx context.Context) (any, error) { <-ctx.Done(); return nil, ctx.Err() },
			graph.Ending{Kind: graph.Interrupted, Interruption: graph.InterruptShutdown, Used: 2},
		},
		"does not listen": {
			func(context.Context) (any, error) { select {} },
			graph.Ending{Kind: graph.Interrupted, Interruption: graph.InterruptShutdown, Used: 2},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			stop := make(chan struct{})
			b := action(setup(t), func(ctx context.Context, _ json.RawMessage) (any, error) {
				close(stop)
				return c.act(ctx)
			})
			b.prepare = func(env *testsuite.TestActivityEnvironment) { env.SetWorkerStopChannel(stop) }
			task := b.task("retry: {max_attempts: 1}")
			task.Before = 2
			require.Equal(t, c.want, b.run(task))
		})
	}
}

// With a grace an action of a stopping worker goes on undisturbed.
func TestWorkerStopGrace(t *testing.T) {
	t.Parallel()
	stop := make(chan struct{})
	b := action(setup(t), func(ctx context.Context, _ json.RawMessage) (bool, error) {
		close(stop)
		select {
		case <-ctx.Done():
			return false, nil
		case <-time.After(200 * time.Millisecond):
			return true, nil
		}
	})
	b.options.StopGrace = time.Minute
	b.prepare = func(env *testsuite.TestActivityEnvironment) { env.SetWorkerStopChannel(stop) }
	require.Equal(t, "true", string(b.result("").Output))
}

// Thousands of nodes run in one worker: an attempt must leave no goroutine.
func TestNoGoroutineIsLeft(t *testing.T) { //nolint:paralleltest // counts goroutines of the process
	b := returns(t, 1, nil)
	b.result("timeout: 1h")
	before := runtime.NumGoroutine()
	for range 20 {
		b.result("timeout: 1h")
	}
	temporaltest.Wait(t, 5*time.Second, "goroutines to end", func() bool { return runtime.NumGoroutine() <= before+2 })
}
