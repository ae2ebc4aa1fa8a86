package graph_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill/graph"
)

// loopDoc is a loop whose body counts.
func loopDoc(while string, most int, more string) string {
	return `entry: l
nodes:
  - {id: l, type: loop, while: ` + while + `, max_iterations: ` + strconv.Itoa(most) + `, body: w, done: d` + more + `}
  - {id: w, type: set, delta: {i: "${ state.i + 1 }"}, next: l}
  - {id: d, type: set, output: "${ state.i }", next: end}
  - {id: x, type: set, output: exhausted, next: end}
`
}

// Loops: how often the body runs, and where a loop leads.
func TestLoops(t *testing.T) {
	t.Parallel()
	say := func(v any) callbacks { return callbacks{"w": gives(v)} }
	const start = `{"i":0}`
	runRows(t, []row{
		{
			name: "32 a loop passes on what it gets",
			doc: `entry: a
nodes:
  - {id: a, run: act, next: b}
  - {id: b, type: branch, cases: [{when: "false", to: end}], default: l}
  - {id: l, type: loop, while: "state.i < 1", max_iterations: 5, body: w, done: j}
  - {id: w, run: act, delta: {i: "${ state.i + 1 }"}, next: l}
  - {id: j, type: join, next: z}
  - {id: z, run: act, next: end}
`,
			input: start, plays: plays{"a": {outputs(`"A"`)}, "w": {outputs(`"W"`)}, "z": {oks()}},
			want: want{
				status: graph.StatusCompleted, output: `"W"`, steps: 7,
				seen: `a {"i":0}; b? "A"; l? "A"; w "A"; l? "W"; z "W"`,
			},
		},
		{
			name: "33 a condition ends it", doc: loopDoc(`"state.i < 3"`, 5, ""), input: start,
			want: want{status: graph.StatusCompleted, output: `3`, steps: 8},
		},
		{
			name: "34 max_iterations is a normal exit", doc: loopDoc(`"true"`, 2, ""), input: start,
			want: want{
				status: graph.StatusCompleted, output: `2`, steps: 6,
				seen: `l? {"i":0}; l? {"i":0}; l? {"i":0}`,
			},
		},
		{
			name: "34 three turns", doc: loopDoc(`"true"`, 3, ""), input: start,
			want: want{status: graph.StatusCompleted, output: `3`, steps: 8},
		},
		{
			name: "35 no turns at all", doc: loopDoc(`"true"`, 0, ""), input: start,
			want: want{status: graph.StatusCompleted, output: `0`, seen: `l? {"i":0}`, steps: 2},
		},
		{
			name: "on_exhausted has its own way", doc: loopDoc(`"true"`, 2, ", on_exhausted: x"), input: start,
			want: want{status: graph.StatusCompleted, output: `"exhausted"`, state: `{"i":2}`},
		},
		{
			// A condition that ends the loop in the last allowed turn is not exhaustion.
			name: "on_exhausted is not taken when the condition ends it", doc: loopDoc(`"state.i < 2"`, 2, ", on_exhausted: x"), input: start,
			want: want{status: graph.StatusCompleted, output: `2`},
		},
		{
			name: "37 a predicate that gives a number", doc: loopDoc(`{call: w}`, 2, ""), calls: say(1), input: start,
			want: want{status: graph.StatusFailed, failure: "graph_loop_failed", at: "l#1", message: "true or false"},
		},
		{
			name: "37 a predicate that gives text", doc: loopDoc(`{call: w}`, 2, ""), calls: say("true"), input: start,
			want: want{status: graph.StatusFailed, failure: "graph_loop_failed", at: "l#1"},
		},
		{
			name: "a predicate callback that gives a truth value", doc: loopDoc(`{call: w}`, 2, ""), calls: say(true), input: start,
			want: want{status: graph.StatusCompleted, output: `2`},
		},
		{
			name: "a condition that fails", doc: loopDoc(`"state.none < 2"`, 2, ""), input: start,
			want: want{status: graph.StatusFailed, failure: "expression_failed", at: "l#1"},
		},
	})
}

// A loop's counter starts anew whenever the loop is entered from outside, and
// an inner loop is entered anew in each turn of the outer one. The reference
// never resets it; ours does.
func TestLoopCountersStartAnew(t *testing.T) {
	t.Parallel()
	const nested = `entry: outer
nodes:
  - {id: outer, type: loop, while: "true", max_iterations: 3, body: inner, done: end}
  - {id: inner, type: loop, while: "true", max_iterations: 2, body: w, done: outer}
  - {id: w, type: set, delta: {i: "${ state.i + 1 }"}, next: inner}
`
	const left = `entry: l
nodes:
  - {id: l, type: loop, while: "true", max_iterations: 3, body: w, done: fin}
  - {id: w, type: set, delta: {i: "${ state.i + 1 }"}, next: {cases: [{when: "state.i == 2", to: out}], default: l}}
  - {id: out, type: set, next: l}
  - {id: fin, type: set, output: "${ state.i }", next: end}
`
	const escaped = `entry: outer
nodes:
  - {id: outer, type: loop, while: "state.i < 8", max_iterations: 3, body: inner, done: end}
  - {id: inner, type: loop, while: "true", max_iterations: 3, body: w, done: outer}
  - {id: w, type: set, delta: {i: "${ state.i + 1 }"}, next: {cases: [{when: "state.i == 2", to: outer}], default: inner}}
`
	const again = `entry: l
nodes:
  - {id: l, type: loop, while: "true", max_iterations: 2, body: w, done: after}
  - {id: w, type: set, delta: {i: "${ state.i + 1 }"}, next: l}
  - {id: after, type: set, delta: {rounds: "${ state.rounds + 1 }"}, next: {cases: [{when: "state.rounds < 3", to: l}], default: end}}
`
	runRows(t, []row{
		{
			name: "an inner loop has its turns in each turn of the outer", doc: nested, input: `{"i":0}`,
			want: want{status: graph.StatusCompleted, output: `{"i":6}`, steps: 4 + 3*3 + 6},
		},
		{
			// out lies on the way from the body back to the loop, so it is part of a turn.
			name: "a detour inside a turn does not start the count anew", doc: left, input: `{"i":0}`,
			want: want{status: graph.StatusCompleted, output: `3`},
		},
		{
			// The inner loop is left at once in its second turn; when the outer one
			// enters it again it has three turns.
			name: "leaving an inner loop early starts it anew", doc: escaped, input: `{"i":0}`,
			want: want{status: graph.StatusCompleted, output: `{"i":8}`, steps: 4 + 2 + 4 + 4 + 8},
		},
		{
			name: "a loop entered again by what follows it", doc: again, input: `{"i":0,"rounds":0}`,
			want: want{status: graph.StatusCompleted, output: `{"i":6,"rounds":3}`},
		},
	})
}

// Budgets: N nodes in a line need exactly N steps, attempts cost none, and a
// spent budget says where it was spent.
func TestStepBudget(t *testing.T) {
	t.Parallel()
	const self = `entry: m
max_steps: 3
nodes:
  - {id: m, type: set, delta: {count: "${ state.count + 1 }"}, next: m}
`
	three := plays{"a": {oks()}, "b": {oks()}, "c": {oks()}}
	runRows(t, []row{
		{
			name: "38 a cycle spends it", doc: self, input: `{"count":0}`,
			want: want{status: graph.StatusFailed, failure: "budget_exhausted", state: `{"count":3}`, steps: 3, message: "max_steps"},
		},
		{
			name: "40 attempts are free",
			doc: `entry: a
max_steps: 1
nodes:
  - {id: a, run: act, retry: {max_attempts: 3}, next: end}
`,
			plays: plays{"a": {fails("x"), fails("x"), outputs(`1`)}},
			want:  want{status: graph.StatusCompleted, output: `1`, steps: 1},
		},
		{
			name: "41 a run may raise it", doc: "max_steps: 1\n" + abc, plays: three,
			change: func(s *story) { s.restart(func(start *graph.Start) { start.MaxSteps = 5 }) },
			want:   want{status: graph.StatusCompleted, steps: 3},
		},
		{
			name: "exactly enough", doc: "max_steps: 3\n" + abc, plays: three,
			want: want{status: graph.StatusCompleted, steps: 3},
		},
		{
			// The step budget is not an error of the node: on_error does not see it.
			name: "one too few", plays: plays{"a": {oks(`{"x":1}`)}},
			doc: `entry: a
max_steps: 1
nodes:
  - {id: a, run: act, next: b, on_error: end}
  - {id: b, run: act, next: end, on_error: end}
`,
			want: want{status: graph.StatusFailed, failure: "budget_exhausted", state: `{"x":1}`, seen: `a {}`, steps: 1},
		},
		{
			name: "a resumed pause costs none",
			doc: `entry: p
max_steps: 2
nodes:
  - {id: p, type: pause, next: s}
  - {id: s, type: set, output: "${ input }", next: end}
`,
			answers: []string{`"yes"`},
			want:    want{status: graph.StatusCompleted, output: `"yes"`, steps: 2},
		},
	})
}

// A cycle of static edges and literals needs no decision, so only the bound of
// one Advance keeps it from holding up a workflow task.
func TestLongAdvanceStopsAndGoesOn(t *testing.T) {
	t.Parallel()
	compiled := compileStory(t, `entry: a
max_steps: 30000
nodes:
  - {id: a, type: set, output: 1, next: b}
  - {id: b, type: set, output: 2, next: a}
`)
	m, err := graph.New(compiled.Plan, graph.Start{Input: raw(`{}`), Now: noon})
	require.NoError(t, err)
	turns := 0
	for m.Outcome() == nil {
		m.Advance(noon, graph.Undecided{})
		require.False(t, m.Undecided())
		require.Equal(t, m.Outcome() == nil, m.Unsettled())
		turns++
	}
	require.Greater(t, turns, 3)
	require.Equal(t, "budget_exhausted", m.Outcome().Failure.Type)
	require.Equal(t, 30000, m.Checkpoint().Steps)
}

// More decisions than one batch holds are taken in several.
func TestManyDecisions(t *testing.T) {
	t.Parallel()
	s := tell(t, strings.Replace(loopDoc(`"true"`, 700, ""), "entry:", "max_steps: 5000\nentry:", 1), `{"i":0}`, nil).run()
	require.Equal(t, graph.StatusCompleted, s.m.Status())
	require.Equal(t, `700`, string(s.m.Outcome().Output))
}

// restart begins the story with another start.
func (s *story) restart(change func(*graph.Start)) { change(&s.start) }

// compileStory compiles a document without its first lines.
func compileStory(t tester, doc string) *graph.Compiled {
	t.Helper()
	compiled, found := graph.Compile("story.yaml", []byte("version: 1\nid: story\n"+doc), graph.CompileOptions{})
	require.NotNil(t, compiled, "%v", found)
	return compiled
}
