package graph

import "time"

// Cancel ends the run: what is open is asked to stop and waited for.
func (m *Machine) Cancel(now time.Time, reason string) {
	if reason == "" {
		reason = "cancelled"
	}
	m.stop(now, Outcome{Status: StatusCancelled, Failure: &Failure{Type: ErrTypeCancelled, Message: reason}})
	m.settle(now)
}

// Deadline is the instant the run's budget of running time ends; false when
// there is none or the clock stands still.
func (m *Machine) Deadline() (time.Time, bool) {
	if m.cp.Clock.Deadline == nil || m.cp.Stopping != nil {
		return time.Time{}, false
	}
	return *m.cp.Clock.Deadline, true
}

// Overdue reports whether the deadline has come.
func (m *Machine) Overdue(now time.Time) bool {
	at, ok := m.Deadline()
	return ok && !now.Before(at)
}

// Expire ends a run whose budget of running time is spent.
func (m *Machine) Expire(now time.Time) {
	if !m.Overdue(now) {
		return
	}
	failure := Failf(ErrTypeDeadlineExceeded, "the run's budget of running time is spent")
	if m.cp.Clock.Timeout {
		failure = Failf(ErrTypeActionTimedOut, "the attempt's timeout is spent")
	}
	m.stop(now, Outcome{Status: StatusTimedOut, Failure: failure})
	m.settle(now)
}

// stop begins to end the run. The first reason stands.
func (m *Machine) stop(now time.Time, how Outcome) {
	if m.cp.Stopping != nil || m.cp.Outcome != nil {
		return
	}
	m.cp.Stopping = &how
	for i := range m.cp.Activations {
		m.stopActivation(now, &m.cp.Activations[i])
	}
}

// stopActivation closes what an activation has open. It stays in the
// checkpoint, so that a redrive can take the run up where it stopped.
func (m *Machine) stopActivation(now time.Time, a *Activation) {
	m.wake(a, true)
	switch a.Phase {
	case PhaseRunning:
		m.forgetChild(now, a)
		a.Phase = PhaseCancelling
		m.emit(CancelNode{Address: a.Address})
	case PhasePaused, PhaseAnswered:
		for _, late := range a.Offered {
			m.refuse(now, late, Failf(ErrTypePauseClosed, "the run ended before the answer was taken"))
		}
		m.recordAnswer(AnswerRecord{PauseID: a.Pause.ID, Closed: ClosedCancelled, At: now})
		a.Phase, a.Offered = PhaseCancelled, nil
		m.mark(a, NodeCancelled)
	case PhaseAdmission, PhaseBackoff, PhaseInterrupted, PhaseWaiting:
		a.Phase = PhaseCancelled
		m.mark(a, NodeCancelled)
	case PhaseDeciding, PhaseChecking, PhaseForking, PhaseMapping:
		m.mark(a, NodeCancelled)
	case PhaseReady, PhaseRouting, PhaseFailed, PhaseEnding, PhaseSettled, PhaseCancelling, PhaseCancelled:
	}
}

// endCancelled settles an activity that was asked to stop. Whatever it
// returned, its result is not taken: it settles as cancelled, its effect
// unknown unless it said.
func (m *Machine) endCancelled(a *Activation, e Ending) {
	f := m.locate(a, &Failure{Type: ErrTypeCancelled, Message: "cancelled with the run", Effect: effectOf(e)})
	if m.cp.Stopping == nil { // with its fork
		f.Message = decidedWithout().Message
		m.settleInner(a, lost(f))
		return
	}
	a.Phase, a.Failure = PhaseCancelled, f
	m.mark(a, NodeCancelled)
	if how := m.cp.Stopping; how.Failure != nil && how.Failure.Cause == nil && how.Status != StatusFailed {
		why := *how.Failure
		why.Cause = a.Failure
		m.cp.Stopping = &Outcome{Status: how.Status, Output: how.Output, Failure: &why}
	}
}

// effectOf is what an ending says of the effect; "unknown" when it does not.
func effectOf(e Ending) string {
	if e.Failure != nil && e.Failure.Effect != "" {
		return e.Failure.Effect
	}
	return "unknown"
}

// settle closes the books of one call: branches that are done, permits that nothing
// needs any more, the outcome once everything that was asked to stop has stopped,
// and the clock.
func (m *Machine) settle(now time.Time) {
	m.purge()
	m.sweep(now)
	if m.cp.Stopping != nil && m.cp.Outcome == nil && !m.cancelling() {
		outcome := *m.cp.Stopping
		outcome.Finished = now
		m.cp.Outcome = &outcome
	}
	m.runClock(now)
}

func (m *Machine) cancelling() bool {
	for i := range m.cp.Activations {
		if m.cp.Activations[i].Phase == PhaseCancelling {
			return true
		}
	}
	return false
}

// newClock is the budget of running time of a run that begins: what was given, or the
// graph's.
func newClock(p *Plan, given Duration) Clock {
	budget := p.Document.Deadline
	if given != 0 {
		budget = given
	}
	if budget == 0 || budget == None {
		return Clock{}
	}
	return Clock{Limited: true, Left: budget}
}

// runClock lets the clock run while anything of the run can move, and stand
// still while the whole of it is paused.
func (m *Machine) runClock(now time.Time) {
	clock := &m.cp.Clock
	if !clock.Limited || m.cp.Stopping != nil {
		return
	}
	paused := m.Paused()
	switch {
	case paused && clock.Deadline != nil:
		left := max(clock.Deadline.Sub(now), time.Nanosecond)
		clock.Deadline, clock.Left = nil, Duration(left)
	case !paused && clock.Deadline == nil:
		at := now.Add(clock.Left.Std())
		clock.Deadline, clock.Left = &at, 0
	}
}

// Paused reports whether the whole run waits for people.
func (m *Machine) Paused() bool {
	if m.cp.Stopping != nil || len(m.cp.Activations) == 0 {
		return false
	}
	open := false
	for i := range m.cp.Activations {
		a := &m.cp.Activations[i]
		switch {
		case a.Phase == PhasePaused || a.Phase == PhaseRunning && a.Child != nil && a.Child.Paused:
			open = true
		case a.Phase == PhaseForking && !m.forkMoves(a), a.Phase == PhaseMapping && !m.mapMoves(a):
		default:
			return false
		}
	}
	return open
}

// Status is how the run stands.
func (m *Machine) Status() Status {
	switch {
	case m.cp.Outcome != nil:
		return m.cp.Outcome.Status
	case m.Paused():
		return StatusPaused
	default:
		return StatusRunning
	}
}
