package graph_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill/graph"
)

// nestedIn is a document whose node c runs the nodes of a child, with further
// fields of its own, between the actions a and z.
func nestedIn(fields, inner string) string {
	return `entry: a
nodes:
  - {id: a, run: act, next: c}
  - id: c
    type: workflow
` + indented(4, fields) + `    workflow:
      id: inner
` + indented(6, inner) + `    next: z
  - {id: z, run: act, next: end}
`
}

// indented moves the lines of a text to the right.
func indented(by int, text string) string {
	var b strings.Builder
	for line := range strings.SplitSeq(strings.Trim(text, "\n"), "\n") {
		if line != "" {
			b.WriteString(strings.Repeat(" ", by) + line + "\n")
		}
	}
	return b.String()
}

// asked is a child that works, asks, and works on.
const asked = `
entry: first
nodes:
  - {id: first, run: act, delta: {inside: true}, next: approval}
  - {id: approval, run: act, next: after}
  - {id: after, run: act, next: end}
`

// The rules of child graphs by their numbers in the catalogue.
func TestChildrenThatAskAndFail(t *testing.T) {
	t.Parallel()
	asks := pauses(graph.PauseRequest{Reason: "approval", Summary: "may I?"})
	inner := plays{
		"a": {outputs(`"A"`)}, "first": {outputs(`"child-intermediate"`)}, "approval": {asks},
		"after": {outputs(`"child-final"`)}, "z": {outputs(`"parent-final"`)},
	}
	runRows(t, []row{
		{
			name: "102 a child asks: before the answer", doc: nestedIn("", asked), plays: inner,
			want: want{status: graph.StatusPaused, state: `{}`, seen: `a {}`, steps: 2},
		},
		{
			name: "102 a child asks, and goes on where it stood", doc: nestedIn("", asked), plays: inner, answers: []string{`{"approved":true}`},
			want: want{
				status: graph.StatusCompleted, output: `"parent-final"`, state: `{"inside":true}`, seen: `a {}; first {}; approval "child-intermediate"; after {"approved":true}; z "child-final"`, steps: 3,
			},
		},
		{
			name: "105 one at a time: the sibling of a child that asks waits for its place",
			doc: fork(", max_concurrency: 1", "k, b",
				"k: type: workflow, workflow: {id: inner, entry: p, nodes: [{id: p, type: pause, next: end}]}, output: '${ [result.output] }'"),
			plays: plays{"b": {outputs(`2`)}}, answers: []string{`"yes"`},
			want: want{status: graph.StatusCompleted, state: `{"got":{"b":2,"k":[{}]}}`, seen: `b {}`},
		},
		{
			name: "107 two children that set one key to two values",
			doc: fork("", "k, m",
				"k: type: workflow, workflow: {id: i, entry: s, nodes: [{id: s, type: set, delta: {k: '${ 2 }'}, next: end}]}",
				"m: type: workflow, workflow: {id: i, entry: s, nodes: [{id: s, type: set, delta: {k: '${ 3 }'}, next: end}]}"),
			want: want{status: graph.StatusFailed, failure: "fork_merge_failed", at: "f#1", state: `{}`},
		},
		{
			name: "109 and its attempts are spent", doc: nestedIn("retry: {max_attempts: 2}", asked),
			plays: plays{"a": {oks()}, "first": times(2, outputs(`1`)), "approval": times(2, fails("boom"))},
			want:  want{status: graph.StatusFailed, failure: "retry_exhausted/nested_workflow_failed/boom", at: "c#1", message: "2 attempts"},
		},
		{
			// D1: a failure that no retry can change inside a child is the child's; its
			// parent's policy decides whether the child is worth another attempt, once.
			name: "D1 a final failure inside is not tried again inside",
			doc: nestedIn("", `
entry: x
nodes: [{id: x, run: act, retry: {max_attempts: 5}, next: end}]
`),
			plays: plays{"a": {oks()}, "x": {fails("denied").final(), outputs(`1`)}},
			want:  want{status: graph.StatusFailed, failure: "nested_workflow_failed/denied", at: "c#1"},
		},
		{
			name: "D1 a parent may list what is final of the child's failure",
			doc: nestedIn("retry: {max_attempts: 3, non_retryable: [nested_workflow_failed]}", `
entry: x
nodes: [{id: x, run: act, next: end}]
`),
			plays: plays{"a": {oks()}, "x": {fails("denied"), outputs(`1`)}},
			want:  want{status: graph.StatusFailed, failure: "nested_workflow_failed/denied", at: "c#1"},
		},
		{
			name: "on_error sees the child's own failure as the cause",
			doc: strings.Replace(nestedIn("on_error: {cases: [{when: \"error.cause.type == 'boom'\", to: e}]}", asked),
				"  - {id: z,", "  - {id: e, type: set, output: '${ input.cause.address }', next: end}\n  - {id: z,", 1),
			plays: plays{"a": {oks()}, "first": {outputs(`1`)}, "approval": {fails("boom")}},
			want:  want{status: graph.StatusCompleted, output: `"c#1/approval#1"`},
		},
	})
}

// A13: a failure two nodes before the join, in a branch that is a child, settles
// the branch: the join must not wait for it for ever.
func TestChildBranchFailsEarly(t *testing.T) {
	t.Parallel()
	const longer = "k: type: workflow, workflow: {id: i, entry: x, nodes: [{id: x, run: act, next: w}, {id: w, run: act, next: v}, {id: v, run: act, next: end}]}"
	for policy, want := range map[string]string{
		"all": "fork_branch_failed/nested_workflow_failed/boom", "first_success": `{"got":{"b":2}}`, "collect": `"failed"`,
	} {
		s := tell(t, fork(", join_policy: "+policy, "k, b", longer), "", plays{"x": {fails("boom")}, "b": {after(5, outputs(`2`))}}).run()
		if o := s.m.Outcome(); o.Failure != nil {
			require.Equal(t, want, failureTypes(o.Failure))
		} else {
			require.Contains(t, string(s.m.Checkpoint().State.Raw()), want)
		}
	}
}

// A26, B21, B22: a pause two levels down is told by its whole address at every
// level, each level is paused with it, and ids that are used at several levels
// are kept apart: an answer to one opens no other gate.
func TestPauseTwoLevelsDown(t *testing.T) {
	t.Parallel()
	doc := `entry: gate
nodes:
  - {id: gate, type: pause, next: inner}
  - id: inner
    type: workflow
    workflow:
      id: outer_child
      entry: gate
      nodes:
        - {id: gate, type: pause, next: inner}
        - id: inner
          type: workflow
          workflow: {id: inner_child, entry: gate, nodes: [{id: gate, type: pause, delta: {deep: "${ result }"}, next: end}]}
          next: end
    next: end
`
	for _, restores := range []bool{false, true} {
		s := tell(t, doc, "", nil, func(s *story) { s.restores = restores }).run()
		for _, id := range []graph.Address{"gate#1", "inner#1/gate#1", "inner#1/inner#1/gate#1"} {
			require.True(t, s.m.Paused(), id)
			require.Equal(t, graph.StatusPaused, s.m.Status())
			require.Len(t, s.m.Pauses(), 1)
			require.Equal(t, id, s.m.Pauses()[0].ID)
			wrong := s.answer(graph.Answer{PauseID: "inner#2/gate#1", Input: raw(`0`)})
			require.NotNil(t, wrong)
			require.Equal(t, "unknown_pause", wrong.Type)
			require.Nil(t, s.answer(graph.Answer{PauseID: id, Input: raw(fmt.Sprintf("%q", id))}))
			s.run()
			require.Equal(t, "pause_closed", s.m.Judge(graph.Answer{PauseID: id, Input: raw(`1`)}).Type)
		}
		require.Equal(t, graph.StatusCompleted, s.m.Status())
		require.JSONEq(t, `{"deep":"inner#1/inner#1/gate#1"}`, string(s.m.Checkpoint().State.Raw()))
	}
}

// B1: a child goes on where it asked: what it did before is done once, and it
// asks under the same id as long as it is not answered.
func TestChildIsNotBegunAnewByAnAnswer(t *testing.T) {
	t.Parallel()
	inner := `
entry: first
nodes:
  - {id: first, run: act, next: ask}
  - {id: ask, type: pause, resume_schema: {type: integer}, next: {cases: [{when: "input > 1", to: end}], default: ask}}
`
	for _, restores := range []bool{false, true} {
		s := tell(t, nestedIn("", inner), "", plays{"a": {oks()}, "first": {outputs(`1`)}, "z": {oks()}}, func(s *story) { s.restores = restores }).run()
		require.Equal(t, graph.Address("c#1/ask#1"), s.m.Pauses()[0].ID)
		require.Nil(t, s.answer(graph.Answer{Input: raw(`"no number"`), Via: "signal"}))
		s.run()
		require.Equal(t, 1, s.m.Checkpoint().Rejected.Count, "the child's word is heard")
		require.Nil(t, s.answer(graph.Answer{Input: raw(`1`)}))
		s.run()
		require.Equal(t, graph.Address("c#1/ask#2"), s.m.Pauses()[0].ID)
		require.Nil(t, s.answer(graph.Answer{Input: raw(`2`)}))
		s.run()
		require.Equal(t, graph.StatusCompleted, s.m.Status())
		require.Len(t, s.finished, 1, "one child in all")
		require.Equal(t, `first {}`, strings.Join(s.finished[0].seen, "; "))
	}
}

// B24: a pause in a child whose fork is decided without it closes at every level.
func TestChildPauseOfALoser(t *testing.T) {
	t.Parallel()
	s := tell(t, fork(", join_policy: any", "k, b",
		"k: type: workflow, workflow: {id: i, entry: p, nodes: [{id: p, type: pause, expires: 1h, next: end}]}"), "", plays{"b": {after(5, outputs(`2`))}})
	s.sleep(time.Second)
	require.Len(t, s.m.Pauses(), 1)
	s.run()
	require.JSONEq(t, `{"got":{"b":2}}`, string(s.m.Checkpoint().State.Raw()))
	require.Empty(t, s.m.Pauses())
	require.Equal(t, "pause_closed", s.m.Judge(graph.Answer{PauseID: "k#1/p#1", Input: raw(`1`)}).Type)
	require.Equal(t, graph.StatusCancelled, s.finished[0].m.Status())
	require.Empty(t, s.finished[0].timers)
}

// D10, A14: a cancel reaches whatever the children of a run are busy with, and
// the run ends when the last of them has.
func TestCancelReachesEveryDescendant(t *testing.T) {
	t.Parallel()
	deep := func(node string) string {
		return "type: workflow, workflow: {id: o, entry: i, nodes: [{id: i, type: workflow, workflow: {id: i, entry: x, nodes: [{id: x, " + node + ", next: end}]}, next: end}]}"
	}
	s := tell(t, fork("", "b, c, d, e", "b: "+deep("run: act"), "c: "+deep("type: pause, expires: 1h"), "d: "+deep("type: wait, for: 1h"),
		"e: "+deep("run: slow")), "", plays{"x": {blocks().lasting(3 * time.Second), blocks().lasting(7 * time.Second)}})
	s.sleep(time.Second).cancel("enough")
	require.Nil(t, s.m.Outcome(), "the actions are awaited")
	s.run()
	require.Equal(t, graph.StatusCancelled, s.m.Status())
	require.Equal(t, noon.Add(8*time.Second), s.m.Outcome().Finished)
	require.Len(t, s.finished, 4)
	for _, child := range s.finished {
		require.Equal(t, graph.StatusCancelled, child.m.Status())
		require.Len(t, child.finished, 1)
		require.Equal(t, graph.StatusCancelled, child.finished[0].m.Status())
		require.Empty(t, child.finished[0].timers)
		require.Empty(t, child.finished[0].open)
	}
}

// Every activation has one address in the whole lineage: a second visit and a
// second attempt of a child begin names of their own, at every level. So no child's
// workflow id is in use when it starts (fault C22).
func TestAddressesBelowAChildAreUsedOnce(t *testing.T) {
	t.Parallel()
	doc := `entry: l
nodes:
  - {id: l, type: loop, while: "true", body: c, max_iterations: 2}
  - id: c
    type: workflow
    retry: {max_attempts: 2, backoff: 1s}
    workflow: {id: i, entry: x, nodes: [{id: x, run: act, next: w}, {id: w, run: act, next: end}]}
    next: l
`
	s := tell(t, doc, "", plays{"x": times(4, outputs(`1`)), "w": {fails("boom"), outputs(`1`), fails("boom"), outputs(`1`)}}).run()
	require.Equal(t, graph.StatusCompleted, s.m.Status())
	var addresses, keys []string
	for _, child := range s.finished {
		for _, task := range child.tasks {
			addresses = append(addresses, string(task.Run.Address))
			keys = append(keys, task.Run.Key)
		}
	}
	require.Equal(t, []string{
		"c#1/x#1", "c#1/w#1", "c#1~2/x#1", "c#1~2/w#1", "c#2/x#1", "c#2/w#1", "c#2~2/x#1", "c#2~2/w#1",
	}, addresses)
	for i := range keys {
		require.Equal(t, "first/"+addresses[i], keys[i])
	}
}

// The clock of a run stands still when all that is left of it waits for people,
// in whatever child, and only then.
func TestClockWithAPausedChild(t *testing.T) {
	t.Parallel()
	s := tell(t, "deadline: 10m\n"+fork("", "k, b", "k: type: workflow, workflow: {id: i, entry: p, nodes: [{id: p, type: pause, next: w}, {id: w, run: act, next: end}]}"),
		"", plays{"b": {outputs(`2`).lasting(4 * time.Minute)}, "w": {outputs(`1`).lasting(3 * time.Minute)}})
	s.sleep(time.Minute)
	at, running := s.m.Deadline()
	require.True(t, running, "a sibling is at work")
	require.Equal(t, noon.Add(10*time.Minute), at)
	s.sleep(4 * time.Minute)
	_, running = s.m.Deadline()
	require.False(t, running)
	s.sleep(48 * time.Hour)
	require.Nil(t, s.answer(graph.Answer{Input: raw(`1`)}))
	s.run()
	require.Equal(t, graph.StatusCompleted, s.m.Status())
	require.JSONEq(t, `{"got":{"b":2,"k":1}}`, string(s.m.Checkpoint().State.Raw()))
}
