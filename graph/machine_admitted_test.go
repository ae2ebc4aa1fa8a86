package graph_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill/graph"
)

// inLine is a story of one action that has asked for its permit.
func inLine(t tester, fields string, change ...func(*story)) *story {
	t.Helper()
	s := tell(t, oneAction(fields), "", plays{"a": {outputs(`1`)}}, append([]func(*story){gated()}, change...)...)
	s.advance()
	return s
}

// state is how the acquisition of the story stands, and what the run waits for.
func (s *story) state() string {
	p := s.permit("a#1")
	if p == nil {
		return "none"
	}
	waiting := s.m.Report().Waiting
	if len(waiting) == 0 {
		return string(p.State)
	}
	line := string(p.State) + ", " + waiting[0].Reason
	if next := waiting[0].NextCheck; next != nil {
		line += " until " + next.Sub(noon).String()
	}
	return line
}

// What a run says of a node that has no permit. Whoever asks why it waits must see
// the reason and when it is looked at next.
func TestWaitingForPermits(t *testing.T) {
	t.Parallel()
	later := noon.Add(time.Minute)
	for _, c := range []struct {
		answer graph.Admission
		want   string
	}{
		{graph.Admission{}, "asked, admission: asked"},
		{queued, "queued, admission: limit of k until 1m0s"},
		{graph.Admission{Answer: "queued", Reason: "rate", Key: "resource:api", NextCheck: noon.Add(7 * time.Second)}, "queued, admission: rate of resource:api until 7s"},
		{graph.Admission{Answer: "queued", Reason: "paused"}, "queued, admission: paused until 1m0s"},
		{graph.Admission{Answer: "queued"}, "queued, admission: queued until 1m0s"},
		{occupied, "denied, admission: concurrency_limit_reached of k until 5s"},
		{full, "denied, admission: admission_queue_full until 5s"},
		{refusal("draining"), "denied, admission: draining until 5s"},
		{unclear, "denied, admission: classification_failed: no rule until 5s"},
		{unheard, "denied, admission: unanswered until 5s"},
		{graph.Admission{Answer: "draining", NextCheck: later}, "denied, admission: draining until 1m0s"},
		{graph.Admission{Answer: "draining", NextCheck: noon.Add(time.Second)}, "denied, admission: draining until 5s"},
	} {
		t.Run(c.want, func(t *testing.T) {
			t.Parallel()
			s := inLine(t, "", limited(time.Hour))
			if c.answer.Answer != "" {
				s.admit(1, c.answer)
			}
			require.Equal(t, c.want, s.state())
			require.Equal(t, graph.StatusRunning, s.m.Status(), "its deadline goes on")
			deadline, limited := s.m.Deadline()
			require.True(t, limited)
			require.Equal(t, noon.Add(time.Hour), deadline)
			cp := s.m.Checkpoint()
			require.Equal(t, graph.PhaseAdmission, cp.Activations[0].Phase)
			require.Equal(t, graph.NodeWaiting, cp.Nodes[0].Status)
			current := s.m.Current()
			require.Len(t, current, 1)
			require.True(t, strings.HasPrefix(current[0].Waiting, "admission: "), current[0].Waiting)
			require.Empty(t, s.runs)
		})
	}
}

// A denied request is no failure and no attempt: the node asks again, at growing
// intervals, under new numbers, as long as it waits.
func TestDenials(t *testing.T) {
	t.Parallel()
	for _, answer := range []graph.Admission{full, occupied, refusal("draining"), refusal("infeasible"), refusal("would_deadlock"), refusal("owner_gone"), refusal("cancelled"), unclear, unheard} {
		for _, overflow := range []string{"", "overflow: queue, "} {
			t.Run(answer.Answer+overflow, func(t *testing.T) {
				t.Parallel()
				s := inLine(t, overflow, func(s *story) { s.restores = true })
				at := noon
				for i, wait := range []time.Duration{5, 10, 20, 40, 60, 60} {
					s.admit(uint64(i)+1, answer)
					at = at.Add(wait * time.Second)
					require.Len(t, s.timers, 1)
					require.Equal(t, at, s.timers[0].At)
					require.True(t, strings.HasPrefix(s.timers[0].Purpose, "admission: "+answer.Answer), s.timers[0].Purpose)
					p := s.permit("a#1")
					require.Equal(t, noon, p.Since, "it is one wait")
					require.Equal(t, i+1, p.Denials)
					require.Empty(t, s.m.Belief().Open, "the book has nothing of it")
					require.True(t, s.step(time.Time{}))
					require.Equal(t, uint64(i)+2, s.gate.latest("a#1"))
					require.Equal(t, "asked, admission: asked", s.state())
				}
				s.admit(7, granted)
				s.run()
				require.Equal(t, graph.StatusCompleted, s.m.Status())
				require.Equal(t, 1, s.tasks[0].Run.Attempt, "no attempt was used up")
				require.Equal(t, uint64(7), s.m.Belief().Upto)
				if answer.Answer != graph.AdmissionUnanswered {
					require.Len(t, s.gate.backs, 1, "what was refused is not given back")
				}
			})
		}
	}
}

// A request without an answer may have been taken: it is taken back at once, and
// what is heard of it later is given back.
func TestUnanswered(t *testing.T) {
	t.Parallel()
	s := inLine(t, "")
	s.admit(1, graph.Admission{Answer: graph.AdmissionUnanswered, Domain: "e"})
	require.Equal(t, []graph.Release{{Number: 1, Address: "a#1", Domain: "e"}}, s.gate.backs)
	s.gate.strays[1]++
	s.admit(1, graph.Admission{Answer: graph.AdmissionGranted, Domain: "d", Token: 9})
	require.Equal(t, graph.Release{Number: 1, Address: "a#1", Domain: "d", Token: 9}, s.gate.backs[1])
	s.admit(1, queued)
	require.Equal(t, "denied, admission: unanswered until 5s", s.state())
	require.Empty(t, s.runs)
}

// A book that is lost tells nobody. What waits in its queue asks again under the same
// number, ever less often, and keeps its place when the answer is no better.
func TestQueuedAsksAgain(t *testing.T) {
	t.Parallel()
	s := inLine(t, "", func(s *story) { s.restores = true })
	s.admit(1, queued)
	at := noon
	for i, wait := range []time.Duration{1, 2, 4, 8, 10, 10} {
		at = at.Add(wait * time.Minute)
		require.Len(t, s.timers, 1)
		require.Equal(t, at, s.timers[0].At)
		require.True(t, s.step(time.Time{}))
		require.Equal(t, i+1, s.permit("a#1").Looks)
		require.Equal(t, uint64(1), s.gate.latest("a#1"))
		s.admit(1, []graph.Admission{queued, unclear, unheard}[i%3])
		require.Equal(t, graph.PermitQueued, s.permit("a#1").State)
	}
	s.admit(1, granted)
	s.run()
	require.Equal(t, graph.StatusCompleted, s.m.Status())
}

// A worker with other rules may find that what is queued needs no permit: its place
// in the queue is given up.
func TestQueuedBecomesFree(t *testing.T) {
	t.Parallel()
	s := inLine(t, "")
	s.admit(1, graph.Admission{Answer: graph.AdmissionQueued, Domain: "d"})
	s.admit(1, graph.Admission{Answer: graph.AdmissionFree})
	require.Equal(t, []graph.Release{{Number: 1, Address: "a#1", Domain: "d"}}, s.gate.backs)
	require.Len(t, s.runs, 1)
}

// Only who chose reject is refused, by the answer's name, before any attempt and
// without another; on_error may lead on. What says nothing about room refuses nobody.
func TestOverflowReject(t *testing.T) {
	t.Parallel()
	for _, fields := range []string{"overflow: reject, ", "overflow: reject, retry: {max_attempts: 5}, ", ""} {
		run := func(s *story) {
			if fields == "" {
				s.start.Overflow = graph.OverflowReject
			}
		}
		for _, answer := range []graph.Admission{full, occupied, refusal("draining"), refusal("infeasible"), refusal("would_deadlock"), refusal("owner_gone")} {
			s := inLine(t, fields, run)
			s.admit(1, answer)
			f := s.m.Outcome().Failure
			require.Equal(t, answer.Answer, f.Type)
			require.Equal(t, graph.Address("a#1"), f.Address)
			require.Zero(t, f.Attempts)
			require.Empty(t, s.runs)
			require.Empty(t, s.gate.backs)
			require.Equal(t, uint64(1), s.m.Belief().Upto, "it is not tried again")
		}
		for _, answer := range []graph.Admission{unclear, unheard, refusal("cancelled"), refusal("released"), refusal("hold_exceeded")} {
			s := inLine(t, fields, run)
			s.admit(1, answer)
			require.Nil(t, s.m.Outcome(), answer.Answer)
			require.Len(t, s.timers, 1)
		}
	}
	led := tell(t, "entry: a\nnodes:\n  - {id: a, run: act, overflow: reject, on_error: b, next: end}\n  - {id: b, type: set, output: \"${ input.type }\", next: end}\n",
		"", nil, gated(full)).run()
	require.Equal(t, `"admission_queue_full"`, string(led.m.Outcome().Output))
}

// A queue_timeout ends the wait, whatever it waits for, and is counted over all its
// acquisitions.
func TestQueueTimeout(t *testing.T) {
	t.Parallel()
	const most = "queue_timeout: 12s, "
	for _, c := range []struct {
		name   string
		fields string
		happen func(*story)
		after  time.Duration
		reason string
	}{
		{"the book says so", most, func(s *story) { s.admit(1, tooLate) }, 0, "queue_deadline_exceeded"},
		{"the book says so of who waits", most, func(s *story) { s.admit(1, queued); s.admit(1, tooLate) }, 0, "limit of k"},
		{"the book says so without a timeout", "", func(s *story) { s.admit(1, tooLate) }, 0, ""},
		{"the book never says", most, func(s *story) { s.admit(1, queued); s.run() }, 12 * time.Second, "limit of k"},
		{"a denial after it", most, func(s *story) { s.now = noon.Add(12 * time.Second); s.admit(1, full) }, 12 * time.Second, "admission_queue_full"},
		{"while it is denied", most, func(s *story) { s.admit(1, full); s.run(); s.admit(2, full); s.run() }, 12 * time.Second, "admission_queue_full"},
		{"while it is not classified", most + "overflow: reject, ", func(s *story) { s.admit(1, unclear); s.run(); s.admit(2, unclear); s.run() }, 12 * time.Second, "no rule"},
		{"while nobody answers", most + "overflow: reject, ", func(s *story) { s.admit(1, unheard); s.run(); s.admit(2, unheard); s.run() }, 12 * time.Second, "unanswered"},
	} {
		for _, restores := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/restores=%v", c.name, restores), func(t *testing.T) {
				t.Parallel()
				s := inLine(t, c.fields, func(s *story) { s.restores = restores })
				c.happen(s)
				require.NotNil(t, s.m.Outcome(), s.state())
				require.Equal(t, graph.ErrTypeQueueTimeout, s.m.Outcome().Failure.Type)
				require.Contains(t, s.m.Outcome().Failure.Message, c.reason)
				require.Equal(t, noon.Add(c.after), s.now)
				require.Empty(t, s.runs)
			})
		}
	}
	s := inLine(t, most)
	s.admit(1, queued)
	s.now = noon.Add(11 * time.Second)
	s.admit(1, granted)
	require.Empty(t, s.timers, "the wait is over")
	s.run()
	require.Equal(t, graph.StatusCompleted, s.m.Status())
}

// Work does not start on a grant that is heard of after its lease: it may be
// somebody else's by then. The book is asked again for the same number.
func TestLateGrant(t *testing.T) {
	t.Parallel()
	s := inLine(t, "")
	lease := noon.Add(time.Minute)
	for _, now := range []time.Time{lease, lease.Add(time.Hour)} {
		s.now = now
		late := granted
		late.Lease = lease
		s.admit(1, late)
		require.Empty(t, s.runs)
		require.Equal(t, uint64(1), s.gate.asks[len(s.gate.asks)-1].Number)
	}
	require.Len(t, s.gate.asks, 3)
	s.admit(1, granted)
	require.Len(t, s.runs, 1)

	s = inLine(t, "")
	early := granted
	early.Lease = s.now.Add(time.Nanosecond)
	s.admit(1, early)
	require.Len(t, s.runs, 1)

	s = inLine(t, "") // cancelled while the book is asked again
	early.Lease = s.now
	s.admit(1, early)
	s.cancel("enough")
	require.Equal(t, []graph.Release{{Number: 1, Address: "a#1", Domain: "d"}}, s.gate.backs)
}

// Answers come twice, late and out of order. None of them costs a permit, leaves one
// behind or begins the work twice.
func TestAnswersOutOfOrder(t *testing.T) {
	t.Parallel()
	running := func(fields string) *story {
		s := tell(t, oneAction(fields), "", plays{"a": {fails("x").lasting(time.Minute), outputs(`1`)}}, gated()).run()
		s.admit(1, granted)
		require.Len(t, s.runs, 1)
		return s
	}
	for _, answer := range []graph.Admission{granted, queued, freely, unheard, unclear} {
		s := running("")
		before := text(t, s.m.Checkpoint())
		s.admit(1, answer)
		require.Equal(t, before, text(t, s.m.Checkpoint()), answer.Answer)
		require.Empty(t, s.gate.backs)
	}
	stray := func(s *story, number, token uint64) {
		s.gate.strays[number]++
		backs := len(s.gate.backs)
		s.admit(number, graph.Admission{Answer: graph.AdmissionGranted, Domain: "e", Token: token})
		require.Len(t, s.gate.backs, backs+1)
		require.Equal(t, graph.Release{Number: number, Address: s.gate.backs[backs].Address, Domain: "e", Token: token}, s.gate.backs[backs])
	}
	s := running("")
	stray(s, 7, 70) // never asked for
	s.run()
	require.NotNil(t, s.m.Outcome())
	stray(s, 1, 1) // given back, and the run has ended
	s.admit(1, queued)
	s.admit(1, full)
	require.Len(t, s.gate.backs, 3)

	s = inLine(t, "")
	s.admit(1, freely)
	require.Equal(t, uint64(0), s.runs[0].Task.Run.Token)
	require.Equal(t, graph.Belief{Upto: 1}, s.m.Belief())
	stray(s, 1, 5) // it was told that it needs none
	s.run()
	require.Len(t, s.gate.backs, 1, "nothing was held")
}

// Of two grants of one number the later is the one that the book knows. The other
// cannot be given back any more.
func TestSecondGrant(t *testing.T) {
	t.Parallel()
	s := tell(t, oneAction(""), "", plays{"a": {outputs(`1`).lasting(time.Minute)}}, gated()).run()
	again := func(token uint64) graph.Admission {
		return graph.Admission{Answer: graph.AdmissionGranted, Domain: "d", Token: token, Lease: noon.Add(time.Hour)}
	}
	s.gate.held[1] = 5
	s.admit(1, again(5))
	s.gate.held[1] = 8
	s.admit(1, again(8))
	s.admit(1, again(5))
	require.Len(t, s.runs, 1)
	s.run()
	require.Equal(t, []graph.Release{{Number: 1, Address: "a#1", Domain: "d", Token: 8}}, s.gate.backs)
}

// A permit that ends while its work goes on is forgotten: the work is not stopped
// for it, nothing is given back, and the next attempt asks anew.
func TestPermitEnds(t *testing.T) {
	t.Parallel()
	for _, answer := range []string{"hold_exceeded", "owner_gone", "cancelled", "released", "draining"} {
		t.Run(answer, func(t *testing.T) {
			t.Parallel()
			s := tell(t, oneAction("retry: {max_attempts: 2, backoff: 10ms}, "), "", plays{"a": {fails("x").lasting(time.Minute), outputs(`1`)}}, gated()).run()
			s.admit(1, granted)
			delete(s.gate.held, 1)
			s.admit(1, refusal(answer))
			require.Equal(t, "none", s.state())
			require.Equal(t, graph.Belief{Upto: 1}, s.m.Belief())
			require.Len(t, s.open, 1)
			s.run()
			require.Empty(t, s.gate.backs)
			require.Equal(t, "asked, admission: asked", s.state())
			s.admit(2, granted)
			s.run()
			require.Equal(t, graph.StatusCompleted, s.m.Status())
			require.Equal(t, "ask 1 a#1, run a#1, ask 2 a#1, run a#1, back 2/2", permitLine(s))
		})
	}
}

// The book remembers for minutes how an acquisition ended. A run that was reset asks
// for the same number again, and must not fail by an answer that was true of another
// time.
func TestRepeatedRefusals(t *testing.T) {
	t.Parallel()
	for _, answer := range []graph.Admission{occupied, full, tooLate, refusal("infeasible")} {
		t.Run(answer.Answer, func(t *testing.T) {
			t.Parallel()
			answer.Repeated = true
			s := inLine(t, "overflow: reject, queue_timeout: 1h, ")
			s.admit(1, answer)
			require.Nil(t, s.m.Outcome())
			require.True(t, s.step(time.Time{}))
			require.Equal(t, uint64(2), s.gate.latest("a#1"))
			answer.Repeated = false
			s.admit(2, answer)
			require.Equal(t, graph.StatusFailed, s.m.Status())
		})
	}
}

// wide is a story of many branches that wait for permits, each by itself.
func wide(t tester, branches int) *story {
	t.Helper()
	names := make([]string, branches)
	var nodes strings.Builder
	for i := range names {
		names[i] = fmt.Sprint("b", i)
		fmt.Fprintf(&nodes, "  - {id: %s, run: act, next: j}\n", names[i])
	}
	doc := "entry: f\nnodes:\n  - {id: f, type: fork, branches: [" + strings.Join(names, ", ") + "], join: j}\n" + nodes.String() +
		"  - {id: j, type: join, next: end}\n"
	s := tell(t, doc, "", nil, gated())
	s.advance()
	require.Len(t, s.gate.asks, branches)
	return s
}

// goOn answers whatever is asked for until a time, and gives the number of times that
// something was.
func (s *story) goOn(until time.Time, answer func(e graph.Acquire) graph.Admission) (asked int) {
	answered := 0
	if len(s.timers) > 0 { // they have an answer
		answered = len(s.gate.asks)
	}
	for {
		for ; answered < len(s.gate.asks); answered++ {
			asked++
			s.admit(s.gate.asks[answered].Number, answer(s.gate.asks[answered]))
		}
		if len(s.timers) == 0 {
			return asked
		}
		next := s.timers[0].At
		for _, timer := range s.timers {
			if timer.At.Before(next) {
				next = timer.At
			}
		}
		if next.After(until) {
			return asked
		}
		s.step(time.Time{})
	}
}

// Each asking is in the history of the run, and the server ends a run with 51,200
// events. A wide run must live through a day of waiting, whatever it waits for.
func TestWideRunsAskRarely(t *testing.T) {
	t.Parallel()
	known := queued
	known.Repeated = true
	for _, c := range []struct {
		answer      graph.Admission
		least, most int // times asked in half an hour
	}{{full, 240, 600}, {unclear, 240, 600}, {unheard, 240, 600}, {known, 24, 180}} {
		t.Run(c.answer.Answer, func(t *testing.T) {
			t.Parallel()
			s := wide(t, 40)
			asked := s.goOn(noon.Add(30*time.Minute), func(graph.Acquire) graph.Admission { return c.answer })
			require.Less(t, asked, c.most)
			require.Greater(t, asked, c.least, "it is looked after all the same")
		})
	}
}

// Those of a wide run that ask rarely go on as soon as one of them has found room, or
// they would leave it unused.
func TestRoomIsFoundForAll(t *testing.T) {
	t.Parallel()
	s := wide(t, 40)
	room := false
	answer := func(graph.Acquire) graph.Admission {
		if room {
			return queued
		}
		return full
	}
	s.goOn(noon.Add(30*time.Minute), answer)
	room = true
	s.goOn(noon.Add(31*time.Minute), answer)
	for _, p := range s.m.Checkpoint().Permits {
		require.Equal(t, graph.PermitQueued, p.State, p.Address)
	}
}

// The first of a wide run to find that the book has lost its place says so for all, or
// the others would wait for hours for what nobody will tell them.
func TestALostBookIsFoundOutForAll(t *testing.T) {
	t.Parallel()
	s := wide(t, 40)
	known := queued
	known.Repeated = true
	lost := map[uint64]bool{}
	for _, e := range s.gate.asks {
		lost[e.Number] = true
		s.admit(e.Number, queued)
	}
	before := len(s.gate.asks)
	s.goOn(noon.Add(time.Minute), func(e graph.Acquire) graph.Admission {
		if lost[e.Number] {
			delete(lost, e.Number)
			return queued
		}
		return known
	})
	require.Empty(t, lost, "all have a place again")
	require.Less(t, len(s.gate.asks)-before, 90, "each asked once or twice")
}

// Rules that changed meanwhile may send an acquisition to another domain. Its place in
// the first one is given up there, or a permit would come of it that nobody gives back.
func TestAnotherDomain(t *testing.T) {
	t.Parallel()
	s := inLine(t, "")
	s.admit(1, queued)
	s.step(time.Time{}) // it asks again
	s.admit(1, graph.Admission{Answer: graph.AdmissionQueued, Domain: "elsewhere"})
	require.Equal(t, []graph.Release{{Number: 1, Address: "a#1", Domain: "d"}}, s.gate.backs)
	require.Equal(t, "elsewhere", s.permit("a#1").Domain)
}
