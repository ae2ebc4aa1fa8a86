package activities

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"go.temporal.io/sdk/temporal"

	"github.com/tidemill/tidemill/graph"
	"github.com/tidemill/tidemill/graph/value"
)

// Error is how an action says precisely what went wrong. The zero value of each
// field means the ordinary case: retryable, no wait asked for, not business.
//
//	return nil, activities.NewError("card_declined", "the bank said no").NotRetryable()
type Error struct {
	Type       string        // what on_error and retry.non_retryable match; empty: action_exception
	Message    string        // for people
	Final      bool          // a retry cannot change the answer
	RetryAfter time.Duration // wait at least this long before the next attempt, up to max_backoff
	Business   bool          // an expected outcome: no error in metrics
	Details    any           // JSON to attach, at most 64 KiB
	Cause      error         // for errors.Is in Go; not recorded
}

// NewError makes a retryable Error. The type is the author's own, in snake_case
// like the product's.
func NewError(errorType, message string) *Error {
	return &Error{Type: errorType, Message: message}
}

// NotRetryable says that a retry cannot change the answer.
func (e *Error) NotRetryable() *Error {
	e.Final = true
	return e
}

// After asks for a wait of at least d before the next attempt.
func (e *Error) After(d time.Duration) *Error {
	e.RetryAfter = d
	return e
}

// AsBusiness marks an outcome that is expected to happen.
func (e *Error) AsBusiness() *Error {
	e.Business = true
	return e
}

// WithDetails attaches JSON for whoever reads the failure.
func (e *Error) WithDetails(details any) *Error {
	e.Details = details
	return e
}

// WithCause wraps the Go error behind this one.
func (e *Error) WithCause(err error) *Error {
	e.Cause = err
	return e
}

// Error is the type and the message.
func (e *Error) Error() string { return fmt.Sprintf("%s: %s", e.Type, e.Message) }

// Unwrap is the cause.
func (e *Error) Unwrap() error { return e.Cause }

// Cancelled is what an action returns when it was told to stop and knows whether
// its effect happened: "none", "done", or words of its own. Without it a
// cancelled node's effect is "unknown".
func Cancelled(effect string) error { return &cancelledError{effect: effect} }

type cancelledError struct{ effect string }

func (e *cancelledError) Error() string { return "activities: cancelled, effect: " + e.effect }

// panicError is a panic of an action. The stack is logged, not recorded.
type panicError struct {
	value any
	stack string
}

func (e *panicError) Error() string { return fmt.Sprintf("panic: %v", e.value) }

// The bounds of what a failure carries into history.
const (
	maxMessage = 4096
	maxDetails = 64 << 10
)

// failed is the ending of an attempt that failed for good: the same attempt
// would fail again.
func failed(f *graph.Failure) *graph.Ending {
	return &graph.Ending{Kind: graph.Failed, Failure: f, Final: true}
}

// endingOfError reads any error of an action.
func endingOfError(err error) *graph.Ending {
	if own := new(Error); errors.As(err, &own) {
		return own.ending()
	}
	if application := new(temporal.ApplicationError); errors.As(err, &application) {
		return endingOfApplication(application)
	}
	return &graph.Ending{Kind: graph.Failed, Failure: &graph.Failure{
		Type: graph.ErrTypeActionException, Message: cut(err.Error(), maxMessage),
	}}
}

func (e *Error) ending() *graph.Ending {
	f := &graph.Failure{Type: failureType(e.Type), Message: cut(e.Message, maxMessage), Business: e.Business}
	if e.Details != nil {
		attach(f, e.Details)
	}
	return &graph.Ending{Kind: graph.Failed, Failure: f, Final: e.Final, RetryAfter: e.RetryAfter}
}

// endingOfApplication reads a Temporal error that an action returned, or that
// the activity of another SDK failed with. Its first detail is kept.
func endingOfApplication(e *temporal.ApplicationError) *graph.Ending {
	f := &graph.Failure{
		Type: failureType(e.Type()), Message: cut(e.Message(), maxMessage),
		Business: e.Category() == temporal.ApplicationErrorCategoryBenign,
	}
	if details, ok := firstDetail(e); ok {
		attach(f, details)
	}
	return &graph.Ending{Kind: graph.Failed, Failure: f, Final: e.NonRetryable(), RetryAfter: e.NextRetryDelay()}
}

// firstDetail is the first detail of a Temporal error: raw JSON when it came
// over the wire, any Go value when the error was made here.
func firstDetail(e *temporal.ApplicationError) (any, bool) {
	var raw json.RawMessage
	if detail(e, &raw) {
		return raw, true
	}
	var local any
	ok := detail(e, &local)
	return local, ok
}

// detail reads the first detail of a Temporal error into v. The SDK panics when
// the error was made in this process with a detail of another type.
func detail(e interface {
	HasDetails() bool
	Details(into ...any) error
}, v any,
) (ok bool) {
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	return e.HasDetails() && e.Details(v) == nil
}

// failureType keeps the words that are ours from being claimed by an action.
func failureType(errorType string) string {
	if errorType == "" || errorType == ErrTypeNotRegistered || strings.HasPrefix(errorType, reservedPrefix) {
		return graph.ErrTypeActionException
	}
	return cut(errorType, 128)
}

// attach adds details to a failure, or says why they are left out: a failure
// must fit into history whatever an action puts into it.
func attach(f *graph.Failure, details any) {
	raw, err := value.Marshal(details)
	switch {
	case err != nil:
		f.Message += fmt.Sprintf(" (details left out: %v)", err)
	case len(raw) > maxDetails:
		f.Message += fmt.Sprintf(" (details left out: %d bytes, more than %d)", len(raw), maxDetails)
	default:
		f.Details = raw
	}
}
