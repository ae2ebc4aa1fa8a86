package graph_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill/graph"
)

// everyPart is a graph whose runs come through every way a map and a child can
// stand.
const everyPart = `entry: m
deadline: 100h
state_reducers: {k: sum}
nodes:
  - {id: m, type: map, items: "${ state.list }", key: "${ item }", max_concurrency: 2, tolerate: {count: 1}, timeout: 1h, retry: {max_attempts: 2, backoff: 1s}, item: {run: act, retry: {max_attempts: 2}}, delta: {k: "${ result.failed }"}, next: p}
  - {id: p, type: map, items: [x, z], key: "${ item }", item: {type: pause, resume_schema: {type: boolean}, expires: 2m, on_error: {output: "${ error.type }"}}, next: c}
  - {id: c, type: workflow, input: {k: "${ state.k }"}, timeout: 2h, retry: {max_attempts: 2, backoff: 1s}, next: f, workflow: {version: 1, id: inner, entry: a, state_reducers: {k: sum}, nodes: [{id: a, run: act, next: ask}, {id: ask, type: pause, resume_schema: {type: boolean}, next: b}, {id: b, run: act, next: end}]}}
  - {id: f, type: fork, branches: [w, q], join: j, join_policy: any}
  - {id: w, type: map, items: [1, 2], item: {type: workflow, input: {k: "${ item }"}, workflow: {version: 1, id: other, entry: ask, nodes: [{id: ask, type: pause, next: end}]}}, next: j}
  - {id: q, run: act, next: j}
  - {id: j, type: join, next: end}
`

// partStarts are the ways in which runs of everyPart begin: by themselves, as a
// child, and as the run of a map.
func partStarts() []func(*story) {
	child := func(c graph.ChildStart) func(*story) {
		c.Root, c.Lineage, c.Left = "w", "first", graph.Duration(50*time.Hour)
		return func(s *story) { s.start.Child = &c }
	}
	return []func(*story){
		func(*story) {},
		child(graph.ChildStart{Address: "r#1/3~2", Timeout: graph.Duration(time.Hour)}),
		child(graph.ChildStart{Address: "m#1~2", Map: &graph.MapStart{Node: "m", Items: raw(`["x","<y>","z"]`), Keys: []string{"x", "<y>", "z"}}}),
	}
}

// partCheckpoints are the checkpoints of some runs of everyPart, after each
// decision and each event.
func partCheckpoints(t tester, compiled *graph.Compiled) []string {
	t.Helper()
	var all []string
	scripts := []plays{
		{"m/item": {outputs(`1`), fails("<x>"), fails("<x>"), outputs(`3`)}, "a": {outputs(`1`, `{"k":1}`)}, "b": {outputs(`2`)}, "q": {blocks()}},
		{"m/item": {fails("x"), fails("x"), fails("x"), fails("x"), outputs(`1`), outputs(`2`), interrupted(graph.InterruptWorkerLost), outputs(`3`)}, "a": {fails("x"), outputs(`1`)}, "b": {outputs(`2`)}, "q": {after(60, outputs(`4`))}},
		{"m/item": {blocks().lasting(time.Second), blocks().lasting(time.Second)}},
		{"m/item": {fails("x"), fails("x"), fails("x"), blocks().lasting(time.Second), fails("x")}},
	}
	for _, start := range partStarts() {
		for _, script := range scripts {
			s := tellCompiled(t, compiled, `{"k":0,"list":["x","<y>","z"]}`, script, start, func(s *story) { s.batch = 1 })
			s.watch = func() { all = append(all, text(t, s.m.Checkpoint())) }
			s.advance()
			for i := 0; i < 60 && s.m.Outcome() == nil; i++ {
				stopped := s.m.Clone()
				stopped.Cancel(s.now, "over")
				all = append(all, text(t, s.m.Checkpoint()), text(t, stopped.Checkpoint()))
				if open := s.m.Pauses(); len(open) > 0 && i%2 == 0 {
					require.Nil(t, s.m.Answer(s.now, graph.Answer{PauseID: open[0].ID, Input: raw(`true`), Request: "u"}))
					all = append(all, text(t, s.m.Checkpoint()))
					s.event("answered", func() {})
					continue
				}
				s.step(time.Time{})
			}
			all = append(all, text(t, s.m.Checkpoint()))
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Wherever a run with maps and children stands, it is restored from its
// checkpoint, to the byte while no child is open, and goes on to an end.
func TestEveryPartIsRestored(t *testing.T) {
	t.Parallel()
	compiled := compileStory(t, everyPart)
	evaluator, err := graph.NewEvaluator(compiled.Document, nil)
	require.NoError(t, err)
	seen := map[string]bool{}
	for _, written := range partCheckpoints(t, compiled) {
		parsed, failure := graph.ParseCheckpoint(json.RawMessage(written))
		require.Nil(t, failure)
		require.Equal(t, written, text(t, parsed))
		if parsed.Outcome != nil && parsed.Outcome.Status == graph.StatusCompleted {
			continue
		}
		seen["child"], seen["map"] = seen["child"] || parsed.Child != nil, seen["map"] || parsed.Child != nil && parsed.Child.Map
		seen["forwards"] = seen["forwards"] || len(parsed.Forwards) > 0
		open := false
		for _, a := range parsed.Activations {
			seen["phase "+string(a.Phase)] = true
			seen["open child"] = seen["open child"] || a.Child != nil
			open = open || a.Child != nil || a.Phase == graph.PhaseCancelling
			if a.Mapping == nil {
				continue
			}
			seen["verdict "+string(a.Mapping.Verdict)] = true
			for _, item := range a.Mapping.Items {
				seen["item "+string(item.Status)] = true
			}
		}
		m, failure := graph.Restore(compiled.Plan, parsed, graph.Start{Now: noon})
		require.Nil(t, failure, written)
		if !open {
			require.Equal(t, written, text(t, m.Checkpoint()))
		}
		exercise(t, m, evaluator)
	}
	for _, want := range []string{
		"child", "map", "forwards", "open child", "phase mapping", "phase running", "phase paused", "phase answered", "phase backoff",
		"phase deciding", "phase forking", "phase cancelling", "phase cancelled", "verdict ", "verdict exceeded", "verdict timed_out",
		"item unstarted", "item active", "item completed", "item failed", "item skipped", "item cancelled",
	} {
		require.True(t, seen[want], "no run came through %s", strings.TrimSpace(want))
	}
}

// A checkpoint with maps and children may come from anywhere, as any other.
func FuzzRestoreParts(f *testing.F) {
	compiled := compileStory(f, everyPart)
	fuzzRestore(f, compiled, slices.Concat(partCheckpoints(f, compiled), permitCheckpoints(f, compiled)))
}
