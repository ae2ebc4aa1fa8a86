package graph_test

import (
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill/graph"
	"github.com/tidemill/tidemill/graph/value"
)

// callbacks are scripted answers by name.
type callbacks map[string]func(graph.Scope) (any, error)

func (c callbacks) Call(name string, scope graph.Scope) (any, error) {
	f, ok := c[name]
	if !ok {
		return nil, errors.New("no such callback")
	}
	return f(scope)
}

// gives is a callback with one answer.
func gives(v any) func(graph.Scope) (any, error) {
	return func(graph.Scope) (any, error) { return v, nil }
}

// compiled compiles a document that must be right.
func compiled(t *testing.T, doc string) *graph.Compiled {
	t.Helper()
	c, found := graph.Compile("", []byte(doc), graph.CompileOptions{})
	require.NoError(t, found.Err())
	return c
}

// asker makes a function that asks about the first node of a document.
func asker(t *testing.T, doc string, known graph.Callbacks) func(graph.QuestionKind, graph.Scope) graph.Decision {
	t.Helper()
	c := compiled(t, doc)
	e, err := graph.NewEvaluator(c.Document, known)
	require.NoError(t, err)
	return func(kind graph.QuestionKind, scope graph.Scope) graph.Decision {
		d, ok := e.Decide(graph.Question{Kind: kind, Node: &c.Document.Nodes[0], Scope: scope})
		require.True(t, ok)
		return d
	}
}

func state(t *testing.T, raw string) value.Object {
	t.Helper()
	o, err := value.ParseObject(json.RawMessage(raw))
	require.NoError(t, err)
	return o
}

func TestDecideCases(t *testing.T) {
	t.Parallel()
	ask := asker(t, typed("branch", "cases: [{when: state.n > 10, to: b}, {when: 'input.x == run.lane.user', to: end}]\n    default: a"), nil)
	for _, c := range []struct{ state, input, want string }{
		{`{"n": 11}`, `{"x": ""}`, "b"},
		{`{"n": 10.5}`, `{"x": "u"}`, "b"},
		{`{"n": 1}`, `{"x": ""}`, "end"},
		{`{"n": 1}`, `{"x": "u"}`, "a"},
	} {
		d := ask(graph.AskBranch, graph.Scope{State: state(t, c.state), Input: json.RawMessage(c.input)})
		require.Equal(t, graph.Decision{To: c.want}, d)
	}
}

// A decision that fails says which expression failed and where it stands; the
// cases after it are not looked at.
func TestDecideCaseFails(t *testing.T) {
	t.Parallel()
	ask := asker(t, typed("branch", "cases: [{when: 'false', to: b}, {when: state.missing > 1, to: b}, {when: 'true', to: b}]"), nil)
	d := ask(graph.AskBranch, graph.Scope{State: state(t, `{}`)})
	require.Equal(t, graph.ErrTypeExpressionFailed, d.Failure.Type)
	require.Contains(t, d.Failure.Message, "nodes/a/cases/1/when")
	require.Contains(t, d.Failure.Message, "state.missing > 1")

	ask = asker(t, typed("branch", "cases: [{when: 'state.n', to: b}]"), nil)
	d = ask(graph.AskBranch, graph.Scope{State: state(t, `{"n": 1}`)})
	require.Equal(t, graph.ErrTypeExpressionFailed, d.Failure.Type, "a condition gives true or false, nothing else")
}

// No case and no default is no answer, which the machine reports.
func TestDecideNoCase(t *testing.T) {
	t.Parallel()
	ask := asker(t, one("{id: a, type: set, next: {cases: [{when: 'false', to: end}]}}"), nil)
	require.Equal(t, graph.Decision{}, ask(graph.AskRoute, graph.Scope{}))
}

func TestDecideOnError(t *testing.T) {
	t.Parallel()
	ask := asker(t, act("on_error: {cases: [{when: error.type == 'http_404' && error.attempts == 0, to: a}], default: end}"), nil)
	at := func(errorType string) graph.Scope { return graph.Scope{Error: graph.Failf(errorType, "m")} }
	require.Equal(t, "a", ask(graph.AskOnError, at("http_404")).To)
	require.Equal(t, "end", ask(graph.AskOnError, at("http_500")).To)
}

func TestDecideValues(t *testing.T) {
	t.Parallel()
	ask := asker(t, act("output: {sum: '${ result.n + 1 }', run: '${ run.id }', lit: '$${x}'}\n    delta: {m: '${ state.m }', k: 1}"), nil)
	d := ask(graph.AskValues, graph.Scope{
		State: state(t, `{"m": 12345678901234567890123}`), Result: json.RawMessage(`{"n": 1}`), Run: graph.RunFacts{ID: "r"},
	})
	require.Nil(t, d.Failure)
	require.JSONEq(t, `{"lit": "${x}", "sum": 2, "run": "r"}`, string(d.Output))
	require.Equal(t, `{"k":1,"m":12345678901234567890123}`, string(d.Delta.Raw()), "long integers pass through exactly")

	ask = asker(t, act("delta: '${ result }'"), nil)
	require.Nil(t, ask(graph.AskValues, graph.Scope{Result: json.RawMessage(`{}`)}).Output, "a node without output has none")
	require.Equal(t, graph.ErrTypeInvalidStateDelta, ask(graph.AskValues, graph.Scope{Result: json.RawMessage(`[]`)}).Failure.Type)

	ask = asker(t, act("output: '${ state.n * state.n }'"), nil)
	d = ask(graph.AskValues, graph.Scope{State: state(t, `{"n": 9000000000000000000}`)})
	require.Equal(t, graph.ErrTypeNumberOutOfRange, d.Failure.Type)
	require.Contains(t, d.Failure.Message, "nodes/a/output")

	ask = asker(t, act("output: null"), nil)
	require.Equal(t, "null", string(ask(graph.AskValues, graph.Scope{}).Output), "null is a value")
}

func TestDecidePause(t *testing.T) {
	t.Parallel()
	ask := asker(t, typed("pause", "next: b\n    summary: '${ input.s }'\n    show: {x: '${ input.x }'}"), nil)
	long := strings.Repeat("é", 3000)
	d := ask(graph.AskPause, graph.Scope{Input: json.RawMessage(`{"s": "` + long + `", "x": [1]}`)})
	require.Nil(t, d.Failure)
	require.LessOrEqual(t, len(d.Summary), graph.MaxSummary)
	require.True(t, strings.HasPrefix(d.Summary, "éé"))
	require.NotContains(t, d.Summary, "\ufffd", "the cut falls between characters")
	require.JSONEq(t, `{"x":[1]}`, string(d.Show))

	require.Equal(t, `{"a":1}`, ask(graph.AskPause, graph.Scope{Input: json.RawMessage(`{"s": {"a": 1}, "x": 1}`)}).Summary)
	d = ask(graph.AskPause, graph.Scope{Input: json.RawMessage(`{"s": "", "x": "` + long + `"}`)})
	require.Equal(t, graph.ErrTypeOutputTooLarge, d.Failure.Type)
}

func TestDecideUntil(t *testing.T) {
	t.Parallel()
	ask := asker(t, typed("wait", "next: b\n    until: '${ input }'"), nil)
	require.Equal(t, `"2030-01-02T03:04:05+01:00"`, string(ask(graph.AskUntil, graph.Scope{Input: json.RawMessage(`"2030-01-02T03:04:05+01:00"`)}).Output))
	for _, wrong := range []string{`"tomorrow"`, `17`, `null`, `"2030-01-02"`} {
		require.Equal(t, graph.ErrTypeExpressionFailed, ask(graph.AskUntil, graph.Scope{Input: json.RawMessage(wrong)}).Failure.Type, wrong)
	}
}

func TestDecideSchema(t *testing.T) {
	t.Parallel()
	c := compiled(t, one("{id: a, type: set, next: end, input_schema: {type: object}}"))
	e, err := graph.NewEvaluator(c.Document, nil)
	require.NoError(t, err)
	for _, q := range []struct {
		schema, subject string
		fits            bool
	}{
		{`{"type":"object"}`, `{}`, true},
		{`{"type":"object"}`, `1`, false},
		{`{"type":"string"}`, `"x"`, true}, // an action's pause brings a schema of its own
		{`{"type":"strin"}`, `"x"`, false},
	} {
		d, ok := e.Decide(graph.Question{Kind: graph.AskSchema, Schema: json.RawMessage(q.schema), Subject: json.RawMessage(q.subject)})
		require.True(t, ok)
		require.Equal(t, q.fits, d.Failure == nil, q)
	}
}

// Callbacks that fail, panic or answer garbage are failures of the type that
// the question calls for, never of the evaluator.
func TestDecideByCallback(t *testing.T) {
	t.Parallel()
	fails := func(graph.Scope) (any, error) { return nil, errors.New("no") }
	panics := func(graph.Scope) (any, error) { panic("oh") }
	route, choose, while := one("{id: a, type: set, next: {route: {call: f}}}"),
		typed("dynamic", "choose: {call: f}\n    targets: [b, end]"), typed("loop", "while: {call: f}\n    body: b\n    max_iterations: 1")
	for _, c := range []struct {
		doc  string
		kind graph.QuestionKind
		f    func(graph.Scope) (any, error)
		want string // target, "true", "false" or the failure's type
	}{
		{route, graph.AskRoute, gives("anything"), "anything"},
		{route, graph.AskRoute, gives("$end"), "end"},
		{route, graph.AskRoute, gives(7), graph.ErrTypeRouteFailed},
		{route, graph.AskRoute, gives(""), graph.ErrTypeRouteFailed},
		{route, graph.AskRoute, gives(func() {}), graph.ErrTypeRouteFailed},
		{route, graph.AskRoute, fails, graph.ErrTypeRouteFailed},
		{route, graph.AskRoute, panics, graph.ErrTypeRouteFailed},
		{choose, graph.AskBranch, gives("b"), "b"},
		{choose, graph.AskBranch, gives("$end"), "end"},
		{choose, graph.AskBranch, gives("a"), graph.ErrTypeTargetNotAllowed},
		{choose, graph.AskBranch, gives(nil), graph.ErrTypeRouteFailed},
		{choose, graph.AskBranch, panics, graph.ErrTypeRouteFailed},
		{while, graph.AskWhile, gives(true), "true"},
		{while, graph.AskWhile, gives(json.RawMessage("false")), "false"},
		{while, graph.AskWhile, gives("true"), graph.ErrTypeGraphLoopFailed},
		{while, graph.AskWhile, fails, graph.ErrTypeGraphLoopFailed},
		{while, graph.AskWhile, panics, graph.ErrTypeGraphLoopFailed},
	} {
		d := asker(t, c.doc, callbacks{"f": c.f})(c.kind, graph.Scope{})
		got := d.To
		switch {
		case d.Failure != nil:
			got = d.Failure.Type
		case c.kind == graph.AskWhile && d.Holds:
			got = "true"
		case c.kind == graph.AskWhile:
			got = "false"
		}
		require.Equal(t, c.want, got)
	}
	require.Equal(t, graph.ErrTypeRouteFailed, asker(t, route, nil)(graph.AskRoute, graph.Scope{}).Failure.Type)
}

// The arguments of an activity of another SDK are evaluated by the machine's
// evaluator, for there is no wrapper to do it.
func TestDecideArgs(t *testing.T) {
	t.Parallel()
	scope := graph.Scope{Input: json.RawMessage(`{"x": 1}`)}
	ask := asker(t, one("{id: a, run: {activity: X, task_queue: q}, args: {p: '${ input.x }'}, next: end}"), nil)
	require.Equal(t, `{"p":1}`, string(ask(graph.AskArgs, scope).Output))
	ask = asker(t, one("{id: a, run: {activity: X}, next: end}"), nil)
	require.Equal(t, `{}`, string(ask(graph.AskArgs, scope).Output))
	ask = asker(t, one("{id: a, run: {activity: X}, args: {call: f}, next: end}"), callbacks{"f": gives([]int{1})})
	require.Equal(t, `[1]`, string(ask(graph.AskArgs, scope).Output))
}

// An evaluator serves every run of a graph in a worker at once.
func TestEvaluatorIsSafeForConcurrentUse(t *testing.T) {
	t.Parallel()
	c := compiled(t, act("output: {a: '${ state.n + 1 }', id: '${ run.id }'}"))
	e, err := graph.NewEvaluator(c.Document, nil)
	require.NoError(t, err)
	var group sync.WaitGroup
	got := make([]string, 8)
	scope := graph.Scope{State: state(t, `{"n": 1}`), Run: graph.RunFacts{ID: "r"}}
	for i := range got {
		group.Go(func() {
			d, _ := e.Decide(graph.Question{Kind: graph.AskValues, Node: &c.Document.Nodes[0], Scope: scope})
			got[i] = string(d.Output)
		})
	}
	group.Wait()
	for _, output := range got {
		require.JSONEq(t, `{"a":2,"id":"r"}`, output)
	}
}

// A question about a node of another document is a failure, not a panic.
func TestDecideUnknownNode(t *testing.T) {
	t.Parallel()
	e, err := graph.NewEvaluator(compiled(t, one(set)).Document, nil)
	require.NoError(t, err)
	for _, q := range []graph.Question{{Kind: graph.AskRoute}, {Kind: graph.AskRoute, Node: &graph.Node{ID: "z"}}, {Kind: "?", Node: &graph.Node{ID: "a"}}} {
		d, ok := e.Decide(q)
		require.True(t, ok)
		require.Equal(t, graph.ErrTypeExpressionFailed, d.Failure.Type)
	}
}
