package graph_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill/graph"
)

// forking is the fork of a checkpoint.
func forking(t *testing.T, cp graph.Checkpoint) graph.Activation {
	t.Helper()
	for _, a := range cp.Activations {
		if a.Branches != nil {
			return a
		}
	}
	require.Fail(t, "no fork is open")
	return graph.Activation{}
}

// standing is how the branches of a fork stand: "a completed, b active".
func standing(a graph.Activation) string {
	parts := make([]string, len(a.Branches))
	for i, b := range a.Branches {
		parts[i] = b.ID + " " + string(b.Status)
	}
	return strings.Join(parts, ", ")
}

// endTogether lets activities end in one workflow task.
func (s *story) endTogether(endings map[graph.Address]graph.Ending, order ...graph.Address) {
	s.t.Helper()
	s.event(fmt.Sprint(order), func() {
		for _, address := range order {
			i := s.openIndex(address)
			require.GreaterOrEqual(s.t, i, 0, "%s is not open", address)
			s.gate.ends(s, address, endings[address])
			s.open = append(s.open[:i:i], s.open[i+1:]...)
			s.m.End(s.now, address, endings[address])
		}
	})
}

// Conformance 54 and 55: never more at once than the window, started in
// declared order; by default all at once.
func TestForkWindow(t *testing.T) {
	t.Parallel()
	for most, fields := range map[int]string{1: ", max_concurrency: 1", 2: ", max_concurrency: 2", 3: ", max_concurrency: 3", 5: ""} {
		list := plays{}
		for i, branch := range []string{"a", "b", "c", "d", "e"} {
			list[branch] = []play{after(1+i*7%3, outputs(`1`))}
		}
		s := tell(t, fork(fields, "a, b, c, d, e"), "", list)
		s.advance()
		reached := 0
		for s.m.Outcome() == nil {
			require.LessOrEqual(t, len(s.open), most)
			reached = max(reached, len(s.open))
			require.True(t, s.step(time.Time{}))
		}
		require.Equal(t, most, reached, "the window is used")
		require.Equal(t, "a {}; b {}; c {}; d {}; e {}", strings.Join(s.seen, "; "))
	}
}

// A10, A11, A15, D14: what settles in one workflow task is judged together, in
// declared order, whatever the order of the events was; one that completed
// beside the branch that decided came too late, and that is written down.
func TestForkJudgesTogether(t *testing.T) {
	t.Parallel()
	ok := func(output string) graph.Ending { return outputs(output, `{"k":`+output+`}`).ending }
	boom := func(kind string) graph.Ending { return fails(kind).ending }
	for _, c := range []struct {
		policy  string
		endings map[graph.Address]graph.Ending
		want    string // the state, or the failure
	}{
		{"all", map[graph.Address]graph.Ending{"a#1": ok("1"), "b#1": ok("1"), "c#1": ok("1")}, `{"got":{"a":1,"b":1,"c":1},"k":1}`},
		{"all", map[graph.Address]graph.Ending{"a#1": ok("1"), "b#1": boom("x"), "c#1": boom("y")}, "fork_branch_failed/x"},
		{"any", map[graph.Address]graph.Ending{"a#1": ok("1"), "b#1": boom("x"), "c#1": ok("3")}, `{"got":{"a":1},"k":1}`},
		{"any", map[graph.Address]graph.Ending{"a#1": boom("w"), "b#1": ok("2"), "c#1": ok("3")}, "fork_branch_failed/w"},
		{"first_success", map[graph.Address]graph.Ending{"a#1": boom("w"), "b#1": ok("2"), "c#1": ok("3")}, `{"got":{"b":2},"k":2}`},
		{"{quorum: 2}", map[graph.Address]graph.Ending{"a#1": ok("1"), "b#1": ok("1"), "c#1": ok("3")}, `{"got":{"a":1,"b":1},"k":1}`},
		{"{quorum: 2}", map[graph.Address]graph.Ending{"a#1": boom("w"), "b#1": boom("x"), "c#1": ok("3")}, "fork_join_unsatisfied/w"},
	} {
		for _, order := range [][]graph.Address{{"a#1", "b#1", "c#1"}, {"c#1", "b#1", "a#1"}, {"b#1", "c#1", "a#1"}} {
			s := tell(t, fork(", join_policy: "+c.policy, "a, b, c"), "", nil)
			s.advance()
			s.endTogether(c.endings, order...)
			if o := s.m.Outcome(); o.Failure != nil {
				require.Equal(t, c.want, failureTypes(o.Failure), "%s %v", c.policy, order)
			} else {
				require.Equal(t, c.want, string(s.m.Checkpoint().State.Raw()), "%s %v", c.policy, order)
			}
		}
	}
}

// What committed in an earlier task counts, though a branch declared before it
// completes in the task that decides.
func TestForkKeepsEarlierCommits(t *testing.T) {
	t.Parallel()
	s := tell(t, fork(", join_policy: {quorum: 2}", "a, b, c"), "", plays{
		"c": {outputs(`3`)}, "a": {after(1, outputs(`1`))}, "b": {after(1, outputs(`2`))},
	})
	s.run()
	require.JSONEq(t, `{"got":{"a":1,"c":3}}`, string(s.m.Checkpoint().State.Raw()))
}

// A14, D10, D15: the losers of a decided fork are asked to stop and awaited, of
// every kind, and whatever they still give is not taken. The join runs when the
// last of them has ended, and not before.
func TestForkAwaitsLosers(t *testing.T) {
	t.Parallel()
	s := tell(t, fork(", join_policy: any", "a, b, c, d, e, g", "c: type: pause", "d: type: wait, for: 1h",
		"e: run: act, retry: {max_attempts: 2, backoff: 1m}", "g: type: pause, expires: 1h"), "", plays{
		"a": {after(10, outputs(`1`))}, "b": {after(15, outputs(`2`, `{"lost":true}`))}, "e": {fails("boom")},
	})
	s.sleep(11 * time.Second)
	require.Nil(t, s.m.Outcome())
	require.Equal(t, "a completed, b active, c cancelled, d cancelled, e cancelled, g cancelled", standing(forking(t, s.m.Checkpoint())))
	require.Equal(t, graph.StatusRunning, s.m.Status())
	require.Empty(t, s.timers, "a timer of a loser is left")
	require.Empty(t, s.m.Pauses())
	require.Equal(t, graph.ErrTypePauseClosed, s.answer(graph.Answer{PauseID: "c#1", Input: raw(`1`)}).Type, "B24: nobody can answer it")

	s.run()
	require.JSONEq(t, `{"got":{"a":1}}`, string(s.m.Checkpoint().State.Raw()), "a loser's result is not taken")
	var closed []string
	for _, answer := range s.m.Checkpoint().Answers {
		closed = append(closed, fmt.Sprintf("%s %s", answer.PauseID, answer.Closed))
	}
	require.Equal(t, []string{"c#1 expired", "g#1 expired"}, closed)
	for _, n := range s.m.Checkpoint().Nodes {
		want := graph.NodeCancelled
		if strings.Contains("f a j s", n.Node) {
			want = graph.NodeCompleted
		}
		require.Equal(t, want, n.Status, n.Node)
	}
}

// Conformance 61: what committed before a cancel is in the checkpoint; nothing
// of it is in the state.
func TestForkCancelled(t *testing.T) {
	t.Parallel()
	s := tell(t, fork("", "a, b, c", "c: type: pause"), "", plays{
		"a": {outputs(`1`, `{"k":1}`)}, "b": {blocks().lasting(2 * time.Second).saying("none")},
	})
	s.sleep(time.Second).cancel("enough")
	require.Nil(t, s.m.Outcome(), "b is awaited")
	s.run()
	require.Equal(t, graph.StatusCancelled, s.m.Status())
	require.Equal(t, "none", s.m.Outcome().Failure.Cause.Effect)
	cp := s.m.Checkpoint()
	require.Equal(t, "a completed, b active, c active", standing(forking(t, cp)))
	require.JSONEq(t, `{"k":1}`, string(forking(t, cp).Branches[0].Delta.Raw()))
	require.JSONEq(t, `{}`, string(cp.State.Raw()))
	require.Equal(t, graph.ClosedCancelled, cp.Answers[0].Closed)
}

// Conformance 62: so is what committed before the deadline.
func TestForkDeadline(t *testing.T) {
	t.Parallel()
	s := tell(t, "deadline: 5s\n"+fork(", max_concurrency: 1", "a, b, c"), "", plays{"a": {after(1, outputs(`1`))}})
	s.run()
	require.Equal(t, graph.StatusTimedOut, s.m.Status())
	require.Equal(t, "a completed, b active, c unstarted", standing(forking(t, s.m.Checkpoint())))
	require.Equal(t, 2, s.m.Checkpoint().Steps)
}

// A19: with a budget that ends while the branches start, those under way are
// stopped, and none of them is half started.
func TestForkBudget(t *testing.T) {
	t.Parallel()
	for _, batch := range []int{1, graph.MaxBatchDecisions} {
		s := tell(t, "max_steps: 2\n"+fork("", "a, b, c", `a: type: set, output: "${ run.steps_remaining }", input_schema: true`),
			"", plays{"b": {blocks()}}, func(s *story) { s.batch = batch })
		s.run()
		require.Equal(t, graph.ErrTypeBudgetExhausted, s.m.Outcome().Failure.Type)
		require.Equal(t, "c", s.m.Outcome().Failure.Node)
		require.Equal(t, "a completed, b active, c active", standing(forking(t, s.m.Checkpoint())))
		require.Equal(t, "1", string(forking(t, s.m.Checkpoint()).Branches[0].Output), "the first declared takes the first step")
		require.Empty(t, s.open)
	}
}

// A1: the join of a fork in a loop fires once a turn, with what that turn gave,
// and never with the turn before's.
func TestForkInLoop(t *testing.T) {
	t.Parallel()
	const doc = `entry: l
state_reducers: {seen: append}
nodes:
  - {id: l, type: loop, while: "true", body: f, max_iterations: 3}
  - {id: f, type: fork, branches: [b, c], join: j}
  - {id: b, run: act, next: j}
  - {id: c, run: act, retry: {max_attempts: 3, backoff: 1s}, next: j}
  - {id: j, type: join, delta: {seen: ["${ [input.b, input.c] }"]}, next: l}
`
	var slow []play
	for i := range 3 {
		slow = append(slow, fails("boom"), after(i, fails("boom")), outputs(fmt.Sprint(i+1)))
	}
	for _, restores := range []bool{false, true} {
		s := tell(t, doc, "", plays{"b": {outputs(`1`), outputs(`2`), outputs(`3`)}, "c": slow}, func(s *story) { s.restores = restores })
		s.run()
		require.JSONEq(t, `{"seen":[[1,1],[2,2],[3,3]]}`, string(s.m.Checkpoint().State.Raw()))
		for _, n := range s.m.Checkpoint().Nodes {
			if n.Node != "l" {
				require.Equal(t, 3, n.Visits, n.Node)
			}
		}
	}
}

// A fork that leads back to itself past its join is entered anew, under an
// address of its own.
func TestForkAgain(t *testing.T) {
	t.Parallel()
	s := tell(t, strings.Replace(fork(", join_policy: any", "a, b", "b: type: pause"), "next: s}\n  - {id: s",
		"next: {cases: [{when: \"input.a < 3\", to: f}], default: s}}\n  - {id: s", 1),
		"", plays{"a": {outputs(`1`), outputs(`2`), outputs(`3`)}})
	s.run()
	require.JSONEq(t, `{"got":{"a":3}}`, string(s.m.Checkpoint().State.Raw()))
	var addresses []string
	for _, task := range s.tasks {
		addresses = append(addresses, string(task.Run.Address))
	}
	require.Equal(t, []string{"a#1", "a#2", "a#3"}, addresses)
	require.Len(t, s.m.Checkpoint().Answers, 3, "the pause of each visit closed")
}

// A worker of a branch that is lost is no failure, and stops nobody.
func TestForkInterrupted(t *testing.T) {
	t.Parallel()
	s := tell(t, fork("", "a, b"), "", plays{
		"a": {interrupted(graph.InterruptWorkerLost), interrupted(graph.InterruptNotRegistered), outputs(`1`)}, "b": {outputs(`2`)},
	})
	s.run()
	require.JSONEq(t, two, string(s.m.Checkpoint().State.Raw()))
}

// What the branches of one fork give is bounded as a state is: it is carried
// with the run until they join.
func TestForkTooLarge(t *testing.T) {
	t.Parallel()
	large := `"` + strings.Repeat("x", 600) + `"`
	s := tell(t, fork(", join_policy: collect", "a, b, c", "c: run: act, on_error: {output: "+large+"}"), "", plays{
		"a": {outputs(large)}, "b": {after(1, outputs(large))}, "c": {after(2, fails("boom"))},
	}, func(s *story) { s.start.Limits.State = 1000 })
	s.run()
	require.Equal(t, graph.StatusFailed, s.m.Status(), "the map of the branches is too large as well")
	s = tell(t, fork("", "a, b"), "", plays{"a": {outputs(large)}, "b": {after(1, outputs(large))}}, func(s *story) { s.start.Limits.State = 1000 })
	s.run()
	require.Equal(t, "fork_branch_failed/state_too_large", failureTypes(s.m.Outcome().Failure))
}
