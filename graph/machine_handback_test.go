package graph_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill/graph"
)

// What an attempt gave back itself is not given back again, however it ended, and what
// runs after it asks anew. A run that forgets what it was told would write a marker for
// nothing, and one that believes too much would run without a permit.
func TestAttemptsGiveBack(t *testing.T) {
	t.Parallel()
	again := func(backoff string) string { return "retry: {max_attempts: 2, backoff: " + backoff + "}, " }
	for _, c := range []struct {
		name, fields string
		plays        []play
		want         string
	}{
		{"a success", "", []play{outputs(`1`).returning()}, "ask 1 a#1, run a#1"},
		{"a pause", "", []play{pauses(graph.PauseRequest{}).returning()}, "ask 1 a#1, run a#1"},
		{"a failure", "", []play{fails("x").returning()}, "ask 1 a#1, run a#1"},
		{"a timeout", "", []play{timesOut().returning()}, "ask 1 a#1, run a#1"},
		{"attempts that are spent", again("1s"), []play{fails("x").used(2).returning()}, "ask 1 a#1, run a#1"},
		{"a long backoff", again("1s"), []play{fails("x").returning(), outputs(`1`).returning()}, "ask 1 a#1, run a#1, ask 2 a#1, run a#1"},
		{"a short one", again("1ms"), []play{fails("x").returning(), outputs(`1`).returning()}, "ask 1 a#1, run a#1, ask 2 a#1, run a#1"},
		{"cancelled by somebody else", "", []play{play{ending: graph.Ending{Kind: graph.Cancelled}}.returning()}, "ask 1 a#1, run a#1"},
		{"a local attempt cannot", near, []play{outputs(`1`).returning()}, "ask 1 a#1, run a#1, back 1/1"},
		{"not every attempt does", again("1s"), []play{fails("x"), outputs(`1`).returning()}, "ask 1 a#1, run a#1, back 1/1, ask 2 a#1, run a#1"},
	} {
		for _, restores := range []bool{false, true} {
			t.Run(c.name, func(t *testing.T) {
				t.Parallel()
				s := tell(t, oneAction(c.fields), "", plays{"a": c.plays}, admitting(), func(s *story) { s.restores = restores }).run()
				require.Equal(t, c.want, permitLine(s))
				require.Empty(t, s.m.Belief().Open)
			})
		}
	}
}

// An attempt of a run that stops gives back like any other, and the run nothing more.
func TestStoppedAttemptsGiveBack(t *testing.T) {
	t.Parallel()
	s := tell(t, oneAction(""), "", plays{"a": {blocks().returning()}}, gated(granted)).run().cancel("enough").run()
	require.Equal(t, graph.StatusCancelled, s.m.Status())
	require.Empty(t, s.gate.backs)
	require.Empty(t, s.m.Belief().Open)
}

// Who may give back is told where: an attempt whose ending is recorded by itself. What
// is free, local or of another make is the run's to give back.
func TestWhatAttemptsMayGiveBack(t *testing.T) {
	t.Parallel()
	act := oneAction("")
	foreign := "entry: a\nnodes:\n  - {id: a, run: {activity: Py}, next: end}\n"
	nowhere := graph.Admission{Answer: graph.AdmissionGranted} // delivered before the answer, which says where
	for _, c := range []struct {
		name, doc string
		answer    graph.Admission
		want      *graph.TaskPermit
	}{
		{"an action", act, granted, &graph.TaskPermit{Domain: "d", Number: 1}},
		{"free", act, freely, nil},
		{"held nobody knows where", act, nowhere, nil},
		{"local", oneAction(near), granted, nil},
		{"foreign", foreign, granted, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := tell(t, c.doc, "", nil, gated(c.answer)).run()
			require.Len(t, s.tasks, 1)
			require.Equal(t, c.want, s.tasks[0].Permit)
		})
	}
	require.Nil(t, tell(t, act, "", nil).run().tasks[0].Permit, "no admission, no permit")
}

// Of an attempt that was lost nobody knows whether it had given its permit back. It is
// given back, once more or for the first time, before another is asked for: an attempt
// on a permit that is gone would be one too many.
func TestLostAttemptsAskAnew(t *testing.T) {
	t.Parallel()
	again := "retry: {max_attempts: 3, backoff: 1ms}, "
	for _, c := range []struct {
		name, fields string
		ending       play
		want         string
	}{
		{"a lost worker", "", interrupted(graph.InterruptWorkerLost), "ask 1 a#1, run a#1, back 1/1, ask 2 a#1, run a#1"},
		{"a worker that stops", "", interrupted(graph.InterruptShutdown), "ask 1 a#1, run a#1, back 1/1, ask 2 a#1, run a#1"},
		{"an operator's reset", "", interrupted(graph.InterruptReset), "ask 1 a#1, run a#1, back 1/1, ask 2 a#1, run a#1"},
		{"no worker has the action", "", interrupted(graph.InterruptNotRegistered), "ask 1 a#1, run a#1, back 1/1, ask 2 a#1, run a#1"},
		{"a timeout of the server", again, timesOut(), "ask 1 a#1, run a#1, back 1/1, ask 2 a#1, run a#1"},
		{"the last that is allowed", "max_interruptions: 0, ", interrupted(graph.InterruptWorkerLost), "ask 1 a#1, run a#1, back 1/1"},
		{"a local attempt gave nothing back", near, interrupted(graph.InterruptWorkerLost), "ask 1 a#1, run a#1, run a#1"},
		{"a failure is told", again, fails("x"), "ask 1 a#1, run a#1, run a#1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := tell(t, oneAction(c.fields), "", plays{"a": {c.ending.lasting(time.Minute), blocks()}}, admitting()).run()
			require.Equal(t, c.want, permitLine(s))
		})
	}
}

// A run that has heard of a later grant holds that one, whatever the attempt gave back
// that was begun with the first: it would be held for ever.
func TestAttemptsGiveBackWhatTheyHad(t *testing.T) {
	t.Parallel()
	s := tell(t, oneAction(""), "", plays{"a": {outputs(`1`).returning().lasting(time.Minute)}}, gated()).run()
	s.admit(1, granted)
	s.gate.held[1] = 8
	s.admit(1, graph.Admission{Answer: graph.AdmissionGranted, Domain: "d", Token: 8, Lease: noon.Add(time.Hour)})
	s.run()
	require.Equal(t, []graph.Release{{Number: 1, Address: "a#1", Domain: "d", Token: 8}}, s.gate.backs)
}

// What was given back is heard of once more, as a permit that has ended: that changes
// nothing for the attempt after it.
func TestGivenBackAndTold(t *testing.T) {
	t.Parallel()
	s := tell(t, oneAction("retry: {max_attempts: 2, backoff: 1s}, "), "", plays{"a": {fails("x").returning(), outputs(`1`)}}, admitting()).run()
	s.admit(1, refusal("released"))
	require.Equal(t, "ask 1 a#1, run a#1, ask 2 a#1, run a#1, back 2/2", permitLine(s))
}
