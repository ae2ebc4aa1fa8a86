package graph_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill/graph"
)

// beside is a fork of two actions of which the second decides.
const beside = `entry: f
deadline: 1h
nodes:
  - {id: f, type: fork, branches: [a, b], join: j, join_policy: any}
  - {id: a, run: act, next: j}
  - {id: b, run: act, next: j}
  - {id: j, type: join, next: end}
`

// Whatever ends the need for a permit gives it back, or takes back the request, once
// and in the same call. Each of these has been forgotten by somebody.
func TestPermitsAreGivenBack(t *testing.T) {
	t.Parallel()
	begin := func(t *testing.T, doc string, answers ...graph.Admission) *story {
		t.Helper()
		s := tell(t, doc, "", plays{"a": {blocks()}, "b": {outputs(`1`).lasting(time.Minute)}}, gated(answers...), func(s *story) { s.restores = true })
		s.advance()
		return s
	}
	cancel := func(s *story) { s.cancel("enough") }
	overdue := func(s *story) { s.now = noon.Add(time.Hour); s.event("deadline", func() { s.m.Expire(s.now) }) }
	none := graph.Admission{Answer: graph.AdmissionQueued}
	for _, c := range []struct {
		name    string
		doc     string
		answers []graph.Admission
		happen  func(*story)
		want    string
	}{
		{"cancelled while it waits", oneAction(""), []graph.Admission{none}, cancel, "ask 1 a#1, back 1"},
		{"cancelled before an answer", oneAction(""), nil, cancel, "ask 1 a#1, back 1"},
		{"cancelled while it is denied", oneAction(""), []graph.Admission{full}, cancel, "ask 1 a#1"},
		{"cancelled while it runs", oneAction(""), []graph.Admission{granted}, func(s *story) { s.cancel("enough"); s.run() }, "ask 1 a#1, run a#1, back 1/1"},
		{"overdue while it waits", "deadline: 1h\n" + oneAction(""), []graph.Admission{none}, overdue, "ask 1 a#1, back 1"},
		{"overdue while it runs", "deadline: 1h\n" + oneAction(""), []graph.Admission{granted}, func(s *story) { overdue(s); s.end(0) }, "ask 1 a#1, run a#1, back 1/1"},
		{"lost its fork while it waits", beside, []graph.Admission{none, granted}, func(s *story) { s.run() }, "ask 1 a#1, ask 2 b#1, run b#1, back 2/1, back 1"},
		{"lost its fork while it runs", beside, []graph.Admission{granted, granted}, func(s *story) { s.run() }, "ask 1 a#1, ask 2 b#1, run a#1, run b#1, back 2/2, back 1/1"},
		{"a sibling failed", beside, []graph.Admission{none, granted}, func(s *story) {
			s.open[0].play = fails("x")
			s.end(0)
		}, "ask 1 a#1, ask 2 b#1, run b#1, back 2/1, back 1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := begin(t, c.doc, c.answers...)
			c.happen(s)
			require.NotNil(t, s.m.Outcome())
			require.Equal(t, c.want, permitLine(s))
			require.Empty(t, s.m.Belief().Open)
		})
	}
}

// Room is given back before more is asked for, also in the call that needs both: the
// join of a decided fork may wait for the very key that a loser waited for.
func TestReleaseBeforeAcquire(t *testing.T) {
	t.Parallel()
	doc := strings.Replace(beside, "type: join, next", "type: join, run: act, next", 1)
	s := tell(t, doc, "", plays{"b": {outputs(`1`)}}, gated(queued, granted)).run()
	require.Equal(t, "ask 1 a#1, ask 2 b#1, run b#1, back 2/1, back 1, ask 3 j#1, back 3", permitLine(s)) // and its deadline came
}

// A permit is held until the work that was asked to stop has stopped.
func TestStoppingHoldsItsPermit(t *testing.T) {
	t.Parallel()
	s := tell(t, oneAction(""), "", plays{"a": {blocks().lasting(time.Minute)}}, gated(granted)).run().cancel("enough")
	require.Nil(t, s.m.Outcome())
	require.Len(t, s.m.Belief().Open, 1)
	require.Empty(t, s.gate.backs)
}

// What a decided fork never asked for is not taken back: when the last step is taken
// by the second branch, the first one's request has not been handed out.
func TestWhatWasNeverAskedIsNotTakenBack(t *testing.T) {
	t.Parallel()
	s := tell(t, "max_steps: 1\n"+beside, "", nil, gated()).run()
	require.Equal(t, graph.ErrTypeBudgetExhausted, s.m.Outcome().Failure.Type)
	require.Empty(t, permitLines(s))
	require.Equal(t, graph.Belief{Upto: 1}, s.m.Belief(), "its number is not used again")
}

// A node that no server would take fails when its permit has come, and gives it back.
func TestTooLargeForItsPermit(t *testing.T) {
	t.Parallel()
	s := tell(t, "max_steps: 9\n"+oneAction(`args: {x: "${ state }"}, `), `{"k":"`+strings.Repeat("x", graph.MaxTask)+`"}`, nil, gated(granted),
		func(s *story) { s.start.Limits.State = 8 << 20 }).run()
	require.Equal(t, graph.ErrTypeStateTooLarge, s.m.Outcome().Failure.Type)
	require.Equal(t, "ask 1 a#1, back 1/1", permitLine(s))
}

// A run that is taken up where it stood asks for the same numbers again, holds what
// it held, and sleeps as long as it would have.
func TestAdmissionIsRestored(t *testing.T) {
	t.Parallel()
	doc := beside[:len(beside)-len("  - {id: j, type: join, next: end}\n")] + "  - {id: j, type: join, run: act, next: end}\n"
	all := []graph.Admission{{}, queued, full, freely, granted}
	for _, first := range all {
		for _, second := range all {
			s := tell(t, doc, "", plays{"a": {blocks()}, "b": {blocks()}}, gated())
			s.advance()
			for i, answer := range []graph.Admission{first, second} {
				if answer.Answer != "" {
					s.admit(uint64(i)+1, answer)
				}
			}
			s.restores = true
			s.restore() // compares what is due, and the checkpoint
			require.Equal(t, uint64(2), s.m.Belief().Upto)
			s.cancel("enough")
			s.run()
			require.Equal(t, graph.StatusCancelled, s.m.Status())
		}
	}
}

// Admission that is turned on or off between two lives of a run: what begins anew
// asks for a permit, and what waits for one that nobody gives any more begins.
func TestAdmissionIsTurned(t *testing.T) {
	t.Parallel()
	off := tell(t, oneAction(""), "", plays{"a": {blocks()}}).run()
	start := off.start
	start.Admission = true
	m, failure := graph.Restore(off.compiled.Plan, off.m.Checkpoint(), start)
	require.Nil(t, failure)
	effects := m.Effects()
	require.Len(t, effects, 1)
	require.Equal(t, uint64(1), effects[0].(graph.Acquire).Number)

	for _, answer := range []graph.Admission{{}, queued, full} {
		on := inLine(t, "queue_timeout: 1m, ")
		if answer.Answer != "" {
			on.admit(1, answer)
		}
		start = on.start
		start.Admission = false
		m, failure = graph.Restore(on.compiled.Plan, on.m.Checkpoint(), start)
		require.Nil(t, failure)
		effects = m.Effects()
		require.Len(t, effects, 1)
		require.Zero(t, effects[0].(graph.RunNode).Task.Run.Token)
		require.Equal(t, graph.PhaseRunning, m.Checkpoint().Activations[0].Phase)
		require.Empty(t, m.Belief().Open)
		require.Equal(t, uint64(1), m.Belief().Upto, "numbers go on in every life")
	}
}

// A request that an earlier life made is taken back, though this one has not handed
// out that it asks again.
func TestRestoredRequestIsTakenBack(t *testing.T) {
	t.Parallel()
	s := inLine(t, "")
	m, failure := graph.Restore(s.compiled.Plan, s.m.Checkpoint(), s.start)
	require.Nil(t, failure)
	m.Cancel(noon, "enough")
	require.Equal(t, []graph.Effect{graph.Release{Number: 1, Address: "a#1"}}, m.Effects())
}

// What was given up before it had an answer can be taken back only after it: nobody
// knows where it is held. Forgotten, it would hold room until its lease ends.
func TestWithdrawnBeforeItsAnswer(t *testing.T) {
	t.Parallel()
	delivered := graph.Admission{Answer: graph.AdmissionGranted, Token: 7}
	direct := graph.Admission{Answer: graph.AdmissionGranted, Token: 7, Domain: "d"}
	back := func(token uint64) graph.Release {
		return graph.Release{Number: 1, Address: "a#1", Domain: "d", Token: token}
	}
	for _, c := range []struct {
		name    string
		answers []graph.Admission
		want    []graph.Release
	}{
		{"granted", []graph.Admission{direct}, []graph.Release{back(7)}},
		{"queued", []graph.Admission{queued}, []graph.Release{back(0)}},
		{"no answer in time", []graph.Admission{{Answer: graph.AdmissionUnanswered, Domain: "d"}}, []graph.Release{back(0)}},
		{"delivered before its answer", []graph.Admission{delivered, queued}, []graph.Release{back(7)}},
		{"delivered before its answer, which is the same", []graph.Admission{delivered, direct}, []graph.Release{back(7)}},
		{"refused", []graph.Admission{full}, nil},
		{"needs none", []graph.Admission{freely}, nil},
		{"not classified", []graph.Admission{unclear}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := inLine(t, "").cancel("enough")
			require.NotNil(t, s.m.Outcome())
			require.Equal(t, []graph.Release{{Number: 1, Address: "a#1"}}, s.gate.backs)
			require.Empty(t, s.m.Belief().Open)
			restored, failure := graph.Restore(s.compiled.Plan, s.m.Checkpoint(), s.start)
			require.Nil(t, failure)
			require.Equal(t, text(t, s.m.Checkpoint()), text(t, restored.Checkpoint()))
			for _, m := range []*graph.Machine{s.m, restored} {
				var backs []graph.Release
				for _, answer := range append(c.answers, c.answers...) { // and all of it twice
					m.Admitted(s.now, 1, answer)
					for _, effect := range m.Effects() {
						if e := effect.(graph.Release); e.Address != "" {
							backs = append(backs, e)
						}
					}
				}
				require.Equal(t, c.want, backs)
				require.Empty(t, m.Checkpoint().Permits)
			}
		})
	}
}

// What is delivered later says neither where a permit is held nor how its work is
// dispatched. A release that does not say where is one that nobody hears.
func TestDeliveredGrant(t *testing.T) {
	t.Parallel()
	placed := graph.Admission{Answer: graph.AdmissionQueued, Domain: "d", Priority: 70, Flow: "acme"}
	delivered := graph.Admission{Answer: graph.AdmissionGranted, Token: 7, Lease: noon.Add(time.Minute)}
	begin := func() *story {
		s := tell(t, oneAction(""), "", plays{"a": {blocks()}}, gated())
		s.advance()
		s.gate.held[1] = 7
		return s
	}
	s := begin()
	s.admit(1, placed)
	s.admit(1, delivered)
	require.Equal(t, 70, s.runs[0].Priority)
	require.Equal(t, "acme", s.runs[0].Flow)
	require.Equal(t, "d", s.permit("a#1").Domain)
	s.restores = true
	s.restore()
	s.cancel("enough").run()
	require.Equal(t, []graph.Release{{Number: 1, Address: "a#1", Domain: "d", Token: 7}}, s.gate.backs)

	s = begin() // delivered before the answer, which then says where
	s.admit(1, delivered)
	require.Len(t, s.runs, 1)
	s.admit(1, placed)
	s.cancel("enough").run()
	require.Equal(t, []graph.Release{{Number: 1, Address: "a#1", Domain: "d", Token: 7}}, s.gate.backs)

	s = begin() // and it is given back before the answer
	s.admit(1, delivered)
	s.cancel("enough")
	s.m.End(s.now, "a#1", graph.Ending{Kind: graph.Cancelled})
	require.Equal(t, []graph.Effect{graph.Release{Number: 1, Address: "a#1", Token: 7}}, s.m.Effects())
	s.m.Admitted(s.now, 1, placed)
	require.Equal(t, []graph.Effect{graph.Release{Number: 1, Address: "a#1", Domain: "d", Token: 7}}, s.m.Effects())
	require.Empty(t, s.m.Checkpoint().Permits)
}
