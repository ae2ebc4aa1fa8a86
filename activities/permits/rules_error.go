package permits

import (
	"errors"
	"fmt"
	"strings"
)

// ErrUnclassified is behind every error of a classification: a rule that cannot be
// evaluated, code that panics, a class that no book would take.
var ErrUnclassified = errors.New("permits: the attempt cannot be classified")

func unclassified(format string, args ...any) error {
	return fmt.Errorf("%w: %w", ErrUnclassified, fmt.Errorf(format, args...))
}

// CodeInvalidRule is the code of what is wrong with a rule besides its expressions.
const CodeInvalidRule = "invalid_rule"

// RuleError is one thing that is wrong with [Rules].
type RuleError struct {
	Field   string // such as rules[2].keys[0].key, or partition.from
	Code    string // CodeInvalidRule, or a code of package expr
	Offset  int    // in a text with expressions: where, in characters from its start
	Message string // what is wrong
	Fix     string // how to mend it; may be empty
}

// Error gives the field, the place in it, the message and how to mend it.
func (e *RuleError) Error() string {
	text := "permits: " + e.Field
	if e.Offset > 0 {
		text += fmt.Sprintf(", character %d", e.Offset+1)
	}
	text += ": " + e.Message
	if e.Fix != "" {
		text += "; " + e.Fix
	}
	return text
}

// RuleErrors is everything that is wrong with [Rules], rule by rule.
type RuleErrors []*RuleError

// Error joins the errors, one a line.
func (es RuleErrors) Error() string {
	lines := make([]string, len(es))
	for i, e := range es {
		lines[i] = e.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap gives each error to errors.As.
func (es RuleErrors) Unwrap() []error {
	list := make([]error, len(es))
	for i, e := range es {
		list[i] = e
	}
	return list
}
