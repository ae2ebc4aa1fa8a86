package expr

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/interpreter"
)

// Expression is a compiled expression. It is immutable, and several
// goroutines may evaluate it at once.
type Expression struct {
	text    string
	program cel.Program
	reads   Reads
	secrets []string
	uses    Names
}

// Text gives the expression as it was written.
func (e *Expression) Text() string { return e.text }

// Reads says which keys of the state the expression reads.
func (e *Expression) Reads() Reads { return Reads{Keys: slices.Clone(e.reads.Keys), All: e.reads.All} }

// Secrets names the secrets that the expression uses, sorted.
func (e *Expression) Secrets() []string { return slices.Clone(e.secrets) }

// Uses reports whether the expression uses any of the names.
func (e *Expression) Uses(names Names) bool { return e.uses&names != 0 }

// Eval gives the expression's value as canonical JSON; an optional without a
// value is null. The error is an [EvalError].
func (e *Expression) Eval(v *Vars) (json.RawMessage, error) {
	var raw json.RawMessage
	err := e.guard(func() error {
		out, err := e.run(v)
		if err != nil {
			return err
		}
		raw, err = encode(out)
		return err
	})
	return raw, err
}

// Bool gives the value of a condition. A value that is not a boolean is an
// error, for nothing is converted silently.
func (e *Expression) Bool(v *Vars) (bool, error) {
	var yes bool
	err := e.guard(func() error {
		out, err := e.run(v)
		if err != nil {
			return err
		}
		b, ok := out.(types.Bool)
		if !ok {
			return failed("a condition must give true or false, and this gives %s", word(out))
		}
		yes = bool(b)
		return nil
	})
	return yes, err
}

func (e *Expression) run(v *Vars) (ref.Val, error) {
	out, _, err := e.program.Eval(newScope(v))
	if err != nil {
		return nil, err
	}
	return out, nil
}

// guard turns every failure, a panic included, into an EvalError. Values are
// read lazily, so a panic may come from the encoding as well.
func (e *Expression) guard(do func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = e.failure(failed("the evaluator broke: %v", r))
		}
	}()
	if err := do(); err != nil {
		return e.failure(err)
	}
	return nil
}

func (e *Expression) failure(err error) *EvalError {
	out := &EvalError{Type: ExpressionFailed, Expression: e.text}
	var typed *fault
	var cancelled interpreter.EvalCancelledError
	switch {
	case errors.As(err, &typed):
		out.Type, out.Message = typed.kind, typed.message
	case errors.As(err, &cancelled):
		out.Message = tooCostly().Error()
	default:
		out.Message = explain(err.Error())
	}
	if len(e.secrets) > 0 && out.Type == ExpressionFailed {
		// The message may quote any value that was computed with a secret.
		out.Message = "the evaluation failed; details are withheld, for it uses a secret"
	}
	return out
}

// explain words CEL's most frequent failures for the reader of a document.
func explain(message string) string {
	if key, ok := strings.CutPrefix(message, "no such key: "); ok {
		return fmt.Sprintf("there is no field %q; write .?%s and .orValue(…) if it may be absent", key, key)
	}
	if message == "no such overload" {
		return "a function or operator does not take values of this kind"
	}
	return message
}
