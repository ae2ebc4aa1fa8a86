package graph_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill/graph"
)

// permitLines are what a story did about permits and work: "ask 1 a#1", "run a#1",
// "back 1/7", in order. A number that was taken back without a permit has none.
func permitLines(s *story) []string {
	var list []string
	for _, line := range s.log {
		_, line, _ = strings.Cut(line, " ")
		words := strings.Fields(line)
		switch {
		case strings.HasPrefix(line, "< ask "):
			list = append(list, "ask "+words[2]+" "+words[4])
		case strings.HasPrefix(line, "< run "):
			list = append(list, "run "+words[2])
		case strings.HasPrefix(line, "< give back ") && words[len(words)-1] == "0":
			list = append(list, "back "+words[3])
		case strings.HasPrefix(line, "< give back "):
			list = append(list, "back "+words[3]+"/"+words[len(words)-1])
		}
	}
	return list
}

// permits joins lines to compare them at a glance.
func permitLine(s *story) string { return strings.Join(permitLines(s), ", ") }

// Which attempts need a permit, and when each is given back. One that is asked for
// too early holds room for nothing, one that is kept too long starves others.
func TestWhatNeedsPermits(t *testing.T) {
	t.Parallel()
	next := "next: b}\n  - {id: b, run: act, next: end}\n"
	act := func(fields string) string { return "entry: a\nnodes:\n  - {id: a, " + fields + next }
	once := plays{"a": {outputs(`1`)}, "b": {outputs(`2`)}}
	for _, c := range []struct {
		name, doc string
		plays     plays
		want      string
	}{
		{"an action", act("run: act, "), once, "ask 1 a#1, run a#1, back 1/1, ask 2 b#1, run b#1, back 2/2"},
		{"a local action", act("run: act, " + near), once, "ask 1 a#1, run a#1, back 1/1, ask 2 b#1, run b#1, back 2/2"},
		{"a foreign activity", act(`run: {activity: Py}, args: {x: "${ run.node }"}, `), once, "ask 1 a#1, run a#1, back 1/1, ask 2 b#1, run b#1, back 2/2"},
		{"set", act("type: set, "), once, "ask 1 b#1, run b#1, back 1/1"},
		{"wait", act("type: wait, for: 1m, "), once, "ask 1 b#1, run b#1, back 1/1"},
		{"branch", "entry: a\nnodes:\n  - {id: a, type: branch, cases: [{when: 'true', to: b}], default: end}\n  - {id: b, run: act, next: end}\n", once, "ask 1 b#1, run b#1, back 1/1"},
		{"a child asks by itself", act("type: workflow, workflow: {id: c, entry: x, nodes: [{id: x, run: act, next: end}]}, "), plays{"x": {outputs(`1`)}, "b": {outputs(`2`)}}, "ask 1 b#1, run b#1, back 1/1"},
		{
			"items", act("type: map, items: [1, 2], item: {run: act}, "),
			plays{"a/item": {outputs(`1`), outputs(`2`)}, "b": {outputs(`3`)}},
			"ask 1 a#1/0, ask 2 a#1/1, run a#1/0, run a#1/1, back 1/1, back 2/2, ask 3 b#1, run b#1, back 3/3",
		},
		{
			"branches, and the join", "entry: f\nnodes:\n  - {id: f, type: fork, branches: [a, c], join: b}\n  - {id: a, run: act, next: b}\n  - {id: c, type: set, next: b}\n  - {id: b, type: join, run: act, next: end}\n",
			once, "ask 1 a#1, run a#1, back 1/1, ask 2 b#1, run b#1, back 2/2",
		},
		{"a join that runs nothing", "entry: a\nnodes:\n  - {id: a, type: join, " + next, once, "ask 1 b#1, run b#1, back 1/1"},
	} {
		for _, restores := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/restores=%v", c.name, restores), func(t *testing.T) {
				t.Parallel()
				s := tell(t, c.doc, "", c.plays, admitting(), func(s *story) { s.restores = restores }).run()
				require.Equal(t, graph.StatusCompleted, s.m.Status())
				require.Equal(t, c.want, permitLine(s))
			})
		}
	}
}

// What a pause, an end or a sleep leaves of a permit. A second is the bound: work
// that sleeps longer and keeps its permit blocks work that could run.
func TestWhatSleepsHoldsNoPermit(t *testing.T) {
	t.Parallel()
	lost := interrupted(graph.InterruptWorkerLost)
	again := func(backoff string) string { return "retry: {max_attempts: 3, backoff: " + backoff + "}, " }
	for _, c := range []struct {
		name, fields string
		plays        []play
		want         string
	}{
		{"a backoff of a second", again("1s"), []play{fails("x"), outputs(`1`)}, "ask 1 a#1, run a#1, back 1/1, ask 2 a#1, run a#1, back 2/2"},
		{"a shorter one", again("999ms"), []play{fails("x"), outputs(`1`)}, "ask 1 a#1, run a#1, run a#1, back 1/1"},
		{"none", again("0s"), []play{fails("x"), outputs(`1`)}, "ask 1 a#1, run a#1, run a#1, back 1/1"},
		{"a local one", again("0s") + near, []play{fails("x"), outputs(`1`)}, "ask 1 a#1, run a#1, run a#1, back 1/1"},
		{"longer than was asked for", again("10ms"), []play{fails("x").retryAfter(time.Second), outputs(`1`)}, "ask 1 a#1, run a#1, back 1/1, ask 2 a#1, run a#1, back 2/2"},
		{"interrupted: at once, then after a second", "", []play{lost, lost, outputs(`1`)}, "ask 1 a#1, run a#1, back 1/1, ask 2 a#1, run a#1, back 2/2, ask 3 a#1, run a#1, back 3/3"},
		{"a timeout is an attempt", again("1s"), []play{timesOut(), outputs(`1`)}, "ask 1 a#1, run a#1, back 1/1, ask 2 a#1, run a#1, back 2/2"},
		{"the last attempt", "", []play{fails("x")}, "ask 1 a#1, run a#1, back 1/1"},
		{"an action that pauses", "", []play{pauses(graph.PauseRequest{})}, "ask 1 a#1, run a#1, back 1/1"},
	} {
		for _, restores := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/restores=%v", c.name, restores), func(t *testing.T) {
				t.Parallel()
				s := tell(t, oneAction(c.fields), "", plays{"a": c.plays}, admitting(), func(s *story) { s.restores = restores }).run()
				require.Equal(t, c.want, permitLine(s))
			})
		}
	}
}

// What is asked for, to the word: the book ranks and refuses by it.
func TestAcquire(t *testing.T) {
	t.Parallel()
	wish := func(overflow graph.Overflow, timeout time.Duration) func(*story) {
		return func(s *story) { s.start.Overflow, s.start.QueueTimeout = overflow, graph.Duration(timeout) }
	}
	for _, c := range []struct {
		name, fields string
		run          func(*story)
		overflow     graph.Overflow
		deadline     time.Duration // from noon; zero: none
	}{
		{"nothing said", "", wish("", 0), graph.OverflowQueue, 0},
		{"by the node", "overflow: reject, queue_timeout: 30s, ", wish("", 0), graph.OverflowReject, 30 * time.Second},
		{"by the run", "", wish(graph.OverflowReject, time.Minute), graph.OverflowReject, time.Minute},
		{"by both", "overflow: queue, queue_timeout: 30s, ", wish(graph.OverflowReject, time.Minute), graph.OverflowQueue, 30 * time.Second},
		{"none by the node", "queue_timeout: none, ", wish("", time.Minute), graph.OverflowQueue, 0},
		{"none by the run", "", wish("", time.Duration(graph.None)), graph.OverflowQueue, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := tell(t, oneAction(c.fields), "", nil, gated(), c.run).run()
			require.Len(t, s.gate.asks, 1)
			e := s.gate.asks[0]
			require.Equal(t, graph.Address("a#1"), e.Address)
			require.Equal(t, "a", e.Node.ID)
			require.Equal(t, "w", e.Run.ID)
			require.Equal(t, 1, e.Run.Attempt)
			require.Equal(t, c.overflow, e.Overflow)
			if c.deadline == 0 {
				require.Zero(t, e.Deadline)
			} else {
				require.Equal(t, noon.Add(c.deadline), e.Deadline)
			}
			s.admit(1, granted)
			require.Len(t, s.runs, 1)
			require.Equal(t, uint64(1), s.runs[0].Task.Run.Token)
			require.Empty(t, s.runs[0].Task.Node.Overflow, "the activity has no use for it")
			require.Zero(t, s.runs[0].Task.Node.QueueTimeout)
		})
	}
}

// A child and a long map wait as their parent's starter wanted.
func TestChildrenHaveTheWishesOfTheRun(t *testing.T) {
	t.Parallel()
	many := "[" + strings.Repeat("1, ", graph.MaxInlineItems) + "1]"
	for _, doc := range []string{
		"entry: c\nnodes:\n  - {id: c, type: workflow, next: end, workflow: {id: x, entry: a, nodes: [{id: a, run: act, next: end}]}}\n",
		"entry: c\nnodes:\n  - {id: c, type: map, items: " + many + ", item: {run: act}, next: end}\n",
	} {
		s := tell(t, doc, "", nil, gated(), func(s *story) {
			s.start.Overflow, s.start.QueueTimeout = graph.OverflowReject, graph.Duration(time.Minute)
		}).run()
		require.Empty(t, s.gate.asks)
		child := s.kids[0].story
		require.NotEmpty(t, child.gate.asks)
		require.Equal(t, graph.OverflowReject, child.gate.asks[0].Overflow)
		require.Equal(t, noon.Add(time.Minute), child.gate.asks[0].Deadline)
	}
}

// The arguments of a foreign activity are decided before its permit is asked for:
// what cannot run must not hold room. Its own retries would sleep with the permit,
// so the run makes them where they may sleep for long.
func TestForeignUnderAdmission(t *testing.T) {
	t.Parallel()
	foreign := func(fields string) string {
		return "entry: a\nnodes:\n  - {id: a, run: {activity: Py}, " + fields + "next: end}\n"
	}
	broken := tell(t, foreign(`args: {x: "${ state.none }"}, `), "", nil, admitting()).run()
	require.Equal(t, graph.ErrTypeExpressionFailed, broken.m.Outcome().Failure.Type)
	require.Empty(t, broken.gate.asks)

	for fields, most := range map[string]int{
		"": 1,
		"retry: {max_attempts: 3, backoff: 1s}, ":                                        1,
		"retry: {max_attempts: 3, backoff: 999ms}, ":                                     3,
		"retry: {max_attempts: 3, backoff: 0s}, ":                                        3,
		"retry: {max_attempts: 3, backoff: 600ms, coefficient: 2}, ":                     1, // the second is 1.2 s
		"retry: {max_attempts: 2, backoff: 600ms, coefficient: 2}, ":                     2, // and never comes
		"retry: {max_attempts: 9, backoff: 600ms, coefficient: 2, max_backoff: 900ms}, ": 9,
	} {
		s := tell(t, foreign(fields), "", nil, admitting()).run()
		require.Equal(t, most, s.runs[0].MaxAttempts, fields)
	}
	same := tell(t, foreign("retry: {max_attempts: 3, backoff: 1s}, "), "", nil).run()
	require.Equal(t, 3, same.runs[0].MaxAttempts, "without admission nothing changes")
	ours := tell(t, oneAction("retry: {max_attempts: 3, backoff: 1s}, "), "", nil, admitting()).run()
	require.Equal(t, 3, ours.runs[0].MaxAttempts, "our wrapper hands long backoffs back by itself")

	loops := tell(t, foreign("retry: {max_attempts: 2, backoff: 2s}, "), "", plays{"a": {fails("x"), outputs(`1`)}}, admitting()).run()
	require.Equal(t, graph.StatusCompleted, loops.m.Status())
	require.Equal(t, "ask 1 a#1, run a#1, back 1/1, ask 2 a#1, run a#1, back 2/2", permitLine(loops))
}

// A local action is begun as one only if nothing remote is open when its permit
// comes, whatever was so when it was asked for.
func TestLocalUnderAdmission(t *testing.T) {
	t.Parallel()
	doc := "entry: f\nnodes:\n  - {id: f, type: fork, branches: [a, b], join: j}\n  - {id: a, run: act, " + near + "next: j}\n" +
		"  - {id: b, run: act, next: j}\n  - {id: j, type: join, next: end}\n"
	s := tell(t, doc, "", plays{"a": {blocks()}, "b": {blocks()}}, gated()).run()
	s.admit(2, granted)
	s.admit(1, granted)
	require.Equal(t, []string{"b far 1", "a far 1"}, ways(s.runs), "b is open")

	s = tell(t, doc, "", plays{"a": {blocks()}, "b": {blocks()}}, gated()).run()
	s.admit(1, granted)
	s.admit(2, granted)
	require.Equal(t, []string{"a near 1", "b far 1"}, ways(s.runs), "who waits for a permit has nothing open")
}

// A run without admission has no trace of it: its checkpoints are those of before.
func TestNoAdmissionNoTrace(t *testing.T) {
	t.Parallel()
	for _, cp := range everyPhaseCheckpoints(t, compileStory(t, everyPhase)) {
		for _, word := range []string{"permits", "acquisitions", "admission"} {
			require.NotContains(t, cp, word)
		}
	}
	document := compileStory(t, oneAction("")).Document
	require.Zero(t, document.Nodes[0].Overflow)
	raw, err := document.Canonical()
	require.NoError(t, err)
	require.NotContains(t, string(raw), "overflow")
	require.NotContains(t, string(raw), "queue_timeout")
}

// The choices of a node are part of its graph, and both ways to say nothing are one.
func TestAdmissionFields(t *testing.T) {
	t.Parallel()
	prints := map[string]bool{}
	for _, fields := range []string{"", "overflow: queue, ", "overflow: reject, ", "queue_timeout: 1m, ", "queue_timeout: none, "} {
		prints[compileStory(t, oneAction(fields)).Fingerprint] = true
	}
	require.Len(t, prints, 5)
	require.Equal(t, compileStory(t, oneAction("queue_timeout: 60s, ")).Fingerprint, compileStory(t, oneAction("queue_timeout: 1m, ")).Fingerprint)

	options, failure := graph.ParseRunOptions([]byte(`{"overflow":"reject","queue_timeout":"none"}`))
	require.Nil(t, failure)
	require.Equal(t, graph.RunOptions{Overflow: "reject", QueueTimeout: graph.None}, options)
	for _, given := range []string{`{"overflow":"drop"}`, `{"queue_timeout":"0s"}`} {
		_, failure = graph.ParseRunOptions([]byte(given))
		require.Regexp(t, `(write|give) `, failure.Message, "it says how to mend it")
	}
	require.True(t, slices.ContainsFunc(brokenActions(), func(b broken) bool { return strings.Contains(b.doc, "overflow: drop") }))
}
