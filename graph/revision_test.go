package graph_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill/graph"
)

// A graph that was changed without a new revision is taken for the old one by everybody
// who reads a run's revision; one that is only written otherwise is the same.
func TestRevisionWarning(t *testing.T) {
	t.Parallel()
	of := func(head, output string) *graph.Compiled {
		compiled, diagnostics := graph.Compile("x.yaml", []byte("version: 1\nid: "+head+"\nentry: a\nnodes: [{id: a, type: set, output: "+output+", next: end}]\n"),
			graph.CompileOptions{})
		require.NoError(t, diagnostics.Err())
		return compiled
	}
	known := of("one\nrevision: '3'", "x")
	changed := of("one\nrevision: '3'", "z")
	warning := graph.RevisionWarning(known, changed)
	require.Contains(t, warning, `two documents of graph "one" call themselves revision "3"`)
	require.Contains(t, warning, known.Fingerprint[:8])
	require.Contains(t, warning, changed.Fingerprint[:8])
	for name, given := range map[string]*graph.Compiled{
		"the same":         of("one\nrevision: 3", "x"),
		"another revision": of("one\nrevision: '4'", "z"),
		"another graph":    of("two\nrevision: '3'", "z"),
		"no revision":      of("one", "z"),
		"unknown":          nil,
	} {
		require.Empty(t, graph.RevisionWarning(known, given), name)
	}
	require.Empty(t, graph.RevisionWarning(of("one", "x"), of("one", "z")))
	require.Empty(t, graph.RevisionWarning(nil, changed))
}
