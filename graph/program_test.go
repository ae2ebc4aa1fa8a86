package graph_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill/graph"
)

// task compiles a document's first node for its activity.
func task(t *testing.T, doc string) (*graph.Program, *graph.Task) {
	t.Helper()
	node := &compiled(t, doc).Document.Nodes[0]
	p, err := graph.CompileTask(node)
	require.NoError(t, err)
	return p, &graph.Task{
		Node: node, Input: json.RawMessage(`{"x": 1}`), State: state(t, `{"s": "v"}`), Run: graph.RunFacts{Attempt: 2, Key: "k"},
	}
}

func secrets(name string) (string, error) {
	if name == "T" {
		return "hunter2", nil
	}
	return "", errors.New("denied")
}

func TestProgramArgs(t *testing.T) {
	t.Parallel()
	for doc, want := range map[string]string{
		one("{id: a, run: r, next: end}"): `{}`,
		act("args: {a: '${ state.s }', b: [1, '${ input.x }'], c: '${ run.attempt }', d: 1}"): `{"a":"v","b":[1,1],"c":2,"d":1}`,
		act("args: {header: \"Bearer ${ secret('T') }\"}"):                                    `{"header":"Bearer hunter2"}`,
	} {
		p, in := task(t, doc)
		args, failure := p.Args(in, secrets)
		require.Nil(t, failure)
		require.Equal(t, want, string(args))
	}
}

// A secret that the worker does not give, or no secrets at all, is a failure
// that names the secret and nothing else.
func TestProgramArgsSecretDenied(t *testing.T) {
	t.Parallel()
	p, in := task(t, act("args: {header: \"${ secret('OTHER') }\"}"))
	for _, give := range []func(string) (string, error){secrets, nil} {
		_, failure := p.Args(in, give)
		require.Equal(t, graph.ErrTypeSecretNotAllowed, failure.Type)
		require.NotContains(t, failure.Message, "denied")
	}
	p, in = task(t, act("args: {header: \"${ int(secret('T')) }\"}"))
	_, failure := p.Args(in, secrets)
	require.Equal(t, graph.ErrTypeExpressionFailed, failure.Type)
	require.NotContains(t, failure.Message, "hunter2")
}

// What is missing in state or input fails before the action runs, not in it.
func TestProgramArgsFail(t *testing.T) {
	t.Parallel()
	p, in := task(t, act("args: {a: '${ state.missing }'}"))
	_, failure := p.Args(in, nil)
	require.Equal(t, graph.ErrTypeExpressionFailed, failure.Type)
	require.Contains(t, failure.Message, "nodes/a/args")

	p, in = task(t, act("input_schema: {type: object, required: [order]}"))
	_, failure = p.Args(in, nil)
	require.Equal(t, graph.ErrTypeNodeInputSchema, failure.Type)
}

func TestProgramCallArgs(t *testing.T) {
	t.Parallel()
	p, in := task(t, act("args: {call: make}"))
	seen := graph.Scope{}
	known := callbacks{"make": func(s graph.Scope) (any, error) {
		seen = s
		if s.Run.Key == "" {
			return nil, errors.New("no key")
		}
		return map[string]any{"n": 1.0}, nil
	}}
	args, failure := p.CallArgs(in, known, nil)
	require.Nil(t, failure)
	require.Equal(t, `{"n":1}`, string(args))
	require.Equal(t, in.Input, seen.Input)
	require.Equal(t, "k", seen.Run.Key)

	_, failure = p.CallArgs(in, callbacks{}, nil)
	require.Equal(t, graph.ErrTypeExpressionFailed, failure.Type)
	_, failure = p.Args(in, nil)
	require.Equal(t, graph.ErrTypeExpressionFailed, failure.Type, "without callbacks there is nobody to ask")

	p, in = task(t, act("args: {a: 1}"))
	args, failure = p.CallArgs(in, nil, nil)
	require.Nil(t, failure)
	require.Equal(t, `{"a":1}`, string(args))
}

func TestProgramFinish(t *testing.T) {
	t.Parallel()
	result, output := json.RawMessage(`{"body": {"id": 7}, "status": 200}`), json.RawMessage(`{"id": 7}`)

	p, in := task(t, one("{id: a, run: r, next: end}"))
	out, delta, failure := p.Finish(in, result, output)
	require.Nil(t, failure)
	require.Equal(t, output, out, "without output a node gives what the action gave")
	require.Empty(t, delta)

	out, _, failure = p.Finish(in, nil, nil)
	require.Nil(t, failure)
	require.Equal(t, "null", string(out))

	p, in = task(t, act("output: '${ result.status }'\n    delta: {order: '${ result.body }', s: '${ state.s }'}"))
	out, delta, failure = p.Finish(in, result, output)
	require.Nil(t, failure)
	require.Equal(t, "200", string(out))
	require.JSONEq(t, `{"order":{"id":7},"s":"v"}`, string(delta.Raw()))
}

// The output is held against the schema after the output field has made it, and
// before anything is committed. Null is an output like any other.
func TestProgramFinishFails(t *testing.T) {
	t.Parallel()
	p, in := task(t, act("output: '${ result.status }'\n    output_schema: {type: string}"))
	_, _, failure := p.Finish(in, json.RawMessage(`{"status": 200}`), json.RawMessage(`"text"`))
	require.Equal(t, graph.ErrTypeNodeOutputSchema, failure.Type)

	p, in = task(t, act("output_schema: {type: string}"))
	_, _, failure = p.Finish(in, nil, nil)
	require.Equal(t, graph.ErrTypeNodeOutputSchema, failure.Type)

	p, in = task(t, act("delta: '${ result }'"))
	_, _, failure = p.Finish(in, json.RawMessage(`1`), nil)
	require.Equal(t, graph.ErrTypeInvalidStateDelta, failure.Type)
}

// A node that no compiler has seen is refused, not run wrongly.
func TestCompileTaskRefuses(t *testing.T) {
	t.Parallel()
	for _, node := range []graph.Node{
		{ID: "a", Run: &graph.Run{Name: "r"}, Args: json.RawMessage(`"${ nonsense }"`)},
		{ID: "a", Run: &graph.Run{Name: "r"}, InputSchema: json.RawMessage(`{"type": 1}`)},
		{ID: "a", Run: &graph.Run{Name: "r"}, OutputSchema: json.RawMessage(`1`)},
	} {
		_, err := graph.CompileTask(&node)
		require.Error(t, err)
	}
}

func TestCheckInput(t *testing.T) {
	t.Parallel()
	doc := compiled(t, readFile(t, "order-review.yaml")).Document
	for input, want := range map[string]string{
		`{"order": "7", "b": 1.0, "a": 2}`: `{"a":2,"b":1,"order":"7"}`,
		``:                                 graph.ErrTypeInputSchema,
		`null`:                             graph.ErrTypeInputSchema,
		`{"order": 7}`:                     graph.ErrTypeInputSchema,
		`[]`:                               graph.ErrTypeInputSchema,
		`"order"`:                          graph.ErrTypeInputSchema,
		`{"order": "7"`:                    graph.ErrTypeInputSchema,
	} {
		got, failure := graph.CheckInput(doc, json.RawMessage(input))
		if failure != nil {
			require.Equal(t, want, failure.Type, input)
			require.Nil(t, got)
			continue
		}
		require.Equal(t, want, string(got), input)
	}
	for _, absent := range []string{``, `null`, `{}`} {
		got, failure := graph.CheckInput(&graph.Document{}, json.RawMessage(absent))
		require.Nil(t, failure)
		require.Equal(t, `{}`, string(got), "no input is an empty object")
	}
}

func TestCheckOutput(t *testing.T) {
	t.Parallel()
	doc := compiled(t, root("output_schema: {type: string}")).Document
	require.Nil(t, graph.CheckOutput(doc, json.RawMessage(`"x"`)))
	require.Equal(t, graph.ErrTypeOutputSchema, graph.CheckOutput(doc, json.RawMessage(`1`)).Type)
	require.Equal(t, graph.ErrTypeOutputSchema, graph.CheckOutput(doc, nil).Type)
	require.Nil(t, graph.CheckOutput(&graph.Document{}, nil))
}
