package expr

import (
	"fmt"
	"strings"
)

// The codes of compile errors.
const (
	InvalidExpression = "invalid_expression" // the text is not an expression
	WrongScope        = "wrong_scope"        // the name exists, but not in this field
	UnknownName       = "unknown_name"       // no such name, function or fixed field
	SecretNotAllowed  = "secret_not_allowed" // secret() outside args, or not with a literal
)

// The types of evaluation errors. They are stable: histories hold them.
const (
	ExpressionFailed = "expression_failed"
	NumberOutOfRange = "number_out_of_range"
)

// Error says what is wrong with the text of one expression.
type Error struct {
	Code    string
	Offset  int    // where, in characters from the start of the text
	Message string // what is wrong
	Fix     string // how to mend it; may be empty
}

// Error gives the code, the place and the message.
func (e Error) Error() string {
	text := fmt.Sprintf("expr: %s at character %d: %s", e.Code, e.Offset+1, e.Message)
	if e.Fix != "" {
		text += "; " + e.Fix
	}
	return text
}

// Errors are all the errors of one text, in the order of their places.
type Errors []Error

// Error joins the errors, one a line.
func (es Errors) Error() string {
	lines := make([]string, len(es))
	for i, e := range es {
		lines[i] = e.Error()
	}
	return strings.Join(lines, "\n")
}

// EvalError is the failure of one evaluation. Its message may hold values of
// the run, but never a secret.
type EvalError struct {
	Type       string // ExpressionFailed, NumberOutOfRange or SecretNotAllowed
	Expression string // the text that failed
	Message    string
}

// Error gives the type, the expression and the message.
func (e *EvalError) Error() string {
	return fmt.Sprintf("expr: %s: %s in ${ %s }", e.Type, e.Message, e.Expression)
}

// fault is a typed failure on its way through CEL, which carries Go errors
// inside its own.
type fault struct {
	kind    string
	message string
}

func (f *fault) Error() string { return f.message }
