package graph_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill/graph"
	"github.com/tidemill/tidemill/graph/value"
)

// large is a document of n nodes as authors write them: actions with arguments,
// branches, set nodes.
func large(n int) []byte {
	var b strings.Builder
	b.WriteString("id: large\nentry: n0\nnodes:\n")
	for i := range n {
		next := "end"
		if i+1 < n {
			next = fmt.Sprintf("n%d", i+1)
		}
		switch i % 4 {
		case 0:
			fmt.Fprintf(&b, "  - {id: n%d, run: http, args: {url: \"https://x.example/${ state.k%d }\"}, delta: {k%d: \"${ result.body }\"}, retry: {max_attempts: 3}, next: %s}\n", i, i, i, next)
		case 1:
			fmt.Fprintf(&b, "  - {id: n%d, type: branch, cases: [{when: state.total > %d, to: %s}], default: end}\n", i, i, next)
		default:
			fmt.Fprintf(&b, "  - {id: n%d, type: set, output: {i: %d}, next: %s}\n", i, i, next)
		}
	}
	return []byte(b.String())
}

func BenchmarkCompile1000(b *testing.B) {
	data := large(1000)
	b.ReportAllocs()
	for b.Loop() {
		_, found := graph.Compile("", data, graph.CompileOptions{})
		require.NoError(b, found.Err())
	}
}

func BenchmarkNewEvaluator1000(b *testing.B) {
	c, found := graph.Compile("", large(1000), graph.CompileOptions{})
	require.NoError(b, found.Err())
	b.ReportAllocs()
	for b.Loop() {
		_, err := graph.NewEvaluator(c.Document, nil)
		require.NoError(b, err)
	}
}

func BenchmarkCompileTask(b *testing.B) {
	c, found := graph.Compile("", large(1), graph.CompileOptions{})
	require.NoError(b, found.Err())
	for b.Loop() {
		_, err := graph.CompileTask(&c.Document.Nodes[0])
		require.NoError(b, err)
	}
}

func BenchmarkDecideBranch(b *testing.B) {
	c, found := graph.Compile("", large(2), graph.CompileOptions{})
	require.NoError(b, found.Err())
	e, err := graph.NewEvaluator(c.Document, nil)
	require.NoError(b, err)
	q := graph.Question{Kind: graph.AskBranch, Node: &c.Document.Nodes[1], Scope: graph.Scope{State: value.Object{{Key: "total", Value: []byte("7")}}}}
	for b.Loop() {
		d, _ := e.Decide(q)
		require.Nil(b, d.Failure)
	}
}
