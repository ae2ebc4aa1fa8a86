package graph_test

import (
	"slices"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill/graph"
)

// gate is admission as a story sees it: a book so simple that it can be held against
// the machine. It refuses work without a permit, and permits that are not given back.
type gate struct {
	grants bool              // at once, whatever is asked for
	script []graph.Admission // else the answers, in turn; when used up there are none
	asks   []graph.Acquire
	backs  []graph.Release

	token  uint64            // of the latest permit
	held   map[uint64]uint64 // token by number, as the book has it
	back   map[uint64]bool   // numbers that were given back or taken back
	lined  map[uint64]bool   // numbers that were told to wait, and have no other answer yet
	strays map[uint64]int    // grants that were sent to whom does not wait
	lost   map[uint64]bool   // numbers that attempts gave back without anybody having heard it
	due    []func()
}

func newGate(script ...graph.Admission) *gate {
	return &gate{script: script, held: map[uint64]uint64{}, back: map[uint64]bool{}, lined: map[uint64]bool{}, strays: map[uint64]int{}, lost: map[uint64]bool{}}
}

// admitting puts a story under admission that grants whatever is asked for.
func admitting() func(*story) {
	return func(s *story) {
		s.gate = newGate()
		s.gate.grants = true
	}
}

// gated puts a story under admission that gives some answers.
func gated(script ...graph.Admission) func(*story) {
	return func(s *story) { s.gate = newGate(script...) }
}

// The answers of scripts. A grant is filled in when it is given.
var (
	granted  = graph.Admission{Answer: graph.AdmissionGranted, Domain: "d"}
	queued   = graph.Admission{Answer: graph.AdmissionQueued, Domain: "d", Reason: "limit", Key: "k"}
	freely   = graph.Admission{Answer: graph.AdmissionFree}
	unheard  = graph.Admission{Answer: graph.AdmissionUnanswered}
	unclear  = graph.Admission{Answer: graph.AdmissionUnclassified, Message: "no rule"}
	full     = refusal(graph.ErrTypeQueueFull)
	tooLate  = refusal(graph.ErrTypeQueueTimeout)
	occupied = graph.Admission{Answer: graph.ErrTypeLimitReached, Domain: "d", Key: "k"}
)

func refusal(answer string) graph.Admission { return graph.Admission{Answer: answer, Domain: "d"} }

func (g *gate) child() *gate {
	if g == nil {
		return nil
	}
	c := newGate()
	c.grants = g.grants
	return c
}

// settled gives the last answers of a run that has ended, and makes sure that nothing
// is left behind.
func (g *gate) settled(s *story) {
	s.t.Helper()
	if g == nil {
		return
	}
	for i, p := range s.m.Checkpoint().Permits {
		s.admit(p.Number, []graph.Admission{granted, queued, full, freely}[i%4])
	}
	for number := range uint64(g.numbers()) { // who waited in line was taken out of it
		require.False(s.t, g.lined[number+1] && !g.back[number+1], "number %d waits for ever", number+1)
	}
	require.Empty(s.t, g.held, "a permit is left over")
	require.Empty(s.t, s.m.Checkpoint().Permits)
}

// order makes sure that room is given back before anything is asked for.
func (g *gate) order(t tester, effects []graph.Effect) {
	t.Helper()
	asked := false
	for _, effect := range effects {
		switch effect.(type) {
		case graph.Acquire:
			asked = true
		case graph.Release:
			require.False(t, asked, "a permit is given back after another was asked for")
		}
	}
}

func (g *gate) ask(s *story, e graph.Acquire) {
	s.t.Helper()
	require.NotNil(s.t, g, "a run without admission asked for a permit")
	again := false
	for _, other := range g.asks {
		again = again || other.Number == e.Number && other.Address == e.Address
		require.Equal(s.t, other.Number == e.Number, other.Number == e.Number && other.Address == e.Address, "number %d is used twice", e.Number)
	}
	require.True(s.t, again || e.Number > uint64(g.numbers()), "number %d comes after a later one", e.Number)
	require.False(s.t, g.back[e.Number], "number %d was taken back", e.Number)
	require.NotEmpty(s.t, e.Overflow)
	require.Equal(s.t, s.start.Facts.Started, e.Arrival, "all of a run has its rank")
	g.asks = append(g.asks, e)
	switch {
	case len(g.script) > 0:
		answer := g.script[0]
		g.script = g.script[1:]
		g.due = append(g.due, func() { s.admit(e.Number, answer) })
	case g.grants:
		g.due = append(g.due, func() { s.admit(e.Number, granted) })
	}
}

// numbers is the highest number that was asked for. One may be left out: what was
// given up before anybody was asked.
func (g *gate) numbers() int {
	most := 0
	if g == nil {
		return 0
	}
	for _, e := range g.asks {
		most = max(most, int(e.Number))
	}
	return most
}

// admit tells the machine an answer. A grant without a token is a new permit, or the
// one that the number has.
func (s *story) admit(number uint64, a graph.Admission) {
	s.t.Helper()
	g := s.gate
	if a.Answer == graph.AdmissionGranted && a.Token == 0 {
		if g.held[number] == 0 {
			g.token++
			g.held[number] = g.token
		}
		a.Token = g.held[number]
		if a.Lease.IsZero() {
			a.Lease = s.now.Add(time.Minute)
		}
	}
	if p := s.numbered(number); p != nil && p.State != graph.PermitDenied && p.State != graph.PermitHeld && a.Answer != graph.AdmissionUnanswered {
		g.lined[number] = a.Answer == graph.AdmissionQueued
	}
	s.event("admission of "+text(s.t, number)+": "+a.Answer, func() { s.m.Admitted(s.now, number, a) })
}

// deliver gives the next answer that is due; false: there is none.
func (g *gate) deliver(s *story) bool {
	if g == nil || len(g.due) == 0 {
		return false
	}
	next := g.due[0]
	g.due = g.due[1:]
	s.restore()
	next()
	return true
}

// latest is the last acquisition of an address.
func (g *gate) latest(address graph.Address) uint64 {
	for _, e := range slices.Backward(g.asks) {
		if e.Address == address {
			return e.Number
		}
	}
	return 0
}

// begins makes sure that an attempt has a permit, and says which.
func (g *gate) begins(s *story, e graph.RunNode) {
	s.t.Helper()
	if g == nil {
		require.Zero(s.t, e.Task.Run.Token)
		return
	}
	number := g.latest(e.Task.Run.Address)
	require.NotZero(s.t, number, "%s begins without a permit", e.Task.Run.Address)
	require.Equal(s.t, g.held[number], e.Task.Run.Token, "%s begins with another permit", e.Task.Run.Address)
	if e.Task.Run.Token == 0 {
		require.Equal(s.t, graph.AdmissionFree, s.permit(e.Task.Run.Address).Answer, "%s begins without a permit", e.Task.Run.Address)
	}
}

// ends takes what the ending of an attempt says of its permit: it is given back before
// the run hears of it.
func (g *gate) ends(s *story, address graph.Address, e graph.Ending) {
	s.t.Helper()
	if g == nil || e.Released == 0 {
		return
	}
	number := g.latest(address)
	require.NotNil(s.t, s.open[s.openIndex(address)].task.Permit, "%s gives back what is not its to give", address)
	require.False(s.t, g.back[number], "number %d is given back twice", number)
	if g.held[number] == e.Released {
		g.back[number] = true
		delete(g.held, number)
	}
}

// loses has an attempt give its permit back in secret: its ending was lost on the way.
func (g *gate) loses(address graph.Address) {
	number := g.latest(address)
	g.lost[number] = true
	delete(g.held, number)
}

func (g *gate) release(s *story, e graph.Release) {
	s.t.Helper()
	require.NotNil(s.t, g, "a run without admission gave a permit back")
	g.backs = append(g.backs, e)
	if e.Domain == "" {
		return // nobody knows where; another follows the answer
	}
	if g.strays[e.Number] > 0 && e.Token != 0 {
		g.strays[e.Number]--
		if g.held[e.Number] == e.Token {
			delete(g.held, e.Number)
		}
		return
	}
	require.False(s.t, g.back[e.Number], "number %d is given back twice", e.Number)
	require.LessOrEqual(s.t, e.Number, uint64(g.numbers()), "number %d was never asked for", e.Number)
	if e.Token != 0 {
		require.True(s.t, g.lost[e.Number] || g.held[e.Number] == e.Token, "number %d has another permit", e.Number)
		require.Negative(s.t, s.openIndex(e.Address), "%s goes on without its permit", e.Address)
	}
	g.back[e.Number] = true
	delete(g.held, e.Number)
}

// closes makes sure that nothing is left behind when a run has ended.
func (g *gate) closes(s *story) {
	s.t.Helper()
	if g == nil {
		require.Equal(s.t, graph.Belief{}, s.m.Belief())
		return
	}
	require.Empty(s.t, s.m.Belief().Open)
	for _, p := range s.m.Checkpoint().Permits {
		require.Equal(s.t, graph.PermitWithdrawn, p.State)
	}
	require.Empty(s.t, g.held, "a permit is left over")
}

// waiting are the acquisitions that a restored machine has to ask for again.
func (g *gate) waiting(m *graph.Machine) []graph.Effect {
	var due []graph.Effect
	for _, p := range m.Checkpoint().Permits {
		if p.State != graph.PermitAsked && p.State != graph.PermitQueued {
			continue
		}
		for _, e := range slices.Backward(g.asks) {
			if e.Number == p.Number {
				due = append(due, e)
				break
			}
		}
	}
	return due
}

// lacks reports whether something goes on whose permit has ended. A restored machine
// would ask for another before it begins that again.
func (g *gate) lacks(s *story) bool {
	if g == nil {
		return false
	}
	for _, task := range s.open {
		if s.permit(task.task.Run.Address) == nil {
			return true
		}
	}
	return false
}

// numbered is what the machine believes of a number.
func (s *story) numbered(number uint64) *graph.Permit {
	for _, p := range s.m.Checkpoint().Permits {
		if p.Number == number {
			return &p
		}
	}
	return nil
}

// permit is what the machine believes of an address.
func (s *story) permit(address graph.Address) *graph.Permit {
	for _, p := range s.m.Checkpoint().Permits {
		if p.Address == address {
			return &p
		}
	}
	return nil
}
