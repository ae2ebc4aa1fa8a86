package expr_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill/graph/expr"
)

// Each code has a smallest text that yields it, at its exact place. The clock,
// the environment and randomness are no functions here (fault C19).
func TestCompileErrors(t *testing.T) {
	t.Parallel()
	c := setup(t)
	for _, test := range []struct {
		text   string
		names  expr.Names
		code   string
		offset int
		says   string
	}{
		{"", everything, expr.InvalidExpression, 0, "empty"},
		{" \n", everything, expr.InvalidExpression, 0, "empty"},
		{"\xff", everything, expr.InvalidExpression, 0, "UTF-8"},
		{"1 +", everything, expr.InvalidExpression, 3, "ends where"},
		{"state.a = 1", everything, expr.InvalidExpression, 8, "write =="},
		{"state.a and state.b", everything, expr.InvalidExpression, 8, "write &&"},
		{"'abc", everything, expr.InvalidExpression, 0, "close the quotes"},
		{"'é' +\n [1", everything, expr.InvalidExpression, 9, "']'"},
		{"1 && true", everything, expr.InvalidExpression, 0, "compare the value"},
		{"size(1)", everything, expr.InvalidExpression, 4, "'size'"},
		{"9223372036854775808", everything, expr.InvalidExpression, 0, "64 bits"},
		{"Foo{a: 1}", everything, expr.InvalidExpression, 0, "write a map"},
		{"state.items.map(x)", everything, expr.InvalidExpression, 12, "list.map(x"},
		{"timestamp(0).getHours('Local')", everything, expr.InvalidExpression, 21, "getHours"},
		{"{'a': 1, 'b': 2, 'a': 3}", everything, expr.InvalidExpression, 17, "written twice"},
		{"foo", everything, expr.UnknownName, 0, "available here: state"},
		{"foo", 0, expr.UnknownName, 0, "no names are available"},
		{"1 + resutl.x", everything, expr.UnknownName, 4, "did you mean result?"},
		{"'é' + zz", everything, expr.UnknownName, 6, "no name zz"},
		{".foo", everything, expr.UnknownName, 0, "no name foo"},
		{"state.items.map(i, j)", everything, expr.UnknownName, 19, "no name j"},
		{"[1].map(i, i) + [i]", everything, expr.UnknownName, 17, "no name i"},
		{"state.name.upperAsci()", everything, expr.UnknownName, 11, "did you mean upperAscii()?"},
		{"run.nod", everything, expr.UnknownName, 3, "did you mean run.node?"},
		{"has(run.nod)", everything, expr.UnknownName, 3, "did you mean run.node?"},
		{"run['nod']", everything, expr.UnknownName, 3, "did you mean run.node?"},
		{"run.?nod", everything, expr.UnknownName, 3, "did you mean run.node?"},
		{"run.lane.usr", everything, expr.UnknownName, 8, "did you mean run.lane.user?"},
		{"error.kind", everything, expr.UnknownName, 5, "use one of type, message"},
		{"result", expr.State | expr.Input, expr.WrongScope, 0, "in output and delta; available here: state, input"},
		{"input.a + error.type", expr.Input, expr.WrongScope, 10, "in on_error"},
		{"state.a", expr.Input, expr.WrongScope, 0, "state is not available here"},
		{"[0].map(i, item)", expr.State, expr.WrongScope, 11, "in the item of a map"},
		{"index", expr.State, expr.WrongScope, 0, "index is not available here"},
		{"secret('A')", everything &^ expr.Secret, expr.SecretNotAllowed, 0, "move it into args"},
		{"secret(state.name)", everything, expr.SecretNotAllowed, 0, "write secret('NAME')"},
		{"secret()", everything, expr.SecretNotAllowed, 0, "write secret('NAME')"},
		{"secret('A', 'B')", everything, expr.SecretNotAllowed, 0, "write secret('NAME')"},
		{"secret('')", everything, expr.SecretNotAllowed, 0, "write secret('NAME')"},
		{"'a' + secret('A' + 'B')", everything, expr.SecretNotAllowed, 6, "write secret('NAME')"},
		{"now()", everything, expr.UnknownName, 0, "no clock"},
		{"1 + env('HOME')", everything, expr.UnknownName, 4, "no clock, environment"},
		{"random()", everything, expr.UnknownName, 0, "random source"},
		{"uuid()", everything, expr.UnknownName, 0, "run.key"},
		{"'a'.secret('A')", everything, expr.UnknownName, 4, "no function secret"},
	} {
		_, err := c.Compile(test.text, test.names)
		var errs expr.Errors
		require.ErrorAs(t, err, &errs, "%q: %v", test.text, err)
		require.Equal(t, test.code, errs[0].Code, "%q: %v", test.text, err)
		require.Equal(t, test.offset, errs[0].Offset, "%q: %v", test.text, err)
		require.Contains(t, err.Error(), test.says, "%q", test.text)
		require.NotContains(t, err.Error(), "@", "%q", test.text)
	}
}

// All errors of a text are reported at once, in the order of their places.
func TestCompileReportsEverything(t *testing.T) {
	t.Parallel()
	_, err := setup(t).Compile("result.a + zz + now() + secret('A')", expr.State)
	var errs expr.Errors
	require.ErrorAs(t, err, &errs)
	codes := make([]string, len(errs))
	for i, e := range errs {
		codes[i] = e.Code
	}
	require.Equal(t, []string{expr.WrongScope, expr.UnknownName, expr.UnknownName, expr.SecretNotAllowed}, codes)
}

// An activity is given only the keys of the state that an expression reads, so
// a key that is missed here is a failure there.
func TestReads(t *testing.T) {
	t.Parallel()
	c := setup(t)
	for text, want := range map[string]string{
		"1": "", "input.a": "", "state.a.b": "a", `state["a"]`: "a", "state.?a": "a", "state[?'a']": "a", "has(state.a)": "a",
		"has(state.a.b)": "a", "state.b + state.a + state.b": "a,b", "state.`a-b`": "a-b", ".state.a": "a", "state.?a.?b.orValue(state.c)": "a,c",
		"input.l.map(state, state.a)": "", "input.l.map(x, state.a)": "a", "input.l.map(state, .state.a)": "a",
		"state.l.all(s, s > state.m)": "l,m", "{'k': state.a, state.b: 1}": "a,b", "[state.a, [state.b]]": "a,b",
		"state.a == state.b": "a,b", "state.a ? state.b : state.c": "a,b,c", "input.?x.optMap(state, state.a)": "", "-state.a": "a",
		"state.items[state.i]": "i,items", "state.name.matches(state.p)": "name,p", "optional.of(state.a)": "a",
		"state": "*", "state[input.k]": "*", "size(state)": "*", "state.map(k, k)": "*", "'a' in state": "*", "state == {}": "*",
		"state.a + string(size(state))": "*", "{'s': state}": "*", "state[?input.k]": "*",
	} {
		e, err := c.Compile(text, everything)
		require.NoError(t, err, text)
		reads := e.Reads()
		if want == "*" {
			require.Equal(t, expr.Reads{All: true}, reads, text)
			continue
		}
		require.False(t, reads.All, text)
		require.Equal(t, want, strings.Join(reads.Keys, ","), text)
	}
	require.Equal(t, expr.Reads{Keys: []string{"a", "b"}}, expr.MergeReads(expr.Reads{Keys: []string{"b"}}, expr.Reads{Keys: []string{"a", "b"}}))
	require.Equal(t, expr.Reads{All: true}, expr.MergeReads(expr.Reads{Keys: []string{"b"}}, expr.Reads{All: true}))
}

func TestUses(t *testing.T) {
	t.Parallel()
	e, err := setup(t).Compile("input.a.map(result, result) == [index] && secret('B') + secret('A') + secret('B') != ''", everything)
	require.NoError(t, err)
	require.True(t, e.Uses(expr.Input))
	require.True(t, e.Uses(expr.Item))
	require.True(t, e.Uses(expr.Secret|expr.Run))
	require.False(t, e.Uses(expr.State|expr.Result|expr.Failure|expr.Run))
	require.Equal(t, []string{"A", "B"}, e.Secrets())
}
