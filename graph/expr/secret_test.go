package expr_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill/graph/expr"
)

// A failure is kept in the history, so it must not quote a secret (fault F16).
func TestSecretsStayOutOfErrors(t *testing.T) {
	t.Parallel()
	c := setup(t)
	for _, text := range []string{
		"int(secret('K'))", "timestamp(secret('K'))", "duration(secret('K'))", "input[secret('K')]", "{}[secret('K')]",
		"input.a[secret('K')]", "secret('K').matches(secret('K') + '(')", "[1][int(secret('K'))]", "secret('K') + 1",
		"bytes(secret('K'))", "secret('K').nope", "bool(secret('K'))",
	} {
		e, err := c.Compile(text, everything)
		require.NoError(t, err, text)
		_, err = e.Eval(vars(t))
		require.Error(t, err, text)
		require.NotContains(t, err.Error(), "hunter2", text)
	}
}

func TestSecretRefused(t *testing.T) {
	t.Parallel()
	e, err := setup(t).Compile("'Bearer ' + secret('K')", everything)
	require.NoError(t, err)
	for _, v := range []*expr.Vars{
		{},
		{Secret: func(string) (string, error) { return "", errors.New("hunter2 is not for you") }},
	} {
		_, err = e.Eval(v)
		var failure *expr.EvalError
		require.ErrorAs(t, err, &failure)
		require.Equal(t, expr.SecretNotAllowed, failure.Type)
		require.NotContains(t, err.Error(), "hunter2")
	}
}

// A secret that is not needed is not asked for.
func TestSecretIsLazy(t *testing.T) {
	t.Parallel()
	e, err := setup(t).Compile("state.t ? 'none' : secret('K')", everything)
	require.NoError(t, err)
	v := vars(t)
	v.Secret = func(string) (string, error) { return "", errors.New("asked") }
	got, err := e.Eval(v)
	require.NoError(t, err)
	require.Equal(t, `"none"`, string(got))
}

// A panic must fail the expression and not the worker or the task (fault D2).
func TestPanics(t *testing.T) {
	t.Parallel()
	c := setup(t)
	e, err := c.Compile("secret('K')", everything)
	require.NoError(t, err)
	_, err = e.Eval(&expr.Vars{Secret: func(string) (string, error) { panic("hunter2") }})
	var failure *expr.EvalError
	require.ErrorAs(t, err, &failure)
	require.Equal(t, expr.ExpressionFailed, failure.Type)
	require.NotContains(t, err.Error(), "hunter2")

	e, err = c.Compile("input", everything)
	require.NoError(t, err)
	for _, broken := range []string{"{", "nul", "[1", "1e", "\"\xff\""} {
		_, err = e.Eval(&expr.Vars{Input: json.RawMessage(broken)})
		require.ErrorAs(t, err, &failure, broken)
		require.Equal(t, expr.ExpressionFailed, failure.Type, broken)
	}
}
