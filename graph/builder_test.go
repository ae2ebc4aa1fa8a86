package graph_test

import (
	"math"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill/graph"
)

// A graph made in Go and the same graph written as text are one graph: a run
// that was started from one goes on under the other.
func TestBuilderMatchesText(t *testing.T) {
	t.Parallel()
	b := graph.NewBuilder("g")
	b.Document.MaxSteps = 5
	b.Add(
		graph.Node{
			ID: "a", Run: &graph.Run{Name: "x"}, Args: b.Value(map[string]any{"p": "${ state.z }", "i": 1.0}),
			Retry: &graph.Retry{MaxAttempts: 3, Backoff: graph.None},
			Next:  graph.Choose("c", graph.Case{When: "input.ok", To: "b"}),
		},
		graph.Node{ID: "b", Type: graph.TypeSet, Next: graph.Ask("pick")},
	).Add(graph.Node{ID: "c", Type: graph.TypePause, Next: graph.To(graph.End)})
	built, found := b.Compile(graph.CompileOptions{})
	require.NoError(t, found.Err())

	text := compiled(t, `
id: g
entry: a
max_steps: 5
nodes:
  - id: a
    run: x
    args: {p: "${ state.z }", i: 1}
    retry: {max_attempts: 3, backoff: 0s}
    next: {cases: [{when: input.ok, to: b}], default: c}
  - {id: b, type: set, next: {route: {call: pick}}}
  - {id: c, type: pause, next: end}
`)
	require.Equal(t, string(text.Canonical), string(built.Canonical))
}

// A mistake made while building is not lost because the rest is right.
func TestBuilderKeepsMistakes(t *testing.T) {
	t.Parallel()
	b := graph.NewBuilder("g")
	b.Add(graph.Node{ID: "a", Type: graph.TypeSet, Output: b.Value(math.Inf(1)), Next: graph.To(graph.End)})
	for range 2 {
		c, found := b.Compile(graph.CompileOptions{})
		require.Nil(t, c)
		require.Equal(t, []string{"0:0  invalid_value"}, places(found))
	}
}

// A code that a user meets can be looked up.
func TestDocsListEveryCode(t *testing.T) {
	t.Parallel()
	docs, err := os.ReadFile("../docs/errors.md")
	require.NoError(t, err)
	for _, c := range graph.Codes() {
		require.Contains(t, string(docs), "| `"+c.Code+"` | "+c.Meaning+" |")
	}
}
