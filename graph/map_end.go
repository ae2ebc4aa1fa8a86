package graph

import (
	"encoding/json"
	"fmt"
	"time"
)

// dismissMap ends what a map has open, and what it never took up.
func (m *Machine) dismissMap(now time.Time, a *Activation, why MapVerdict) {
	a.Mapping.Verdict = why
	for i := range a.Mapping.Items {
		if a.Mapping.Items[i].Status == BranchUnstarted {
			a.Mapping.Items[i].Status = BranchSkipped
		}
	}
	for i := range m.cp.Activations {
		if item := &m.cp.Activations[i]; item.Map == a.Address && item.Phase != PhaseSettled {
			m.dismissInner(now, item)
		}
	}
}

// closeMap ends a map whose items have all ended.
func (m *Machine) closeMap(now time.Time, node *Node, a *Activation) {
	m.wake(a, true)
	mp := a.Mapping
	switch mp.Verdict {
	case MapOpen:
		a.Mapping, a.Returned, a.Phase = nil, mp.result(), PhaseDeciding
		if tooDeep(a.Returned) {
			a.Returned = nil
			m.fail(a, Failf(ErrTypeInvalidOutput, "an item's output is nested too deep to be kept in a list; let the items give flatter ones"))
		}
	case MapExceeded:
		failed := mp.count(BranchFailed)
		m.failMap(now, a, Ending{Kind: Failed, Failure: &Failure{
			Type: ErrTypeMapTolerance, Cause: mp.firstFailure(), Details: mp.details(),
			Message: fmt.Sprintf("%d of %d items failed; %s", failed, len(mp.Items), node.Tolerate),
		}})
	case MapTimedOut:
		m.failMap(now, a, Ending{Kind: TimedOut, Failure: &Failure{
			Type: ErrTypeActionTimedOut, Details: mp.details(), Message: fmt.Sprintf("the map ran out of its %s", node.Timeout),
		}})
	case MapDismissed:
		m.settleInner(a, lost(m.locate(a, decidedWithout())))
	}
}

// failMap counts the attempt of a map that failed. In a run of its own that is
// the parent's to do.
func (m *Machine) failMap(now time.Time, a *Activation, e Ending) {
	items := a.Mapping
	a.Mapping = nil
	if m.cp.Child.runsMap() {
		m.fail(a, e.Failure)
	} else {
		m.countAttempt(a, e)
		m.endFailed(now, a, e)
	}
	if a.Phase == PhaseFailed { // a redrive does not repeat the items that committed
		a.Mapping = items
	}
}

// cutMap ends a map whose timeout is spent.
func (m *Machine) cutMap(now time.Time, a *Activation) {
	if a.Mapping.Verdict == MapOpen {
		m.dismissMap(now, a, MapTimedOut)
	}
}

// firstFailure is the failure of the first item that failed, in order.
func (mp *Mapping) firstFailure() *Failure {
	for i := range mp.Items {
		if mp.Items[i].Status == BranchFailed {
			return mp.Items[i].Failure
		}
	}
	return nil
}

// finishMap gives a map its output, the list of its items' outputs unless its own
// fields say otherwise, and its delta. In a run of its own the result is all that
// is wanted.
func (m *Machine) finishMap(a *Activation, decider Decider) bool {
	result := a.Returned
	if m.cp.Child.runsMap() {
		if len(result) > m.limits.Payload {
			m.fail(a, Failf(ErrTypeOutputTooLarge,
				"the result of the map has %d bytes; at most %d are handed on: let the items give less", len(result), m.limits.Payload))
			return true
		}
		a.Phase, a.Input, a.Returned = PhaseEnding, json.RawMessage("null"), nil
		m.cp.Output = result
		return true
	}
	node := m.plan.Node(a.Node)
	given := Result{}
	if node.Output == nil {
		outputs, failure := mapOutputs(result)
		if failure != nil {
			m.fail(a, failure)
			return true
		}
		given.Output = outputs
	}
	if !m.values(a, decider, given, result) {
		return false
	}
	a.Returned = nil
	return true
}
