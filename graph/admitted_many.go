package graph

import "time"

// Each time that a permit is asked for is in the history of the run, which has an end:
// a run with hundreds of nodes that wait must not ask for each as often as for one.

// often is how many of those that wait ask as often as they would alone.
const often = 8

// spread makes the wait of an acquisition longer when many of the run wait beside it:
// the first ask as often as ever, and the rest together as often as they.
func (m *Machine) spread(p *Permit, delay time.Duration) time.Duration {
	waiting, before := 0, 0
	for i := range m.cp.Permits {
		switch other := &m.cp.Permits[i]; {
		case other == p:
			before = waiting
		case other.State == PermitQueued || other.State == PermitDenied:
			waiting++
		}
	}
	if before < often {
		return delay
	}
	return delay * time.Duration(1+waiting/often)
}

// nextOfMany has one more of those ask that were denied and would not for long, since
// another of the run has found room. It asks for the next in turn.
func (m *Machine) nextOfMany(now time.Time, found uint64) {
	denied := 0
	for i := range m.cp.Permits {
		p := &m.cp.Permits[i]
		if p.State != PermitDenied || p.Number == found {
			continue
		}
		if denied++; denied <= often {
			continue
		}
		if a := m.find(p.Address); a != nil && a.At != nil {
			m.wake(a, true)
			m.acquire(now, a)
			return
		}
	}
}

// bookIsNew has all that wait ask again when one of them has lost its place: the book
// that knew it is gone, and with it their places. Those of another domain are in
// another book.
func (m *Machine) bookIsNew(p *Permit, answer Admission) {
	if p.State != PermitQueued || p.Looks == 0 || answer.Repeated {
		return
	}
	for i := range m.cp.Permits {
		other := &m.cp.Permits[i]
		if other == p || other.State != PermitQueued || other.Domain != p.Domain {
			continue
		}
		if a := m.find(other.Address); a != nil && a.At != nil {
			m.wake(a, true)
			m.await(a, other, Admission{Domain: other.Domain, Priority: other.Priority, Flow: other.Flow})
		}
	}
}

// leaveOther takes an acquisition back where it has a place, when other rules than
// those it was asked under send it elsewhere, or need no permit.
func (m *Machine) leaveOther(p *Permit, answer Admission) {
	moved := answer.Answer == AdmissionFree || answer.Domain != "" && answer.Domain != p.Domain
	if p.Domain != "" && moved {
		m.emitRelease(Release{Number: p.Number, Address: p.Address, Domain: p.Domain})
	}
}
