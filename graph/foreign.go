package graph

import (
	"time"

	"github.com/tidemill/tidemill/graph/value"
)

// decideForeign does for an activity that is not ours what the wrapper does
// for ours: it evaluates the arguments before the activity runs, and the output
// and delta after.
func (m *Machine) decideForeign(now time.Time, a *Activation, decider Decider) bool {
	if a.Returned != nil {
		if !m.values(a, decider, Result{Output: a.Returned}, a.Returned) {
			return false
		}
		a.Args, a.Returned = nil, nil
		return true
	}
	d, ok := m.ask(a, decider, Question{Kind: AskArgs, Scope: Scope{Input: a.Input}})
	switch {
	case !ok:
		return false
	case d.Failure != nil:
		m.fail(a, d.Failure)
	case len(d.Output) > m.limits.Payload:
		m.fail(a, Failf(ErrTypeOutputTooLarge,
			"the node's args have %d bytes; at most %d are allowed", len(d.Output), m.limits.Payload))
	default:
		a.Args = d.Output
		m.emitRun(now, a)
	}
	return true
}

// returnForeign takes what an activity that is not ours gave.
func (m *Machine) returnForeign(a *Activation, r *Result) {
	if size := len(r.Output); size > m.limits.Payload {
		m.fail(a, Failf(ErrTypeOutputTooLarge,
			"the activity gave %d bytes; at most %d are kept: keep large data elsewhere and pass a reference",
			size, m.limits.Payload))
		return
	}
	if tooDeep(r.Output) {
		m.fail(a, Failf(ErrTypeInvalidOutput,
			"the activity gave a value nested more than %d levels deep; let it give a flatter one", value.MaxDepth))
		return
	}
	a.Phase, a.Returned = PhaseDeciding, orNull(r.Output)
}
