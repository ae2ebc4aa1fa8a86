package graph_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tidemill/tidemill/graph"
)

// statement is a piece of a structured program: the independent model of
// routing and of counting turns. As a program a loop's counter is a variable
// of the loop, so that entering the loop starts it anew by construction.
type statement struct {
	kind       string // step, if, while, break, continue
	id         string
	mod, rest  int // the condition: c % mod == rest
	most       int
	depth      int // of break and continue: 0 is the innermost loop
	body, otro []statement
}

// drawProgram makes up statements; loops are the loops around them.
func drawProgram(t *rapid.T, count *int, loops, depth int) []statement {
	var list []statement
	for range rapid.IntRange(1, 3).Draw(t, "statements") {
		*count++
		s := statement{
			kind: "step", id: fmt.Sprintf("n%d", *count),
			mod: rapid.IntRange(1, 4).Draw(t, "mod"), rest: rapid.IntRange(0, 2).Draw(t, "rest"),
		}
		kinds := []string{"step"}
		if depth < 3 {
			kinds = append(kinds, "if", "while", "while")
		}
		if loops > 0 {
			kinds = append(kinds, "break", "continue")
		}
		switch s.kind = rapid.SampledFrom(kinds).Draw(t, "kind"); s.kind {
		case "if":
			s.body, s.otro = drawProgram(t, count, loops, depth+1), drawProgram(t, count, loops, depth+1)
		case "while":
			s.most = rapid.IntRange(0, 3).Draw(t, "most")
			s.body = drawProgram(t, count, loops+1, depth+1)
		case "break", "continue":
			s.depth = rapid.IntRange(0, loops-1).Draw(t, "depth")
			return append(list, s)
		}
		list = append(list, s)
	}
	return list
}

func (s statement) condition() string { return fmt.Sprintf(`"state.c %% %d == %d"`, s.mod, s.rest) }

// frame is a loop as its inside sees it: where to go on, and where it leaves to.
type frame struct{ loop, after string }

// compileProgram writes statements as nodes and gives the node to enter at.
func compileProgram(out *strings.Builder, list []statement, next string, loops []frame) string {
	for _, s := range slices.Backward(list) {
		switch s.kind {
		case "if":
			yes, no := compileProgram(out, s.body, next, loops), compileProgram(out, s.otro, next, loops)
			fmt.Fprintf(out, "  - {id: %s, type: branch, cases: [{when: %s, to: %s}], default: %s}\n", s.id, s.condition(), yes, no)
		case "while":
			body := compileProgram(out, s.body, s.id, append(loops[:len(loops):len(loops)], frame{s.id, next}))
			fmt.Fprintf(out, "  - {id: %s, type: loop, while: %s, max_iterations: %d, body: %s, done: %s}\n", s.id, s.condition(), s.most, body, next)
		default:
			to := next
			if s.kind != "step" {
				to = loops[len(loops)-1-s.depth].after
			}
			if s.kind == "continue" {
				to = loops[len(loops)-1-s.depth].loop
			}
			fmt.Fprintf(out, "  - {id: %s, type: set, delta: {c: 1, trail: [%s]}, next: %s}\n", s.id, s.id, to)
		}
		next = s.id
	}
	return next
}

// model runs a program directly.
type model struct {
	c, steps, left int
	trail          []string
	visits         map[string]int
}

// leave is how statements end: by themselves (-1), or for the loop at a depth.
type leave struct {
	depth int
	again bool // continue, not break
}

var onward = leave{depth: -1}

// visit takes a step; false when none is left.
func (m *model) visit(id string) bool {
	if m.left == 0 {
		return false
	}
	m.left--
	m.steps++
	m.visits[id]++
	return true
}

// run runs statements; false when the budget is spent.
func (m *model) run(list []statement) (leave, bool) {
	for _, s := range list {
		how, ok := m.one(s)
		if !ok || how != onward {
			return how, ok
		}
	}
	return onward, true
}

func (m *model) one(s statement) (leave, bool) {
	if s.kind == "while" {
		return m.loop(s)
	}
	if !m.visit(s.id) {
		return onward, false
	}
	holds := m.c%s.mod == s.rest
	switch {
	case s.kind == "if" && holds:
		return m.run(s.body)
	case s.kind == "if":
		return m.run(s.otro)
	}
	m.c++
	m.trail = append(m.trail, s.id)
	if s.kind == "step" {
		return onward, true
	}
	return leave{depth: s.depth, again: s.kind == "continue"}, true
}

func (m *model) loop(s statement) (leave, bool) {
	for turns := 0; ; turns++ {
		if !m.visit(s.id) {
			return onward, false
		}
		if m.c%s.mod != s.rest || turns >= s.most {
			return onward, true
		}
		how, ok := m.run(s.body)
		switch {
		case !ok:
			return how, false
		case how.depth > 0:
			return leave{how.depth - 1, how.again}, true
		case how.depth == 0 && !how.again:
			return onward, true
		}
	}
}

// A structured program and its graph visit the same nodes in the same order,
// with the same turns of every loop, whatever is broken out of or gone on with,
// and spend the same steps.
func TestLoopsAgainstModel(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		count := 0
		program := drawProgram(rt, &count, 0, 0)
		budget := rapid.IntRange(1, 200).Draw(rt, "budget")
		var nodes strings.Builder
		entry := compileProgram(&nodes, program, "end", nil)
		doc := fmt.Sprintf("entry: %s\nmax_steps: %d\nstate_reducers: {c: sum, trail: append}\nnodes:\n%s", entry, budget, nodes.String())

		m := &model{left: budget, visits: map[string]int{}}
		_, finished := m.run(program)
		s := tell(rt, doc, `{"c":0,"trail":[]}`, nil)
		s.batch = rapid.IntRange(1, 20).Draw(rt, "batch")
		s.run()

		want := graph.StatusCompleted
		if !finished {
			want = graph.StatusFailed
			require.Equal(rt, "budget_exhausted", s.m.Outcome().Failure.Type)
		}
		require.Equal(rt, want, s.m.Status(), doc)
		trail := "[]"
		if len(m.trail) > 0 {
			trail = `["` + strings.Join(m.trail, `","`) + `"]`
		}
		require.Equal(rt, fmt.Sprintf(`{"c":%d,"trail":%s}`, m.c, trail), string(s.m.Checkpoint().State.Raw()), doc)
		require.Equal(rt, m.steps, s.m.Checkpoint().Steps)
		visits := map[string]int{}
		for _, n := range s.m.Checkpoint().Nodes {
			visits[n.Node] = n.Visits
		}
		require.Equal(rt, m.visits, visits)
	})
}
