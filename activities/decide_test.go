package activities_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill/activities"
	"github.com/tidemill/tidemill/graph"
)

const counting = `
version: 1
id: counting
entry: turn
nodes:
  - {id: turn, type: loop, while: "state.count < 3", body: add, done: route, max_iterations: 9}
  - {id: add, type: set, delta: {count: "${ state.count + 1 }"}, next: turn}
  - {id: route, type: set, output: "${ state.count }", next: {route: {call: pick}}}
  - {id: last, type: set, output: "${ input * 2 }", next: end}
`

// The decisions of the activity, repeated on the machine that was cloned, must
// take it to the same end as evaluating there would.
func TestDecide(t *testing.T) {
	t.Parallel()
	r := activities.NewRegistry()
	activities.RegisterCallback(r, "pick", 1, func(activities.Scope) (string, error) { return "last", nil })
	acts, err := activities.New(activities.Options{Registry: r})
	require.NoError(t, err)
	compiled, found := graph.Compile("counting.yaml", []byte(counting), graph.CompileOptions{Callbacks: r.Callbacks()})
	require.NoError(t, found.Err())
	now := time.Unix(1, 0)
	m, err := graph.New(compiled.Plan, graph.Start{Input: []byte(`{"count":0}`), Now: now, Limits: graph.Limits{}})
	require.NoError(t, err)

	for range 2 { // the second time from the cache
		decisions, err := acts.Decide(t.Context(), activities.DecideInput{
			Machine: m.Clone(), Now: now, Document: compiled.Document, Fingerprint: compiled.Fingerprint,
		})
		require.NoError(t, err)
		require.Nil(t, m.Outcome(), "the machine itself has not moved")
		again := m.Clone()
		recorded := graph.NewRecorded(decisions)
		again.Advance(now, recorded)
		require.NotNil(t, again.Outcome())
		require.Equal(t, graph.StatusCompleted, again.Outcome().Status)
		require.Equal(t, "6", string(again.Outcome().Output))
	}
}

// Temporal tries a local activity that took too long again, with the same values
// and perhaps beside the first try: what that has decided is decided again.
func TestDecideIsTriedAgainFromTheStart(t *testing.T) {
	t.Parallel()
	r := activities.NewRegistry()
	activities.RegisterCallback(r, "pick", 1, func(activities.Scope) (string, error) { return "last", nil })
	acts, err := activities.New(activities.Options{Registry: r})
	require.NoError(t, err)
	compiled, found := graph.Compile("counting.yaml", []byte(counting), graph.CompileOptions{Callbacks: r.Callbacks()})
	require.NoError(t, found.Err())
	now := time.Unix(1, 0)
	m, err := graph.New(compiled.Plan, graph.Start{Input: []byte(`{"count":0}`), Now: now, Limits: graph.Limits{}})
	require.NoError(t, err)
	in := activities.DecideInput{Machine: m, Now: now, Document: compiled.Document, Fingerprint: compiled.Fingerprint}

	first, err := acts.Decide(t.Context(), in)
	require.NoError(t, err)
	second, err := acts.Decide(t.Context(), in)
	require.NoError(t, err)
	require.NotEmpty(t, first)
	require.Equal(t, first, second)
}

// A document that this version's language does not take is an error of the
// worker, not a decision of the run.
func TestDecideNeedsADocumentItKnows(t *testing.T) {
	t.Parallel()
	acts, err := activities.New(activities.Options{})
	require.NoError(t, err)
	broken := &graph.Document{ID: "g", Nodes: []graph.Node{{ID: "x", Type: graph.TypeBranch, Cases: []graph.Case{{When: "state.", To: "end"}}}}}
	_, err = acts.Decide(t.Context(), activities.DecideInput{Document: broken, Fingerprint: "f"})
	require.Error(t, err)
	require.NoError(t, acts.Flush(t.Context()))
}
