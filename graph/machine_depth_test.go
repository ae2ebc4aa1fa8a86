package graph_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill/graph"
	"github.com/tidemill/tidemill/graph/value"
)

// nested is a list in a list, n levels deep.
func nested(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }

// A value as deep as values may be goes through everything that a run writes
// and reads, which nests it deeper. One that expressions made deeper is a
// failure of its node: nothing could read it again, and the run would stand
// still for ever.
func TestDeepValues(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		fields string
		deeper int // levels above the input
	}{
		{`output: "${ input }"`, 0},
		{`output: "${ input }", delta: {}`, 0},
		{`output: "${ [input] }"`, 1},
		{`output: {a: "${ input }", b: ["[[[[", "${ [] }"]}`, 1},
		{`output: [[["${ input }"]]]`, 3},
		{`delta: {a: "${ input }"}`, 1},
	} {
		for _, depth := range []int{value.MaxDepth - 1 - c.deeper, value.MaxDepth - c.deeper} {
			doc := "entry: s\nnodes: [{id: s, type: set, " + c.fields + ", next: p}, {id: p, type: pause, next: end}]\n"
			if c.deeper == 0 && depth == value.MaxDepth {
				continue // such an input is refused
			}
			s := tell(t, doc, `{"k":`+nested(depth-1)+`}`, nil, restoring).run()
			require.True(t, s.m.Paused(), c.fields)
			require.Nil(t, s.answer(graph.Answer{Input: raw(nested(value.MaxDepth))}))
			require.Equal(t, graph.StatusCompleted, s.m.Status())

			s = tell(t, doc, `{"k":`+nested(value.MaxDepth-1)+`}`, nil, restoring).run()
			if c.deeper > 0 {
				require.Equal(t, "expression_failed", s.m.Outcome().Failure.Type, c.fields)
				require.Contains(t, s.m.Outcome().Failure.Message, "512 levels")
			}
		}
	}
}

// A loop that wraps its value in each turn ends with a failure.
func TestValueThatGrowsDeeper(t *testing.T) {
	t.Parallel()
	s := tell(t, `entry: s
max_steps: 2000
nodes:
  - {id: s, type: set, output: ["${ input }"], next: s}
`, "", nil).run()
	require.Equal(t, "expression_failed", s.m.Outcome().Failure.Type)
	require.Equal(t, value.MaxDepth, s.m.Checkpoint().Steps)
}

// An activity of another SDK may give anything.
func TestDeepValueOfForeignActivity(t *testing.T) {
	t.Parallel()
	doc := "entry: a\nnodes: [{id: a, run: {activity: Py}, next: end}]\n"
	run := func(depth int) *story {
		return tell(t, doc, "", plays{"a": {{ending: graph.Ending{Kind: graph.Returned, Result: &graph.Result{Output: []byte(nested(depth))}}}}}, restoring).run()
	}
	require.Equal(t, graph.StatusCompleted, run(value.MaxDepth).m.Status())
	require.Equal(t, "invalid_output", run(value.MaxDepth+1).m.Outcome().Failure.Type)
}
