package activities

import (
	"context"
	"errors"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"

	"github.com/tidemill/tidemill/graph"
)

// execute runs the action beside its heartbeats, and ends it when its time has
// passed or somebody wants it to end. An action that does not listen is left
// behind: its goroutine goes on until it returns, and what it gives is dropped.
func (a *Activities) execute(ctx context.Context, t *try) *graph.Ending {
	node := t.task.Node
	inner, cancel := context.WithCancelCause(context.WithValue(context.WithoutCancel(ctx), tryKey{}, t))
	defer cancel(errEnded)
	if limit := node.Timeout.Std(); limit > 0 {
		var stop context.CancelFunc
		inner, stop = context.WithTimeoutCause(inner, limit, errTimeout)
		defer stop()
	}
	done := make(chan returned, 1)
	go t.call(inner, done)
	w := &watch{done: done, cancel: cancel, timeout: node.Timeout.Std(), grace: node.CancelGrace.Std(), stopGrace: a.options.StopGrace}
	switch {
	case t.outside:
	case t.local != nil:
		w.asked = t.local.cancel
	default:
		stopPulse := t.pulse.start(ctx, t.info.HeartbeatTimeout)
		defer stopPulse()
		w.stop, w.answers = activity.GetWorkerStopChannel(ctx), t.pulse.answers
		w.onSilence = func() { t.pulse.direct.Store(!isCancel(context.Cause(ctx))) }
	}
	r, why := w.wait(ctx)
	if why == endedNot && r.err != nil && errors.Is(context.Cause(inner), errTimeout) {
		why = endedTimeout // the action saw its deadline before the watch did
	}
	return t.conclude(ctx, r, why)
}

// conclude says how the attempt ended. Once cancel was asked, whatever the
// action gives is cancelled; a success always counts otherwise.
func (t *try) conclude(ctx context.Context, r returned, why ended) *graph.Ending {
	if why == endedCancel || why == endedForgotten {
		return cancelledEnding(r.err)
	}
	if !r.left && r.err == nil {
		if failure := t.finish(r); failure != nil {
			return failed(failure)
		}
		return nil
	}
	switch why {
	case endedStop:
		return &graph.Ending{Kind: graph.Interrupted, Interruption: graph.InterruptShutdown}
	case endedReset:
		return &graph.Ending{Kind: graph.Interrupted, Interruption: graph.InterruptReset}
	case endedTimeout:
		return &graph.Ending{Kind: graph.TimedOut, Failure: graph.Failf(graph.ErrTypeActionTimedOut,
			"the action ran longer than the node's timeout of %s", t.task.Node.Timeout)}
	case endedNot, endedCancel, endedForgotten:
	}
	t.logPanic(ctx, r.err)
	return endingOfError(r.err)
}

// cancelledEnding says what is known about the effect of a cancelled action.
func cancelledEnding(err error) *graph.Ending {
	effect := effectUnknown
	if said := new(cancelledError); errors.As(err, &said) {
		effect = said.effect
	}
	return &graph.Ending{Kind: graph.Cancelled, Failure: &graph.Failure{
		Type: graph.ErrTypeCancelled, Message: "the node was cancelled", Effect: effect,
	}}
}

// effectUnknown is the effect of a cancelled action that did not say whether its
// effect happened.
const effectUnknown = "unknown"

func isCancel(err error) bool { return temporal.IsCanceledError(err) }

// logPanic writes the stack of a panic, which a failure does not carry.
func (t *try) logPanic(ctx context.Context, err error) {
	p := new(panicError)
	if !errors.As(err, &p) || t.outside {
		return
	}
	activity.GetLogger(ctx).Error("An action panicked.", "Address", t.task.Run.Address, "Attempt", t.number,
		"Panic", t.guard.scrub(p.Error()), "Stack", t.guard.scrub(p.stack))
}
