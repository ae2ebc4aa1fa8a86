package docstest_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/tidemill/tidemill/graph"
)

// Readers copy what they see: a graph in a document that does not compile costs
// each of them the search for its mistake.
func TestGraphsInDocuments(t *testing.T) {
	t.Parallel()
	whole := 0
	for _, p := range pages(t) {
		for _, f := range p.fences() {
			if f.language != "yaml" {
				continue
			}
			at := fmt.Sprintf("%s:%d", p.name, f.line)
			switch {
			case strings.Contains(f.text, "\nnodes:"):
				whole++
				_, found := graph.Compile(at+".yaml", []byte(f.text), graph.CompileOptions{})
				require.NoError(t, found.Err(), at)
			case strings.HasPrefix(f.text, "- "):
				compileNodes(t, at, f.text)
			default:
				var anything any
				require.NoError(t, yaml.Unmarshal([]byte(f.text), &anything), at)
			}
		}
	}
	require.Positive(t, whole, "no graph was found: the test looks for the wrong blocks")
}

// compileNodes compiles a list of nodes that stands alone. They may lead to
// nodes that it does not show, and nothing else may be wrong.
func compileNodes(tb testing.TB, at, text string) {
	tb.Helper()
	var nodes []struct {
		ID string `yaml:"id"`
	}
	require.NoError(tb, yaml.Unmarshal([]byte(text), &nodes), at)
	document := fmt.Sprintf("id: example\nentry: %s\nnodes:\n%s", nodes[0].ID, text)
	_, found := graph.Compile(at+".yaml", []byte(document), graph.CompileOptions{})
	wrong := slices.DeleteFunc(found.Errors(), func(d graph.Diagnostic) bool {
		return d.Code == "unknown_edge_target" || d.Code == "unknown_graph_target"
	})
	require.NoError(tb, wrong.Err(), at)
}

// The graphs of the examples are what a new user runs first.
func TestGraphsOfExamples(t *testing.T) {
	t.Parallel()
	count := 0
	for _, name := range files(t, ".yaml") {
		text := strings.Join(read(t, name).lines, "\n")
		if !strings.HasPrefix(name, "examples/") || !strings.Contains(text, "\nnodes:") {
			continue
		}
		count++
		_, found := graph.Compile(name, []byte(text), graph.CompileOptions{})
		require.Empty(t, slices.DeleteFunc(found, intended), name)
	}
	require.Positive(t, count)
}

// intended reports whether a warning is one that an example is there to give:
// callbacks are the worker's, and a merge may be about conflicts.
func intended(d graph.Diagnostic) bool {
	return d.Code == "unknown_callback" || d.Code == "possible_conflict"
}
