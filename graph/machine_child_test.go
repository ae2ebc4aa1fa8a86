package graph_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill/graph"
)

// parent is a graph of a child graph c with further fields, its nodes in one
// line, and s behind it, which shows what the child gave.
func parent(fields, nodes string) string {
	id := strings.TrimSuffix(strings.TrimPrefix(strings.Fields(nodes)[1], "\""), ",")
	return "entry: c\nnodes:\n  - {id: c, type: workflow" + fields + ", next: s, workflow: {version: 1, id: inner, entry: " + id +
		", nodes: [" + nodes + "]}}\n  - {id: s, type: set, delta: {got: \"${ input }\"}, next: end}\n"
}

const (
	oneStep = `{id: a, run: act, next: end}`
	asking  = `{id: a, run: act, next: ask}, {id: ask, type: pause, reason: approval, resume_schema: {type: object}, next: b}, {id: b, run: act, next: end}`
)

// The rules of child graphs, by the numbers of the catalogue.
func TestChildren(t *testing.T) {
	t.Parallel()
	runRows(t, []row{
		{
			// The child's state begins with the parent's; what it changed comes back,
			// and nothing else. It costs its parent one step.
			name: "what a child gives", doc: parent("", oneStep), input: `{"x":1,"y":2}`,
			plays: plays{"a": {outputs(`"o"`, `{"x":1,"z":3}`)}},
			want: want{
				status: graph.StatusCompleted, state: `{"got":"o","x":1,"y":2,"z":3}`, output: `"o"`,
				seen: `a {"x":1,"y":2}`, steps: 2,
			},
		},
		{
			name: "a child without an output gives its state", doc: parent(`, input: {k: 1}`, oneStep), input: `{"x":1}`,
			plays: plays{"a": {oks(`{"z":3}`)}},
			want:  want{status: graph.StatusCompleted, state: `{"got":{"k":1,"z":3},"x":1,"z":3}`, output: `{"k":1,"z":3}`, seen: `a {"k":1}`},
		},
		{
			name: "input, output and delta of the node", input: `{"x":5}`,
			doc:   parent(`, input: {k: "${ state.x + 1 }"}, output: "${ result.output }", delta: {sum: "${ result.changed.z }"}`, oneStep),
			plays: plays{"a": {outputs(`7`, `{"z":3}`)}},
			want:  want{status: graph.StatusCompleted, state: `{"got":7,"sum":3,"x":5}`, seen: `a {"k":6}`},
		},
		{
			// 108: the whole child again, under an address of its own.
			name: "108 retry of the child", doc: parent(", retry: {max_attempts: 2, backoff: 1s}", `{id: a, run: act, next: b}, {id: b, run: act, next: end}`),
			plays: plays{"c#1/a#1": {outputs(`1`)}, "c#1/b#1": {fails("bad")}, "c#1~2/a#1": {outputs(`2`)}, "c#1~2/b#1": {outputs(`3`)}},
			want:  want{status: graph.StatusCompleted, output: `3`, steps: 2},
		},
		{
			// 109: ours tells the child's own reason too.
			name: "109 a child that fails", doc: parent("", oneStep), plays: plays{"a": {fails("bad")}},
			want: want{status: graph.StatusFailed, failure: "nested_workflow_failed/bad", at: "c#1"},
		},
		{
			name: "on_error of a child", doc: parent(`, on_error: s`, oneStep), plays: plays{"a": {fails("bad")}},
			want: want{status: graph.StatusCompleted},
		},
		{
			// 110: the child's input does not fit its schema.
			name: "110 a child that cannot start", input: `{"x":"text"}`,
			doc:  strings.Replace(parent("", oneStep), "id: inner", "id: inner, input_schema: {type: object, properties: {x: {type: integer}}}", 1),
			want: want{status: graph.StatusFailed, failure: "nested_workflow_start_failed/input_schema_validation_failed", at: "c#1"},
		},
		{
			// 111: ours honours the deadline of the node.
			name: "111 the child's deadline", doc: parent(", deadline: 5s", oneStep), plays: plays{"a": {blocks().lasting(time.Second)}},
			want: want{status: graph.StatusFailed, failure: "nested_workflow_timed_out/deadline_exceeded/cancelled", at: "c#1"},
		},
		{
			// 113: the timeout of the node.
			name: "113 the child's timeout", doc: parent(", timeout: 5s, deadline: 1h", oneStep), plays: plays{"a": {blocks().lasting(time.Second)}},
			want: want{status: graph.StatusFailed, failure: "action_timed_out/cancelled", at: "c#1"},
		},
		{
			name: "the child's own budget of steps", doc: parent(", max_steps: 1", `{id: a, run: act, next: b}, {id: b, run: act, next: end}`),
			plays: plays{"a": {outputs(`1`)}},
			want:  want{status: graph.StatusFailed, failure: "nested_workflow_failed/budget_exhausted", at: "c#1"},
		},
		{
			// 134: what a child adds is added once.
			name: "134 reducers", doc: "state_reducers: {total: sum, log: append}\n" +
				strings.Replace(parent("", oneStep), "id: inner", "id: inner, state_reducers: {total: sum, log: append}", 1),
			input: `{"log":["x"],"total":5}`, plays: plays{"a": {oks(`{"log":["y"],"total":7}`)}},
			want: want{status: graph.StatusCompleted, state: `{"got":{"log":["x","y"],"total":12},"log":["x","y"],"total":12}`},
		},
		{
			// 107: only what the children changed is compared.
			name: "107 two children in a fork", input: `{"k":1}`,
			doc: fork("", "c, d", "c: type: workflow, workflow: {version: 1, id: inner, entry: a, nodes: ["+oneStep+"]}",
				"d: type: workflow, workflow: {version: 1, id: other, entry: b, nodes: ["+strings.Replace(oneStep, "id: a", "id: b", 1)+"]}"),
			plays: plays{"a": {outputs(`1`, `{"k":2}`)}, "b": {outputs(`2`)}},
			want:  want{status: graph.StatusCompleted, state: `{"got":{"c":1,"d":2},"k":2}`},
		},
		{
			name: "a child for each item", input: `{"list":[1,2]}`,
			doc:   mapOver(`, item: {type: workflow, input: {k: "${ item }"}, workflow: {version: 1, id: inner, entry: a, nodes: [` + oneStep + `]}}`),
			plays: plays{"m#1/0/a#1": {outputs(`"p"`)}, "m#1/1/a#1": {outputs(`"q"`)}},
			want:  want{status: graph.StatusCompleted, output: `["p","q"]`},
		},
	})
}

// 102, B1, B21, B22: a pause in a child is the parent's too, under one id at
// every level; what ran before it does not run again.
func TestAPauseInAChild(t *testing.T) {
	t.Parallel()
	s := tell(t, parent("", asking), "", plays{"a": {outputs(`"a"`)}, "b": {outputs(`"b"`)}}).run()
	require.Equal(t, graph.StatusPaused, s.m.Status())
	open := s.m.Pauses()
	require.Len(t, open, 1)
	require.Equal(t, graph.Address("c#1/ask#1"), open[0].ID)
	require.Equal(t, "w/c#1", open[0].WorkflowID)
	require.Equal(t, open, s.kids[0].story.m.Pauses(), "the same id and digest at every level")

	require.Nil(t, s.answer(graph.Answer{Input: raw(`7`), Request: "u1", Via: "update"}), "its word is the child's")
	s.run()
	failure, done := s.m.Replied("u1")
	require.True(t, done)
	require.Equal(t, graph.ErrTypeInvalidResumeInput, failure.Type)
	require.Equal(t, 1, s.m.Checkpoint().Rejected.Count)
	require.Equal(t, graph.ErrTypePauseDigestMismatch, s.answer(graph.Answer{Input: raw(`{}`), Digest: "other"}).Type)

	require.Nil(t, s.answer(graph.Answer{Input: raw(`{"ok":true}`), Request: "u2", Actor: "ann", Digest: open[0].Digest}))
	require.Nil(t, s.answer(graph.Answer{Input: raw(`{"ok":false}`), Request: "u3"}), "not known to be late yet")
	s.run()
	failure, done = s.m.Replied("u2")
	require.True(t, done)
	require.Nil(t, failure)
	failure, done = s.m.Replied("u3")
	require.True(t, done)
	require.Equal(t, graph.ErrTypePauseClosed, failure.Type, "two answers have one winner")
	_, again := s.m.Replied("u2")
	require.False(t, again, "a verdict is given once")

	require.Equal(t, graph.StatusCompleted, s.m.Status())
	require.Equal(t, `"b"`, string(s.m.Outcome().Output))
	require.Equal(t, []string{`a {}`, `b {"ok":true}`}, s.finished[0].seen)
	cp := s.m.Checkpoint()
	require.Equal(t, "ann", cp.Answers[0].Actor)
	require.Equal(t, graph.ClosedAnswered, cp.Answers[0].Closed)
	require.Empty(t, cp.Forwards)
	require.Equal(t, graph.ErrTypePauseClosed, s.m.Judge(graph.Answer{PauseID: "c#1/ask#1", Input: raw(`{}`)}).Type)
}

// An answer may be given at the child itself; its parent hears of it.
func TestAnsweringAtTheChild(t *testing.T) {
	t.Parallel()
	s := tell(t, parent("", asking), "", plays{"a": {outputs(`"a"`)}, "b": {after(5, outputs(`"b"`))}}).run()
	child := s.kids[0].story
	require.Nil(t, child.answer(graph.Answer{Input: raw(`{}`)}))
	require.Nil(t, s.answer(graph.Answer{PauseID: "c#1/ask#1", Input: raw(`{}`), Request: "late"}), "it has not heard yet")
	s.sleep(time.Second)
	failure, done := s.m.Replied("late")
	require.True(t, done)
	require.Equal(t, graph.ErrTypePauseClosed, failure.Type)
	require.Equal(t, graph.StatusRunning, s.m.Status())
	require.Empty(t, s.m.Pauses())
	require.Equal(t, graph.ErrTypePauseClosed, s.m.Judge(graph.Answer{PauseID: "c#1/ask#1", Input: raw(`{}`)}).Type)
	require.Equal(t, graph.StatusCompleted, s.run().m.Status())
}

// A26, B9: three levels deep, the pause has the path of the one who asks.
func TestAPauseThreeLevelsDown(t *testing.T) {
	t.Parallel()
	inner := `{id: c2, type: workflow, next: end, workflow: {version: 1, id: deep, entry: a, nodes: [` + asking + `]}}`
	s := tell(t, parent("", inner), "", plays{"a": {outputs(`1`)}, "b": {outputs(`2`)}}).run()
	require.Equal(t, graph.Address("c#1/c2#1/ask#1"), s.m.Pauses()[0].ID)
	require.Equal(t, "w/c#1/c2#1", s.m.Pauses()[0].WorkflowID)
	require.Nil(t, s.answer(graph.Answer{Input: raw(`{}`), Request: "u"}))
	require.Equal(t, graph.StatusCompleted, s.run().m.Status())
	failure, done := s.m.Replied("u")
	require.True(t, done)
	require.Nil(t, failure)
	require.Equal(t, `2`, string(s.m.Outcome().Output))
	deepest := s.finished[0].finished[0]
	require.Equal(t, "first/c#1/c2#1/b#1", deepest.tasks[1].Run.Key, "keys begin with the lineage of the whole")
}

// The clock stands still while all of the tree waits for people, at every level,
// and what is left when it goes on is what was left.
func TestTheClockOverTheTree(t *testing.T) {
	t.Parallel()
	s := tell(t, parent("", asking), "", plays{"a": {after(10, outputs(`1`))}, "b": {blocks().lasting(time.Second)}}, limited(time.Minute)).run()
	_, running := s.m.Deadline()
	require.False(t, running)
	_, running = s.kids[0].story.m.Deadline()
	require.False(t, running)
	s.sleep(24 * time.Hour)
	require.Equal(t, graph.StatusPaused, s.m.Status())
	answered := s.now
	require.Nil(t, s.answer(graph.Answer{Input: raw(`{}`)}))
	require.Equal(t, graph.StatusTimedOut, s.run().m.Status())
	require.Equal(t, 51*time.Second, s.now.Sub(answered), "fifty seconds were left, and one is the node's grace")
}

// 105, B24: a pause in a branch's child waits beside its siblings, and closes when
// the fork is decided without it.
func TestAChildInAFork(t *testing.T) {
	t.Parallel()
	child := "c: type: workflow, workflow: {version: 1, id: inner, entry: a, nodes: [" + asking + "]}"
	s := tell(t, fork("", "c, d", child), "", plays{"a": {outputs(`1`)}, "b": {outputs(`2`)}, "d": {outputs(`3`)}}).run()
	require.Equal(t, graph.StatusPaused, s.m.Status())
	require.Nil(t, s.answer(graph.Answer{Input: raw(`{}`)}))
	require.Equal(t, `{"c":2,"d":3}`, string(s.run().m.Outcome().Output))

	s = tell(t, fork(", join_policy: any", "c, d", child), "", plays{"a": {outputs(`1`)}, "d": {after(60, outputs(`3`))}}).run()
	require.Equal(t, `{"d":3}`, string(s.m.Outcome().Output))
	require.Equal(t, graph.StatusCancelled, s.finished[0].m.Status())
	require.Equal(t, graph.ClosedBelow, s.m.Checkpoint().Answers[0].Closed)
}

// D10: a cancel reaches everything below, and waits for it.
func TestCancelReachesChildren(t *testing.T) {
	t.Parallel()
	s := tell(t, parent("", oneStep), "", plays{"a": {blocks().lasting(3 * time.Second)}}).run()
	s.cancel("enough")
	require.Nil(t, s.m.Outcome())
	require.Equal(t, graph.StatusCancelled, s.run().m.Status())
	require.Equal(t, graph.StatusCancelled, s.finished[0].m.Status())
	require.Equal(t, 3*time.Second, s.now.Sub(noon))
}

// A child that somebody else cancelled has failed, and is not tried again.
func TestAChildThatWasCancelled(t *testing.T) {
	t.Parallel()
	s := tell(t, parent(", retry: {max_attempts: 3}", oneStep), "", plays{"a": {blocks()}}).run()
	s.kids[0].story.cancel("by hand")
	require.Equal(t, "nested_workflow_cancelled/cancelled/cancelled", failureTypes(s.run().m.Outcome().Failure))
	require.Len(t, s.finished, 1)
}

// A child whose workflow id an earlier run still has is waited for: no attempt.
func TestAChildWhoseIDIsTaken(t *testing.T) {
	t.Parallel()
	s := tell(t, parent("", oneStep), "", plays{"a": times(4, outputs(`1`))})
	s.advance()
	address := s.kids[0].start.Address
	for range 3 {
		s.kids = nil
		s.event("taken", func() {
			s.m.End(s.now, "c#1", graph.Ending{Kind: graph.Interrupted, Interruption: graph.InterruptIDTaken})
		})
		if len(s.kids) == 0 {
			require.Contains(t, s.m.Overview().Waiting[0].Reason, "workflow id")
			require.True(t, s.step(time.Time{}))
		}
		require.Equal(t, address, s.kids[0].start.Address)
	}
	require.Equal(t, graph.StatusCompleted, s.run().m.Status())
}

// A report that comes late or from an attempt that is over changes nothing.
func TestStaleReports(t *testing.T) {
	t.Parallel()
	s := tell(t, parent("", asking), "", plays{"a": {outputs(`1`)}}).run()
	before := text(t, s.m.Checkpoint())
	s.m.Told(s.now, graph.ChildReport{Address: "c#1", Sequence: 1})
	s.m.Told(s.now, graph.ChildReport{Address: "c#1~2", Sequence: 99})
	s.m.Told(s.now, graph.ChildReport{Address: "nobody#1", Sequence: 99, Replies: []graph.Reply{{Request: "7"}}})
	require.Equal(t, before, text(t, s.m.Checkpoint()))
}
