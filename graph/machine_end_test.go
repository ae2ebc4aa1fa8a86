package graph_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill/graph"
)

// limited gives a run a budget of running time.
func limited(d time.Duration) func(*story) {
	return func(s *story) { s.start.Deadline = graph.Duration(d) }
}

func restoring(s *story) { s.restores = true }

// A deadline is a budget of running time: it cuts whatever the run is at.
func TestDeadline(t *testing.T) {
	t.Parallel()
	const minute = time.Minute
	slow := outputs(`1`, `{"x":1}`).lasting(time.Hour)
	for _, c := range []struct {
		name, doc string
		plays     plays
		cause     string // of deadline_exceeded
		state     string
	}{
		{"a running action, cancelled and awaited", oneAction(``), plays{"a": {blocks()}}, "deadline_exceeded/cancelled", `{}`},
		{"an action that ends all the same is not committed", oneAction(``), plays{"a": {slow}}, "deadline_exceeded/cancelled", `{}`},
		{"120 what was committed stays", abc, plays{"a": {oks(`{"x":1}`)}, "b": {blocks()}}, "deadline_exceeded/cancelled", `{"x":1}`},
		{"a backoff", oneAction(`retry: {max_attempts: 2, backoff: 5m, max_backoff: 5m}, `), plays{"a": {fails("x")}}, "deadline_exceeded", `{}`},
		{"the last attempt", oneAction(`retry: {max_attempts: 2}, `), plays{"a": {fails("x"), blocks()}}, "deadline_exceeded/cancelled", `{}`},
		{"waiting for a worker", oneAction(``), plays{"a": times(9, interrupted(graph.InterruptNotRegistered))}, "deadline_exceeded", `{}`},
		{"a wait", "entry: w\nnodes: [{id: w, type: wait, for: 1h, next: end}]\n", nil, "deadline_exceeded", `{}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for _, change := range []func(*story){func(*story) {}, restoring} {
				s := tell(t, c.doc, "", c.plays, limited(minute), change).run()
				for s.m.Outcome() == nil && s.step(time.Time{}) {
				}
				require.Equal(t, graph.StatusTimedOut, s.m.Status())
				require.Equal(t, c.cause, failureTypes(s.m.Outcome().Failure))
				require.Equal(t, c.state, string(s.m.Checkpoint().State.Raw()))
			}
		})
	}
}

// 119: a budget that is spent before the first step starts nothing.
func TestDeadlineBeforeTheStart(t *testing.T) {
	t.Parallel()
	s := tell(t, abc, "", nil, limited(1))
	s.now = s.now.Add(time.Second)
	s.advance()
	require.Equal(t, graph.StatusTimedOut, s.m.Status())
	require.Zero(t, s.m.Checkpoint().Steps)
	require.Empty(t, s.tasks)
}

// An ending and the deadline in one workflow task: the instant counts.
func TestEndingMeetsDeadline(t *testing.T) {
	t.Parallel()
	s := tell(t, oneAction(``), "", plays{"a": {outputs(`1`).lasting(time.Minute)}}, limited(time.Minute)).run()
	require.Equal(t, graph.StatusTimedOut, s.m.Status(), "a budget of a minute is spent after a minute")
	s = tell(t, oneAction(``), "", plays{"a": {outputs(`1`).lasting(time.Minute - 1)}}, limited(time.Minute)).run()
	require.Equal(t, graph.StatusCompleted, s.m.Status())
}

// The clock stands still while the whole run waits for people, and only then.
func TestClockStandsStillWhilePaused(t *testing.T) {
	t.Parallel()
	const doc = `entry: a
deadline: 10m
nodes:
  - {id: a, run: act, next: p}
  - {id: p, type: pause, resume_schema: {type: integer}, expires: 100h, next: w}
  - {id: w, type: wait, for: 3m, next: b}
  - {id: b, run: act, next: end}
`
	script := plays{"a": {outputs(`1`).lasting(4 * time.Minute)}, "b": {outputs(`2`).lasting(2 * time.Minute)}}
	for _, change := range []func(*story){func(*story) {}, restoring} {
		s := tell(t, doc, "", script, change).run()
		at, running := s.m.Deadline()
		require.True(t, s.m.Paused())
		require.False(t, running, "no deadline while paused: %s", at)
		require.Nil(t, s.m.Report().Deadline)
		s.sleep(48 * time.Hour)
		require.Nil(t, s.answer(graph.Answer{Input: raw(`"no"`), Via: "signal"}))
		require.True(t, s.m.Paused(), "a refused answer leaves the clock as it was")
		s.sleep(time.Hour)
		require.Nil(t, s.answer(graph.Answer{Input: raw(`7`), Via: "signal"}))
		at, running = s.m.Deadline()
		require.True(t, running)
		require.Equal(t, s.now.Add(6*time.Minute), at, "4 of 10 minutes are spent")
		s.run()
		require.Equal(t, graph.StatusCompleted, s.m.Status())
		require.Equal(t, noon.Add(49*time.Hour+9*time.Minute), s.m.Outcome().Finished)
		require.Equal(t, at, *s.tasks[1].Run.Deadline, "the action is told when the budget ends")
	}
	s := tell(t, doc, "", plays{"a": script["a"], "b": {blocks()}}).run()
	s.sleep(time.Hour)
	require.Nil(t, s.answer(graph.Answer{Input: raw(`7`)}))
	s.run()
	require.Equal(t, graph.StatusTimedOut, s.m.Status())
	require.Equal(t, noon.Add(time.Hour+10*time.Minute), s.m.Outcome().Finished)
}

// A run's own budget replaces the graph's, and none is none.
func TestDeadlineOfRunAndGraph(t *testing.T) {
	t.Parallel()
	deadline := func(doc string, given graph.Duration) time.Duration {
		s := tell(t, doc, "", nil, func(s *story) { s.start.Deadline = given })
		at, limited := s.m.Deadline()
		if !limited {
			return 0
		}
		return at.Sub(noon)
	}
	const own = "deadline: 1h\n" + abc
	require.Equal(t, time.Duration(0), deadline(abc, 0))
	require.Equal(t, time.Hour, deadline(own, 0))
	require.Equal(t, 3*time.Hour, deadline(own, graph.Duration(3*time.Hour)))
	require.Equal(t, time.Duration(0), deadline(own, graph.None))
	require.Equal(t, time.Minute, deadline("deadline: none\n"+abc, graph.Duration(time.Minute)))
}

// Cancel in each kind of rest. It waits for what is running, whose effect is
// unknown unless it says so, and nothing it returns is committed: D6, D7, D8.
func TestCancel(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, doc string
		plays     plays
		effect    string
		waits     time.Duration
	}{
		{"a running action", oneAction(``), plays{"a": {blocks().lasting(3 * time.Second)}}, "unknown", 3 * time.Second},
		{"an action that says there was none", oneAction(``), plays{"a": {blocks().saying("none")}}, "none", 0},
		{"86 an action that ends all the same", oneAction(``), plays{"a": {outputs(`1`, `{"x":1}`).lasting(time.Minute)}}, "unknown", 59 * time.Second},
		{"an action that fails meanwhile", oneAction(`retry: {max_attempts: 9}, `), plays{"a": {fails("x").lasting(time.Minute)}}, "unknown", 59 * time.Second},
		{"an interrupted action is not started again", oneAction(``), plays{"a": {interrupted("worker_lost").lasting(time.Minute)}}, "unknown", 59 * time.Second},
		{"117 a backoff", oneAction(`retry: {max_attempts: 9, backoff: 50s}, `), plays{"a": {fails("x")}}, "", 0},
		{"waiting for a worker", oneAction(``), plays{"a": times(5, interrupted("not_registered"))}, "", 0},
		{"a wait", "entry: w\nnodes: [{id: w, type: wait, for: 1h, next: end}]\n", nil, "", 0},
		{"89 a pause", pauseNode(`expires: 1h, `), nil, "", 0},
		{"a pause of an action", approval, plays{"ask": {pauses(graph.PauseRequest{})}}, "", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for _, change := range []func(*story){func(*story) {}, restoring} {
				s := tell(t, c.doc, `{"k":1}`, c.plays, change).sleep(time.Second)
				require.Nil(t, s.m.Outcome())
				s.cancel("enough").cancel("again")
				require.Equal(t, c.waits == 0 && c.effect == "", s.m.Outcome() != nil)
				_, running := s.m.Deadline()
				require.False(t, running)
				require.Empty(t, s.m.Pauses(), "a pause of a stopped run cannot be answered")
				require.NotNil(t, s.m.Judge(graph.Answer{Input: raw(`1`)}))
				for s.step(time.Time{}) {
				}
				failure := s.m.Outcome().Failure
				require.Equal(t, graph.StatusCancelled, s.m.Status())
				require.Equal(t, "enough", failure.Message, "the first reason stands")
				require.Equal(t, noon.Add(time.Second+c.waits), s.m.Outcome().Finished)
				require.Equal(t, `{"k":1}`, string(s.m.Checkpoint().State.Raw()))
				for _, n := range s.m.Checkpoint().Nodes {
					require.Equal(t, graph.NodeCancelled, n.Status, n.Node)
				}
				for _, a := range s.m.Checkpoint().Activations {
					require.Equal(t, graph.PhaseCancelled, a.Phase, a.Address)
					require.Nil(t, a.At)
				}
				if c.effect != "" {
					require.Equal(t, "cancelled/cancelled", failureTypes(failure))
					require.Equal(t, c.effect, failure.Cause.Effect)
				}
			}
		})
	}
}

// Cancel while something waits to be decided, and after the end.
func TestCancelBetween(t *testing.T) {
	t.Parallel()
	s := tell(t, `entry: b
nodes:
  - {id: b, type: branch, cases: [{when: "true", to: end}]}
`, "", nil)
	s.m.Advance(noon, graph.Undecided{})
	require.True(t, s.m.Undecided())
	s.cancel("")
	require.Equal(t, graph.StatusCancelled, s.m.Status())
	require.Equal(t, "cancelled", s.m.Outcome().Failure.Message)
	require.Equal(t, graph.NodeCancelled, s.m.Checkpoint().Nodes[0].Status)

	s = tell(t, abc, "", plays{"a": {stops(`1`)}}).run()
	before := text(t, s.m.Checkpoint())
	s.cancel("late")
	s.m.Expire(noon.Add(time.Hour))
	s.m.End(noon, "a#1", outputs(`2`).ending)
	s.m.Fire(noon, "a#1")
	s.advance()
	require.Equal(t, before, text(t, s.m.Checkpoint()), "what has ended stays as it ended")
}

// What a closed run leaves in its books: nodes that failed, and nodes whose
// work is committed whatever became of the run.
func TestNodesOfAClosedRun(t *testing.T) {
	t.Parallel()
	status := func(doc string, p plays) graph.NodeStatus {
		nodes := tell(t, doc, "", p).run().m.Checkpoint().Nodes
		return nodes[len(nodes)-1].Status
	}
	require.Equal(t, graph.NodeFailed, status(oneAction(``), plays{"a": {fails("x")}}))
	require.Equal(t, graph.NodeCompleted, status(oneAction(``), plays{"a": {oks()}}))
	require.Equal(t, graph.NodeCompleted, status(oneAction(``), plays{"a": {routes("zz")}}))
	require.Equal(t, graph.NodeFailed, status(oneAction(`on_error: end, `), plays{"a": {fails("x")}}))
	require.Equal(t, graph.NodePaused, status(approval, plays{"ask": {pauses(graph.PauseRequest{})}}))
}

// Waits: for a length of time, until a moment, and until one that has passed.
func TestWaits(t *testing.T) {
	t.Parallel()
	wait := func(fields string) string {
		return `entry: w
nodes:
  - {id: w, type: wait, ` + fields + `, next: s}
  - {id: s, type: set, output: "${ input }", next: end}
`
	}
	for _, c := range []struct {
		name, fields, input string
		takes               time.Duration
		failure             string
	}{
		{"for", `for: 10m`, `{"k":1}`, 10 * time.Minute, ""},
		{"for days", `for: 7d`, `{}`, 7 * 24 * time.Hour, ""},
		{"until", `until: "${ input.at }"`, `{"at":"2030-01-02T13:30:00Z"}`, 90 * time.Minute, ""},
		{"until, in another zone", `until: "${ input.at }"`, `{"at":"2030-01-02T14:30:00+02:00"}`, 30 * time.Minute, ""},
		{"until, written down", `until: "2030-01-02T12:00:01Z"`, `{}`, time.Second, ""},
		{"until a moment that has passed", `until: "${ input.at }"`, `{"at":"2020-01-01T00:00:00Z"}`, 0, ""},
		{"until now", `until: "2030-01-02T12:00:00Z"`, `{}`, 0, ""},
		{"until nonsense", `until: "${ input.at }"`, `{"at":"noon"}`, 0, "expression_failed"},
		{"until a number", `until: "${ input.at }"`, `{"at":7}`, 0, "expression_failed"},
		{"until a moment that no checkpoint holds", `until: "${ input.at }"`, `{"at":"9999-12-31T23:59:59-02:00"}`, 0, "expression_failed"},
		{"until nothing", `until: "${ input.none }"`, `{}`, 0, "expression_failed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for _, change := range []func(*story){func(*story) {}, restoring} {
				s := tell(t, wait(c.fields), c.input, nil, change).run()
				require.Equal(t, noon.Add(c.takes), s.m.Outcome().Finished)
				if c.failure != "" {
					require.Equal(t, c.failure, s.m.Outcome().Failure.Type)
					continue
				}
				require.Equal(t, c.input, string(s.m.Outcome().Output), "a wait passes its input on")
			}
		})
	}
}
