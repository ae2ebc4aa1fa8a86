package activities_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"

	"github.com/tidemill/tidemill/activities"
	"github.com/tidemill/tidemill/graph"
)

// wire sends an error through a payload, as it comes back from history.
func wire(t *testing.T, err error) error {
	t.Helper()
	c := temporal.NewDefaultFailureConverter(temporal.DefaultFailureConverterOptions{DataConverter: converter.GetDefaultDataConverter()})
	return fmt.Errorf("activity error: %w", c.FailureToError(c.ErrorToFailure(err)))
}

func report(errorType string, r activities.AttemptReport) error {
	return temporal.NewApplicationErrorWithOptions("m", errorType, temporal.ApplicationErrorOptions{Details: []any{r}})
}

func TestEndingOf(t *testing.T) {
	t.Parallel()
	failure := func(errorType, message string) *graph.Failure {
		return &graph.Failure{Type: errorType, Message: message}
	}
	declined := failure("declined", "no")
	cancelled := &graph.Failure{Type: graph.ErrTypeCancelled, Message: "the node was cancelled", Effect: "unknown"}
	quiet := *cancelled
	quiet.Effect = "none"
	for name, c := range map[string]struct {
		err  error
		want graph.Ending
	}{
		"our failure": {
			report("declined", activities.AttemptReport{Used: 3, Failure: declined, Final: true, RetryAfter: time.Second}),
			graph.Ending{Kind: graph.Failed, Failure: declined, Used: 3, Final: true, RetryAfter: time.Second},
		},
		"our timeout": {
			report(graph.ErrTypeActionTimedOut, activities.AttemptReport{Used: 1, Failure: failure(graph.ErrTypeActionTimedOut, "m"), TimedOut: true}),
			graph.Ending{Kind: graph.TimedOut, Failure: failure(graph.ErrTypeActionTimedOut, "m"), Used: 1},
		},
		"our interruption": {
			report(activities.ErrTypeInterrupted, activities.AttemptReport{Used: 2, Interruption: graph.InterruptReset}),
			graph.Ending{Kind: graph.Interrupted, Interruption: graph.InterruptReset, Used: 2},
		},
		"cancelled where the SDK passes no cancel": {
			report(graph.ErrTypeCancelled, activities.AttemptReport{Used: 1, Failure: cancelled, Cancelled: true}),
			graph.Ending{Kind: graph.Cancelled, Failure: cancelled, Used: 1},
		},
		"cancelled": {
			temporal.NewCanceledError(activities.CancelReport{Effect: "none"}),
			graph.Ending{Kind: graph.Cancelled, Failure: &quiet},
		},
		"cancelled by another SDK": {temporal.NewCanceledError(), graph.Ending{Kind: graph.Cancelled, Failure: cancelled}},
		"lost worker": {
			temporal.NewHeartbeatTimeoutError(map[string]int{"used": 2, "attempt": 5}),
			graph.Ending{Kind: graph.Interrupted, Interruption: graph.InterruptWorkerLost, Used: 2},
		},
		"lost worker before its first heartbeat": {
			temporal.NewHeartbeatTimeoutError(), graph.Ending{Kind: graph.Interrupted, Interruption: graph.InterruptWorkerLost},
		},
		"foreign heartbeat details": {
			temporal.NewHeartbeatTimeoutError("page 3"), graph.Ending{Kind: graph.Interrupted, Interruption: graph.InterruptWorkerLost},
		},
		"server's timeout": {
			temporal.NewTimeoutError(enumspb.TIMEOUT_TYPE_START_TO_CLOSE, errors.New("x")),
			graph.Ending{Kind: graph.TimedOut, Failure: failure(graph.ErrTypeActionTimedOut, "the activity ran out of time (StartToClose)")},
		},
		"nobody took it": {
			temporal.NewTimeoutError(enumspb.TIMEOUT_TYPE_SCHEDULE_TO_START, errors.New("x")),
			graph.Ending{Kind: graph.Interrupted, Interruption: graph.InterruptNotRegistered},
		},
		"missing action": {
			temporal.NewApplicationError("unable to find", activities.ErrTypeNotRegistered),
			graph.Ending{Kind: graph.Interrupted, Interruption: graph.InterruptNotRegistered},
		},
		"another SDK's error": {
			temporal.NewNonRetryableApplicationError("no", "CardDeclined", nil, map[string]string{"a": "<"}),
			graph.Ending{Kind: graph.Failed, Final: true, Failure: &graph.Failure{Type: "CardDeclined", Message: "no", Details: json.RawMessage(`{"a":"<"}`)}},
		},
		"another SDK's error, caused by a timeout elsewhere": {
			temporal.NewApplicationErrorWithCause("no", "Upstream", temporal.NewTimeoutError(enumspb.TIMEOUT_TYPE_START_TO_CLOSE, errors.New("x"))),
			graph.Ending{Kind: graph.Failed, Failure: failure("Upstream", "no")},
		},
		"another SDK's panic": {
			errors.New("x"), graph.Ending{Kind: graph.Failed, Failure: failure(graph.ErrTypeActionException, "x")},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, activities.EndingOf(nodeOf(t, "run: act"), nil, wire(t, c.err)))
		})
	}
}

func TestEndingOfListedFailureIsFinal(t *testing.T) {
	t.Parallel()
	node := nodeOf(t, "run: {activity: Pay, task_queue: q}, retry: {max_attempts: 5, non_retryable: [CardDeclined]}")
	require.True(t, activities.EndingOf(node, nil, wire(t, temporal.NewApplicationError("no", "CardDeclined"))).Final)
	require.False(t, activities.EndingOf(node, nil, wire(t, temporal.NewApplicationError("no", "Busy"))).Final)
}

// The payload converter escapes <, > and &; a digest or a size taken over that
// would differ from the one over what was shown.
func TestEndingOfResultIsCanonical(t *testing.T) {
	t.Parallel()
	result := graph.Result{Output: json.RawMessage(`{"b": 1, "a": "\u003cb\u003e\u0026"}`), Pause: &graph.PauseRequest{Show: json.RawMessage(`"\u003c"`)}}
	got := activities.EndingOf(nil, &result, nil)
	require.Equal(t, graph.Returned, got.Kind)
	want := `{"a":"<b>&","b":1}`
	require.Equal(t, want, string(got.Result.Output))
	require.Equal(t, `"<"`, string(got.Result.Pause.Show))
	require.Equal(t, `"\u003c"`, string(result.Pause.Show), "the argument stays as it was")
	require.Equal(t, &graph.Result{}, activities.EndingOf(nil, nil, nil).Result)
}

// Errors that were never on a wire must not make the SDK's accessors panic in
// workflow code.
func TestEndingOfLocalErrors(t *testing.T) {
	t.Parallel()
	got := activities.EndingOf(nil, nil, temporal.NewApplicationError("no", "T", 7))
	require.Equal(t, &graph.Failure{Type: "T", Message: "no", Details: json.RawMessage("7")}, got.Failure)
	require.Equal(t, graph.Cancelled, activities.EndingOf(nil, nil, temporal.NewCanceledError("x")).Kind)
}
