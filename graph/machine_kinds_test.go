package graph_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tidemill/tidemill/graph"
)

// Rows of the catalogue that are about more than one rule, and kinds of fault
// that engines of graphs have had. A comment names the fault.
func TestKindsOfFault(t *testing.T) {
	t.Parallel()
	const diamond = `entry: a
nodes:
  - {id: a, run: act, next: which}
  - {id: which, type: branch, cases: [{when: "input == 'b'", to: b}, {when: "input == 'c'", to: c}], default: j}
  - {id: b, run: act, next: j}
  - {id: c, run: act, next: c2}
  - {id: c2, run: act, next: j}
  - {id: j, type: join, delta: {joined: "${ input }"}, next: z}
  - {id: z, run: act, next: end}
`
	all := func(first string) plays {
		return plays{"a": {outputs(first)}, "b": {outputs(`"B"`)}, "c": {oks()}, "c2": {outputs(`"C2"`)}, "z": {oks()}}
	}
	const counted = `entry: l
nodes:
  - {id: l, type: loop, while: {call: more}, max_iterations: 2, body: s}
  - {id: s, type: set, next: l}
`
	runRows(t, []row{
		// A2, A3, A17, A18: ways that part and meet again. The node where they meet
		// runs once, with what came, also when no way was taken or one is longer.
		{
			name: "A2 neither way is taken", doc: diamond, plays: all(`"none"`),
			want: want{status: graph.StatusCompleted, state: `{"joined":"none"}`, seen: `a {}; which? "none"; z "none"`, steps: 4},
		},
		{
			name: "A3 one way is taken", doc: diamond, plays: all(`"b"`),
			want: want{status: graph.StatusCompleted, state: `{"joined":"B"}`, seen: `a {}; which? "b"; b "b"; z "B"`, steps: 5},
		},
		{
			name: "A17 the longer way is taken", doc: diamond, plays: all(`"c"`),
			want: want{status: graph.StatusCompleted, state: `{"joined":"C2"}`, seen: `a {}; which? "c"; c "c"; c2 null; z "C2"`, steps: 6},
		},
		{
			// A4: a node with a forward and a back edge does not wait for both.
			name: "A4 a back edge is no second input",
			doc: `entry: a
nodes:
  - {id: a, run: act, next: j}
  - {id: j, type: join, next: b}
  - {id: b, type: set, output: "${ input + 1 }", next: {cases: [{when: "input < 3", to: j}], default: end}}
`,
			plays: plays{"a": {outputs(`0`)}},
			want:  want{status: graph.StatusCompleted, output: `3`, steps: 7},
		},
		{
			// A24: what a node needs is evaluated when it is entered, and not before.
			name: "A24 a node that is not entered evaluates nothing",
			doc: `entry: b
nodes:
  - {id: b, type: branch, cases: [{when: "has(state.x)", to: s}], default: end}
  - {id: s, type: set, output: "${ state.x.y }", delta: {x: "${ 1 / 0 }"}, next: end}
`,
			want: want{status: graph.StatusCompleted, output: `{}`, steps: 1},
		},
		{
			// A24: and what recovers from a failure only when there is one.
			name:  "A24 a recovery that is not needed evaluates nothing",
			doc:   fork("", "a, b", `a: run: act, on_error: {output: "${ state.none }"}`),
			plays: plays{"a": {outputs(`1`)}, "b": {outputs(`2`)}},
			want:  want{status: graph.StatusCompleted, state: two},
		},
		{
			name: "37 a predicate that gives a pause", doc: counted, calls: callbacks{"more": gives(map[string]any{"pause": map[string]any{}})},
			want: want{status: graph.StatusFailed, failure: "graph_loop_failed", at: "l#1"},
		},
		{
			name: "37 a predicate that gives nothing", doc: counted, calls: callbacks{"more": gives(nil)},
			want: want{status: graph.StatusFailed, failure: "graph_loop_failed", at: "l#1"},
		},
		{
			name: "41 a run may lower its budget of steps", doc: "max_steps: 9\n" + abc, plays: plays{"a": {oks(`{"x":1}`)}},
			change: func(s *story) { s.restart(func(start *graph.Start) { start.MaxSteps = 1 }) },
			want:   want{status: graph.StatusFailed, failure: "budget_exhausted", state: `{"x":1}`, steps: 1},
		},
		{
			name: "81 one at a time: the sibling of a paused branch waits for its place", doc: fork(", max_concurrency: 1", "a, b"),
			plays:   plays{"a": {pauses(graph.PauseRequest{}, `{"asked":true}`)}, "b": {outputs(`2`, `{"k":1}`)}},
			answers: []string{`{"approved":true}`},
			want: want{
				status: graph.StatusCompleted, seen: `a {}; b {}`, output: `{"a":{"approved":true},"b":2}`,
				state: `{"asked":true,"got":{"a":{"approved":true},"b":2},"k":1}`, steps: 4,
			},
		},
		{
			name: "81 before the answer", doc: fork(", max_concurrency: 1", "a, b"), plays: plays{"a": {pauses(graph.PauseRequest{}, `{"asked":true}`)}},
			want: want{status: graph.StatusPaused, seen: `a {}`, state: `{}`, steps: 1},
		},
		{
			// In the reference a pause kills its siblings, which run again after it;
			// here they go on, and the run is paused when they have ended.
			name: "82 the siblings of a paused branch go on and commit once", doc: fork("", "a, b"),
			plays:   plays{"a": {pauses(graph.PauseRequest{}, `{"asked":true}`)}, "b": {after(60, outputs(`2`, `{"k":1}`))}},
			answers: []string{`1`},
			want:    want{status: graph.StatusCompleted, seen: `a {}; b {}`, state: `{"asked":true,"got":{"a":1,"b":2},"k":1}`},
		},
		{
			// D12: the last failure is the one that counts, not the first that was seen.
			name: "D12 a recovery that fails is what the run failed with",
			doc: `entry: a
nodes:
  - {id: a, run: act, retry: {max_attempts: 2}, on_error: b, next: end}
  - {id: b, run: act, retry: {max_attempts: 2}, next: end}
`,
			plays: plays{"a": {fails("one"), fails("two")}, "b": {fails("three"), fails("four")}},
			want: want{
				status: graph.StatusFailed, failure: "retry_exhausted/four", at: "b#1",
				seen: `a {}; a {}; b {"address":"a#1","attempts":2,"cause":{"address":"","attempts":0,"cause":null,"message":"it failed","node":"","type":"two"},` +
					`"message":"2 attempts failed, the last with two: it failed","node":"a","type":"retry_exhausted"}; ` +
					`b {"address":"a#1","attempts":2,"cause":{"address":"","attempts":0,"cause":null,"message":"it failed","node":"","type":"two"},` +
					`"message":"2 attempts failed, the last with two: it failed","node":"a","type":"retry_exhausted"}`,
			},
		},
		{
			// D13: "could not do it" is no success when the node says what it must give.
			name:  "D13 an output without what was asked for",
			doc:   oneAction(`output_schema: {type: object, required: [answer]}, on_error: end, `),
			plays: plays{"a": {outputs(`{"refusal":"cannot"}`, `{"lost":true}`)}}, input: `{"k":1}`,
			want: want{status: graph.StatusCompleted, output: `{"k":1}`},
		},
		{
			// F8: no text is a truth value, and no truth value is a text.
			name: "F8 true is not its name",
			doc: `entry: s
nodes:
  - {id: s, type: set, output: "${ [state.t == true, state.f == true, state.t == 'true', state.n == '1', state.n == 1.0] }", next: end}
`,
			input: `{"t":true,"f":"true","n":1}`,
			want:  want{status: graph.StatusCompleted, output: `[true,false,false,false,true]`},
		},
		{
			name:  "F8 a text is no condition",
			doc:   "entry: b\nnodes:\n  - {id: b, type: branch, cases: [{when: \"state.f\", to: end}], default: end}\n",
			input: `{"f":"true"}`,
			want:  want{status: graph.StatusFailed, failure: "expression_failed", at: "b#1"},
		},
		{
			// F5, F6: integers stay what they are, through every place of a run.
			name: "F6 the integer after the last that a float tells apart",
			doc: `entry: s
state_reducers: {total: sum}
nodes:
  - {id: s, type: set, output: "${ state.k + 1 }", delta: {k: "${ state.k + 1 }", total: "${ state.k }"}, next: p}
  - {id: p, type: pause, delta: {answer: "${ result + 1 }"}, next: f}
  - {id: f, type: fork, branches: [a], join: j}
  - {id: a, run: act, output: "${ result + state.k }", next: j}
  - {id: j, type: join, next: end}
`,
			input: `{"k":9007199254740992,"total":1}`, answers: []string{`9007199254740994`}, plays: plays{"a": {outputs(`9007199254740993`)}},
			want: want{
				status: graph.StatusCompleted, output: `{"a":18014398509481986}`,
				state: `{"answer":9007199254740995,"k":9007199254740993,"total":9007199254740993}`,
			},
		},
		{
			name:  "F6 the integer after the last there is",
			doc:   "entry: s\nnodes:\n  - {id: s, type: set, delta: {k: \"${ state.k + 1 }\"}, on_error: e, next: end}\n  - {id: e, type: set, output: \"${ input.type }\", next: end}\n",
			input: `{"k":9223372036854775807}`,
			want:  want{status: graph.StatusCompleted, output: `"number_out_of_range"`, state: `{"k":9223372036854775807}`},
		},
		{
			// F14: keys that look alike are two keys.
			name: "F14 composed and decomposed letters", doc: oneAction(""), input: "{\"\u00e9\":1}", plays: plays{"a": {oks("{\"e\u0301\":2}")}},
			want: want{status: graph.StatusCompleted, output: "{\"e\u0301\":2,\"\u00e9\":1}"},
		},
	})
}

// B12: a pause in a loop whose condition never changes asks as often as it is
// answered and the loop allows, and never by itself.
func TestAPauseInALoopAsksOncePerTurn(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		turns := rapid.IntRange(1, 6).Draw(rt, "turns")
		restores := rapid.Bool().Draw(rt, "restores")
		s := tell(rt, fmt.Sprintf(`entry: l
nodes:
  - {id: l, type: loop, while: "true", body: p, max_iterations: %d}
  - {id: p, type: pause, next: s}
  - {id: s, type: set, delta: {i: "${ state.i + 1 }"}, next: l}
`, turns), `{"i":0}`, nil, func(s *story) { s.restores = restores }).run()
		for i := 1; i <= turns; i++ {
			require.True(rt, s.m.Paused())
			require.Equal(rt, graph.Address(fmt.Sprintf("p#%d", i)), s.m.Pauses()[0].ID)
			require.Equal(rt, 2*i+(i-1), s.m.Checkpoint().Steps)
			require.Nil(rt, s.answer(graph.Answer{Input: raw(`"the same"`)}))
			s.run()
		}
		require.Equal(rt, fmt.Sprintf(`{"i":%d}`, turns), string(s.m.Outcome().Output))
	})
}

// Conformance 72 and 101: a run that is restored while a fork is under way does
// not repeat a branch that failed; the one that was running is scheduled again,
// as the same attempt, and only the join costs a further step.
func TestRestoreAfterABranchFailed(t *testing.T) {
	t.Parallel()
	s := tell(t, "max_steps: 4\n"+fork(", join_policy: first_success", "a, b", "b: run: act, retry: {max_attempts: 3}"), "",
		plays{"a": {fails("boom")}, "b": {after(1, fails("once")), blocks()}})
	s.sleep(10 * time.Second)
	cp, failure := graph.ParseCheckpoint(json.RawMessage(text(t, s.m.Checkpoint())))
	require.Nil(t, failure)
	require.Equal(t, "a failed, b active", standing(forking(t, cp)))
	require.Equal(t, 2, cp.Steps)
	m, failure := graph.Restore(s.compiled.Plan, cp, s.start)
	require.Nil(t, failure)
	effects := m.Effects()
	require.Len(t, effects, 1)
	again, ok := effects[0].(graph.RunNode)
	require.True(t, ok)
	require.Equal(t, graph.Address("b#1"), again.Task.Run.Address)
	require.Equal(t, 2, again.Task.Run.Attempt)
	m.End(s.now, "b#1", outputs(`2`).ending)
	m.Advance(s.now, s.decider)
	require.Equal(t, graph.StatusCompleted, m.Status())
	require.Equal(t, 4, m.Checkpoint().Steps, "the join, and what follows it")
	require.JSONEq(t, onlyB, string(m.Checkpoint().State.Raw()))
}

const onlyB = `{"got":{"b":2}}`

// Conformance 120: the deadline passes while something is to be decided. What
// had committed by then stays: a node's result before its route, and the
// branches' results before their merge.
func TestDeadlineBeforeADecision(t *testing.T) {
	t.Parallel()
	s := tell(t, `entry: a
nodes:
  - {id: a, run: act, next: {cases: [{when: "input > 1", to: b}], default: end}}
  - {id: b, run: act, next: end}
`, "", plays{"a": {outputs(`2`, `{"x":1}`)}}, limited(time.Minute))
	s.advance()
	s.m.End(s.now, "a#1", s.open[0].play.ending)
	s.open = nil
	s.m.Advance(s.now, graph.Undecided{})
	require.True(t, s.m.Undecided())
	s.m.Expire(noon.Add(time.Minute))
	s.m.Advance(noon.Add(time.Minute), s.decider)
	require.Equal(t, graph.StatusTimedOut, s.m.Status())
	require.JSONEq(t, `{"x":1}`, string(s.m.Checkpoint().State.Raw()))
	require.Equal(t, graph.PhaseRouting, s.m.Checkpoint().Activations[0].Phase)
	require.Equal(t, 1, s.m.Checkpoint().Steps, "b was not entered")

	s = tell(t, fork(", merge: {call: late}", "a, b"), "", nil, limited(time.Minute), func(s *story) {
		evaluator, err := graph.NewEvaluator(s.compiled.Document, callbacks{"late": gives(map[string]any{"never": 1})})
		require.NoError(t, err)
		s.decider = evaluator
	})
	s.advance()
	for _, branch := range []graph.Address{"a#1", "b#1"} {
		s.m.End(s.now, branch, outputs(`1`, `{"k":1}`).ending)
	}
	s.open = nil
	s.m.Advance(s.now, graph.Undecided{})
	require.True(t, s.m.Undecided())
	s.m.Expire(noon.Add(time.Minute))
	s.m.Advance(noon.Add(time.Minute), s.decider)
	require.Equal(t, graph.StatusTimedOut, s.m.Status())
	require.JSONEq(t, `{}`, string(s.m.Checkpoint().State.Raw()))
	require.Equal(t, "a completed, b completed", standing(forking(t, s.m.Checkpoint())))
}

// B10, B26: answers belong to one run. Another run of the same graph knows
// nothing of them, and a pause of its own with the same id is open.
func TestAnswersBelongToOneRun(t *testing.T) {
	t.Parallel()
	first := tell(t, pauseNode(""), "", nil).run()
	require.Nil(t, first.answer(graph.Answer{PauseID: "p#1", Input: raw(`1`), UpdateID: "u"}))
	second := tellCompiled(t, first.compiled, "", nil, func(s *story) { s.start.Lineage = "second" }).run()
	require.True(t, second.m.Paused())
	require.Empty(t, second.m.Checkpoint().Answers)
	require.Nil(t, second.answer(graph.Answer{PauseID: "p#1", Input: raw(`2`), UpdateID: "u"}))
	require.Equal(t, `2`, string(second.m.Outcome().Output))
	_, failure := graph.Restore(second.compiled.Plan, first.m.Checkpoint(), second.start)
	require.Equal(t, "checkpoint_complete", failure.Type)
}

// A5: the first case of two that say the same is taken, once: an edge that is
// there twice is refused, and one condition that holds twice leads one way.
func TestACaseIsTakenOnce(t *testing.T) {
	t.Parallel()
	s := tell(t, `entry: b
nodes:
  - {id: b, type: branch, cases: [{when: "true", to: s}, {when: "1 == 1", to: s}], default: s}
  - {id: s, type: set, delta: {i: "${ state.i + 1 }"}, next: end}
`, `{"i":0}`, nil).run()
	require.Equal(t, `{"i":1}`, string(s.m.Outcome().Output))
	require.Equal(t, 2, s.m.Checkpoint().Steps)
}

// D6: closed means closed. After a cancel, a deadline or a failure nothing that
// still arrives starts anything, whatever it is and in whatever order.
func TestClosedMeansClosed(t *testing.T) {
	t.Parallel()
	doc := "deadline: 1h\n" + fork(", max_concurrency: 4", "a, b, c, d, e", "a: run: act, retry: {max_attempts: 9}", "b: type: pause, expires: 1m",
		"c: type: wait, for: 1m", "d: run: act, retry: {max_attempts: 9, backoff: 10m, max_backoff: 10m}")
	for name, end := range map[string]func(*story){
		"cancelled": func(s *story) { s.m.Cancel(s.now, "enough") },
		"timed out": func(s *story) { s.now = noon.Add(2 * time.Hour); s.m.Expire(s.now) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(rt *rapid.T) {
				s := tell(rt, doc, "", plays{"d": {fails("boom")}})
				s.sleep(time.Second)
				end(s)
				s.m.Advance(s.now, s.decider)
				requireNothingStarts(rt, s.m.Effects())
				for range 12 {
					late(rt, s)
					s.m.Advance(s.now, s.decider)
					requireNothingStarts(rt, s.m.Effects())
				}
				s.m.End(s.now, "a#1", graph.Ending{Kind: graph.Cancelled})
				s.m.Advance(s.now, s.decider)
				require.NotNil(rt, s.m.Outcome())
				require.Contains(rt, []graph.Status{graph.StatusCancelled, graph.StatusTimedOut}, s.m.Status())
			})
		})
	}
}

// late tells a machine something that is over.
func late(rt *rapid.T, s *story) {
	address := graph.Address(rapid.SampledFrom([]string{"b#1", "c#1", "d#1", "e#1"}).Draw(rt, "address"))
	switch rapid.IntRange(0, 4).Draw(rt, "what") {
	case 0:
		s.m.Fire(s.now, address)
	case 1:
		s.m.End(s.now, address, rapid.SampledFrom([]play{outputs(`1`), fails("x"), timesOut(), interrupted(graph.InterruptWorkerLost)}).Draw(rt, "ending").ending)
	case 2:
		require.NotNil(rt, s.m.Judge(graph.Answer{PauseID: "b#1", Input: raw(`1`)}))
		_ = s.m.Answer(s.now, graph.Answer{PauseID: "b#1", Input: raw(`1`)})
	case 3:
		s.m.Cancel(s.now, "again")
	default:
		s.m.Expire(s.now)
	}
}

func requireNothingStarts(rt *rapid.T, effects []graph.Effect) {
	for _, e := range effects {
		switch e.(type) {
		case graph.CancelNode, graph.StopTimer:
		default:
			require.Fail(rt, "something starts", "%s", effectLine(e))
		}
	}
}

// F4: a value that grows from turn to turn ends in a typed failure, which names
// what is too large, and never in a run that cannot be written down.
func TestWhatGrowsEndsTyped(t *testing.T) {
	t.Parallel()
	for name, doc := range map[string]string{
		"the state": "state_reducers: {all: append}\nentry: a\nnodes: [{id: a, run: act, delta: {all: ['${ result }']}, next: a}]\n",
		"an output": "entry: a\nnodes: [{id: a, type: set, output: \"${ [input, input] }\", next: a}]\n",
		"a text":    "entry: a\nnodes: [{id: a, type: set, delta: {text: \"${ state.text }${ state.text }\"}, next: a}]\n",
	} {
		s := tell(t, doc, `{"text":"xxxxxxxx"}`, plays{"a": times(400, outputs(`"`+strings.Repeat("y", 100)+`"`))},
			func(s *story) { s.start.Limits = graph.Limits{State: 20_000, Payload: 10_000} }).run()
		require.Equal(t, graph.StatusFailed, s.m.Status(), name)
		require.Contains(t, []string{"state_too_large", "output_too_large"}, s.m.Outcome().Failure.Type, name)
		require.Less(t, len(text(t, s.m.Checkpoint())), 60_000, name)
	}
}
