package activities_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"

	"github.com/tidemill/tidemill/activities"
	"github.com/tidemill/tidemill/graph"
	"github.com/tidemill/tidemill/internal/temporaltest"
)

// locally makes one local attempt and reads it as the workflow would.
func (b *bench) locally(task graph.Task, cancel <-chan struct{}) graph.Ending {
	b.tb.Helper()
	b.options.Registry = b.registry
	acts, err := activities.New(b.options)
	require.NoError(b.tb, err)
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(temporaltest.Logger())
	env := suite.NewTestActivityEnvironment()
	encoded, err := env.ExecuteLocalActivity(acts.Local, activities.LocalInput{Task: task, Cancel: cancel})
	var end activities.LocalEnd
	if err == nil {
		require.NoError(b.tb, encoded.Get(&end))
	}
	return activities.EndingOfLocal(task.Node, end, err)
}

// A local attempt ends as one by an activity of its own, and each ending is a
// value that is recorded: were it an error, the SDK would decide what follows.
func TestLocalEndings(t *testing.T) {
	t.Parallel()
	const twice = "retry: {max_attempts: 2}"
	failure := func(kind, message string) *graph.Failure { return &graph.Failure{Type: kind, Message: message} }
	for name, c := range map[string]struct {
		fields string
		act    func(context.Context) (any, error)
		want   graph.Ending
	}{
		"an output": {
			"", func(context.Context) (any, error) { return "<b>", nil },
			graph.Ending{Kind: graph.Returned, Result: &graph.Result{Output: json.RawMessage(`"<b>"`)}},
		},
		"expressions around it": {
			"output: '${ result + state.count }'", func(context.Context) (any, error) { return 2, nil },
			graph.Ending{Kind: graph.Returned, Result: &graph.Result{Output: json.RawMessage("3")}},
		},
		"a failure": {
			twice, func(context.Context) (any, error) { return nil, errors.New("boom") },
			graph.Ending{Kind: graph.Failed, Used: 1, Failure: failure("action_exception", "boom")},
		},
		"a failure that asks for a wait": {
			twice, func(context.Context) (any, error) {
				return nil, activities.NewError("busy", "later").After(time.Minute)
			},
			graph.Ending{Kind: graph.Failed, Used: 1, RetryAfter: time.Minute, Failure: failure("busy", "later")},
		},
		"a final one": {
			twice, func(context.Context) (any, error) { return nil, activities.NewError("no", "never").NotRetryable() },
			graph.Ending{Kind: graph.Failed, Used: 1, Final: true, Failure: failure("no", "never")},
		},
		"one that the node calls final": {
			"retry: {max_attempts: 2, non_retryable: [never]}", func(context.Context) (any, error) { return nil, activities.NewError("never", "no") },
			graph.Ending{Kind: graph.Failed, Used: 1, Final: true, Failure: failure("never", "no")},
		},
		"a panic": {
			"", func(context.Context) (any, error) { panic("oh") },
			graph.Ending{Kind: graph.Failed, Used: 1, Failure: failure("action_exception", "panic: oh")},
		},
		"too slow, listening": {
			"timeout: 50ms", func(ctx context.Context) (any, error) { <-ctx.Done(); return nil, ctx.Err() },
			graph.Ending{Kind: graph.TimedOut, Used: 1, Failure: failure("action_timed_out", "the action ran longer than the node's timeout of 50ms")},
		},
		"too slow and deaf": {
			"timeout: 50ms", func(context.Context) (any, error) { select {} },
			graph.Ending{Kind: graph.TimedOut, Used: 1, Failure: failure("action_timed_out", "the action ran longer than the node's timeout of 50ms")},
		},
		"details for the next attempt": {
			twice, func(ctx context.Context) (any, error) {
				return nil, errors.Join(activities.Heartbeat(ctx, "page 7"), errors.New("boom"))
			},
			graph.Ending{Kind: graph.Failed, Used: 1, Heartbeat: json.RawMessage(`"page 7"`), Failure: failure("action_exception", "boom")},
		},
		"arguments that do not fit": {
			"args: '${ state.none }'", func(context.Context) (any, error) { return 1, nil },
			graph.Ending{Kind: graph.Failed, Used: 1, Final: true, Failure: failure("expression_failed", "")},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := action(setup(t), func(ctx context.Context, _ json.RawMessage) (any, error) { return c.act(ctx) })
			got := b.locally(b.task(c.fields), nil)
			if c.want.Failure != nil && c.want.Failure.Message == "" {
				c.want.Failure = got.Failure
			}
			require.Equal(t, c.want, got)
		})
	}
}

// What an action can ask about itself it can ask in a local attempt too, and
// what needs a server that knows of the attempt does nothing.
func TestLocalInfo(t *testing.T) {
	t.Parallel()
	b := action(setup(t), func(ctx context.Context, _ json.RawMessage) (any, error) {
		activity.RecordHeartbeat(ctx, "ignored")
		var page string
		found, err := activities.HeartbeatDetails(ctx, &page)
		return []any{activities.Info(ctx).Key, activities.Info(ctx).Attempt, found, page}, err
	})
	task := b.task("")
	require.JSONEq(t, `["lineage/work#1",1,false,""]`, string(b.locally(task, nil).Result.Output))
	task.Before, task.Heartbeat = 2, json.RawMessage(`"page 7"`)
	require.JSONEq(t, `["lineage/work#1",3,true,"page 7"]`, string(b.locally(task, nil).Result.Output))
}

// An action that the worker does not have must be recorded as an interruption:
// for a local activity of an unknown name the SDK records nothing, and the replay
// on a worker that has it would go another way.
func TestLocalMissing(t *testing.T) {
	t.Parallel()
	b := setup(t)
	task := b.task("")
	task.Before = 1
	require.Equal(t, graph.Ending{Kind: graph.Interrupted, Interruption: graph.InterruptNotRegistered, Used: 1}, b.locally(task, nil))
}

// All that the local attempts of a workflow task gave goes to the server at
// once, so each may give less than an activity of its own.
func TestLocalResultIsBounded(t *testing.T) {
	t.Parallel()
	fits := activities.MaxLocalResult - len(`{"output":""}`)
	for size, want := range map[int]graph.EndingKind{fits: graph.Returned, fits + 1: graph.Failed} {
		b := returns(t, strings.Repeat("x", size), nil)
		require.Equal(t, graph.Returned, b.run(b.task("")).Kind, "an activity of its own may give more")
		got := b.locally(b.task(""), nil)
		require.Equal(t, want, got.Kind)
		if want == graph.Failed {
			require.Equal(t, graph.ErrTypeOutputTooLarge, got.Failure.Type)
			require.Contains(t, got.Failure.Message, "at most 262144 are allowed with mode: local")
		}
	}
	b := returns(t, 1, nil)
	task := b.task("args: '${ state.text }'")
	task.State.Set("text", json.RawMessage(`"`+strings.Repeat("x", 2*activities.MaxLocalResult)+`"`))
	require.Equal(t, graph.Returned, b.locally(task, nil).Kind, "arguments are not recorded")
}

// A local attempt that is cancelled is waited for, says what it did, and is not
// begun at all when the cancel came first.
func TestLocalCancel(t *testing.T) {
	t.Parallel()
	cancel := make(chan struct{})
	calls := 0
	b := action(setup(t), func(ctx context.Context, _ json.RawMessage) (any, error) {
		calls++
		close(cancel)
		<-ctx.Done()
		return nil, activities.Cancelled("done")
	})
	task := b.task("timeout: 1s")
	got := b.locally(task, cancel)
	require.Equal(t, graph.Cancelled, got.Kind)
	require.Equal(t, "done", got.Failure.Effect)
	got = b.locally(task, cancel)
	require.Equal(t, graph.Cancelled, got.Kind)
	require.Equal(t, "none", got.Failure.Effect)
	require.Equal(t, 1, calls)

	deaf := make(chan struct{})
	b = action(setup(t), func(context.Context, json.RawMessage) (any, error) {
		close(deaf)
		select {}
	})
	began := time.Now()
	got = b.locally(b.task("timeout: 100ms"), deaf)
	require.Equal(t, graph.Cancelled, got.Kind)
	require.Equal(t, "unknown", got.Failure.Effect)
	require.Less(t, time.Since(began), 5*time.Second, "its grace ends with its timeout")
}

// An attempt that the SDK had to end, for it hung outside its action, is one
// that ran out of time.
func TestLocalBackstop(t *testing.T) {
	t.Parallel()
	hung := temporal.NewTimeoutError(enumspb.TIMEOUT_TYPE_START_TO_CLOSE, nil)
	got := activities.EndingOfLocal(setup(t).task("").Node, activities.LocalEnd{}, hung)
	require.Equal(t, graph.TimedOut, got.Kind)
	require.Equal(t, graph.ErrTypeActionTimedOut, got.Failure.Type)
}

// Secrets do not leave a local attempt either.
func TestLocalSecretsStay(t *testing.T) {
	t.Parallel()
	b := action(setup(t), func(_ context.Context, in map[string]string) (any, error) {
		return nil, errors.New("refused " + in["token"])
	})
	b.options.Secrets = vault(canary)
	got := b.locally(b.task(`args: {token: "${ secret('TOKEN') }"}`), nil)
	require.Equal(t, "refused ***", got.Failure.Message)
}
