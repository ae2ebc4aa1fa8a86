package graph

import (
	"encoding/json"
	"time"

	"github.com/tidemill/tidemill/graph/value"
)

// route decides where a committed activation leads. The commit stands whatever
// becomes of the route: a route that fails ends the run, and never repeats the
// node.
func (m *Machine) route(now time.Time, a *Activation, decider Decider) bool {
	if a.Target != "" {
		m.jump(now, a, a.Target)
		return true
	}
	next := m.plan.Node(a.Node).Next
	if next.Static() {
		m.follow(a, next.To, a.Output)
		return true
	}
	d, ok := m.ask(a, decider, Question{Kind: AskRoute, Scope: Scope{Input: a.Output}})
	if !ok {
		return false
	}
	switch {
	case d.Failure != nil:
		m.stop(now, Outcome{Status: StatusFailed, Failure: m.locate(a, d.Failure)})
	case d.To == "":
		m.stop(now, Outcome{Status: StatusFailed, Failure: m.locate(a,
			Failf(ErrTypeRouteFailed, "no case of next holds and it has no default"))})
	default:
		m.jump(now, a, d.To)
	}
	return true
}

// jump follows a target that was computed, which may be anything.
func (m *Machine) jump(now time.Time, a *Activation, target string) {
	if target == "$end" {
		target = End
	}
	if target != End && m.plan.Node(target) == nil {
		m.stop(now, Outcome{Status: StatusFailed, Failure: m.locate(a,
			Failf(ErrTypeRouteFailed, "%q is not a node of the graph", target))})
		return
	}
	if fork := m.plan.forkOf(target); fork != nil {
		m.stop(now, Outcome{Status: StatusFailed, Failure: m.locate(a, Failf(ErrTypeRouteFailed,
			"%q belongs to the fork %s, and only the fork leads to it: route to %s", target, fork.ID, fork.ID))})
		return
	}
	m.follow(a, target, a.Output)
}

// follow leaves an activation for its successor, which takes its place.
func (m *Machine) follow(a *Activation, target string, input json.RawMessage) {
	if record := m.record(a.Node); record.Status != NodeFailed {
		record.Status = NodeCompleted
	}
	if input == nil {
		input = json.RawMessage("null")
	}
	if target == End {
		*a = Activation{Node: a.Node, Address: a.Address, Phase: PhaseEnding, Input: input}
		return
	}
	*a = Activation{Node: target, Phase: PhaseReady, Input: input, Loops: m.frames(a.Loops, target)}
}

// frames are the loops that target is still inside of: leaving the nodes of a
// loop forgets its turns, so that entering it again starts anew.
func (m *Machine) frames(loops []LoopFrame, target string) []LoopFrame {
	for i, frame := range loops {
		if !m.plan.inLoop(frame.Loop, target) {
			return loops[:i:i]
		}
	}
	return loops
}

// fail settles an activation as failed; where that leads is decided next.
func (m *Machine) fail(a *Activation, f *Failure) {
	m.wake(a, true)
	a.Phase, a.Failure, a.Result = PhaseFailed, m.locate(a, f), nil
	a.closePause()
	a.Args, a.Mapping, a.Child = nil, nil, nil
	if node := m.plan.Node(a.Node); node.Type != TypeWorkflow && node.Type != TypeMap {
		a.Returned = nil // what a child or the items gave stays, for a redrive
	}
	m.mark(a, NodeFailed)
}

// locate says where a failure happened.
func (m *Machine) locate(a *Activation, f *Failure) *Failure {
	at := *f
	at.Node, at.Address = a.Node, a.Address
	if at.Attempts == 0 {
		at.Attempts = a.Attempts
	}
	return &at
}

// routeFailure leads a failed activation to its on_error target, or ends the
// run with its failure.
func (m *Machine) routeFailure(now time.Time, a *Activation, decider Decider) bool {
	onError := m.plan.Node(a.Node).OnError
	if a.owner() != "" {
		return m.recover(a, onError, decider)
	}
	if onError == nil || m.cp.Child.runsMap() || a.Failure.Type == ErrTypeCancelled {
		m.stop(now, Outcome{Status: StatusFailed, Failure: a.Failure})
		return true
	}
	target := onError.To
	if !onError.Static() {
		d, ok := m.ask(a, decider, Question{Kind: AskOnError, Scope: Scope{Input: a.Input, Error: a.Failure}})
		if !ok {
			return false
		}
		if d.Failure != nil {
			m.stop(now, Outcome{Status: StatusFailed, Failure: m.locate(a, d.Failure)})
			return true
		}
		target = d.To
	}
	if target == "" {
		m.stop(now, Outcome{Status: StatusFailed, Failure: a.Failure})
		return true
	}
	m.follow(a, target, a.Failure.Value())
	return true
}

// failureValue is a Failure as expressions see it.
type failureValue struct {
	Type     string          `json:"type"`
	Message  string          `json:"message"`
	Node     string          `json:"node"`
	Address  Address         `json:"address"`
	Attempts int             `json:"attempts"`
	Cause    json.RawMessage `json:"cause"`
	Details  json.RawMessage `json:"details,omitempty"`
}

// Value is the failure as the canonical JSON object that conditions see as
// error and that an on_error target gets as its input: type, message, node,
// address, attempts, and cause (null or an object of the same shape); also details,
// when there are any.
func (f *Failure) Value() json.RawMessage {
	cause := json.RawMessage("null")
	if f.Cause != nil {
		cause = f.Cause.Value()
	}
	raw, err := value.Marshal(failureValue{f.Type, f.Message, f.Node, f.Address, f.Attempts, cause, f.Details})
	if err != nil { // a message that is not UTF-8
		raw, _ = value.Marshal(failureValue{f.Type, "", f.Node, f.Address, f.Attempts, json.RawMessage("null"), nil})
	}
	return raw
}

// complete ends the run well, when its output fits the graph's schema.
func (m *Machine) complete(now time.Time, a *Activation, decider Decider) bool {
	output := m.cp.Output
	if output == nil {
		output = m.cp.State.Raw()
	}
	if schema := m.plan.Document.OutputSchema; schema != nil && !m.cp.Child.runsMap() {
		d, ok := m.ask(a, decider, Question{Kind: AskSchema, Schema: schema, Subject: output})
		if !ok {
			return false
		}
		if d.Failure != nil {
			m.stop(now, Outcome{Status: StatusFailed, Failure: Failf(ErrTypeOutputSchema, "%s", d.Failure.Message)})
			return true
		}
	}
	m.cp.Activations = nil
	m.stop(now, Outcome{Status: StatusCompleted, Output: output})
	return true
}
