package graph

import (
	"slices"
	"time"
)

// briefly is how long an activation may sleep and keep its permit. What sleeps as
// long or longer gives it back, and asks anew afterwards.
const briefly = time.Second

// wishes are what a run says about waiting for permits.
type wishes struct {
	overflow     Overflow
	queueTimeout Duration
}

// admitted reports whether an activation may begin an attempt: it needs no permit,
// or it holds one.
func (m *Machine) admitted(a *Activation) bool {
	if !m.admission || !m.plan.Node(a.Node).Runs() {
		return true
	}
	p := m.permitOf(a.Address)
	return p != nil && p.State == PermitHeld
}

// permitOf is the permit of an activation, or its acquisition; nil: it has none.
func (m *Machine) permitOf(address Address) *Permit {
	i := slices.IndexFunc(m.cp.Permits, func(p Permit) bool { return p.Address == address })
	if i < 0 {
		return nil
	}
	return &m.cp.Permits[i]
}

// numbered is the acquisition with a number; nil when it is not open any more.
func (m *Machine) numbered(number uint64) *Permit {
	i := slices.IndexFunc(m.cp.Permits, func(p Permit) bool { return p.Number == number })
	if i < 0 {
		return nil
	}
	return &m.cp.Permits[i]
}

// acquire asks for a permit for the next attempt of an activation, under a number of
// its own. A wait that was denied before goes on, with the time it began.
func (m *Machine) acquire(now time.Time, a *Activation) {
	p := m.permitOf(a.Address)
	if p == nil {
		m.cp.Permits = append(m.cp.Permits, Permit{Address: a.Address, Since: now})
		p = &m.cp.Permits[len(m.cp.Permits)-1]
	}
	m.cp.Acquisitions++
	p.Number = m.cp.Acquisitions
	a.Phase = PhaseAdmission
	m.mark(a, NodeWaiting)
	m.await(a, p, Admission{})
}

// await asks for an acquisition that has no answer yet, or none any more. What is
// known of it stays, so that it can be taken back where it may be held.
func (m *Machine) await(a *Activation, p *Permit, known Admission) {
	p.State, p.Admission = PermitAsked, known
	m.emitAcquire(a, p)
}

func (m *Machine) emitAcquire(a *Activation, p *Permit) {
	node := m.plan.Node(a.Node)
	deadline, _ := m.queueEnd(node, p)
	m.emit(Acquire{
		Number: p.Number, Address: a.Address, Node: node, Run: m.factsOf(a), Arrival: m.facts.Started,
		Overflow: m.overflow(node), Deadline: deadline,
	})
}

// overflow is what a node wants when no permit is free: its own choice, or the run's.
func (m *Machine) overflow(node *Node) Overflow {
	switch {
	case node.Overflow != "":
		return node.Overflow
	case m.wishes.overflow != "":
		return m.wishes.overflow
	default:
		return OverflowQueue
	}
}

// queueEnd is when the wait for a permit ends; false when it has no end.
func (m *Machine) queueEnd(node *Node, p *Permit) (time.Time, bool) {
	timeout := node.QueueTimeout
	if timeout == 0 {
		timeout = m.wishes.queueTimeout
	}
	if timeout <= 0 { // none is negative
		return time.Time{}, false
	}
	return p.Since.Add(timeout.Std()), true
}

// sweep gives back every permit that nothing needs any more, and takes back what
// nothing waits for. Whatever ended the need (completion, failure, a backoff, a
// cancel, a lost fork, a deadline) comes by here, so nothing is kept by forgetting.
func (m *Machine) sweep(now time.Time) {
	if len(m.cp.Permits) == 0 {
		return
	}
	owners := make(map[Address]*Activation, len(m.cp.Activations))
	for i := range m.cp.Activations {
		owners[m.cp.Activations[i].Address] = &m.cp.Activations[i]
	}
	var kept []Permit
	for _, p := range m.cp.Permits {
		if a := owners[p.Address]; p.State == PermitWithdrawn || a != nil && a.needsPermit(now) {
			kept = append(kept, p)
			continue
		}
		if m.giveBack(p) {
			p.State = PermitWithdrawn
			kept = append(kept, p)
		}
	}
	m.cp.Permits = kept
}

// needsPermit reports whether an activation may keep its permit, or its place in the
// queue.
func (a *Activation) needsPermit(now time.Time) bool {
	switch a.Phase {
	case PhaseAdmission, PhaseRunning, PhaseCancelling:
		return true
	case PhaseBackoff, PhaseInterrupted:
		return a.At != nil && a.At.Sub(now) < briefly
	case PhaseReady, PhaseDeciding, PhaseWaiting, PhasePaused, PhaseAnswered, PhaseChecking, PhaseRouting, PhaseFailed,
		PhaseEnding, PhaseForking, PhaseMapping, PhaseSettled, PhaseCancelled:
		return false
	default:
		return false
	}
}

// giveBack returns a permit, or takes an acquisition back. One that nobody has been
// asked for yet is dropped. It reports whether the answer has to be awaited: until
// then nobody knows where to take it back.
func (m *Machine) giveBack(p Permit) bool {
	m.effects = slices.DeleteFunc(m.effects, func(e Effect) bool {
		ask, ok := e.(Acquire)
		return ok && ask.Number == p.Number
	})
	if p.State == PermitDenied || p.free() || p.Number > m.handed {
		return false
	}
	release := Release{Number: p.Number, Address: p.Address, Domain: p.Domain}
	if p.State == PermitHeld {
		release.Token = p.Token
	}
	m.emitRelease(release)
	return p.Domain == "" && p.State != PermitQueued
}

// emitRelease gives a permit back before all else that is due: the room may be what
// the next acquisition needs. Several go by their numbers, so that their order does
// not hang on how decisions are batched.
func (m *Machine) emitRelease(r Release) {
	at := slices.IndexFunc(m.effects, func(e Effect) bool {
		other, ok := e.(Release)
		return !ok || other.Number > r.Number
	})
	if at < 0 {
		at = len(m.effects)
	}
	m.effects = slices.Insert(m.effects, at, Effect(r))
}

// free reports whether the attempt needs no permit, so that nothing is held.
func (p *Permit) free() bool { return p.State == PermitHeld && p.Answer == AdmissionFree }

// Belief tells what the run believes about its permits. It is empty while the run
// has never asked.
func (m *Machine) Belief() Belief {
	belief := Belief{Upto: m.cp.Acquisitions}
	for _, p := range m.cp.Permits {
		if p.State != PermitDenied && p.State != PermitWithdrawn && !p.free() {
			belief.Open = append(belief.Open, p)
		}
	}
	return belief
}

// reopenAdmission lets an activation of a restored run wait for its permit as
// before: the same number is asked for again, for the answer may be lost.
func (m *Machine) reopenAdmission(now time.Time, a *Activation) {
	p := m.permitOf(a.Address)
	if p == nil { // nothing is admitted any more
		a.At = nil
		m.mark(a, NodeActive)
		m.run(now, a)
		return
	}
	if a.At != nil {
		m.emit(SetTimer{Address: a.Address, At: *a.At, Purpose: m.timerPurpose(a)})
	}
	if p.State != PermitDenied {
		m.emitAcquire(a, p)
	}
}
