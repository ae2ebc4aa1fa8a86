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
	Released     uint64             `json:"released,omitempty"`    // token of the permit that it gave back
}

// CancelReport is the only detail of the CanceledError of an attempt. Stable:
// histories hold it.
type CancelReport struct {
	Effect   string `json:"effect"`
	Released uint64 `json:"released,omitempty"` // token of the permit that it gave back
}

// reportOf is the report of an ending that is not Returned.
func reportOf(e *graph.Ending) AttemptReport {
	return AttemptReport{
		Used: e.Used, Failure: e.Failure, Final: e.Final, Interruption: e.Interruption, RetryAfter: e.RetryAfter, Heartbeat: e.Heartbeat,
		TimedOut: e.Kind == graph.TimedOut, Cancelled: e.Kind == graph.Cancelled, Released: e.Released,
	}
}

// circumstances are what decides how an ending leaves the activity.
type circumstances struct {
	retry *graph.Retry
	spent bool // the policy allows no further attempt
	// canCancel lets the SDK pass a CanceledError on; it does only when the server's
	// request to cancel ended the context.
	canCancel bool
	held      bool // the attempt has a permit
}

// longBackoff is the wait before an attempt that holds no permit: the run gives it
// back, waits and asks again, so the server's own retry must not wait in its place.
const longBackoff = time.Second

// goesOn reports whether the server makes the attempt after an ending that is not
// Returned, within the same activity and with the same permit.
func (c *circumstances) goesOn(e *graph.Ending) bool {
	if e.Kind == graph.Interrupted || e.Kind == graph.Cancelled || e.Final || c.spent {
		return false
	}
	return !c.held || c.retry.Delay(e.Used, e.RetryAfter) < longBackoff
}

// errorOf is how an ending that is not Returned leaves the activity.
func errorOf(e *graph.Ending, c circumstances) error {
	if e.Kind == graph.Cancelled && c.canCancel {
		return temporal.NewCanceledError(CancelReport{Effect: e.Failure.Effect, Released: e.Released})
	}
	options := temporal.ApplicationErrorOptions{Details: []any{reportOf(e)}, NonRetryable: true}
	if e.Kind == graph.Interrupted {
		return temporal.NewApplicationErrorWithOptions(
			"interrupted: "+string(e.Interruption), ErrTypeInterrupted, options)
	}
	if c.goesOn(e) {
		options.NonRetryable = false
		if e.RetryAfter > 0 {
			options.NextRetryDelay = c.retry.Delay(e.Used, e.RetryAfter)
		}
	}
	if e.Failure.Business {
		options.Category = temporal.ApplicationErrorCategoryBenign
	}
	return temporal.NewApplicationErrorWithOptions(e.Failure.Message, e.Failure.Type, options)
}
