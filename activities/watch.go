package activities

import (
	"context"
	"errors"
	"time"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"

	"github.com/tidemill/tidemill/graph"
)

// ended is what ended an attempt from outside.
type ended int

const (
	endedNot       ended = iota
	endedTimeout         // the node's timeout
	endedCancel          // cancel was asked for
	endedStop            // the worker was told to stop
	endedReset           // an operator reset the activity
	endedForgotten       // the server does not know the activity any more
)

// moment is how long an action may take to come to an end by itself when it is
// interrupted. What it completes in that time counts.
const moment = 2 * time.Second

// The first two are the causes an action finds in its context.
var (
	errTimeout = errors.New("activities: the node's timeout has passed")
	errEnded   = errors.New("activities: the attempt was ended")
	// errNoReturn is the error of an action that ended its goroutine.
	errNoReturn = errors.New("activities: the action ended its goroutine without returning")
)

// returned is what an action gave back. Left is set when it did not, and is left
// behind.
type returned struct {
	result  Result
	encoded evaluated
	failure *graph.Failure // the result could not be encoded
	err     error
	left    bool
}

// watch waits for an action and for everything that may end it sooner.
type watch struct {
	done      <-chan returned
	stop      <-chan struct{} // closed when the worker is told to stop
	answers   <-chan error    // of the server, to direct heartbeats
	asked     <-chan struct{} // closed when a local activity is to be cancelled
	cancel    context.CancelCauseFunc
	onSilence func()        // called when the SDK will hear no more answers; nil: nobody listens
	timeout   time.Duration // zero: none
	grace     time.Duration // after cancel
	stopGrace time.Duration // before a stopping worker interrupts the action

	why  ended
	over <-chan time.Time // when the action is left behind
}

// wait returns what the action gave, and what ended it if anything did.
func (w *watch) wait(ctx context.Context) (returned, ended) {
	var timeout, stopped <-chan time.Time
	if w.timeout > 0 {
		timer := time.NewTimer(w.timeout)
		defer timer.Stop()
		timeout = timer.C
	}
	done, stop, asked := ctx.Done(), w.stop, w.asked
	for {
		select {
		case r := <-w.done:
			return r, w.why
		case <-timeout:
			return w.leave(endedTimeout)
		case <-w.over:
			return w.leave(w.why)
		case <-done:
			done = nil
			if w.onSilence != nil {
				w.onSilence()
			}
			w.end(w.reason(context.Cause(ctx)))
		case err := <-w.answers:
			w.end(w.reason(err))
		case <-asked:
			asked = nil
			w.end(endedCancel)
		case <-stop:
			stop, stopped = nil, time.After(w.stopGrace)
		case <-stopped:
			w.end(endedStop)
		}
	}
}

// leave gives the action up, unless it has returned in this very instant.
func (w *watch) leave(why ended) (returned, ended) {
	if w.why != endedNot {
		why = w.why
	}
	if why == endedTimeout {
		w.cancel(errTimeout)
	} else {
		w.cancel(errEnded)
	}
	select {
	case r := <-w.done:
		return r, why
	default:
		return returned{left: true}, why
	}
}

// end tells the action to come to an end. What was asked first stands, but a
// worker that stops has no time for a long grace.
func (w *watch) end(why ended) {
	switch {
	case why == endedNot:
		return
	case w.why == endedNot:
		w.why = why
		w.cancel(errEnded)
	case why != endedStop:
		return
	}
	grace := moment
	if why == endedCancel || why == endedForgotten {
		grace = w.grace
	}
	w.over = time.After(grace)
}

// reason reads why the SDK ended the activity's context, or what the server
// answered to a heartbeat. An operator's pause concerns the next attempt, and a
// server that cannot be reached may come back in time: the attempt goes on.
func (w *watch) reason(err error) ended {
	notFound, noNamespace := new(serviceerror.NotFound), new(serviceerror.NamespaceNotFound)
	switch {
	case temporal.IsCanceledError(err):
		return endedCancel
	case errors.Is(err, activity.ErrActivityReset):
		return endedReset
	case errors.Is(err, activity.ErrActivityPaused):
		return endedNot
	case errors.As(err, &notFound), errors.As(err, &noNamespace):
		return endedForgotten
	case closed(w.stop):
		return endedStop
	default:
		return endedNot
	}
}

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
