package graph_test

import (
	"encoding/json"
	"hash/fnv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tidemill/tidemill/graph"
)

// corpus are graphs whose runs come to one end, whatever happens when.
var corpus = []struct{ name, doc, input string }{
	{"line", abc, ""},
	{"everything", strings.Replace(longWay, "FIELDS", "", 1), ""},
	{"loop", `entry: l
state_reducers: {k: sum}
nodes:
  - {id: l, type: loop, while: "state.k < 6", max_iterations: 9, body: a}
  - {id: a, run: act, next: w}
  - {id: w, type: wait, for: 2s, next: s}
  - {id: s, type: set, delta: {k: 2}, next: l}
`, `{"k":0}`},
	{"pause", `entry: a
nodes:
  - {id: a, run: act, next: p}
  - {id: p, type: pause, expires: 1h, on_expire: late, delta: {said: "${ result }"}, next: {cases: [{when: "input == true", to: b}]}}
  - {id: b, run: act, next: end}
  - {id: late, type: set, output: late, next: end}
`, ""},
	{"fork", `entry: f
nodes:
  - {id: f, type: fork, branches: [p, q, r, m, c], join: j, max_concurrency: 3}
  - {id: p, run: act, next: j}
  - {id: q, type: pause, next: j}
  - {id: r, type: wait, for: 3s, next: j}
  - {id: m, type: map, items: [1, 2, 3, 4], max_concurrency: 2, item: {type: workflow, input: {k: "${ item }"}, workflow: {version: 1, id: other, entry: o, nodes: [{id: o, run: act, next: end}]}}, next: j}
  - {id: c, type: workflow, input: {}, next: j, workflow: {version: 1, id: inner, entry: x, nodes: [{id: x, run: act, next: ask}, {id: ask, type: pause, next: z}, {id: z, run: act, next: end}]}}
  - {id: j, type: join, run: act, next: end}
`, ""},
	{"foreign", `entry: a
nodes:
  - {id: a, run: {activity: Act, task_queue: q}, args: ["${ state.k }"], output: "${ [result] }", next: b}
  - {id: b, run: act, next: {cases: [{when: "true", to: end}]}}
`, `{"k":1}`},
}

// steadily has every action give what its address says, after a while that it says, and
// every pause be answered alike. A redriven run so gives what the first one would.
func (s *story) steadily(most int) (events int) {
	s.t.Helper()
	for s.advance(); events < most && s.m.Outcome() == nil; events++ {
		s.script()
		if open := s.m.Pauses(); len(open) > 0 && !s.hasNews() {
			require.Nil(s.t, s.answer(graph.Answer{PauseID: open[0].ID, Input: raw(`true`)}))
			continue
		}
		require.True(s.t, s.step(time.Time{}), "the run is stuck: %s", text(s.t, s.m.Checkpoint()))
	}
	return events
}

// script gives what is open its play.
func (s *story) script() {
	for i := range s.open {
		if s.open[i].play.blocks && s.open[i].due.IsZero() {
			address := s.open[i].task.Run.Address
			h := fnv.New32()
			_, _ = h.Write([]byte(address.Leaf().Node + text(s.t, s.open[i].task.Index)))
			p := outputs(text(s.t, h.Sum32()%1000))
			s.open[i].play, s.open[i].due = p, s.now.Add(time.Duration(h.Sum32()%4)*time.Second)
		}
	}
	for _, k := range s.kids {
		k.story.script()
	}
}

// committed are the addresses under which something has been run to its end.
func (s *story) committed(into map[string]bool) {
	for _, task := range s.all() {
		into[task.Run.Key] = true
	}
	s.stillOpen(func(key string) { delete(into, key) })
}

func (s *story) stillOpen(note func(key string)) {
	for _, task := range s.open {
		note(task.task.Run.Key)
	}
	for _, k := range s.kids {
		k.story.stillOpen(note)
	}
}

// stopped ends a story in one of three ways.
func (s *story) stopped(way string) {
	s.t.Helper()
	if s.m.Outcome() != nil {
		return
	}
	block := func(s *story) {
		for i := range s.open {
			s.open[i].play, s.open[i].due = blocks(), time.Time{}
		}
	}
	var all func(*story)
	all = func(s *story) {
		block(s)
		for _, k := range s.kids {
			all(k.story)
		}
	}
	all(s)
	switch way {
	case "terminated":
	case "cancelled":
		s.cancel("drawn").run()
	case "timed out":
		s.run()
	}
}

// 60, 61, 62, 63, 96: a run of any shape that is stopped after any event, exported, and
// redriven, comes to what it would have come to undisturbed. What had run to its end is
// not run again, and all that is run again has the key it had.
func TestRedriveAfterAnyEvent(t *testing.T) {
	t.Parallel()
	for _, c := range corpus {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			well := tell(t, c.doc, c.input, nil)
			events := well.steadily(10_000)
			require.Equal(t, graph.StatusCompleted, well.m.Status())
			undisturbed := map[string]bool{}
			for _, task := range well.all() {
				undisturbed[task.Run.Key] = true
			}
			rapid.Check(t, func(rt *rapid.T) {
				ways := []string{"terminated", "cancelled"}
				s := tell(rt, c.doc, c.input, nil, func(s *story) {
					if rapid.Bool().Draw(rt, "admission") {
						admitting()(s)
					}
				})
				done := map[string]bool{}
				for range rapid.IntRange(1, 3).Draw(rt, "lives") {
					s.steadily(rapid.IntRange(0, events).Draw(rt, "events"))
					if s.m.Outcome() != nil {
						break
					}
					s.committed(done)
					s.stopped(rapid.SampledFrom(ways).Draw(rt, "way"))
					next, _, failure := s.redrive(graph.Redriving{MaxSteps: 500}, nil)
					require.Nil(rt, failure)
					s = next
				}
				if s.m.Outcome() == nil {
					before := map[string]bool{}
					for _, task := range s.all() {
						before[task.Run.Key] = true
					}
					s.steadily(10_000)
				}
				require.Equal(rt, text(rt, well.m.Outcome().Output), text(rt, s.m.Outcome().Output))
				require.Equal(rt, string(well.m.Report().State), string(s.m.Report().State))
				for _, task := range s.all() {
					require.True(rt, undisturbed[task.Run.Key], "%s is a key that nobody had", task.Run.Key)
					require.False(rt, done[task.Run.Key], "%s is repeated", task.Run.Key)
				}
			})
		})
	}
}

// A map that has a run of its own comes to the same end, by the same calls, when both
// runs are carried over as data before every event, as continue-as-new does.
func TestALongMapIsCarriedBeforeEveryEvent(t *testing.T) {
	t.Parallel()
	const items = graph.MaxInlineItems + 10
	doc, input := mapOver(", max_concurrency: 90"), `{"list":[`+strings.TrimSuffix(strings.Repeat("1,", items), ",")+`]}`
	well, carried := tell(t, doc, input, nil), tell(t, doc, input, nil, func(s *story) { s.restores = true })
	well.steadily(10_000)
	carried.steadily(10_000)
	require.Equal(t, graph.StatusCompleted, carried.m.Status())
	require.Equal(t, string(well.m.Report().State), string(carried.m.Report().State))
	require.Equal(t, keysOf("m/item", well), keysOf("m/item", carried))
	require.Len(t, keysOf("m/item", carried), items)
}

// The same of a map that has a run of its own, stopped in the middle.
func TestRedriveInTheMiddleOfALongMap(t *testing.T) {
	t.Parallel()
	const items = graph.MaxInlineItems + 10
	doc, input := mapOver(", max_concurrency: 90"), `{"list":[`+strings.TrimSuffix(strings.Repeat("1,", items), ",")+`]}`
	for _, way := range []string{"terminated", "cancelled"} {
		s, done := tell(t, doc, input, nil), map[string]bool{}
		s.steadily(100)
		s.committed(done)
		s.stopped(way)
		next, _, failure := s.redrive(graph.Redriving{}, nil)
		require.Nil(t, failure)
		next.steadily(10_000)
		require.Equal(t, graph.StatusCompleted, next.m.Status())
		require.NotEmpty(t, done)
		for _, task := range next.all() {
			require.False(t, done[task.Run.Key], "%s is repeated", task.Run.Key)
		}
		require.Equal(t, items, len(done)+len(next.all()))
	}
}

// Any graph, any events: whatever end a run has come to, it can be redriven, or is
// refused with a type; and a redriven machine keeps every rule that a fresh one does.
func TestAnyRunIsRedriven(t *testing.T) {
	t.Parallel()
	redriven := 0
	rapid.Check(t, func(rt *rapid.T) {
		s := tell(rt, drawDocument(rt), `{"c":0}`, nil, func(s *story) {
			if rapid.Bool().Draw(rt, "admission") {
				admitting()(s)
			}
		})
		for range rapid.IntRange(1, 3).Draw(rt, "lives") {
			s.advance()
			for range rapid.IntRange(0, 15).Draw(rt, "events") {
				if s.m.Outcome() != nil {
					break
				}
				s.drawEvent(rt)
			}
			if rapid.Bool().Draw(rt, "cancelled") {
				s.cancel("enough")
				for len(s.open) > 0 {
					s.drawEvent(rt)
				}
			}
			next, _, failure := s.redrive(graph.Redriving{MaxSteps: rapid.IntRange(0, 30).Draw(rt, "max_steps")}, nil)
			if failure != nil {
				require.Contains(rt, []string{"checkpoint_complete", "budget_exhausted"}, failure.Type)
				return
			}
			visits := map[string]int{}
			for _, n := range s.m.Checkpoint().Nodes {
				visits[n.Node] = n.Visits
			}
			for _, n := range next.m.Checkpoint().Nodes {
				require.GreaterOrEqual(rt, n.Visits, visits[n.Node], "an epoch is never given twice")
			}
			redriven++
			s = next
		}
		s.advance()
		s.cancel("enough")
		for len(s.open) > 0 {
			s.drawEvent(rt)
		}
		require.NotNil(rt, s.m.Outcome())
		s.closes(rt)
	})
	require.Positive(t, redriven)
}

// An export may come from anywhere, as a checkpoint may.
func FuzzRedrive(f *testing.F) {
	compiled := compileStory(f, everyPart)
	evaluator, err := graph.NewEvaluator(compiled.Document, nil)
	require.NoError(f, err)
	for _, cp := range partCheckpoints(f, compiled) {
		f.Add([]byte(cp), "")
	}
	for _, e := range partExports(f, compiled) {
		f.Add([]byte(e), "c#1/a#1")
		f.Add([]byte(e), "m#1/1")
		f.Add([]byte(e), "f#1")
	}
	f.Fuzz(func(t *testing.T, data []byte, from string) {
		redriveAny(t, compiled, evaluator, data, from)
	})
}

// redriveAny redrives whatever it is given, and takes what it is let to its end. It
// reports whether it was.
func redriveAny(t tester, compiled *graph.Compiled, evaluator *graph.Evaluator, data []byte, from string) bool {
	t.Helper()
	e, failure := graph.ParseExport(data)
	if failure != nil {
		require.Equal(t, "invalid_checkpoint", failure.Type)
		return false
	}
	redriven, _, failure := graph.Redrive(compiled.Plan, e, graph.Redriving{From: graph.Address(from), MaxSteps: 50, Now: noon})
	if failure != nil {
		require.Contains(t, []string{
			"invalid_checkpoint", "checkpoint_workflow_mismatch", "checkpoint_definition_mismatch", "checkpoint_complete",
			"invalid_run_options", "budget_exhausted", "state_too_large",
		}, failure.Type)
		return false
	}
	if redriven.Checkpoint.Child != nil {
		return false
	}
	m, failure := graph.Redriven(compiled.Plan, redriven, graph.Start{Now: noon})
	require.Nil(t, failure, "what is redriven can be started")
	exercise(t, m, evaluator)
	return true
}

// partExports are exports of runs of everyPart with their children, after each event.
func partExports(t tester, compiled *graph.Compiled) []string {
	t.Helper()
	var all []string
	script := plays{"m/item": times(9, outputs(`1`)), "a": {fails("x"), outputs(`1`)}, "b": {outputs(`2`)}, "q": {after(60, outputs(`4`))}}
	s := tellCompiled(t, compiled, `{"k":0,"list":["x","<y>","z"]}`, script)
	s.advance()
	for i := 0; i < 40 && s.m.Outcome() == nil; i++ {
		written, err := json.Marshal(s.export())
		require.NoError(t, err)
		all = append(all, string(written))
		if open := s.m.Pauses(); len(open) > 0 {
			require.Nil(t, s.m.Answer(s.now, graph.Answer{PauseID: open[0].ID, Input: raw(`true`)}))
			s.event("answered", func() {})
			continue
		}
		s.step(time.Time{})
	}
	return all
}

// An export in which something was changed is refused, or makes a run that comes to an
// end.
func TestMutatedExports(t *testing.T) {
	t.Parallel()
	compiled := compileStory(t, everyPart)
	evaluator, err := graph.NewEvaluator(compiled.Document, nil)
	require.NoError(t, err)
	seeds := partExports(t, compiled)
	pool := []any{
		nil, true, 0, 1, -1, 2, "", "x", "a", "m", "c", "f", "q", "m#1", "m#1/0", "m#1~2", "c#1", "c#1/a#1", "c#1~2", "f#1", "w#1", "q#1", "w#1/0",
		"ready", "deciding", "running", "failed", "forking", "mapping", "routing", "cancelled", "paused", "unstarted", "active", "completed", "skipped", "join", "branch",
		map[string]any{},
		[]any{},
		map[string]any{"type": "x", "message": ""},
		map[string]any{"base": "m#1", "items": []any{map[string]any{"value": 1, "status": "failed", "failure": map[string]any{"type": "x", "message": ""}}}},
	}
	froms := []string{"", "m#1", "m#1/1", "c#1", "c#1/a#1", "c#1~2/a#1", "f#1", "w#1/0", "q#1"}
	checkMutated(t, seeds, pool, func(t tester, mutant string) bool {
		accepted := false
		for _, from := range froms {
			accepted = redriveAny(t, compiled, evaluator, []byte(mutant), from) || accepted
		}
		return accepted
	})
}
