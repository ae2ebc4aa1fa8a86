package activities

import (
	"encoding/json"
	"errors"
	"slices"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"

	"github.com/tidemill/tidemill/graph"
	"github.com/tidemill/tidemill/graph/value"
)

// ErrTypeNotRegistered is the type of the error with which an SDK refuses an activity
// it does not have.
const ErrTypeNotRegistered = "ActivityNotRegisteredError"

// EndingOf says how the activity of a node ended, from what executing it gave
// the workflow: a result, or an error of Temporal. It reads nothing but its
// arguments, so a replay reads the same.
//
// A lost heartbeat, a missing action, a stopping worker and an operator's reset
// are interruptions. Everything an action says is a failure or a result. An
// activity without our wrapper says it in its own words: its error type is kept.
func EndingOf(node *graph.Node, result *graph.Result, err error) graph.Ending {
	return settled(node, endingOf(result, err))
}

// settled brings an ending into the form that the machine takes.
func settled(node *graph.Node, e graph.Ending) graph.Ending {
	e.Result = canonicalResult(e.Result)
	for f := e.Failure; f != nil; f = f.Cause {
		f.Details = canonical(f.Details)
	}
	if e.Failure != nil && node != nil && node.Retry != nil && slices.Contains(node.Retry.NonRetryable, e.Failure.Type) {
		e.Final = true
	}
	return e
}

func endingOf(result *graph.Result, err error) graph.Ending {
	if err == nil {
		if result == nil {
			result = &graph.Result{}
		}
		return graph.Ending{Kind: graph.Returned, Result: result, Used: result.Attempts, Released: result.Released}
	}
	// The outermost error of Temporal decides: a timeout carries the last failure
	// as its cause, and a failure may have been caused by a timeout elsewhere.
	for e := err; e != nil; e = errors.Unwrap(e) {
		switch cause := any(e).(type) {
		case *temporal.TimeoutError:
			return endingOfTimeout(cause)
		case *temporal.ApplicationError:
			return endingOfReported(cause)
		case *temporal.CanceledError:
			return endingOfCancel(err, cause)
		}
	}
	if errors.Is(err, converter.ErrUnableToDecode) {
		return graph.Ending{Kind: graph.Failed, Final: true, Failure: graph.Failf(graph.ErrTypeInvalidActionResult,
			"the activity answered something that is no result of an action: %s", cut(err.Error(), maxMessage))}
	}
	return *endingOfError(err)
}

// endingOfReported reads the error of an activity: our report, or what an
// activity of another make says.
func endingOfReported(e *temporal.ApplicationError) graph.Ending {
	if e.Type() == ErrTypeNotRegistered {
		return graph.Ending{Kind: graph.Interrupted, Interruption: graph.InterruptNotRegistered}
	}
	var r AttemptReport
	if !detail(e, &r) || !r.valid() {
		return *endingOfApplication(e)
	}
	return r.ending()
}

// ending is what the report says.
func (r AttemptReport) ending() graph.Ending {
	end := graph.Ending{
		Kind: graph.Failed, Failure: r.Failure, Used: r.Used, Final: r.Final,
		RetryAfter: r.RetryAfter, Interruption: r.Interruption, Heartbeat: canonical(r.Heartbeat), Released: r.Released,
	}
	switch {
	case r.Interruption != "":
		end.Kind = graph.Interrupted
	case r.Cancelled:
		end.Kind = graph.Cancelled
	case r.TimedOut:
		end.Kind = graph.TimedOut
	}
	return end
}

// valid tells a report from the details of a foreign error.
func (r AttemptReport) valid() bool {
	return r.Interruption != "" || r.Failure != nil && r.Failure.Type != "" && r.Used > 0
}

// endingOfTimeout reads a timeout of the server. Ours keep their timeouts
// themselves, so it means a worker that is gone, unless the activity is foreign.
func endingOfTimeout(e *temporal.TimeoutError) graph.Ending {
	switch e.TimeoutType() {
	case enumspb.TIMEOUT_TYPE_HEARTBEAT:
		end := graph.Ending{Kind: graph.Interrupted, Interruption: graph.InterruptWorkerLost}
		var last beat
		if e.HasLastHeartbeatDetails() && e.LastHeartbeatDetails(&last) == nil {
			end.Used, end.Heartbeat = last.Used, canonical(last.Details)
		}
		return end
	case enumspb.TIMEOUT_TYPE_SCHEDULE_TO_START:
		return graph.Ending{Kind: graph.Interrupted, Interruption: graph.InterruptNotRegistered}
	case enumspb.TIMEOUT_TYPE_START_TO_CLOSE, enumspb.TIMEOUT_TYPE_SCHEDULE_TO_CLOSE, enumspb.TIMEOUT_TYPE_UNSPECIFIED:
	}
	return graph.Ending{Kind: graph.TimedOut, Failure: graph.Failf(graph.ErrTypeActionTimedOut,
		"the activity ran out of time (%s)", e.TimeoutType())}
}

// endingOfCancel reads a cancellation. An activity that never started had no
// effect.
func endingOfCancel(err error, e *temporal.CanceledError) graph.Ending {
	end := *cancelledEnding(nil)
	var r CancelReport
	whole := new(temporal.ActivityError)
	switch {
	case detail(e, &r) && r.Effect != "":
		end.Failure.Effect, end.Released = r.Effect, r.Released
	case errors.As(err, &whole) && whole.StartedEventID() == 0:
		end.Failure.Effect = effectNone
	}
	return end
}

// effectNone is the effect of an action that was never begun.
const effectNone = "none"

// canonicalResult undoes what the way through a payload does to JSON text, so
// that sizes and digests are those of the value.
func canonicalResult(r *graph.Result) *graph.Result {
	if r == nil {
		return nil
	}
	clean := *r
	clean.Output, clean.Released = canonical(r.Output), 0 // the ending's
	if r.Pause != nil {
		pause := *r.Pause
		pause.Show, pause.ResumeSchema = canonical(pause.Show), canonical(pause.ResumeSchema)
		clean.Pause = &pause
	}
	return &clean
}

// canonical keeps what is absent absent, and text that is not JSON as it stands.
func canonical(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return raw
	}
	clean, err := value.Canonical(raw)
	if err != nil {
		return raw
	}
	return clean
}
