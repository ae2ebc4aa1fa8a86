package activities_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill/activities"
	"github.com/tidemill/tidemill/graph"
	"github.com/tidemill/tidemill/graph/value"
)

// childOf is the third argument of a child that runs a compiled graph.
func childOf(t *testing.T, c *graph.Compiled, edit func(*graph.ChildStart)) json.RawMessage {
	t.Helper()
	start := graph.ChildStart{Fingerprint: c.Fingerprint, Root: "root", Address: "sub#1", Lineage: "lineage"}
	if edit != nil {
		edit(&start)
	}
	raw, err := value.Marshal(start)
	require.NoError(t, err)
	return raw
}

func compiled(t *testing.T, text string) *graph.Compiled {
	t.Helper()
	c, found := graph.Compile("test.yaml", []byte(text), graph.CompileOptions{})
	require.NoError(t, found.Err())
	return c
}

// A child binds itself to what its parent is bound to, and to nothing else; what
// is handed over is taken because a pin holds it, so only from a parent.
func TestPinChild(t *testing.T) {
	t.Parallel()
	strict, other := compiled(t, strictGraph), compiled(t, small("other"))
	stale := *strict.Document
	stale.Revision = "2"
	input := json.RawMessage(`{"order":"7"}`)
	for name, c := range map[string]struct {
		graph   string
		start   json.RawMessage
		orphan  bool
		input   json.RawMessage
		want    string
		message string
	}{
		"its worker has it":        {graph: "strict", start: childOf(t, strict, nil)},
		"handed over":              {graph: "other", start: childOf(t, other, func(s *graph.ChildStart) { s.Documents = []*graph.Document{other.Document} })},
		"null is a run of its own": {graph: "strict", start: json.RawMessage("null"), orphan: true},
		"no parent":                {graph: "strict", start: childOf(t, strict, nil), orphan: true, want: graph.ErrTypeInvalidRunOptions, message: "third argument"},
		"another fingerprint":      {graph: "strict", start: childOf(t, other, nil), want: graph.ErrTypeUnknownGraph, message: other.Fingerprint},
		"no graph of that name":    {graph: "other", start: childOf(t, other, nil), want: graph.ErrTypeUnknownGraph, message: other.Fingerprint},
		"another document":         {graph: "strict", start: childOf(t, strict, func(s *graph.ChildStart) { s.Documents = []*graph.Document{&stale} }), want: graph.ErrTypeInvalidRunOptions, message: "another document"},
		"a document of another id": {graph: "strict", start: childOf(t, other, func(s *graph.ChildStart) { s.Documents = []*graph.Document{other.Document} }), want: graph.ErrTypeInvalidRunOptions, message: "another document"},
		"an unknown field":         {graph: "strict", start: append(bytes.TrimSuffix(childOf(t, strict, nil), []byte("}")), `,"of_a_later_release":1}`...)},
		"no address":               {graph: "strict", start: childOf(t, strict, func(s *graph.ChildStart) { s.Address = "" }), want: graph.ErrTypeInvalidRunOptions},
		"no lineage":               {graph: "strict", start: childOf(t, strict, func(s *graph.ChildStart) { s.Lineage = "" }), want: graph.ErrTypeInvalidRunOptions, message: "lineage"},
		"a negative budget":        {graph: "strict", start: childOf(t, strict, func(s *graph.ChildStart) { s.Left = -5 }), want: graph.ErrTypeInvalidRunOptions},
		"no document":              {graph: "strict", start: childOf(t, strict, func(s *graph.ChildStart) { s.Documents = []*graph.Document{nil} }), want: graph.ErrTypeInvalidRunOptions},
		"input against the schema": {graph: "strict", start: childOf(t, strict, nil), input: json.RawMessage(`{}`), want: graph.ErrTypeInputSchema},
		"a map that it has not": {graph: "strict", start: childOf(t, strict, func(s *graph.ChildStart) {
			s.Map = &graph.MapStart{Node: "each", Input: json.RawMessage("1"), Items: json.RawMessage("[]")}
		}), want: graph.ErrTypeInvalidRunOptions, message: "each"},
		"items that are no list": {graph: "strict", start: childOf(t, strict, func(s *graph.ChildStart) {
			s.Map = &graph.MapStart{Node: "each", Input: json.RawMessage("1"), Items: json.RawMessage("{}")}
		}), want: graph.ErrTypeInvalidRunOptions, message: "map.items must give a list"},
		"text behind the arguments": {graph: "strict", start: append(childOf(t, strict, nil), '1'), want: graph.ErrTypeInvalidRunOptions},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			acts := pinner(t, nil)
			if c.input == nil {
				c.input = input
			}
			pin, err := acts.Pin(t.Context(), activities.PinInput{Graph: c.graph, Input: c.input, Options: json.RawMessage("null"), Child: c.start, HasParent: !c.orphan})
			require.NoError(t, err)
			if c.want == "" {
				require.Nil(t, pin.Failure)
				require.Equal(t, c.graph, pin.Document.ID)
				return
			}
			require.NotNil(t, pin.Failure)
			require.Equal(t, c.want, pin.Failure.Type, pin.Failure.Message)
			require.Contains(t, pin.Failure.Message, c.message)
		})
	}
}

// In a rolling deploy a parent may be run by a worker of a later release than the one
// that starts its child. What must not be passed over is for a worker that knows it: a
// refusal would be recorded, and would fail the run.
func TestPinChildOfALaterRelease(t *testing.T) {
	t.Parallel()
	start := childOf(t, compiled(t, strictGraph), func(s *graph.ChildStart) { s.Version = graph.ChildStartVersion + 1 })
	_, err := pinner(t, nil).Pin(t.Context(), activities.PinInput{Graph: "strict", Input: json.RawMessage(`{"order":"7"}`), Child: start, HasParent: true})
	require.ErrorIs(t, err, activities.ErrNewer)
}

// A child's report names pauses by which people answer: none of them may be
// another run's.
func TestParseChildReport(t *testing.T) {
	t.Parallel()
	pause := func(id, workflow string) string {
		return `{"address":"sub#1","sequence":1,"pauses":[{"pause_id":"` + id + `","digest":"d","reason":"pause","opened":"2026-01-02T03:04:05Z","workflow_id":"` + workflow + `"}]}`
	}
	for _, raw := range []string{pause("sub#1/ask#1", "w"), `{"address":"sub#1","of_a_later_release":1,"closed":["sub#1/ask#1"]}`} {
		_, err := activities.ParseChildReport(json.RawMessage(raw))
		require.NoError(t, err)
	}
	for _, raw := range []string{
		``, `1`, `{}`, `{"address":"sub"}`, `{"address":"sub#1"} 1`, `{"address":"sub#1","replies":[{}]}`, `{"address":"sub#1","closed":["ask#1"]}`,
		pause("ask#1", "w"), pause("sub#1", "w"), pause("sub#10/ask#1", "w"), pause("sub#1/ask", "w"), pause("sub#1/ask#1", ""),
	} {
		_, err := activities.ParseChildReport(json.RawMessage(raw))
		require.Error(t, err, raw)
	}
}

func TestParseForwardedAnswer(t *testing.T) {
	t.Parallel()
	forwarded, err := activities.ParseForwardedAnswer(json.RawMessage(`{"request":"r","answer":{"pause_id":"sub#1/ask#1","input":{"b": 1,"a":"\u003c"},"via":"update","checked":true}}`))
	require.NoError(t, err)
	require.Equal(t, graph.Answer{PauseID: "sub#1/ask#1", Via: "update", Input: json.RawMessage(`{"a":"<","b":1}`)}, forwarded.Answer,
		"digests and sizes are those of the value, and nobody may say for the child that it fits")
	for _, raw := range []string{``, `[]`, `{}`, `{"request":"r","answer":{"input":1}}`, `{"answer":{"pause_id":"ask#1","input":1}}`} {
		_, err := activities.ParseForwardedAnswer(json.RawMessage(raw))
		require.Error(t, err, raw)
	}
}

// What is handed over must be complete: a child could not start its own children
// later.
func TestClosure(t *testing.T) {
	t.Parallel()
	inline := &graph.Document{ID: "inline", Graphs: []graph.GraphRef{{ID: "c"}}}
	top := &graph.Document{ID: "top", Graphs: []graph.GraphRef{{ID: "a"}, {ID: "b"}}, Nodes: []graph.Node{{
		ID: "each", Item: &graph.Node{Workflow: &graph.Child{Graph: "inline", Document: inline}},
	}}}
	a := &graph.Document{ID: "a", Graphs: []graph.GraphRef{{ID: "b"}}}
	b, c := &graph.Document{ID: "b"}, &graph.Document{ID: "c"}
	found, missing := activities.Closure(top, []*graph.Document{c, b, a, {ID: "unrelated"}})
	require.Equal(t, []*graph.Document{a, b, c}, found)
	require.Empty(t, missing)
	_, missing = activities.Closure(top, []*graph.Document{a, b})
	require.Equal(t, []graph.GraphRef{{ID: "c"}}, missing)
}
