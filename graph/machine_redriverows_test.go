package graph_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill/graph"
)

// 61: what a branch committed is kept, and the branch that was stopped runs again, once
// more and under its key.
func TestACompletedBranchIsNotRepeated(t *testing.T) {
	t.Parallel()
	doc := fork("", "left, right")
	s := tell(t, doc, "", plays{"left": {outputs(`"l"`, `{"l":1}`)}, "right": {blocks()}})
	s.sleep(time.Second).cancel("enough").run()
	observed := text(t, s.m.Checkpoint())
	next := s.taken(graph.Redriving{}, plays{"right": {outputs(`"r"`, `{"r":2}`)}})
	require.Equal(t, observed, text(t, s.m.Checkpoint()))
	require.Equal(t, map[string]int{"left": 1, "right": 2}, callsOf(s, next))
	require.JSONEq(t, `{"got":{"left":"l","right":"r"},"l":1,"r":2}`, string(next.m.Report().State))
	require.Equal(t, []string{"first/right#1", "first/right#1"}, keysOf("right", s, next))
}

// 59, 62: of a fork that failed or ran out of time, what did not complete runs again:
// the branch that failed, its siblings that were cancelled, and those that never started.
// A step is taken again for the one that failed, and for no other.
func TestAFailedForkIsTakenUp(t *testing.T) {
	t.Parallel()
	doc := fork(", max_concurrency: 3", "p, q, r, s2, u")
	s := tell(t, "max_steps: 20\n"+doc, "", plays{"p": {outputs(`1`)}, "q": {after(1, fails("boom"))}, "r": {blocks()}, "s2": {blocks()}}).run()
	require.Equal(t, "fork_branch_failed/boom", failureTypes(s.m.Outcome().Failure))
	require.Equal(t, 4, s.m.Checkpoint().Steps)
	next := s.taken(graph.Redriving{}, plays{"q": {after(3, outputs(`2`))}, "r": {outputs(`3`)}, "s2": {outputs(`4`)}, "u": {outputs(`5`)}})
	require.Equal(t, graph.StatusCompleted, next.m.Status())
	require.Equal(t, map[string]int{"q": 1, "r": 1, "s2": 1, "u": 1}, callsOf(next))
	require.Equal(t, []string{"first/q#1"}, keysOf("q", next))
	require.Equal(t, 4+1+3, next.m.Checkpoint().Steps, "q again; u, j and s for the first time")

	late := tell(t, "deadline: 1m\n"+doc, "", plays{"p": {outputs(`1`)}, "q": {outputs(`2`)}, "r": {blocks()}, "s2": {blocks()}, "u": {blocks()}}).run()
	require.Equal(t, graph.StatusTimedOut, late.m.Status())
	next = late.taken(graph.Redriving{Deadline: graph.Duration(time.Minute)}, plays{"r": {outputs(`3`)}, "s2": {outputs(`4`)}, "u": {after(50, outputs(`5`))}})
	require.Equal(t, graph.StatusCompleted, next.m.Status(), "the clock is a new one")
	require.Equal(t, map[string]int{"r": 1, "s2": 1, "u": 1}, callsOf(next))
}

// 72: a failure that a policy has taken into account stays one; what was running runs
// again, and only the join costs a new step.
func TestAToleratedFailureIsNotRepeated(t *testing.T) {
	t.Parallel()
	doc := fork(", join_policy: first_success, max_concurrency: 1", "p, q, r")
	s := tell(t, "max_steps: 9\n"+doc, "", plays{"p": {fails("boom")}, "q": {blocks()}}).run()
	require.Equal(t, 2, s.m.Checkpoint().Steps)
	next := s.taken(graph.Redriving{}, plays{"p": {outputs(`1`)}, "q": {outputs(`2`)}, "r": {outputs(`3`)}})
	require.Equal(t, map[string]int{"q": 1}, callsOf(next))
	require.JSONEq(t, `{"got":{"q":2}}`, string(next.m.Report().State))
	require.Equal(t, 4, next.m.Checkpoint().Steps, "j and s")
	require.Equal(t, 1, next.tasks[0].Run.Attempt)

	// Unless that branch is asked for.
	s = tell(t, fork(", join_policy: first_success", "p, q"), "", plays{"p": {fails("boom")}, "q": {blocks()}}).run()
	next = s.taken(graph.Redriving{From: "p#1"}, plays{"p": {outputs(`1`)}, "q": {blocks()}})
	require.Equal(t, map[string]int{"p": 1, "q": 1}, callsOf(next))
	require.JSONEq(t, `{"got":{"p":1}}`, string(next.m.Report().State))
}

// A merge that failed is tried again, and no branch with it; a branch can be repeated
// alone.
func TestAFailedMergeIsTakenUp(t *testing.T) {
	t.Parallel()
	s := tell(t, fork("", "p, q"), "", plays{"p": {outputs(`1`, `{"k":1}`)}, "q": {outputs(`2`, `{"k":2}`)}}).run()
	require.Equal(t, "fork_merge_failed", s.m.Outcome().Failure.Type)
	next := s.taken(graph.Redriving{}, nil)
	require.Equal(t, "fork_merge_failed", next.m.Outcome().Failure.Type)
	require.Empty(t, next.tasks)
	mended := compileStory(t, fork(", merge: ordered_last_wins", "p, q"))
	next = s.taken(graph.Redriving{Corrected: true}, nil, func(next *story) { next.compiled = mended })
	require.JSONEq(t, `{"got":{"p":1,"q":2},"k":2}`, string(next.m.Report().State))
	require.Empty(t, next.tasks)

	next = s.taken(graph.Redriving{From: "q#1"}, plays{"q": {outputs(`2`, `{"k":1}`)}})
	require.JSONEq(t, `{"got":{"p":1,"q":2},"k":1}`, string(next.m.Report().State))
	require.Equal(t, []string{"first/q#2"}, keysOf("q", next), "its first key is used up")
}

// What a map committed inside of a branch that failed is kept as well, and so are the
// children of its items.
func TestItemsInAFailedBranchAreNotRepeated(t *testing.T) {
	t.Parallel()
	item := `type: map, items: [0, 1, 2], max_concurrency: 1, item: {type: workflow, input: {k: "${ item }"}, workflow: {version: 1, id: inner, entry: x, nodes: [{id: x, run: act, next: z}, {id: z, run: act, next: end}]}}`
	doc := fork("", "p, m", "m: "+item)
	s := tell(t, doc, "", plays{"p": {blocks()}, "x": times(2, outputs(`1`)), "z": {outputs(`1`), fails("boom")}}).run()
	require.Equal(t, graph.StatusFailed, s.m.Status())
	require.Equal(t, map[string]int{"p": 1, "x": 2, "z": 2}, callsOf(s))
	next := s.taken(graph.Redriving{}, plays{"p": {outputs(`1`)}, "x": {outputs(`1`)}, "z": times(2, outputs(`1`))})
	require.Equal(t, graph.StatusCompleted, next.m.Status())
	require.Equal(t, map[string]int{"p": 1, "x": 1, "z": 2}, callsOf(next))
	require.Equal(t, []string{"first/m#1/1/z#1", "first/m#1/2/z#1"}, keysOf("z", next))

	next = s.taken(graph.Redriving{From: "m#1/0"}, plays{"p": {outputs(`1`)}, "x": times(2, outputs(`1`)), "z": times(3, outputs(`1`))})
	require.Equal(t, graph.StatusCompleted, next.m.Status())
	require.Equal(t, []string{"first/m#1~2/0/z#1", "first/m#1/1/z#1", "first/m#1/2/z#1"}, keysOf("z", next))
}

// 63: what repeats a map after an item of it was repeated alone has keys of its own: the
// item has used those of an attempt that the map has not made.
func TestAMapBeginsAnewAfterOneOfItsItems(t *testing.T) {
	t.Parallel()
	for _, fields := range []string{
		", max_concurrency: 1",
		`, max_concurrency: 1, item: {type: workflow, input: {}, workflow: {version: 1, id: inner, entry: act, nodes: [{id: act, run: act, next: end}]}}`,
	} {
		node := "act"
		if !strings.Contains(fields, "inner") {
			node = "m/item"
		}
		s := tell(t, mapOver(fields), three, plays{node: {outputs(`1`)}}).run()
		once := s.taken(graph.Redriving{From: "m#1/0"}, plays{node: times(2, outputs(`2`))})
		again := once.taken(graph.Redriving{From: "m#1"}, plays{node: times(3, outputs(`3`))})
		require.Equal(t, graph.StatusCompleted, again.m.Status())
		used := append(keysOf(node, s), keysOf(node, once)...)
		require.Len(t, keysOf(node, again), 3)
		for _, key := range keysOf(node, again) {
			require.NotContains(t, used, key)
		}
	}
}

// 62: a redrive that begins inside of an item's child goes on in that child, also when its
// map has committed since and repeats what it had not started then.
func TestRedriveInsideAnItemThatHasCommitted(t *testing.T) {
	t.Parallel()
	doc := mapOver(`, max_concurrency: 1, item: {type: workflow, input: {}, workflow: {version: 1, id: inner, entry: x, nodes: [{id: x, run: act, next: z}, {id: z, run: act, next: end}]}}`)
	s := tell(t, doc, three, plays{"x": times(3, outputs(`1`)), "z": times(3, outputs(`1`))})
	moments := s.exports()
	require.Equal(t, graph.StatusCompleted, s.m.Status())
	next, _, failure := s.redriveFrom(rewound(t, moments, "m#1/0/z#1"), graph.Redriving{From: "m#1/0/z#1"},
		plays{"x": times(3, outputs(`2`)), "z": times(3, outputs(`2`))})
	require.Nil(t, failure)
	next.run()
	require.Equal(t, graph.StatusCompleted, next.m.Status())
	require.Contains(t, keysOf("z", next), "first/m#1/0/z#2")
	require.NotContains(t, text(t, keysOf("x", next)), "/0/x", "what the child had committed is not repeated")
}

// What a child gave is taken when its parent was stopped before it heard of it. The child of
// what failed, or has taken the result, is of no use.
func TestACompletedChildIsTaken(t *testing.T) {
	t.Parallel()
	doc := `entry: c
nodes:
  - {id: c, type: workflow, input: {}, OUTPUT, next: b, workflow: {version: 1, id: inner, entry: x, nodes: [{id: x, run: act, next: end}]}}
  - {id: b, run: act, next: end}
`
	completed := &graph.Outcome{Status: graph.StatusCompleted}
	takes := func(s *story, child *graph.Outcome) bool {
		cp := s.m.Checkpoint()
		places := cp.Places()
		require.Len(t, places, 1)
		return places[0].Takes(child)
	}
	s := tell(t, strings.Replace(doc, "OUTPUT, ", "", 1), "", plays{"x": {outputs(`1`)}})
	s.advance()
	s.kids[0].story.run()
	require.Equal(t, graph.StatusCompleted, s.kids[0].story.m.Status())
	require.True(t, takes(s, completed))
	next := s.taken(graph.Redriving{}, plays{"b": {outputs(`2`)}})
	require.Equal(t, graph.StatusCompleted, next.m.Status())
	require.Equal(t, map[string]int{"b": 1}, callsOf(next))

	s = tell(t, strings.Replace(doc, "OUTPUT", `output: "${ result.nothing }"`, 1), "", plays{"x": {outputs(`1`)}}).run()
	require.Equal(t, graph.StatusFailed, s.m.Status())
	require.False(t, takes(s, completed))
	require.True(t, takes(s, &graph.Outcome{Status: graph.StatusFailed}), "something is left to do in it")
}

// 84: a node that committed is not repeated when its route could not be decided.
func TestARouteIsDecidedAgain(t *testing.T) {
	t.Parallel()
	doc := `entry: a
nodes:
  - {id: a, run: act, next: {cases: [{when: "input.n > 1", to: b}], default: end}}
  - {id: b, run: act, next: end}
`
	s := tell(t, doc, "", plays{"a": {outputs(`{"m":2}`, `{"k":1}`)}}).run()
	require.Equal(t, "expression_failed", s.m.Outcome().Failure.Type)
	_, _, failure := s.redrive(graph.Redriving{From: "a#1"}, nil)
	require.Equal(t, "invalid_run_options", failure.Type)
	require.Contains(t, failure.Message, "a#1 has committed")
	mended := compileStory(t, strings.Replace(doc, "input.n", "input.m", 1))
	next := s.taken(graph.Redriving{Corrected: true}, plays{"b": {oks()}}, func(next *story) { next.compiled = mended })
	require.Equal(t, graph.StatusCompleted, next.m.Status())
	require.Equal(t, map[string]int{"b": 1}, callsOf(next))
	require.Equal(t, raw(`{"m":2}`), next.tasks[0].Input)
}

// 85: A succeeds once; B fails, and fails again after its redrive, and succeeds after the
// next. Its input is kept, every attempt is the first, and each redrive takes a step.
func TestRedriveOfARedrive(t *testing.T) {
	t.Parallel()
	doc := "max_steps: 10\n" + abc
	first := tell(t, doc, "", plays{"a": {outputs(`"in"`)}, "b": {fails("x")}}).run()
	second := first.taken(graph.Redriving{}, plays{"b": {fails("y")}})
	third := second.taken(graph.Redriving{}, plays{"b": {outputs(`1`)}, "c": {oks()}})
	require.Equal(t, graph.StatusCompleted, third.m.Status())
	require.Equal(t, map[string]int{"a": 1, "b": 3, "c": 1}, callsOf(first, second, third))
	for i, s := range []*story{first, second, third} {
		task := s.tasks[len(s.tasks)-1]
		if i == 2 {
			task = s.tasks[0]
		}
		require.Equal(t, raw(`"in"`), task.Input)
		require.Equal(t, 1, task.Run.Attempt)
		require.Equal(t, "first/b#1", task.Run.Key)
		require.Equal(t, 8-i, s.m.Checkpoint().StepsLeft+min(i/2, 1))
	}
}

// B26, B1: a pause that nobody answered is open again, with its id and all of its time. An
// approval that was given is not used for a node that runs again: it asks anew.
func TestPausesOfARedrive(t *testing.T) {
	t.Parallel()
	doc := pauseNode(`summary: look, expires: 1h, output: "${ state.none }", `)
	for _, way := range []string{"cancelled", "terminated"} {
		s := tell(t, doc, "", nil).run()
		asked := s.m.Pauses()[0]
		s.stopped(way)
		next, plan, failure := s.redrive(graph.Redriving{}, nil)
		require.Nil(t, failure)
		require.Equal(t, []graph.Address{"p#1"}, plan.Pauses)
		open := next.m.Pauses()[0]
		require.Equal(t, asked.ID, open.ID)
		require.Equal(t, asked.Digest, open.Digest)
		require.Equal(t, next.now.Add(time.Hour), *open.Expires)
		require.Len(t, next.timers, 1)

		require.Nil(t, next.answer(graph.Answer{Input: raw(`true`)}))
		next.run()
		require.Equal(t, "expression_failed", next.m.Outcome().Failure.Type, "after it was answered")
		again, _, failure := next.redrive(graph.Redriving{}, nil)
		require.Nil(t, failure)
		again.run()
		require.Equal(t, graph.Address("p#2"), again.m.Pauses()[0].ID, "the approval is used up")
		require.Equal(t, graph.ErrTypePauseClosed, again.answer(graph.Answer{PauseID: "p#1", Input: raw(`true`)}).Type)
	}
}

// B1, E2: an action that asked has committed what it gave with its pause. When no answer
// could be taken its redrive asks again, under another id, and neither runs the action nor
// applies its delta twice; and nothing but a checkpoint from before can repeat it.
func TestAnActionThatAskedIsNotRepeated(t *testing.T) {
	t.Parallel()
	doc := `entry: ask
state_reducers: {k: sum}
nodes:
  - {id: ask, run: act, output_schema: {type: integer}, next: b}
  - {id: b, run: act, next: end}
`
	asks := pauses(graph.PauseRequest{Reason: "approval", Summary: "how many?", Expires: graph.Duration(time.Hour)}, `{"k":1}`)
	for _, row := range []struct {
		name, failure string
		end           func(s *story)
		id            graph.Address // of the pause of the redrive
	}{
		{"answered", "node_output_schema_validation_failed", func(s *story) {
			require.Nil(t, s.answer(graph.Answer{Input: raw(`"many"`)}))
			s.run()
		}, "ask#2"},
		{"expired", "pause_expired", func(s *story) { s.sleep(time.Hour).run() }, "ask#2"},
		{"cancelled", "cancelled", func(s *story) { s.cancel("enough") }, "ask#1"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := tell(t, doc, `{"k":1}`, plays{"ask": {asks}}).run()
			asked := s.m.Pauses()[0]
			row.end(s)
			require.Equal(t, row.failure, s.m.Outcome().Failure.Type)
			next, plan, failure := s.redrive(graph.Redriving{}, plays{"b": {oks()}})
			require.Nil(t, failure)
			require.Equal(t, []graph.Address{row.id}, plan.Pauses)
			require.Empty(t, plan.Repeated)
			next.run()
			open := next.m.Pauses()[0]
			require.Equal(t, row.id, open.ID)
			require.Equal(t, asked.Summary, open.Summary)
			require.Equal(t, row.id == asked.ID, asked.Digest == open.Digest, "what was shown under another id is not answered here")
			require.Equal(t, next.now.Add(time.Hour), *open.Expires)
			if row.id != asked.ID {
				require.Equal(t, "pause_closed", next.answer(graph.Answer{PauseID: asked.ID, Input: raw(`3`)}).Type)
			}
			require.Nil(t, next.answer(graph.Answer{PauseID: row.id, Input: raw(`3`)}))
			require.Equal(t, graph.StatusCompleted, next.run().m.Status())
			require.Equal(t, map[string]int{"b": 1}, callsOf(next))
			require.Equal(t, raw(`3`), next.tasks[0].Input)
			require.JSONEq(t, `{"k":2}`, string(next.m.Report().State))

			_, _, failure = s.redrive(graph.Redriving{From: "ask#1"}, nil)
			require.Equal(t, "invalid_run_options", failure.Type)
			require.Contains(t, failure.Message, "a checkpoint that was taken before")
		})
	}

	s := tell(t, doc, `{"k":1}`, plays{"ask": {asks}})
	moments := s.exports()
	require.Nil(t, s.answer(graph.Answer{Input: raw(`"many"`)}))
	s.run()
	moments = append(moments, s.export())
	next, _, failure := s.redriveFrom(rewound(t, moments, "ask#1"), graph.Redriving{From: "ask#1"}, plays{"ask": {outputs(`7`, `{"k":1}`)}, "b": {oks()}})
	require.Nil(t, failure)
	require.Equal(t, graph.StatusCompleted, next.run().m.Status())
	require.Equal(t, []string{"first/ask#2"}, keysOf("ask", next))
	require.JSONEq(t, `{"k":2}`, string(next.m.Report().State), "from the state before it")
}

// 88: one export can be taken up any number of times, each time by a run of its own.
func TestRedrivesOfOneExport(t *testing.T) {
	t.Parallel()
	s := tell(t, pauseNode(""), "", nil).run().cancel("enough")
	e := s.export()
	for _, answer := range []string{`1`, `2`} {
		next, _, failure := s.redriveFrom(e, graph.Redriving{}, nil)
		require.Nil(t, failure)
		require.Nil(t, next.answer(graph.Answer{PauseID: "p#1", Input: raw(answer)}))
		require.Equal(t, answer, string(next.run().m.Outcome().Output))
	}
}

// 100: an answer that was taken stays one when the run is taken up: nobody has to give it
// again, and another is refused.
func TestAnAnswerThatWasTakenStays(t *testing.T) {
	t.Parallel()
	s := tell(t, pauseNode(`delta: {said: "${ result }"}, `), "", nil).run()
	require.Nil(t, s.m.Answer(s.now, graph.Answer{PauseID: "p#1", Input: raw(`1`)}))
	s.m.Cancel(s.now, "enough") // before anything came of the answer
	next, plan, failure := s.redrive(graph.Redriving{}, nil)
	require.Nil(t, failure)
	require.Empty(t, plan.Pauses)
	require.Equal(t, graph.ErrTypePauseClosed, next.answer(graph.Answer{PauseID: "p#1", Input: raw(`2`)}).Type)
	require.Equal(t, graph.StatusCompleted, next.run().m.Status())
	require.JSONEq(t, `{"said":1}`, string(next.m.Report().State))
}

// A pause in an item and in a child is open again where it stood, and is answered at the
// parent as before.
func TestPausesBelowARedrive(t *testing.T) {
	t.Parallel()
	item := mapOver(`, items: [0, 1], item: {type: pause}`)
	s := tell(t, item, "", nil).run()
	require.Nil(t, s.answer(graph.Answer{PauseID: "m#1/0", Input: raw(`"x"`)}))
	next := s.run().cancel("enough").taken(graph.Redriving{}, nil)
	require.Len(t, next.m.Pauses(), 1)
	require.Nil(t, next.answer(graph.Answer{PauseID: "m#1/1", Input: raw(`"z"`)}))
	require.Equal(t, `["x","z"]`, string(next.run().m.Outcome().Output))

	s = tell(t, parent("", asking), "", plays{"a": {oks()}}).run().cancel("enough").run()
	next = s.taken(graph.Redriving{}, plays{"b": {outputs(`1`)}})
	require.Equal(t, graph.StatusPaused, next.m.Status())
	require.Nil(t, next.answer(graph.Answer{PauseID: "c#1/ask#1", Input: raw(`{}`)}))
	require.Equal(t, graph.StatusCompleted, next.run().m.Status())
	require.Equal(t, map[string]int{"a": 1, "b": 1}, callsOf(s, next))
}

// A map in a run of its own goes on there: what committed stays, a failed item runs
// again under its key, and one that is asked for under another.
func TestALongMapIsTakenUp(t *testing.T) {
	t.Parallel()
	const items = graph.MaxInlineItems + 10
	list := strings.TrimSuffix(strings.Repeat("1,", items), ",")
	doc := mapOver(`, retry: {max_attempts: 2, backoff: 0s, non_retryable: [map_tolerance_exceeded]}`)
	s := tell(t, doc, `{"list":[`+list+`]}`, plays{"m#1/7": {after(60, fails("boom"))}, "m/item": times(items, outputs(`1`))}).run()
	require.Equal(t, "map_tolerance_exceeded/boom", failureTypes(s.m.Outcome().Failure))
	require.Equal(t, items, callsOf(s)["m/item"])
	next := s.taken(graph.Redriving{}, plays{"m/item": {outputs(`2`)}})
	require.Equal(t, graph.StatusCompleted, next.m.Status())
	require.Equal(t, []string{"first/m#1/7"}, keysOf("m/item", next))

	next = s.taken(graph.Redriving{From: "m#1/3"}, plays{"m#1/7": {fails("boom")}, "m#1~3/3": {outputs(`4`)}, "m/item": times(items, outputs(`2`))})
	require.ElementsMatch(t, []string{"first/m#1/7", "first/m#1~3/3"}, keysOf("m/item", next))
	require.Equal(t, graph.StatusFailed, next.m.Status())
	require.Greater(t, next.m.Checkpoint().Activations[0].Earlier, 1, "a whole new attempt would not use that address")
}

// E9, B29, E11: a corrected graph is held against where the run stands, and each refusal
// says what does not fit and what to do.
func TestACorrectedGraphThatDoesNotFit(t *testing.T) {
	t.Parallel()
	looping := "entry: l\nnodes:\n  - {id: l, type: loop, while: \"true\", max_iterations: 5, body: a}\n  - {id: a, run: act, next: l}\n"
	inner := parent("", oneStep)
	for _, c := range []struct {
		name, doc, corrected string
		input                string
		plays                plays
		events               int
		says                 []string
	}{
		{"a node that is gone", abc, strings.NewReplacer("next: b", "next: c", "  - {id: b, run: act, next: c}\n", "").Replace(abc), "", plays{"a": {oks()}, "b": {fails("x")}}, 9, []string{"b#1", "keep the node"}},
		{"a node of another type", abc, strings.Replace(abc, "id: b, run: act", "id: b, type: wait, for: 1s", 1), "", plays{"a": {oks()}, "b": {blocks()}}, 2, []string{"b#1", "another type"}},
		{"an open pause that is gone", pauseNode(""), "entry: s\nnodes:\n  - {id: s, type: set, next: end}\n", "", nil, 1, []string{"p#1", "pause", "keep the node"}},
		{"a loop that turned too often", looping, strings.Replace(looping, "max_iterations: 5", "max_iterations: 1", 1), "", plays{"a": {oks(), oks(), blocks()}}, 3, []string{"3 turns", "max_iterations"}},
		{"branches that differ", fork("", "p, q"), fork("", "p, r"), "", plays{"p": {blocks()}, "q": {blocks()}}, 0, []string{"f#1", "p, q", "p, r"}},
		{"a map that is none", mapOver(""), strings.Replace(mapOver(""), `type: map, item: {run: act}, items: "${ state.list }"`, "run: act", 1), three, plays{"m#1/0": {oks()}, "m#1/1": {blocks()}}, 1, []string{"m#1"}},
		{"a state that does not fit", abc, "input_schema: {type: object, required: [who]}\n" + abc, "", plays{"a": {blocks()}}, 1, []string{"input_schema", "who"}},
		{"a child's node that is gone", inner, parent("", `{id: other, run: act, next: end}`), "", plays{"a": {fails("x")}}, 9, []string{"c#1", "a#1", "keep the node"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := tell(t, c.doc, c.input, c.plays)
			s.advance()
			for range c.events {
				if s.m.Outcome() != nil || !s.step(time.Time{}) {
					break
				}
			}
			corrected := compileStory(t, c.corrected)
			_, _, failure := s.redrive(graph.Redriving{Corrected: true}, nil, func(next *story) { next.compiled = corrected })
			require.NotNil(t, failure)
			require.Equal(t, "checkpoint_definition_mismatch", failure.Type)
			for _, word := range c.says {
				require.Contains(t, failure.Message, word)
			}
		})
	}
}

// A node that a corrected graph does not have is dropped, and counted on when another
// corrected graph has it again: its addresses are used up.
func TestANodeThatIsGoneAndBack(t *testing.T) {
	t.Parallel()
	doc := "entry: a\nnodes:\n  - {id: a, run: act, next: b}\n  - {id: b, run: act, next: c}\n  - {id: c, run: act, next: end}\n"
	without := compileStory(t, strings.NewReplacer("next: b", "next: c", "  - {id: b, run: act, next: c}\n", "").Replace(doc))
	back := compileStory(t, strings.Replace(doc, "id: c, run: act, next: end", "id: c, run: act, next: b", 1))
	s := tell(t, doc, "", plays{"a": {oks()}, "b": {oks()}, "c": {fails("x")}}).run()
	next, plan, failure := s.redrive(graph.Redriving{Corrected: true}, plays{"c": {fails("x")}}, func(next *story) { next.compiled = without })
	require.Nil(t, failure)
	require.Contains(t, text(t, plan.Dropped), `"node":"b"`)
	third := next.run().taken(graph.Redriving{Corrected: true}, plays{"c": {oks(), blocks()}, "b": {oks()}}, func(next *story) { next.compiled = back })
	require.Equal(t, []string{"first/b#2"}, keysOf("b", third))
}

// Bad input: what cannot be redriven is refused with a type, and says what to do.
func TestRedrivesRefused(t *testing.T) {
	t.Parallel()
	s := tell(t, strings.Replace(longWay, "FIELDS", "", 1), "", func() plays {
		p := well()
		p["v"] = []play{fails("boom")}
		return p
	}()).run()
	for _, c := range []struct {
		name string
		how  graph.Redriving
		want string
		says string
	}{
		{"negative budget", graph.Redriving{MaxSteps: -1}, "invalid_run_options", "at least 1"},
		{"a deadline in the past", graph.Redriving{Deadline: -5}, "invalid_run_options", "past"},
		{"no address", graph.Redriving{From: "x"}, "invalid_run_options", "such as ship#1"},
		{"an item by its key", graph.Redriving{From: "each#1/acme"}, "invalid_run_options", "by its number, such as each#1/17"},
		{"an unknown node", graph.Redriving{From: "zz#1"}, "invalid_run_options", `no node "zz"; it stands at c#1`},
		{"a visit that never was", graph.Redriving{From: "b#7"}, "invalid_run_options", "has not been"},
		{"left behind", graph.Redriving{From: "a#1"}, "invalid_run_options", "a#1 has committed"},
		{"left behind in a child", graph.Redriving{From: "c#1/x#1"}, "invalid_run_options", "c#1/x#1 has committed"},
		{"an item left behind", graph.Redriving{From: "m#1/1"}, "invalid_run_options", "m#1"},
		{"too large", graph.Redriving{Limit: 500}, "state_too_large", "500"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, _, failure := s.redrive(c.how, nil)
			require.NotNil(t, failure)
			require.Equal(t, c.want, failure.Type, failure.Message)
			require.Contains(t, failure.Message, c.says)
		})
	}
	shallow := s.export()
	shallow.Children = nil
	_, _, failure := s.redriveFrom(shallow, graph.Redriving{From: "c#1/v#1"}, nil)
	require.NotNil(t, failure)
	require.Contains(t, failure.Message, "the checkpoint of its child is not given")
	// Without the child's checkpoint the child begins anew, under another address.
	next, _, failure := s.redriveFrom(shallow, graph.Redriving{}, well())
	require.Nil(t, failure)
	require.Equal(t, []string{"first/c#1~2/x#1"}, keysOf("x", next.run()))
}

// A child's checkpoint starts no run of its own, and two checkpoints are of one run.
func TestCheckpointsThatDoNotBelong(t *testing.T) {
	t.Parallel()
	s := tell(t, parent("", oneStep), "", plays{"a": {fails("x")}}).run()
	child := s.finished[0]
	redriven, _, failure := graph.Redrive(child.compiled.Plan, child.export(), graph.Redriving{Now: noon})
	require.Nil(t, failure)
	_, failure = graph.Redriven(child.compiled.Plan, redriven, graph.Start{Now: noon})
	require.Equal(t, "invalid_checkpoint", failure.Type)
	require.Contains(t, failure.Message, `the run "w"`)

	_, failure = graph.Rewind(s.m.Checkpoint(), child.m.Checkpoint())
	require.Equal(t, "invalid_checkpoint", failure.Type)
	later, sooner := s.m.Checkpoint(), tell(t, parent("", oneStep), "", plays{"a": {blocks()}}).m.Checkpoint()
	later.Steps = 0
	sooner.Steps = 1
	_, failure = graph.Rewind(later, sooner)
	require.Contains(t, failure.Message, "the later one")
}

// E8: what a redrive will do is told before it does it.
func TestRedrivePlans(t *testing.T) {
	t.Parallel()
	script := well()
	script["m#1/1"] = []play{after(2, fails("boom"))}
	s := tell(t, strings.Replace(longWay, "FIELDS", "", 1), "", script, admitting()).run()
	_, plan, failure := s.redrive(graph.Redriving{}, nil)
	require.Nil(t, failure)
	require.JSONEq(t, `{"graph":"story","redrive_of":"r","reused":[{"node":"a","address":"a#1","count":1,"why":"committed"}],`+
		`"repeated":[{"node":"m","address":"m#1","count":1,"why":"items; 2 have committed"}],"dropped":[],"pauses":[],"children":[],`+
		`"steps_left":997,"deadline":"10h"}`, text(t, plan))
}

// A run three levels down goes on where it stood, and can be begun at any address of any
// level.
func TestRedriveThreeLevelsDown(t *testing.T) {
	t.Parallel()
	grand := `{id: o, run: act, next: u}, {id: u, run: act, next: end}`
	inner := `{id: x, run: act, next: g}, {id: g, type: workflow, next: z, workflow: {version: 1, id: grand, entry: o, nodes: [` + grand + `]}}, {id: z, run: act, next: end}`
	script := plays{"x": {oks()}, "o": {oks()}, "u": {fails("boom")}}
	s := tell(t, parent("", inner), "", script)
	moments := s.exports()
	require.Equal(t, graph.StatusFailed, s.m.Status())
	well := plays{"x": times(3, oks()), "o": times(3, oks()), "u": times(3, oks()), "z": times(3, oks())}

	next, plan, failure := s.redrive(graph.Redriving{}, well)
	require.Nil(t, failure)
	require.Equal(t, map[string]int{"u": 1, "z": 1}, callsOf(next.run()))
	require.Equal(t, []string{"first/c#1/g#1/u#1"}, keysOf("u", next))
	require.Equal(t, "w/c#1/g#1", plan.Children[0].Plan.Children[0].WorkflowID)

	for from, want := range map[graph.Address]map[string]int{
		"c#1/g#1/u#1": {"u": 1, "z": 1}, "c#1/g#1/o#1": {"o": 1, "u": 1, "z": 1}, "c#1/g#1": {"o": 1, "u": 1, "z": 1},
		"c#1/x#1": {"x": 1, "o": 1, "u": 1, "z": 1}, "c#1": {"x": 1, "o": 1, "u": 1, "z": 1},
	} {
		next, _, failure := s.redriveFrom(rewound(t, moments, from), graph.Redriving{From: from}, well)
		require.Nil(t, failure, from)
		require.Equal(t, want, callsOf(next.run()), from)
		require.Equal(t, graph.StatusCompleted, next.m.Status())
	}
}

// A run that is put back into a fork repeats what it is asked for, keeps what the others
// gave by then, and gives what runs a second time another key.
func TestRewindIntoAFork(t *testing.T) {
	t.Parallel()
	s := tell(t, fork("", "p, q, r"), "", plays{"p": {outputs(`1`)}, "q": {after(2, outputs(`2`))}, "r": {after(1, outputs(`3`))}})
	moments := s.exports()
	require.Equal(t, graph.StatusCompleted, s.m.Status())
	next, _, failure := s.redriveFrom(rewound(t, moments, "q#1"), graph.Redriving{From: "q#1"}, plays{"q": {outputs(`4`)}})
	require.Nil(t, failure)
	require.Equal(t, []string{"first/q#2"}, keysOf("q", next.run()))
	require.Equal(t, map[string]int{"q": 1}, callsOf(next))
	require.JSONEq(t, `{"got":{"p":1,"q":4,"r":3}}`, string(next.m.Report().State))

	next, _, failure = s.redriveFrom(rewound(t, moments, "p#1"), graph.Redriving{From: "p#1"}, plays{"p": {outputs(`5`)}, "q": {outputs(`4`)}})
	require.Nil(t, failure)
	require.Equal(t, map[string]int{"p": 1, "q": 1}, callsOf(next.run()), "r had committed, q had not")
	require.Equal(t, []string{"first/p#2"}, keysOf("p", next))
	require.JSONEq(t, `{"got":{"p":5,"q":4,"r":3}}`, string(next.m.Report().State))

	// The fork itself begins anew with all that is in it.
	next, _, failure = s.redriveFrom(rewound(t, moments, "f#1"), graph.Redriving{From: "f#1"}, plays{"p": {outputs(`5`)}, "q": {outputs(`4`)}, "r": {outputs(`6`)}})
	require.Nil(t, failure)
	require.Equal(t, map[string]int{"p": 1, "q": 1, "r": 1}, callsOf(next.run()))
	require.Equal(t, []string{"first/p#2"}, keysOf("p", next))
}

// What a foreign activity, a wait and a loop hold is begun again where they stood: the
// arguments are evaluated anew, the time is waited for again, turns count on.
func TestRedriveOfOtherNodes(t *testing.T) {
	t.Parallel()
	doc := `entry: l
state_reducers: {k: sum}
nodes:
  - {id: l, type: loop, while: "true", max_iterations: 2, body: a}
  - {id: a, run: {activity: Act, task_queue: q}, args: ["${ run.attempt }"], next: w}
  - {id: w, type: wait, for: 10m, next: s}
  - {id: s, type: set, delta: {k: 1}, next: l}
`
	s := tell(t, doc, `{"k":0}`, plays{"a": {oks(), fails("x")}}).run()
	require.Equal(t, graph.StatusFailed, s.m.Status())
	next, _, failure := s.redrive(graph.Redriving{}, plays{"a": {oks()}})
	require.Nil(t, failure)
	next.sleep(time.Minute)
	require.Len(t, next.runs, 1)
	require.Equal(t, raw(`[1]`), next.runs[0].Args)
	third, _, failure := next.cancel("enough").redrive(graph.Redriving{}, nil)
	require.Nil(t, failure)
	require.Empty(t, third.timers)
	third.sleep(9 * time.Minute)
	require.Equal(t, graph.StatusRunning, third.m.Status(), "the wait begins again")
	third.sleep(2 * time.Minute)
	require.Equal(t, graph.StatusCompleted, third.m.Status(), "after two turns in all")
	require.JSONEq(t, `{"k":2}`, string(third.m.Report().State))
}
