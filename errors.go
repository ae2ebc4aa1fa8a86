package tidemill

import (
	"context"
	"errors"
	"fmt"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/temporal"

	"github.com/tidemill/tidemill/graph"
)

// Error types of the client, beside those of the graph package. Stable: callers
// match them.
const (
	ErrTypeAlreadyExists   = "already_exists"     // a run of that id is open
	ErrTypeNotFound        = "not_found"          // no run of that id is known
	ErrTypeAlreadyTerminal = "already_terminal"   // the run has closed
	ErrTypeNoWorker        = "no_worker"          // nobody polls, or nobody answered in time
	ErrTypeUnreachable     = "server_unreachable" // the Temporal server does not answer
	ErrTypeServer          = "server_error"       // it answered with an error of its own
	ErrTypeTaskFailed      = "workflow_task_failed"
	ErrTypeTerminated      = "terminated"       // somebody terminated the workflow
	ErrTypeWorkflowTimeout = "workflow_timeout" // a timeout set on the workflow itself

	ErrTypeNoSearchAttribute = "no_search_attribute" // the namespace lacks one that a list needs

	ErrTypeUnknownCore = "unknown_core" // the run's interpreter is newer than this program
	ErrTypeNotReplayed = "not_replayed" // its history is not one that this program would write

	ErrTypeUnknownDomain    = "unknown_domain"    // nobody has asked for a permit in it yet
	ErrTypeInvalidAdmission = "invalid_admission" // what was asked of admission means nothing
)

// ErrNoWorker is matched by the error of an update or a query that no worker
// answered in time.
var ErrNoWorker = errors.New("tidemill: no worker answers")

// RunError is why something asked of a run, or of the server, was refused.
type RunError struct {
	Type    string // an ErrType constant here or of the graph package
	Message string // for people; what, where, and how to mend it
	ID      string // workflow id, where there is one
	Err     error  // the cause; may be nil
}

// Error is the message with what it is about.
func (e *RunError) Error() string {
	if e.ID == "" {
		return fmt.Sprintf("tidemill: %s: %s", e.Type, e.Message)
	}
	return fmt.Sprintf("tidemill: %s: run %q: %s", e.Type, e.ID, e.Message)
}

// Unwrap is the cause.
func (e *RunError) Unwrap() error { return e.Err }

// AlreadyExistsError is returned by [Client.Start] when a run of the id is open.
type AlreadyExistsError struct {
	ID    string // workflow id
	RunID string // of the open run
}

// Error says which run has the id.
func (e *AlreadyExistsError) Error() string {
	return fmt.Sprintf("tidemill: %s: run %q is open (run id %s); choose another id, or await that run",
		ErrTypeAlreadyExists, e.ID, e.RunID)
}

// ErrorType is the type of an error of this package, for callers to match:
// already_exists, unknown_pause, invalid_document and so on. Of an ApplicationError,
// as [Acquire] gives it, it is the type. It is empty for other errors.
func ErrorType(err error) string {
	var exists *AlreadyExistsError
	var refused *RunError
	var failure *graph.Failure
	var diagnostics graph.Diagnostics
	var application *temporal.ApplicationError
	switch {
	case errors.As(err, &exists):
		return ErrTypeAlreadyExists
	case errors.As(err, &refused):
		return refused.Type
	case errors.As(err, &failure):
		return failure.Type
	case errors.As(err, &diagnostics):
		return graph.ErrTypeInvalidDocument
	case errors.As(err, &application):
		return application.Type()
	default:
		return ""
	}
}

// refused is a failure as an error of this package.
func refused(id string, f *graph.Failure) error {
	return &RunError{Type: f.Type, Message: f.Message, ID: id, Err: f}
}

// edgeError gives an error of the SDK a type. What the caller's own context
// ended stays as it is.
func edgeError(err error) error { return edgeErrorOf("", err) }

func edgeErrorOf(id string, err error) error {
	var known *RunError
	var notFound *serviceerror.NotFound
	var namespace *serviceerror.NamespaceNotFound
	var unavailable *serviceerror.Unavailable
	var deadline *serviceerror.DeadlineExceeded
	var canceled *serviceerror.Canceled
	var application *temporal.ApplicationError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &known), errors.Is(err, context.Canceled):
		return err
	case errors.As(err, &canceled):
		return fmt.Errorf("tidemill: %w: %w", context.Canceled, err)
	case errors.As(err, &namespace):
		return &RunError{Type: ErrTypeNotFound, ID: id, Err: err, Message: fmt.Sprintf(
			"the server has no namespace %q; name another, or create it", namespace.Namespace)}
	case errors.As(err, &notFound):
		return &RunError{Type: ErrTypeNotFound, ID: id, Err: err, Message: "no such run; it never existed, or its retention is over"}
	case errors.As(err, &deadline):
		// The deadline may be the caller's own, who looks for it.
		return silent(id, fmt.Errorf("%w: %w", context.DeadlineExceeded, err))
	case errors.As(err, &unavailable), errors.Is(err, context.DeadlineExceeded):
		return silent(id, err)
	case errors.As(err, &application):
		return &RunError{Type: application.Type(), ID: id, Err: err, Message: application.Message()}
	default:
		return &RunError{Type: ErrTypeServer, ID: id, Err: err, Message: err.Error()}
	}
}

// silent is the error of a server that does not answer.
func silent(id string, err error) error {
	return &RunError{Type: ErrTypeUnreachable, ID: id, Err: err, Message: fmt.Sprintf(
		"the Temporal server does not answer (%v); check its address and that it runs", err)}
}
