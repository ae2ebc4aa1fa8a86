package activities_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/temporal"

	"github.com/tidemill/tidemill/activities"
	"github.com/tidemill/tidemill/graph"
)

func TestErrorsOfAnAction(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		err     error
		want    graph.Failure
		final   bool
		after   time.Duration
		details string
	}{
		"plain": {err: errors.New("boom"), want: graph.Failure{Type: graph.ErrTypeActionException, Message: "boom"}},
		"own": {
			err:  activities.NewError("card_declined", "no"),
			want: graph.Failure{Type: "card_declined", Message: "no"},
		},
		"own, wrapped": {
			err:   fmt.Errorf("pay: %w", activities.NewError("card_declined", "no").NotRetryable()),
			want:  graph.Failure{Type: "card_declined", Message: "no"},
			final: true,
		},
		"own in full": {
			err: activities.NewError("busy", "later").After(time.Minute).AsBusiness().
				WithDetails(map[string]any{"b": 1, "a": "<"}).WithCause(errors.New("x")),
			want: graph.Failure{Type: "busy", Message: "later", Business: true}, after: time.Minute,
			details: `{"a":"<","b":1}`,
		},
		"without a type":      {err: activities.NewError("", "x"), want: graph.Failure{Type: graph.ErrTypeActionException, Message: "x"}},
		"a type of ours":      {err: activities.NewError(activities.ErrTypeInterrupted, "x"), want: graph.Failure{Type: graph.ErrTypeActionException, Message: "x"}},
		"a type of the SDK's": {err: activities.NewError(activities.ErrTypeNotRegistered, "x"), want: graph.Failure{Type: graph.ErrTypeActionException, Message: "x"}},
		"details that are not JSON": {
			err:  activities.NewError("t", "x").WithDetails(make(chan int)),
			want: graph.Failure{Type: "t", Message: "x (details left out: value: unsupported at the top level (byte 0): JSON has no form for this Go value: json: unsupported type: chan int)"},
		},
		"details too large": {
			err:  activities.NewError("t", "x").WithDetails(strings.Repeat("x", 64<<10)),
			want: graph.Failure{Type: "t", Message: "x (details left out: 65538 bytes, more than 65536)"},
		},
		"a long message": {
			err:  errors.New(strings.Repeat("x", 5000)),
			want: graph.Failure{Type: graph.ErrTypeActionException, Message: strings.Repeat("x", 4096)},
		},
		"of Temporal": {
			err: temporal.NewApplicationErrorWithOptions("no", "declined", temporal.ApplicationErrorOptions{
				NonRetryable: true, Details: []any{map[string]int{"a": 1}}, Category: temporal.ApplicationErrorCategoryBenign,
			}),
			want:  graph.Failure{Type: "declined", Message: "no", Business: true},
			final: true, details: `{"a":1}`,
		},
		"of Temporal, later": {
			err: temporal.NewApplicationErrorWithOptions("no", "later", temporal.ApplicationErrorOptions{
				NextRetryDelay: time.Second,
			}),
			want: graph.Failure{Type: "later", Message: "no"}, after: time.Second,
		},
		// A cancellation nobody asked for is an error like any other.
		"cancelled by itself": {err: activities.Cancelled("none"), want: graph.Failure{Type: graph.ErrTypeActionException, Message: "activities: cancelled, effect: none"}},
		"context error":       {err: context.Canceled, want: graph.Failure{Type: graph.ErrTypeActionException, Message: "context canceled"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ending := returns(t, nil, c.err).failure("retry: {max_attempts: 3}")
			if c.details != "" {
				c.want.Details = json.RawMessage(c.details)
			}
			require.Equal(t, graph.Failed, ending.Kind)
			require.Equal(t, c.want, *ending.Failure)
			require.Equal(t, c.final, ending.Final)
			require.Equal(t, c.after, ending.RetryAfter)
			require.Equal(t, 1, ending.Used)
		})
	}
}

// Neither a panic in the action, nor one in a type's own encoder, nor a goroutine
// that ends without returning may take the worker with it or pass for a success.
func TestPanicsAreFailures(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fn   func() any
		want string
	}{
		"panic":       {func() any { panic("boom") }, "panic: boom"},
		"nil pointer": {func() any { return len(*missing()) }, "panic: runtime error: invalid memory address or nil pointer dereference"},
		"encoder":     {func() any { return hostile{} }, "panic: encoder"},
		"goexit":      {func() any { runtime.Goexit(); return nil }, "activities: the action ended its goroutine without returning"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := action(setup(t), func(context.Context, json.RawMessage) (any, error) { return c.fn(), nil })
			ending := b.failure("")
			require.Equal(t, graph.ErrTypeActionException, ending.Failure.Type)
			require.Equal(t, c.want, ending.Failure.Message)
			require.False(t, ending.Final, "a panic may pass")
		})
	}
}

// missing gives a pointer to nothing.
func missing() *string { return nil }

type hostile struct{}

func (hostile) MarshalJSON() ([]byte, error) { panic("encoder") }

// The server must stop when the failure is final, when the policy says so, and
// when the node's attempts are used up; the failure itself stays as it is, so
// that the run can tell an exhausted retry from a final error.
func TestWhatTheServerMayRetry(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		err              error
		before           int
		retry            string
		retryable, final bool
	}{
		"more attempts":  {errors.New("x"), 0, "max_attempts: 3", true, false},
		"the last":       {errors.New("x"), 2, "max_attempts: 3", false, false},
		"the only":       {errors.New("x"), 0, "max_attempts: 1", false, false},
		"final":          {activities.NewError("t", "x").NotRetryable(), 0, "max_attempts: 3", false, true},
		"listed":         {activities.NewError("t", "x"), 0, "max_attempts: 3, non_retryable: [t]", false, true},
		"another listed": {activities.NewError("t", "x"), 0, "max_attempts: 3, non_retryable: [u]", true, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := returns(t, nil, c.err)
			task := b.task("retry: {" + c.retry + "}")
			task.Before = c.before
			ending, err := b.attempt(task)
			seen := new(temporal.ApplicationError)
			require.ErrorAs(t, err, &seen)
			require.Equal(t, !c.retryable, seen.NonRetryable())
			require.Equal(t, c.final, ending.Final)
			require.Equal(t, c.before+1, ending.Used)
			require.Equal(t, ending.Failure.Type, seen.Type())
		})
	}
}

// A wait an action asks for is honoured up to max_backoff and never shortens the
// policy's own.
func TestRetryAfterIsBounded(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		asked time.Duration
		want  time.Duration
	}{
		"none":      {0, 0},
		"between":   {3 * time.Second, 3 * time.Second},
		"too long":  {time.Hour, 10 * time.Second},
		"too short": {time.Millisecond, time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := returns(t, nil, activities.NewError("busy", "x").After(c.asked))
			_, err := b.attempt(b.task("retry: {max_attempts: 3, backoff: 1s, max_backoff: 10s}"))
			seen := new(temporal.ApplicationError)
			require.ErrorAs(t, err, &seen)
			require.Equal(t, c.want, seen.NextRetryDelay())
		})
	}
}

func TestFailAction(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		args string
		want graph.Failure
	}{
		"typed":   {`{type: order_service_down, message: "no"}`, graph.Failure{Type: "order_service_down", Message: "no"}},
		"in full": {`{type: t, message: m, business: true, details: {a: 1}}`, graph.Failure{Type: "t", Message: "m", Business: true, Details: json.RawMessage(`{"a":1}`)}},
		"no type": {`{message: m}`, graph.Failure{Type: graph.ErrTypeNodeInputSchema, Message: "action fail needs a type: the word that on_error and callers match"}},
		"misspelt": {`{type: t, mesage: m}`, graph.Failure{
			Type: graph.ErrTypeNodeInputSchema, Message: `action fail takes type, message, business and details: json: unknown field "mesage"`,
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			task := b.task("retry: {max_attempts: 3}, args: " + c.args)
			task.Node.Run.Name = activities.NameFail
			ending := b.run(task)
			require.Equal(t, c.want, *ending.Failure)
			require.True(t, ending.Final)
		})
	}
}
