package graph

import "time"

// maxFreeMoves bounds one Advance: static edges and literals need no decision,
// so a cycle of them would otherwise keep a workflow task from ending.
const maxFreeMoves = 10_000

// Advance carries the run on until every activation waits for the world or for
// a decision that the decider does not have. It is the same code whether the
// decider evaluates (in an activity, in a test) or repeats recorded decisions
// (in the workflow): run on a [Machine.Clone] with an evaluator, and then on
// the machine with what that recorded, it takes the same way.
func (m *Machine) Advance(now time.Time, decider Decider) {
	m.undecided, m.unsettled = false, false
	m.Expire(now)
	moves := 0
	for again := true; again; {
		again = m.pass(now, decider, &moves)
		m.purge()
	}
	m.settle(now)
}

// pass moves every activation as far as it goes, in their order. It reports
// whether any moved, for that may have given another something to do. None
// overtakes one that waits for a decision: which of two branches takes the last
// step must not hang on how decisions are batched.
func (m *Machine) pass(now time.Time, decider Decider, moves *int) bool {
	again := false
	for i := 0; i < len(m.cp.Activations) && m.cp.Stopping == nil; {
		if !m.move(now, &m.cp.Activations[i], decider) {
			if m.undecided {
				return false
			}
			i++
			continue
		}
		again = true
		if *moves++; *moves > maxFreeMoves {
			m.unsettled = true
			return false
		}
	}
	return again && m.cp.Stopping == nil && len(m.cp.Activations) > 1
}

// move takes one step of one activation. It reports false when the activation
// waits for something.
func (m *Machine) move(now time.Time, a *Activation, decider Decider) bool {
	switch a.Phase {
	case PhaseReady:
		return m.enter(now, a, decider)
	case PhaseDeciding:
		return m.decide(now, a, decider)
	case PhaseAnswered:
		return m.checkAnswer(now, a, decider)
	case PhaseChecking:
		return m.checkResult(now, a, decider)
	case PhaseRouting:
		return m.route(now, a, decider)
	case PhaseFailed:
		return m.routeFailure(now, a, decider)
	case PhaseEnding:
		return m.complete(now, a, decider)
	case PhaseForking:
		return m.advanceFork(now, a, decider)
	case PhaseMapping:
		return m.advanceMap(now, a)
	case PhaseSettled, PhaseAdmission, PhaseRunning, PhaseBackoff, PhaseInterrupted, PhaseWaiting, PhasePaused, PhaseCancelling, PhaseCancelled:
		return false
	default:
		return false
	}
}

// ask puts a question, and notes when there is no answer for now.
func (m *Machine) ask(a *Activation, decider Decider, q Question) (Decision, bool) {
	q.Node = m.plan.Node(a.Node)
	q.Scope.State = m.cp.State
	if a.Map != "" {
		q.Scope.Item, q.Scope.Index = a.Item, a.Index
	}
	q.Scope.Run = m.factsOf(a)
	d, ok := decider.Decide(q)
	if !ok {
		m.undecided = true
	}
	return d, ok
}
