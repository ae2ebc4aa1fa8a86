package admission

import (
	"errors"
	"fmt"
)

// The reasons why a call is refused as a whole. Use errors.Is.
var (
	// ErrInvalidRequest is behind every error about the fields of a [Request].
	ErrInvalidRequest = errors.New("admission: invalid request")
	// ErrForeignRequest is returned by [Book.Submit] when the id belongs to a
	// request of another owner.
	ErrForeignRequest = errors.New("admission: the id is taken by a request of another owner")
	// ErrInvalidLimits is behind every error about [Limits] and live changes.
	ErrInvalidLimits = errors.New("admission: invalid limits")
	// ErrInvalidState is behind every error about a [State].
	ErrInvalidState = errors.New("admission: invalid state")
)

// FieldError is one fault of a request, of limits or of a state. It unwraps to
// the sentinel of its kind.
type FieldError struct {
	Kind  error  // ErrInvalidRequest, ErrInvalidLimits or ErrInvalidState
	Field string // as in the JSON form: agents[2].limit
	Fault string // what is wrong, and what would be right
}

// Error gives kind, field and fault.
func (e *FieldError) Error() string { return fmt.Sprintf("%v: %s: %s", e.Kind, e.Field, e.Fault) }

// Unwrap makes errors.Is hold for the kind.
func (e *FieldError) Unwrap() error { return e.Kind }

// faults collects the faults of one value.
type faults struct {
	kind error
	list []error
}

func (f *faults) add(field, format string, args ...any) {
	f.list = append(f.list, &FieldError{Kind: f.kind, Field: field, Fault: fmt.Sprintf(format, args...)})
}

func (f *faults) err() error { return errors.Join(f.list...) }
