package graph_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill/graph"
)

// Test cases beside a graph are no graph: a worker that took them for one would not
// start. No graph may be passed over either.
func TestFiles(t *testing.T) {
	t.Parallel()
	for name, want := range map[string][2]bool{
		"order.yaml": {true, false}, "order.yml": {true, false}, "order.json": {true, false}, "order_test.yaml": {true, false}, "test.yaml": {true, false},
		"order.test.yaml": {false, true}, "order.test.json": {false, true}, ".order.yaml": {false, false}, ".order.test.yaml": {false, false},
		"order.test": {false, false}, "order.yaml~": {false, false}, "order.tests.yaml": {true, false},
	} {
		require.Equal(t, want, [2]bool{graph.IsFile(name), graph.IsCasesFile(name)}, name)
	}
}

// Who watches a machine hears of each visit once, in order; copies tell nobody, or the
// decisions that a run takes ahead would be told twice.
func TestWatch(t *testing.T) {
	t.Parallel()
	const doc = "entry: a\nnodes:\n  - {id: a, type: set, next: b}\n  - {id: b, type: set, next: {cases: [{when: run.steps_remaining > 994, to: a}], default: end}}\n"
	watched := tell(t, doc, `{}`, nil)
	var entered []graph.Address
	watched.m.Watch(func(moment graph.Moment, address graph.Address) {
		if moment == graph.Entering {
			entered = append(entered, address)
		}
	})
	watched.run()
	require.Equal(t, []graph.Address{"a#1", "b#1", "a#2", "b#2", "a#3", "b#3"}, entered)
}
