package activities_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/temporal"

	"github.com/tidemill/tidemill/activities"
	"github.com/tidemill/tidemill/graph"
	"github.com/tidemill/tidemill/graph/value"
)

// closedWith is the error of a run that closed with an outcome document.
func closedWith(r graph.Report) error {
	options := temporal.ApplicationErrorOptions{NonRetryable: true, Details: []any{r}}
	return temporal.NewApplicationErrorWithOptions(r.Error.Message, r.Error.Type, options)
}

func TestEndingOfChild(t *testing.T) {
	t.Parallel()
	boom := &graph.Failure{Type: "boom", Message: "no", Node: "a", Address: "sub#1/a#1", Business: true, Details: json.RawMessage(`{"a":"<"}`)}
	failed := graph.Report{Status: graph.StatusFailed, Error: boom}
	late := &graph.Failure{Type: graph.ErrTypeDeadlineExceeded, Message: "late"}
	attempt := &graph.Failure{Type: graph.ErrTypeActionTimedOut, Message: "too long"}
	stopped := &graph.Failure{Type: graph.ErrTypeCancelled, Message: "stop", Cause: &graph.Failure{Type: graph.ErrTypeCancelled, Effect: "unknown"}}
	idle := &graph.Failure{Type: graph.ErrTypeCancelled, Message: "stop"}
	cancelledWith := func(f *graph.Failure) error {
		return temporal.NewCanceledError(graph.Report{Status: graph.StatusCancelled, Error: f})
	}
	for name, c := range map[string]struct {
		child  activities.EndedChild
		kind   graph.EndingKind
		want   string // type of the failure
		cause  *graph.Failure
		final  bool
		effect string
		says   string
		raw    bool // no failure of a workflow, which history holds
	}{
		"failed":              {child: activities.EndedChild{Err: closedWith(failed)}, kind: graph.Failed, want: graph.ErrTypeChildFailed, cause: boom, says: `graph "sub" failed with boom: no`},
		"a map's failure":     {child: activities.EndedChild{Map: true, Err: closedWith(failed)}, kind: graph.Failed, want: "boom"},
		"its own deadline":    {child: activities.EndedChild{Err: closedWith(graph.Report{Status: graph.StatusTimedOut, Error: late})}, kind: graph.TimedOut, want: graph.ErrTypeChildTimedOut, cause: late},
		"the node's timeout":  {child: activities.EndedChild{Err: closedWith(graph.Report{Status: graph.StatusTimedOut, Error: attempt})}, kind: graph.TimedOut, want: graph.ErrTypeActionTimedOut},
		"a map's timeout":     {child: activities.EndedChild{Map: true, Err: closedWith(graph.Report{Status: graph.StatusTimedOut, Error: late})}, kind: graph.TimedOut, want: graph.ErrTypeDeadlineExceeded},
		"refused":             {child: activities.EndedChild{Err: closedWith(graph.Report{Status: graph.StatusFailed, Refused: true, Error: late})}, kind: graph.Failed, want: graph.ErrTypeChildStartFailed, cause: late, final: true, says: "refused: late"},
		"cancelled elsewhere": {child: activities.EndedChild{Err: cancelledWith(stopped)}, kind: graph.Failed, want: graph.ErrTypeChildCancelled, cause: stopped, final: true, effect: "unknown"},
		"cancelled as asked":  {child: activities.EndedChild{Asked: true, Err: cancelledWith(stopped)}, kind: graph.Cancelled, want: graph.ErrTypeCancelled, effect: "unknown"},
		"cancelled while idle": {
			child: activities.EndedChild{Asked: true, Err: cancelledWith(idle)}, kind: graph.Cancelled, want: graph.ErrTypeCancelled, effect: "none",
		},
		"never begun":  {child: activities.EndedChild{Asked: true, Err: temporal.NewCanceledError()}, kind: graph.Cancelled, want: graph.ErrTypeCancelled, effect: "none"},
		"a foreign":    {child: activities.EndedChild{Err: temporal.NewApplicationError("m", "theirs")}, kind: graph.Failed, want: graph.ErrTypeChildFailed, cause: graph.Failf("theirs", "m")},
		"not started":  {child: activities.EndedChild{Err: errors.New("no namespace")}, kind: graph.Failed, want: graph.ErrTypeChildStartFailed, final: true, raw: true},
		"no graph":     {child: activities.EndedChild{Result: json.RawMessage(`7`)}, kind: graph.Failed, want: graph.ErrTypeChildFailed, says: "not run as a graph"},
		"half a graph": {child: activities.EndedChild{Result: json.RawMessage(`{"output":1}`)}, kind: graph.Failed, want: graph.ErrTypeChildFailed, says: "not run as a graph"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.child.Graph = "sub"
			if c.child.Err != nil && !c.raw {
				c.child.Err = wire(t, c.child.Err)
			}
			got := activities.EndingOfChild(c.child)
			require.Equal(t, c.kind, got.Kind)
			require.Equal(t, c.want, got.Failure.Type)
			require.Equal(t, c.final, got.Final)
			require.Equal(t, c.effect, got.Failure.Effect)
			require.Contains(t, got.Failure.Message, c.says)
			if c.cause != nil {
				require.Equal(t, c.cause, got.Failure.Cause)
				require.Equal(t, c.cause.Business, got.Failure.Business)
			}
		})
	}
}

// How Temporal itself ends a child must not be taken for what the child says: a
// terminated child reports nothing, and a taken id is waited for.
func TestEndingOfChildByTemporal(t *testing.T) {
	t.Parallel()
	ended := activities.EndingOfChild(activities.EndedChild{Graph: "sub", Map: true, Err: fmt.Errorf("child: %w", new(temporal.TerminatedError))})
	require.Equal(t, graph.ErrTypeChildFailed, ended.Failure.Type)
	require.Equal(t, "terminated", ended.Failure.Cause.Type)

	ended = activities.EndingOfChild(activities.EndedChild{Graph: "sub", Err: fmt.Errorf("child: %w", new(temporal.ChildWorkflowExecutionAlreadyStartedError))})
	require.Equal(t, graph.Ending{Kind: graph.Interrupted, Interruption: graph.InterruptIDTaken}, ended)
}

// What a payload does to JSON text must not reach sizes and digests.
func TestEndingOfChildReturned(t *testing.T) {
	t.Parallel()
	ended := activities.EndingOfChild(activities.EndedChild{Graph: "sub", Result: json.RawMessage(`{"output":{"b": 1, "a":"\u003c"},"changed":{"k":1.0}}`)})
	require.Equal(t, graph.Ending{Kind: graph.Returned, Result: &graph.Result{
		Output: json.RawMessage(`{"a":"<","b":1}`), Delta: value.NewObject(value.Member{Key: "k", Value: json.RawMessage("1")}),
	}}, ended)
}

// Only a refusal makes the parent hand its documents over; a failure of that type
// inside the child is a failure like any other.
func TestUnknownGraph(t *testing.T) {
	t.Parallel()
	unknown := graph.Failf(graph.ErrTypeUnknownGraph, "gone")
	require.True(t, activities.UnknownGraph(wire(t, closedWith(graph.Report{Refused: true, Status: graph.StatusFailed, Error: unknown}))))
	require.False(t, activities.UnknownGraph(wire(t, closedWith(graph.Report{Status: graph.StatusFailed, Error: unknown}))))
	require.False(t, activities.UnknownGraph(nil))
}
