package value

import (
	"fmt"
	"strings"
)

// Reason says why a value was refused. The words are stable.
type Reason string

// The reasons an [Error] can carry.
const (
	ReasonInvalidUTF8      Reason = "invalid_utf8"        // bytes that are not UTF-8, or a lone surrogate escape
	ReasonDuplicateKey     Reason = "duplicate_key"       // one object holds the same key twice
	ReasonNumberOutOfRange Reason = "number_out_of_range" // NaN, an infinity, or more than MaxDigits digits to write
	ReasonSyntax           Reason = "syntax"              // not exactly one JSON value
	ReasonTooDeep          Reason = "too_deep"            // more than MaxDepth levels of nesting
	ReasonUnsupported      Reason = "unsupported"         // a Go value that JSON cannot hold
	ReasonNotObject        Reason = "not_object"          // an object was needed
)

// Error is the error of every function in this package.
type Error struct {
	Path   string // JSON pointer to the value at fault; "" is the whole value
	Offset int    // byte offset in the input; for Go values, in their JSON encoding
	Reason Reason
	Err    error // cause reported by a Go value's own encoder; nil otherwise
}

// Error names the reason and the place.
func (e *Error) Error() string {
	place := e.Path
	if place == "" {
		place = "the top level"
	}
	text := fmt.Sprintf("value: %s at %s (byte %d): %s", e.Reason, place, e.Offset, e.Reason.advice())
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

// Unwrap gives the cause, if there is one.
func (e *Error) Unwrap() error { return e.Err }

// advice says what the reason means and how to mend the value.
func (r Reason) advice() string {
	switch r {
	case ReasonInvalidUTF8:
		return "text must be valid UTF-8, and a surrogate escape must come in a pair"
	case ReasonDuplicateKey:
		return "the object holds this key twice; keep one of them"
	case ReasonNumberOutOfRange:
		return "the number is not finite or too long to write out; send it as a string"
	case ReasonSyntax:
		return "the text is not one complete JSON value"
	case ReasonTooDeep:
		return fmt.Sprintf("the value is nested more than %d levels deep; flatten it", MaxDepth)
	case ReasonUnsupported:
		return "JSON has no form for this Go value"
	case ReasonNotObject:
		return "the value must be a JSON object"
	default:
		return "the value was refused"
	}
}

// under returns the error as seen from one level further up.
func (e *Error) under(token string) *Error {
	e.Path = "/" + escapePointer(token) + e.Path
	return e
}

// escapePointer writes one token of a JSON pointer (RFC 6901).
func escapePointer(token string) string {
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(token)
}
