package activities

import (
	"context"
	"fmt"
	"time"

	"go.temporal.io/sdk/activity"

	"github.com/tidemill/tidemill/graph"
)

// MaxLocalResult is the largest result of a local attempt, in bytes of canonical
// JSON: output and delta together. All that the local activities of one workflow
// task gave is sent to the server at once.
const MaxLocalResult = 256 << 10

// LocalBackstop is how much longer than the node's timeout the SDK waits for a
// local attempt. The wrapper keeps the timeout itself; an attempt that passes even
// this has hung outside its action.
const LocalBackstop = time.Second

// LocalInput is handed to the local activity as Go values; nothing of it is
// serialised or recorded.
type LocalInput struct {
	Task graph.Task
	// Cancel is closed when the node is to be cancelled. The SDK's own way would
	// not wait for the action, and would lose what it says of its effect.
	Cancel <-chan struct{}
}

// LocalEnd is how a local attempt ended. One of the two is set: a failure too is
// a value, so that nobody but the run decides what follows from it. Stable:
// histories hold it.
type LocalEnd struct {
	Result *graph.Result  `json:"result,omitempty"`
	Report *AttemptReport `json:"report,omitempty"`
}

// Local is the local activity that makes one attempt of an action in mode local.
// It takes the same way as one by an activity of its own, without heartbeats: what
// the action leaves in them for its next attempt goes with the report. The action
// is looked up here, for a local activity that the SDK does not know records nothing.
//
// Repeats: as the action does. Until the workflow task ends, a lost worker
// repeats every local attempt of the task.
// Final errors: none; how the attempt ended is always a value.
func (a *Activities) Local(ctx context.Context, in LocalInput) (LocalEnd, error) {
	task := in.Task
	t := &try{
		task: &task, info: activity.GetInfo(ctx), guard: &guard{secrets: a.options.Secrets},
		pulse:   newPulse(activity.GetInfo(ctx), beat{Used: task.Before, Details: task.Heartbeat}),
		earlier: task.Heartbeat, number: task.Before + 1, local: &local{cancel: in.Cancel},
	}
	end := a.attemptLocally(ctx, t)
	if end == nil {
		return LocalEnd{Result: t.result}, nil
	}
	t.sign(end)
	report := reportOf(end)
	return LocalEnd{Report: &report}, nil
}

// attemptLocally finds the action and makes the attempt.
func (a *Activities) attemptLocally(ctx context.Context, t *try) *graph.Ending {
	if closed(t.local.cancel) {
		return cancelledEnding(Cancelled(effectNone))
	}
	var known bool
	if t.action, known = a.actions[t.task.Node.Run.Name]; !known {
		return &graph.Ending{Kind: graph.Interrupted, Interruption: graph.InterruptNotRegistered}
	}
	return a.attempt(ctx, t)
}

// local is what a local attempt has of its own.
type local struct {
	cancel <-chan struct{} // closed when the node is to be cancelled
}

// where says in a message that the limit is that of local attempts.
func (l *local) where() string {
	if l == nil {
		return ""
	}
	return fmt.Sprintf(" with mode: %s", graph.ModeLocal)
}

// EndingOfLocal says how a local attempt ended, from what executing it gave the
// workflow. An error is the SDK's own: the attempt passed even its backstop, or
// was ended by something that is not the action.
func EndingOfLocal(node *graph.Node, end LocalEnd, err error) graph.Ending {
	if err == nil && end.Report != nil {
		return settled(node, end.Report.ending())
	}
	return EndingOf(node, end.Result, err)
}
