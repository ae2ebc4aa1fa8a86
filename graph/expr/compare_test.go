package expr_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill/graph/expr"
)

// Equality is exact across integers and doubles, also inside lists and maps,
// and converts nothing (faults F6, F8).
func TestComparisons(t *testing.T) {
	t.Parallel()
	c := setup(t)
	for text, want := range map[string]string{
		"1 == 1.0": "true", "1 != 1.0": "false", "[1, 2] == [1.0, 2.0]": "true", "{'a': 1} == {'a': 1.0}": "true",
		"[[1]] == [[1.0]]": "true", "{'a': [1, {'b': 2}]} == {'a': [1.0, {'b': 2.0}]}": "true",
		"state.n == 9007199254740992.0": "false", "state.n > 9007199254740992.0": "true",
		"9007199254740992.0 < state.n": "true", "9007199254740992.0 == state.n - 1": "true",
		"state.n in [9007199254740992.0]": "false", "state.n in [9007199254740993]": "true",
		"state.max < 9223372036854775808.0": "true", "state.max == 9223372036854775808.0": "false",
		"state.big == state.big": "true", "state.big > state.max": "true", "state.big <= state.max": "false",
		"state.big in [state.big]": "true", "[state.big] == [state.big]": "true", "-1e300 < state.big": "true",
		"1u == 1": "true", "2.5 > 2": "true", "2 >= 2.0": "true", "2.5 in [1, 2.5]": "true", "1.0 in [1]": "true",
		"'a' < 'b'": "true", "true == 'true'": "false", "1 == '1'": "false", "null == false": "false",
		"state.none == null": "true", "state.t == 'true'": "false", "state.t == true": "true",
		"'name' in state": "true", "'nope' in state": "false", "'b' in state.o": "true", "1 in {1.0: 'x'}": "true",
		"state.o == {'a': {'x': 1}, 'b': [1, 2]}": "true", "{'a': 1} == {'b': 1}": "false", "{'a': 1} == {'a': 1, 'b': 1}": "false",
		"[1] == [1, 2]": "false", "[1] == 1": "false", "{} == state.z": "true", "state.o != state.z": "true",
		"optional.of(1) == optional.of(1.0)": "true", "optional.none() == optional.of(1)": "false",
		"type(state.name) == string": "true", "type(state.big) == int": "true",
		"timestamp('2030-01-01T00:00:00Z') < timestamp('2031-01-01T00:00:00Z')": "true",
		"duration('1h') > duration('30m')":                                      "true", "b'a' == b'a'": "true", "false < true": "true",
	} {
		got, err := eval(t, c, text)
		require.NoError(t, err, text)
		require.Equal(t, want, got, text)
	}
}

// Failures keep their type, for routes are taken by it.
func TestEvalErrors(t *testing.T) {
	t.Parallel()
	c := setup(t)
	for text, want := range map[string]string{
		"state.max + 1": expr.NumberOutOfRange, "state.min - 1": expr.NumberOutOfRange, "state.max * 2": expr.NumberOutOfRange,
		"-state.min": expr.NumberOutOfRange, "state.min / -1": expr.NumberOutOfRange, "state.min * -1": expr.NumberOutOfRange,
		"-1 * state.min": expr.NumberOutOfRange, "state.big + 1": expr.NumberOutOfRange, "1 - state.big": expr.NumberOutOfRange,
		"state.big / 2": expr.NumberOutOfRange, "state.big % 2": expr.NumberOutOfRange, "-state.big": expr.NumberOutOfRange,
		"0.5 * state.big": expr.NumberOutOfRange, "1.5e308 * 10.5": expr.NumberOutOfRange, "double('NaN')": expr.NumberOutOfRange,
		"double('Infinity')": expr.NumberOutOfRange, "[1.1e308 * 10.1]": expr.NumberOutOfRange, "string(double('NaN'))": expr.NumberOutOfRange,
		"1 / 0": expr.ExpressionFailed, "1.5 / 0": expr.ExpressionFailed, "1 % 0": expr.ExpressionFailed, "1.5 % 2": expr.ExpressionFailed,
		"'a' + 1": expr.ExpressionFailed, "1 - 'a'": expr.ExpressionFailed, "'a' * 2": expr.ExpressionFailed, "[1] + 1": expr.ExpressionFailed,
		"-'a'": expr.ExpressionFailed, "1 < 'a'": expr.ExpressionFailed, "null < 1": expr.ExpressionFailed, "1 in 2": expr.ExpressionFailed,
		"{} < {}": expr.ExpressionFailed, "timestamp(0) + timestamp(0)": expr.ExpressionFailed, "duration('1s') - timestamp(0)": expr.ExpressionFailed,
		"double('NaN') < 1.0": expr.ExpressionFailed, "state.nope": expr.ExpressionFailed, "input.a.c": expr.ExpressionFailed,
		"state.items[9]": expr.ExpressionFailed, "state.name.x": expr.ExpressionFailed, "int('x')": expr.ExpressionFailed,
		"{1: 'a'}": expr.ExpressionFailed, "b'abc'": expr.ExpressionFailed, "type(1)": expr.ExpressionFailed,
		"state.name && true": expr.ExpressionFailed, "state.name ? 1 : 2": expr.ExpressionFailed, "!state.name": expr.ExpressionFailed,
		"state.name.matches('(')": expr.ExpressionFailed, "'x'.substring(state.big)": expr.ExpressionFailed,
		"timestamp(state.big)": expr.NumberOutOfRange,
	} {
		_, err := eval(t, c, text)
		var failure *expr.EvalError
		require.ErrorAs(t, err, &failure, "%s: %v", text, err)
		require.Equal(t, want, failure.Type, "%s: %v", text, err)
		require.Equal(t, text, failure.Expression)
		require.NotContains(t, failure.Message, "@", text)
	}
}

// A condition must be a boolean; nothing is taken for true (fault F8).
func TestBool(t *testing.T) {
	t.Parallel()
	c := setup(t)
	for text, want := range map[string]bool{"state.t": true, "state.n == 1": false, "has(state.name) && state.name == 'ada'": true} {
		e, err := c.Compile(text, everything)
		require.NoError(t, err)
		got, err := e.Bool(vars(t))
		require.NoError(t, err, text)
		require.Equal(t, want, got, text)
	}
	for _, text := range []string{"1", "'true'", "null", "state.none", "state.?nope", "[]", "dyn(1)"} {
		e, err := c.Compile(text, everything)
		require.NoError(t, err)
		_, err = e.Bool(vars(t))
		var failure *expr.EvalError
		require.ErrorAs(t, err, &failure, text)
		require.Equal(t, expr.ExpressionFailed, failure.Type, text)
	}
}
