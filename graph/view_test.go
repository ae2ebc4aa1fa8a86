package graph_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill/graph"
)

// An operator who reads "attempt 2" of a node that failed at its only attempt
// looks for one that was never made.
func TestCurrentCountsAttempts(t *testing.T) {
	t.Parallel()
	compiled, found := graph.Compile("view.yaml",
		[]byte("version: 1\nid: view\nentry: a\nnodes: [{id: a, run: make, next: end}]\n"), graph.CompileOptions{})
	require.NoError(t, found.Err())
	now := time.Unix(0, 0).UTC()
	m, err := graph.New(compiled.Plan, graph.Start{Input: json.RawMessage(`{}`), Now: now})
	require.NoError(t, err)
	m.Advance(now, graph.Undecided{})
	require.Equal(t, 1, m.Current()[0].Attempt, "the first is under way")
	m.End(now, "a#1", graph.Ending{Kind: graph.Failed, Failure: graph.Failf("lost", "gone")})
	m.Advance(now, graph.Undecided{})
	require.Equal(t, graph.StatusFailed, m.Status())
	require.Equal(t, 1, m.Current()[0].Attempt, "no second one was made")
}
