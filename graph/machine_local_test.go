package graph_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill/graph"
)

// near makes an action one that runs locally.
const near = `mode: local, idempotent: true, timeout: 1s, `

// ways lists how attempts were begun, in order: "a near" or "a far", and how many
// attempts the driver may make.
func ways(runs []graph.RunNode) []string {
	var list []string
	for _, e := range runs {
		word := "far"
		if e.Local {
			word = "near"
		}
		list = append(list, fmt.Sprintf("%s %s %d", e.Task.Node.ID, word, e.MaxAttempts))
	}
	return list
}

// What is local and what is not. A local activity beside a remote one would have
// its result hang on a workflow task that the other's ending may have repeated.
func TestLocalActions(t *testing.T) {
	t.Parallel()
	missing := interrupted(graph.InterruptNotRegistered)
	fork := func(branches string) string {
		return "entry: f\nnodes:\n  - {id: f, type: fork, branches: [a, b], join: j, join_policy: any}\n" + branches +
			"  - {id: j, type: join, run: act, " + near + "next: end}\n"
	}
	for _, c := range []struct {
		name  string
		doc   string
		plays plays
		want  []string
	}{
		{"alone", oneAction(near), plays{"a": {outputs(`1`)}}, []string{"a near 1"}},
		{"not asked for", oneAction(``), plays{"a": {outputs(`1`)}}, []string{"a far 1"}},
		{
			"each attempt by itself", oneAction(near + `retry: {max_attempts: 3}, `),
			plays{"a": {fails("x"), timesOut(), outputs(`1`)}},
			[]string{"a near 1", "a near 1", "a near 1"},
		},
		{
			"a worker without the action: another may have it", oneAction(near + `retry: {max_attempts: 3}, `),
			plays{"a": {missing, missing, fails("x"), outputs(`1`)}},
			[]string{"a near 1", "a far 3", "a far 3", "a far 2"},
		},
		{
			"beside a remote one that began before", fork("  - {id: a, run: act, next: j}\n  - {id: b, run: act, " + near + "retry: {max_attempts: 2}, next: j}\n"),
			plays{"a": {outputs(`1`).lasting(time.Second)}, "b": {blocks()}, "j": {outputs(`1`)}},
			[]string{"a far 1", "b far 2", "j near 1"},
		},
		{
			"before a remote one", fork("  - {id: a, run: act, " + near + "next: j}\n  - {id: b, run: act, next: j}\n"),
			plays{"a": {outputs(`1`)}, "b": {blocks()}, "j": {outputs(`1`)}},
			[]string{"a near 1", "b far 1", "j near 1"},
		},
		{
			"tried again when a remote one has begun", fork("  - {id: a, run: act, " + near + "retry: {max_attempts: 2}, next: j}\n  - {id: b, run: act, next: j}\n"),
			plays{"a": {fails("x"), outputs(`1`)}, "b": {blocks()}, "j": {outputs(`1`)}},
			[]string{"a near 1", "b far 1", "a far 1", "j near 1"},
		},
		{
			"beside a pause, a wait or another local one", fork("  - {id: a, run: act, " + near + "next: j}\n  - {id: b, run: act, " + near + "next: j}\n"),
			plays{"a": {outputs(`1`)}, "b": {blocks()}, "j": {outputs(`1`)}},
			[]string{"a near 1", "b near 1", "j near 1"},
		},
		{
			"beside a map's remote item", "entry: f\nnodes:\n  - {id: f, type: fork, branches: [m, b], join: j}\n" +
				"  - {id: m, type: map, items: [1, 2], item: {run: act}, next: j}\n  - {id: b, run: act, " + near + "next: j}\n  - {id: j, type: join, next: end}\n",
			plays{"m/item": {outputs(`1`), outputs(`1`)}, "b": {outputs(`1`)}},
			nil,
		},
		{
			"a map's items", "entry: m\nnodes:\n  - {id: m, type: map, items: [1, 2], item: {run: act, mode: local, idempotent: true, timeout: 1s}, next: end}\n",
			plays{"m/item": {outputs(`1`), outputs(`1`)}},
			[]string{"m/item near 1", "m/item near 1"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := tell(t, c.doc, "", c.plays).run()
			require.NotNil(t, s.m.Outcome())
			require.Equal(t, graph.StatusCompleted, s.m.Outcome().Status)
			if c.want == nil { // the items begin before the branch or after it
				require.Contains(t, ways(s.runs), "m/item far 1")
				return
			}
			require.Equal(t, c.want, ways(s.runs))
		})
	}
}

// Without any backoff a local action goes on at once: even the shortest timer
// would end the workflow task.
func TestLocalBackoff(t *testing.T) {
	t.Parallel()
	for _, restores := range []bool{false, true} {
		s := tell(t, oneAction(near+`retry: {max_attempts: 3, backoff: 0s}, `), "", plays{"a": {fails("x"), fails("x"), outputs(`1`)}},
			func(s *story) { s.restores = restores }).run()
		require.Equal(t, graph.StatusCompleted, s.m.Outcome().Status)
		for _, line := range s.log {
			require.NotContains(t, line, "timer")
		}
	}
}

// How an attempt was begun is part of the checkpoint: a restored run must begin
// it in the same way, whatever stands beside it by then.
func TestLocalIsRestored(t *testing.T) {
	t.Parallel()
	doc := "entry: f\nnodes:\n  - {id: f, type: fork, branches: [a, b], join: j}\n  - {id: a, run: act, " + near + "next: j}\n" +
		"  - {id: b, run: act, next: j}\n  - {id: j, type: join, next: end}\n"
	s := tell(t, doc, "", plays{"a": {blocks()}, "b": {blocks()}}).run()
	cp := s.m.Checkpoint()
	m, failure := graph.Restore(s.compiled.Plan, cp, s.start)
	require.Nil(t, failure)
	require.Equal(t, cp, m.Checkpoint())
	var again []graph.RunNode
	for _, effect := range m.Effects() {
		if e, ok := effect.(graph.RunNode); ok {
			again = append(again, e)
		}
	}
	require.Equal(t, []string{"a near 1", "b far 1"}, ways(s.runs))
	require.Equal(t, ways(s.runs), ways(again))

	cp.Activations[2].Local = true // b is no local action
	_, failure = graph.Restore(s.compiled.Plan, cp, s.start)
	require.NotNil(t, failure)
	require.Equal(t, graph.ErrTypeInvalidCheckpoint, failure.Type)
}
