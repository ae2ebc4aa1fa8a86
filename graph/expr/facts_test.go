package expr_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill/graph/expr"
)

const ruleNames = expr.Facts | expr.Partition

// A rule of admission that read another fact than the one it names would admit
// under the wrong limits; type is the one that CEL has a meaning of its own for.
func TestFacts(t *testing.T) {
	t.Parallel()
	c := setup(t)
	vars := &expr.Vars{
		Facts: map[string]string{
			"graph": "order", "node": "charge", "type": "agent", "agent": "planner", "tool": "search", "action": "http",
			"trigger": "nightly", "partition": "acme",
		},
		Run: json.RawMessage(`{"id":"order-7","lane":{"app":"acme","user":"u","session":"s"}}`),
	}
	for text, want := range map[string]string{
		"graph": `"order"`, "node": `"charge"`, "type": `"agent"`, "agent": `"planner"`, "tool": `"search"`, "action": `"http"`,
		"trigger": `"nightly"`, "partition": `"acme"`, ".type": `"agent"`,
		"type == 'agent' && node != ''": "true", "type(1) == int": "true", "partition in ['acme', 'globex']": "true",
		"node.startsWith('char')": "true", "['a'].map(node, node + graph)": `["aorder"]`, "['a'].exists(x, x == type)": "false",
		"run.lane.app": `"acme"`, "run.id": `"order-7"`, "size(agent)": "7",
	} {
		e, err := c.Compile(text, ruleNames|expr.Run)
		require.NoError(t, err, text)
		got, err := e.Eval(vars)
		require.NoError(t, err, text)
		require.Equal(t, want, string(got), text)
	}
	e, err := c.Compile("tool == '' && trigger == ''", ruleNames)
	require.NoError(t, err)
	empty, err := e.Bool(&expr.Vars{})
	require.NoError(t, err)
	require.True(t, empty, "a fact that an attempt does not have is empty text")
	require.True(t, e.Uses(expr.Facts))
	require.False(t, e.Uses(expr.Partition))
}

// A rule that names what a rule cannot see must be refused when the worker
// starts; afterwards it would keep every node waiting.
func TestFactMistakes(t *testing.T) {
	t.Parallel()
	c := setup(t)
	for _, test := range []struct {
		text  string
		names expr.Names
		code  string
		says  string
	}{
		{"nod == 'x'", ruleNames, expr.UnknownName, "did you mean node?"},
		{"zz == 'x'", ruleNames, expr.UnknownName, "available here: graph, node, type, agent, tool, action, trigger, partition"},
		{"partition == 'x'", expr.Facts | expr.Run, expr.WrongScope, "partition is not available here: this expression makes it"},
		{"run.id == 'x'", ruleNames, expr.WrongScope, "in every field of a graph"},
		{"run.node", expr.Facts | expr.Run, expr.UnknownName, "use one of id, lane"},
		{"run.lane.tenant", expr.Facts | expr.Run, expr.UnknownName, "use one of app, user, session"},
		{"state.a", ruleNames, expr.WrongScope, "state is not available here"},
		{"secret('A')", ruleNames, expr.SecretNotAllowed, "secret()"},
		{"node.name", ruleNames, expr.InvalidExpression, "string"},
		{"now()", ruleNames, expr.UnknownName, "no clock"},
		// In a document the facts are no names.
		{"node", everything, expr.UnknownName, "there is no name node"},
		{"partition", everything, expr.UnknownName, "there is no name partition"},
	} {
		_, err := c.Compile(test.text, test.names)
		var errs expr.Errors
		require.ErrorAs(t, err, &errs, test.text)
		require.Equal(t, test.code, errs[0].Code, "%s: %v", test.text, err)
		require.Contains(t, err.Error(), test.says, test.text)
		require.NotContains(t, err.Error(), "@", test.text)
	}
}
