// Package expr compiles and evaluates the expressions of a graph document.
//
// An expression is CEL with optional types, without a clock, an environment or
// a random source, and with a bound on its cost. It reads named values
// ([Vars]) and gives canonical JSON, so the same expression over the same
// values always gives the same bytes. A template is a JSON value in which
// every ${…} inside a string is an expression.
//
//	c, err := expr.NewCompiler()
//	e, err := c.Compile("state.total * 2 > input.limit", expr.State|expr.Input)
//	ok, err := e.Bool(&expr.Vars{State: state, Input: input})
//
// # Numbers
//
// JSON numbers are one type here. Integers that fit into 64 bits are exact and
// an overflow is an error; a division that is not whole, or an operation with
// a fraction, gives a double; a whole result is an integer again, whichever
// way it was made. Longer integers pass through untouched and compare exactly,
// but arithmetic on them is [NumberOutOfRange].
//
// # Order
//
// Objects are always walked in the order of their keys' UTF-8 bytes.
//
// # Errors
//
// Compiling gives [Errors], all of them at once. Evaluating gives an
// [EvalError] whose type is one of the constants beside it, and whose message
// never holds a secret. A panic in the evaluator becomes [ExpressionFailed].
package expr
