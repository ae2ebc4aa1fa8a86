package graph

// An attempt of ours gives its permit back itself when it has ended for good: the room
// is there at once, and not only when the run has heard of the ending. It says so with
// the ending, and the run has nothing left to give back.

// handOver is the permit that an attempt may give back itself. A local attempt may be
// made again before anybody knows that it has ended, and an activity that is not ours
// knows of no permits.
func (m *Machine) handOver(a *Activation, p *Permit) *TaskPermit {
	if !m.returnsItself(a) || p.State != PermitHeld || p.Token == 0 || p.Domain == "" {
		return nil
	}
	return &TaskPermit{Domain: p.Domain, Number: p.Number}
}

// returnsItself reports whether an attempt may give back its permit by itself.
func (m *Machine) returnsItself(a *Activation) bool {
	return !a.Local && m.plan.Node(a.Node).Wrapped()
}

// endPermit takes what the ending of an attempt means for its permit. What was given
// back is forgotten, if it is the permit that the run knows of: a later grant of the
// same acquisition has another token, and is held all the same.
//
// An ending that the attempt did not report itself leaves open whether it had given the
// permit back before it was lost. No attempt may begin on such a permit: it is given
// back, which does no harm twice, and the next one asks anew.
func (m *Machine) endPermit(a *Activation, e Ending) {
	p := m.permitOf(a.Address)
	if p == nil || p.State != PermitHeld || p.free() {
		return
	}
	switch {
	case e.Released != 0 && e.Released == p.Token:
	case (e.Kind == Interrupted || e.Kind == TimedOut) && m.returnsItself(a):
		m.giveBack(*p)
	default:
		return
	}
	m.forgetPermit(p.Number)
}
