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

// B2, B4, B5: pauses of siblings have ids of their own, are answered one by one
// in any order, and no branch runs again while the others are answered. An
// answer that names none of several is refused.
func TestForkOfPauses(t *testing.T) {
	t.Parallel()
	asks := pauses(graph.PauseRequest{ResumeSchema: raw(`{"type":"number"}`)}, `{"asked":true}`)
	for _, restores := range []bool{false, true} {
		s := tell(t, fork("", "a, b, c, d", "b: type: pause", "c: type: pause, output: '${ [result] }'"), "", plays{
			"a": {asks}, "d": {after(1, outputs(`4`))},
		}, func(s *story) { s.restores = restores })
		s.run()
		require.True(t, s.m.Paused())
		require.Equal(t, graph.StatusPaused, s.m.Status())
		require.Equal(t, "{}", string(s.m.Checkpoint().State.Raw()), "a branch's delta waits for its join")
		var ids []string
		for _, p := range s.m.Pauses() {
			ids = append(ids, string(p.ID))
		}
		require.Equal(t, []string{"a#1", "b#1", "c#1"}, ids)
		require.Equal(t, graph.ErrTypePauseAmbiguous, s.answer(graph.Answer{Input: raw(`1`)}).Type)

		require.Nil(t, s.answer(graph.Answer{PauseID: "c#1", Input: raw(`3`)}))
		require.True(t, s.m.Paused(), "two are still open")
		require.Nil(t, s.answer(graph.Answer{PauseID: "a#1", Input: raw(`"no number"`)}))
		require.Len(t, s.m.Pauses(), 2, "an answer that does not fit leaves the pause open")
		require.Nil(t, s.answer(graph.Answer{PauseID: "a#1", Input: raw(`1`)}))
		require.Equal(t, graph.ErrTypePauseClosed, s.answer(graph.Answer{PauseID: "c#1", Input: raw(`3`)}).Type)
		require.Nil(t, s.answer(graph.Answer{Input: raw(`2`)}), "the last one needs no name")
		s.run()
		require.JSONEq(t, `{"asked":true,"got":{"a":1,"b":2,"c":[3],"d":4}}`, string(s.m.Checkpoint().State.Raw()))
		require.Len(t, s.tasks, 2, "nothing ran twice")
	}
}

// A paused branch keeps its place in the window: what it holds is not done.
func TestForkPauseKeepsItsPlace(t *testing.T) {
	t.Parallel()
	s := tell(t, fork(", max_concurrency: 1", "a, b", "a: type: pause"), "", plays{"b": {outputs(`2`)}})
	s.run()
	require.True(t, s.m.Paused())
	require.Empty(t, s.tasks)
	require.Nil(t, s.answer(graph.Answer{Input: raw(`1`)}))
	s.run()
	require.JSONEq(t, two, string(s.m.Checkpoint().State.Raw()))
}

// An expiry in a branch is that branch's failure; on_error may make an output of
// it, and the policy decides what comes of it.
func TestForkPauseExpires(t *testing.T) {
	t.Parallel()
	for fields, want := range map[string]string{
		`a: type: pause, expires: 1m`:                                        "fork_branch_failed/pause_expired",
		`a: type: pause, expires: 1m, on_error: {output: "${ error.type }"}`: `{"got":{"a":"pause_expired","b":2}}`,
	} {
		s := tell(t, fork("", "a, b", fields), "", plays{"b": {after(600, outputs(`2`))}})
		s.run()
		if o := s.m.Outcome(); o.Failure != nil {
			require.Equal(t, want, failureTypes(o.Failure))
		} else {
			require.Equal(t, want, string(s.m.Checkpoint().State.Raw()))
		}
		require.Equal(t, graph.ClosedExpired, s.m.Checkpoint().Answers[0].Closed)
	}
}

// D15: an answer and the sibling that decides the fork arrive in one task. What
// came in counts in declared order; the pause that loses closes.
func TestForkAnswerAndDecisionTogether(t *testing.T) {
	t.Parallel()
	for branches, want := range map[string]string{"a, b": `{"got":{"a":"yes"}}`, "b, a": `{"got":{"b":2}}`} {
		s := tell(t, fork(", join_policy: any", branches, "a: type: pause, resume_schema: {type: string}"), "", nil)
		s.advance()
		s.event("both", func() {
			require.Nil(t, s.m.Answer(s.now, graph.Answer{PauseID: "a#1", Input: raw(`"yes"`)}))
			s.open = nil
			s.m.End(s.now, "b#1", outputs(`2`).ending)
		})
		require.Equal(t, want, string(s.m.Checkpoint().State.Raw()))
		require.Equal(t, graph.ClosedAnswered, s.m.Checkpoint().Answers[0].Closed, "it was answered before")
	}
}

// everyBranch is a graph whose fork comes through every phase of its branches.
const everyBranch = `entry: f
deadline: 100h
state_reducers: {k: sum}
nodes:
  - {id: f, type: fork, branches: [a, b, c, d, e], join: j, join_policy: {quorum: 3}, max_concurrency: 4, output_schema: {}}
  - {id: a, run: act, retry: {max_attempts: 3}, on_error: {output: "${ error.type }", delta: {k: 1}}, next: j}
  - {id: b, type: wait, for: 1m, next: j}
  - {id: c, type: pause, summary: "${ state }", resume_schema: {type: boolean}, expires: 2m, next: j}
  - {id: d, type: set, input_schema: {}, output: "${ state.k }", output_schema: {}, next: j}
  - {id: e, run: act, next: j}
  - {id: j, type: join, run: act, next: {cases: [{when: "true", to: f}]}}
`

// branchCheckpoints are the checkpoints of some runs of everyBranch, after each
// decision and each event.
func branchCheckpoints(t tester, compiled *graph.Compiled) []string {
	t.Helper()
	var all []string
	for _, script := range []plays{
		{"a": {fails("x"), interrupted(graph.InterruptWorkerLost), pauses(graph.PauseRequest{}, `{"k":1}`)}, "e": {outputs(`1`)}, "j": {oks()}},
		{"a": {fails("<y>").final()}, "e": {blocks()}, "j": {oks()}},
		{"a": {outputs(`"<&>"`, `{"k":2}`)}, "e": {outputs(`1`)}},
	} {
		s := tellCompiled(t, compiled, `{"k":0}`, script)
		for range 50 {
			s.m.Advance(s.now, &spy{story: s, left: 1})
			all = append(all, text(t, s.m.Checkpoint()))
			if s.m.Undecided() {
				continue
			}
			s.perform(s.m.Effects())
			switch i := endable(s); {
			case i >= 0:
				task := s.open[i]
				s.open = append(s.open[:i:i], s.open[i+1:]...)
				s.m.End(s.now, task.task.Run.Address, task.play.ending)
			case len(s.m.Pauses()) > 0:
				require.Nil(t, s.m.Answer(s.now, graph.Answer{PauseID: s.m.Pauses()[0].ID, Input: raw(`true`)}))
			case len(s.timers) > 0:
				timer := s.timers[0]
				s.timers = s.timers[1:]
				s.m.Fire(timer.At, timer.Address)
			}
			stopped := s.m.Clone()
			stopped.Cancel(s.now, "over")
			all = append(all, text(t, s.m.Checkpoint()), text(t, stopped.Checkpoint()))
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// endable is an activity that ends by itself; -1 when there is none.
func endable(s *story) int {
	for i, task := range s.open {
		if !task.play.blocks {
			return i
		}
	}
	return -1
}

// Wherever a run with a fork stands, it is restored from its checkpoint to the
// byte, and what was restored goes on to an end.
func TestEveryBranchIsRestored(t *testing.T) {
	t.Parallel()
	compiled := compileStory(t, everyBranch)
	evaluator, err := graph.NewEvaluator(compiled.Document, nil)
	require.NoError(t, err)
	seen := map[string]bool{}
	for _, written := range branchCheckpoints(t, compiled) {
		parsed, failure := graph.ParseCheckpoint(json.RawMessage(written))
		require.Nil(t, failure)
		for _, a := range parsed.Activations {
			seen["phase "+string(a.Phase)] = true
			for _, b := range a.Branches {
				seen["branch "+string(b.Status)] = true
			}
		}
		m, failure := graph.Restore(compiled.Plan, parsed, graph.Start{Now: noon})
		require.Nil(t, failure, written)
		if !strings.Contains(written, `"phase":"cancelling"`) {
			require.Equal(t, written, text(t, m.Checkpoint()))
		}
		exercise(t, m, evaluator)
	}
	for _, want := range []string{
		"phase ready", "phase deciding", "phase running", "phase backoff", "phase waiting", "phase paused", "phase answered",
		"phase checking", "phase failed", "phase forking", "phase cancelling", "phase cancelled",
		"branch unstarted", "branch active", "branch completed", "branch cancelled",
	} {
		require.True(t, seen[want], "no run came through %s", want)
	}
}

// A loser that was awaited when the checkpoint was taken went with the run that
// asked it to stop: the restored run does not wait for it for ever.
func TestRestoreWhileLosersEnd(t *testing.T) {
	t.Parallel()
	s := tell(t, fork(", join_policy: any", "a, b"), "", plays{"a": {outputs(`1`)}, "b": {blocks().lasting(time.Hour)}})
	s.sleep(time.Second)
	cp, failure := graph.ParseCheckpoint(json.RawMessage(text(t, s.m.Checkpoint())))
	require.Nil(t, failure)
	restored, failure := graph.Restore(s.compiled.Plan, cp, s.start)
	require.Nil(t, failure)
	restored.Advance(s.now, s.decider)
	require.Equal(t, graph.StatusCompleted, restored.Status())
	require.JSONEq(t, `{"got":{"a":1}}`, string(restored.Checkpoint().State.Raw()))
	require.Nil(t, s.m.Outcome(), "the copy shares nothing with the machine")
}

// A checkpoint whose fork and branches do not know of each other would leave a
// run that waits for ever.
func TestForkCheckpointsRefused(t *testing.T) {
	t.Parallel()
	s := tell(t, fork(", max_concurrency: 2", "a, b, c", "b: type: pause"), "", plays{"a": {outputs(`1`)}})
	good := text(t, s.run().m.Checkpoint())
	for _, c := range []struct{ name, from, to string }{
		{"a branch of no fork", `"fork":"f#1"`, `"fork":"f#2"`},
		{"a branch outside its fork", `,"fork":"f#1"`, ``},
		{"an active branch without an activation", `"id":"a","status":"completed"`, `"id":"a","status":"active"`},
		{"an activation of a settled branch", `"id":"b","status":"active"`, `"id":"b","status":"completed"`},
		{"another branch", `{"id":"a"`, `{"id":"z"`},
		{"a status that is none", `"status":"completed","address"`, `"status":"done","address"`},
		{"a failed branch without a failure", `"status":"completed","address":"a#1"`, `"status":"failed","address":"a#1"`},
		{"a verdict that is none", `"phase":"forking"`, `"phase":"forking","verdict":"maybe"`},
		{"a node that is no fork", `"node":"b","address":"b#1","phase":"paused"`, `"node":"b","address":"b#1","phase":"forking"`},
		{"an address of another visit", `"status":"active","address":"c#1"`, `"status":"active","address":"c#2"`},
		{"a fork without branches", `"branches":[`, `"branches_":[`},
	} {
		require.Contains(t, good, c.from, c.name)
		broken := strings.Replace(good, c.from, c.to, 1)
		cp, failure := graph.ParseCheckpoint(json.RawMessage(broken))
		require.Nil(t, failure, c.name)
		_, failure = graph.Restore(s.compiled.Plan, cp, s.start)
		require.NotNil(t, failure, "%s: %s", c.name, broken)
		require.Equal(t, graph.ErrTypeInvalidCheckpoint, failure.Type, c.name)
	}
}

// A checkpoint of a fork may come from anywhere, as any other.
func FuzzRestoreFork(f *testing.F) {
	compiled := compileStory(f, everyBranch)
	fuzzRestore(f, compiled, branchCheckpoints(f, compiled))
}

// fuzzRestore restores whatever comes from the seeds, and has each machine that is
// made of it take events.
func fuzzRestore(f *testing.F, compiled *graph.Compiled, seeds []string) {
	f.Helper()
	evaluator, err := graph.NewEvaluator(compiled.Document, nil)
	require.NoError(f, err)
	for _, cp := range seeds {
		f.Add([]byte(cp))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		cp, failure := graph.ParseCheckpoint(data)
		if failure != nil {
			return
		}
		for _, admission := range []bool{false, true} {
			if m, failure := graph.Restore(compiled.Plan, cp, graph.Start{Now: noon, Admission: admission}); failure == nil {
				exercise(t, m, evaluator)
			}
		}
	})
}
