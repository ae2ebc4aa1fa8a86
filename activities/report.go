package activities

import (
	"encoding/json"
	"time"

	"go.temporal.io/sdk/temporal"

	"github.com/tidemill/tidemill/graph"
)

// ErrTypeInterrupted is the type of the error of an attempt that ended without
// the action having answered. Stable: histories hold it.
const ErrTypeInterrupted = reservedPrefix + "interrupted"

// AttemptReport is the only detail of the error an attempt ends with, and part
// of what a local attempt leaves. Stable: histories hold it.
type AttemptReport struct {
	Used         int                `json:"used"` // attempts of the activation in all
	Failure      *graph.Failure     `json:"failure,omitempty"`
	Final        bool               `json:"final,omitempty"`
	TimedOut     bool               `json:"timed_out,omitempty"`
	Cancelled    bool               `json:"cancelled,omitempty"`
	Interruption graph.Interruption `json:"interruption,omitempty"`
	RetryAfter   time.Duration      `json:"retry_after,omitempty"` // nanoseconds
	Heartbeat    json.RawMessage    `json:"heartbeat,omitempty"`   // what the action left for the next attempt
}

// CancelReport is the only detail of the CanceledError of an attempt. Stable:
// histories hold it.
type CancelReport struct {
	Effect string `json:"effect"`
}

// reportOf is the report of an ending that is not Returned.
func reportOf(e *graph.Ending) AttemptReport {
	return AttemptReport{
		Used: e.Used, Failure: e.Failure, Final: e.Final, Interruption: e.Interruption, RetryAfter: e.RetryAfter, Heartbeat: e.Heartbeat,
		TimedOut: e.Kind == graph.TimedOut, Cancelled: e.Kind == graph.Cancelled,
	}
}

// errorOf is how an ending that is not Returned leaves the activity. Spent says
// that the policy allows no further attempt. With canCancel the SDK passes a
// CanceledError on; it does only when the server's request to cancel ended the
// context.
func errorOf(e *graph.Ending, retry *graph.Retry, spent, canCancel bool) error {
	if e.Kind == graph.Cancelled && canCancel {
		return temporal.NewCanceledError(CancelReport{Effect: e.Failure.Effect})
	}
	options := temporal.ApplicationErrorOptions{Details: []any{reportOf(e)}, NonRetryable: true}
	if e.Kind == graph.Interrupted {
		return temporal.NewApplicationErrorWithOptions(
			"interrupted: "+string(e.Interruption), ErrTypeInterrupted, options)
	}
	if e.Kind != graph.Cancelled && !e.Final && !spent {
		options.NonRetryable = false
		if e.RetryAfter > 0 {
			options.NextRetryDelay = retry.Delay(e.Used, e.RetryAfter)
		}
	}
	if e.Failure.Business {
		options.Category = temporal.ApplicationErrorCategoryBenign
	}
	return temporal.NewApplicationErrorWithOptions(e.Failure.Message, e.Failure.Type, options)
}
