package graph_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tidemill/tidemill/graph"
)

// sumTree is a graph made up of steps that each add one to the state key c: in
// line, in forks, in items of maps and in children of children.
type sumTree struct {
	t     *rapid.T
	docs  int
	depth int // how much deeper children may go
}

// document is a graph of some steps in line, and how much it adds to c.
func (d *sumTree) document() (map[string]any, int) {
	d.docs++
	id := fmt.Sprintf("g%d", d.docs)
	var nodes []any
	total := 0
	count := rapid.IntRange(1, 3).Draw(d.t, "steps")
	for i := range count {
		next := fmt.Sprintf("s%d", i+1)
		if i == count-1 {
			next = "end"
		}
		more, adds := d.step(fmt.Sprintf("s%d", i), next)
		nodes, total = append(nodes, more...), total+adds
	}
	return map[string]any{
		"version": 1, "id": id, "entry": "s0", "nodes": nodes, "state_reducers": map[string]any{"c": "sum"},
	}, total
}

// step is the nodes of one step.
func (d *sumTree) step(id, next string) ([]any, int) {
	if rapid.IntRange(0, 3).Draw(d.t, "fork") > 0 {
		node, adds := d.node(id, true)
		node["next"] = next
		return []any{node}, adds
	}
	var nodes []any
	var branches []string
	total := 0
	for i := range rapid.IntRange(1, 3).Draw(d.t, "branches") {
		branch := fmt.Sprintf("%s_b%d", id, i)
		node, adds := d.node(branch, true)
		node["next"] = id + "_j"
		branches, nodes, total = append(branches, branch), append(nodes, node), total+adds
	}
	fork := map[string]any{
		"id": id, "type": "fork", "branches": branches, "join": id + "_j", "max_concurrency": rapid.IntRange(1, 3).Draw(d.t, "window"),
	}
	return append([]any{fork, map[string]any{"id": id + "_j", "type": "join", "next": next}}, nodes...), total
}

// node is one node that may be a branch.
func (d *sumTree) node(id string, maps bool) (map[string]any, int) {
	kinds := []string{"set", "action", "pause"}
	if maps {
		kinds = append(kinds, "map")
	}
	if d.depth > 0 {
		kinds = append(kinds, "workflow", "workflow")
	}
	one := map[string]any{"c": 1}
	switch kind := rapid.SampledFrom(kinds).Draw(d.t, "kind"); kind {
	case "action":
		return map[string]any{"id": id, "run": "act", "delta": one}, 1
	case "workflow":
		inner := &sumTree{t: d.t, docs: d.docs, depth: d.depth - 1}
		doc, adds := inner.document()
		d.docs = inner.docs
		return map[string]any{"id": id, "type": kind, "workflow": doc}, adds
	case "map":
		items := rapid.SliceOfN(rapid.IntRange(0, 9), 0, 4).Draw(d.t, "items")
		item, _ := d.node("", false)
		delete(item, "id")
		delete(item, "delta")
		if item["type"] == "set" {
			item = map[string]any{"run": "act"}
		}
		return map[string]any{
			"id": id, "type": kind, "items": items, "item": item, "max_concurrency": rapid.IntRange(1, 4).Draw(d.t, "window"),
			"delta": map[string]any{"c": "${ result.completed }"},
		}, len(items)
	default:
		return map[string]any{"id": id, "type": kind, "delta": one}, 1
	}
}

// tellTree begins the story of a tree. Every action ends after a while.
func tellTree(t *rapid.T) (*story, int) {
	d := &sumTree{t: t, depth: 2}
	doc, total := d.document()
	text, err := json.Marshal(doc)
	require.NoError(t, err)
	compiled, found := graph.Compile("tree.json", text, graph.CompileOptions{})
	require.NotNil(t, compiled, "%v", found)
	s := tellCompiled(t, compiled, `{"c":5}`, lasting(t), func(s *story) {
		s.restores = rapid.Bool().Draw(t, "restores")
		s.batch = rapid.SampledFrom([]int{1, 3, graph.MaxBatchDecisions}).Draw(t, "batch")
	})
	return s, total
}

// lasting are plays for every action of a tree, each of which takes a while.
func lasting(t *rapid.T) plays {
	all := plays{}
	some := rapid.SliceOfN(rapid.IntRange(0, 5), 4, 4).Draw(t, "seconds")
	for i := range 3 {
		ids := []string{fmt.Sprintf("s%d", i)}
		for k := range 3 {
			ids = append(ids, fmt.Sprintf("s%d_b%d", i, k))
		}
		for _, id := range ids {
			for turn := range 500 { // a map in a map in a map may come by hundreds of times
				all[id] = append(all[id], after(some[(turn+len(id))%len(some)], outputs(`1`)))
			}
			all[graph.ItemID(id)] = slices.Clone(all[id])
		}
	}
	return all
}

// whole is a story and every story below it.
func (s *story) whole() []*story {
	all := []*story{s}
	for _, k := range s.kids {
		all = append(all, k.story.whole()...)
	}
	for _, f := range s.finished {
		all = append(all, f.whole()...)
	}
	return all
}

// Whatever a run is made of, each of its steps counts once: no child, item or
// branch is lost, repeated or counted twice (134), whoever is answered first
// (B2), and no key is used by two activations (B4).
func TestEveryStepOfATreeCountsOnce(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		s, total := tellTree(rt)
		s.run()
		for s.m.Outcome() == nil {
			open := s.m.Pauses()
			require.NotEmpty(rt, open, "nothing is open and nothing has ended")
			ids := map[graph.Address]bool{}
			for _, p := range open {
				require.False(rt, ids[p.ID], "two pauses are called %s", p.ID)
				ids[p.ID] = true
			}
			answerSome(rt, s, open)
		}
		require.Equal(rt, graph.StatusCompleted, s.m.Status(), "%v", s.m.Outcome().Failure)
		require.Equal(rt, fmt.Sprintf(`{"c":%d}`, 5+total), string(s.m.Checkpoint().State.Raw()))
		var keys []string
		for _, each := range s.whole() {
			for _, task := range each.tasks {
				keys = append(keys, task.Run.Key)
			}
		}
		slices.Sort(keys)
		require.Equal(rt, slices.Compact(slices.Clone(keys)), keys, "an activation ran twice")
		require.Empty(rt, s.m.Checkpoint().Forwards)
	})
}

// answerSome answers some of the open pauses before anybody below hears of it, in
// any order, and sees to it that each who answered is told that it was taken.
func answerSome(t *rapid.T, s *story, open []graph.OpenPause) {
	some := rapid.Permutation(open).Draw(t, "order")[:rapid.IntRange(1, len(open)).Draw(t, "answers")]
	for i, pause := range some {
		answer := graph.Answer{PauseID: pause.ID, Input: raw(`1`), Digest: pause.Digest, Request: fmt.Sprint(i)}
		require.Nil(t, s.answer(answer))
	}
	s.run()
	for i, pause := range some {
		failure, done := s.m.Replied(fmt.Sprint(i))
		require.True(t, done || s.restores, "who answered %s is not told", pause.ID) // nobody waits across a restore
		require.Nil(t, failure, pause.ID)
		require.Equal(t, graph.ErrTypePauseClosed, s.m.Judge(graph.Answer{PauseID: pause.ID, Input: raw(`1`)}).Type)
	}
}

// D10, A14: cancelled at whatever moment, everything below has ended when the
// run has, and nothing is left open anywhere.
func TestACancelledTreeLeavesNothingOpen(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		s, _ := tellTree(rt)
		s.advance()
		for range rapid.IntRange(0, 12).Draw(rt, "steps before") {
			if s.m.Outcome() != nil || !s.step(time.Time{}) {
				break
			}
		}
		if s.m.Outcome() != nil {
			return
		}
		s.cancel("enough")
		s.run()
		require.Equal(rt, graph.StatusCancelled, s.m.Status())
		for _, each := range s.whole() {
			require.NotNil(rt, each.m.Outcome(), "a child is left open")
			require.Empty(rt, each.open)
			require.Empty(rt, each.timers)
			require.Empty(rt, each.kids)
			require.Empty(rt, each.m.Pauses())
		}
	})
}
