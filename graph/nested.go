package graph

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/tidemill/tidemill/graph/value"
)

// ChildRun is the child workflow of an activation that is running, as far as it
// is known.
type ChildRun struct {
	Address    Address     `json:"address"` // of the attempt
	WorkflowID string      `json:"workflow_id,omitempty"`
	RunID      string      `json:"run_id,omitempty"`
	Sequence   int         `json:"sequence,omitempty"` // of the last report taken
	Paused     bool        `json:"paused,omitempty"`   // all of it waits for people
	Pauses     []OpenPause `json:"pauses,omitempty"`
}

// decideChild starts the child graph of a node, and when it has ended gives the
// node its output and delta.
func (m *Machine) decideChild(now time.Time, node *Node, a *Activation, decider Decider) bool {
	if a.Returned != nil {
		return m.finishChild(a, decider)
	}
	if m.plan.children[node.ID] == "" {
		m.fail(a, Failf(ErrTypeUnknownGraph, "the graph %q was not there when this one was linked", node.Workflow.Graph))
		return true
	}
	if m.resume(now, node, a) {
		return true
	}
	input := node.Input
	switch {
	case input == nil:
		input = m.cp.State.Raw()
	case !literal(input):
		d, ok := m.ask(a, decider, Question{Kind: AskInput, Scope: Scope{Input: a.Input}})
		if !ok {
			return false
		}
		if d.Failure != nil {
			m.fail(a, d.Failure)
			return true
		}
		input = d.Output
	}
	if len(input) > m.limits.Payload {
		m.fail(a, Failf(ErrTypeStateTooLarge,
			"the child's input has %d bytes; at most %d are handed on: give it the keys it needs as input", len(input), m.limits.Payload))
		return true
	}
	start := StartChild{Graph: node.Workflow.Graph, Input: input, Document: node.Workflow.Document}
	start.Start = ChildStart{
		Fingerprint: m.plan.children[node.ID], Deadline: node.Deadline, MaxSteps: node.MaxSteps,
		Timeout: max(node.Timeout, 0), // none is negative
	}
	m.startChild(now, node, a, start)
	return true
}

// startChild asks for the child workflow of an activation's next attempt.
func (m *Machine) startChild(now time.Time, node *Node, a *Activation, e StartChild) {
	e.Address, e.Node = a.Address, node
	e.Start.Root, e.Start.Lineage, e.Start.Lane = m.root(), m.cp.Lineage, m.facts.Lane
	e.Start.Overflow, e.Start.QueueTimeout = m.wishes.overflow, m.wishes.queueTimeout
	if e.Start.Redriven == nil {
		e.Start.Address = a.Address.again(a.Earlier + a.Attempts + 1)
	}
	if at := m.cp.Clock.Deadline; at != nil {
		e.Start.Left = Duration(max(at.Sub(now), time.Nanosecond))
	}
	a.Phase, a.Child = PhaseRunning, &ChildRun{Address: e.Start.Address}
	m.emit(e)
}

// returnChild takes what a child gave; its node's own fields are evaluated next.
func (m *Machine) returnChild(a *Activation, r *Result) {
	if size := len(r.Output) + r.Delta.Size(); size > m.limits.Payload {
		m.fail(a, Failf(ErrTypeOutputTooLarge,
			"the child gave %d bytes; at most %d are kept: keep large data elsewhere and pass a reference", size, m.limits.Payload))
		return
	}
	a.Phase, a.Returned = PhaseDeciding, orNull(r.Output)
	if m.plan.Node(a.Node).Type == TypeMap {
		return
	}
	var returned value.Object
	returned.Set("changed", r.Delta.Raw())
	returned.Set("output", orNull(r.Output))
	a.Returned = returned.Raw()
	if tooDeep(a.Returned) {
		a.Returned = nil
		m.fail(a, Failf(ErrTypeInvalidOutput, "the child gave a value nested more than %d levels deep; let it give a flatter one", value.MaxDepth-1))
	}
}

// finishChild gives a node its child's output, and as delta what the child
// changed, unless its own fields say otherwise.
func (m *Machine) finishChild(a *Activation, decider Decider) bool {
	var returned struct {
		Output  json.RawMessage `json:"output"`
		Changed value.Object    `json:"changed"`
	}
	if err := json.Unmarshal(a.Returned, &returned); err != nil {
		m.fail(a, Failf(ErrTypeInvalidOutput, "what the child gave cannot be read: %v", err))
		return true
	}
	if !m.values(a, decider, Result{Output: returned.Output, Delta: returned.Changed}, a.Returned) {
		return false
	}
	a.Returned = nil
	return true
}

// Started tells the machine which workflow the child of an activation is.
func (m *Machine) Started(address Address, workflowID, runID string) {
	if a := m.find(address); a != nil && a.Child != nil {
		a.Child.WorkflowID, a.Child.RunID = workflowID, runID
		m.forgetResume(address)
	}
}

// Running reports whether the activity or the child of an address is wanted: it was
// asked for, has not ended, and was not asked to stop.
func (m *Machine) Running(address Address) bool {
	a := m.find(address)
	return a != nil && a.Phase == PhaseRunning
}

// Told takes a child's report. One that is older than what is known, or of a
// child that has ended, changes nothing but for its replies.
func (m *Machine) Told(now time.Time, r ChildReport) {
	for _, reply := range r.Replies {
		m.replied(now, reply)
	}
	for i := range m.cp.Activations {
		a := &m.cp.Activations[i]
		if a.Child == nil || a.Child.Address != r.Address || r.Sequence <= a.Child.Sequence {
			continue
		}
		before := a.Child.Pauses
		a.Child.Sequence, a.Child.Paused, a.Child.Pauses = r.Sequence, r.Paused, r.Apply(before)
		m.closedBelow(now, before, a.Child.Pauses)
		m.mark(a, NodeActive)
		if r.Paused {
			m.mark(a, NodePaused)
		}
	}
	m.settle(now)
}

// forgetChild ends what is known of a child that has ended or was asked to: its
// pauses are closed, and nothing that was handed to it will be taken.
func (m *Machine) forgetChild(now time.Time, a *Activation) {
	if a.Child == nil {
		return
	}
	before := a.Child.Pauses
	a.Child = nil
	for _, f := range slices.Clone(m.cp.Forwards) {
		if f.Address == a.Address {
			m.replied(now, Reply{Request: f.Request, Failure: Failf(ErrTypePauseClosed, "pause %s closed before the answer was taken", f.PauseID)})
		}
	}
	m.closedBelow(now, before, nil)
}

// closedBelow remembers the pauses of a child that are no longer open.
func (m *Machine) closedBelow(now time.Time, before, after []OpenPause) {
	for _, p := range before {
		known := slices.ContainsFunc(m.cp.Answers, func(r AnswerRecord) bool { return r.PauseID == p.ID })
		if !known && !holdsPause(after, p.ID) {
			m.recordAnswer(AnswerRecord{PauseID: p.ID, Closed: ClosedBelow, At: now})
		}
	}
}
