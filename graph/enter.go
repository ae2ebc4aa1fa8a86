package graph

import (
	"encoding/json"
	"time"
)

// enter takes the step of a node and begins it. What goes in is checked first,
// so that a refused input costs no step; an action's input is checked where it
// runs, where that costs no event.
func (m *Machine) enter(now time.Time, a *Activation, decider Decider) bool {
	node := m.plan.Node(a.Node)
	for checks := m.inputChecks(node); a.Checks < len(checks); a.Checks++ {
		check := checks[a.Checks]
		d, ok := m.ask(a, decider, Question{Kind: AskSchema, Schema: check.schema, Subject: a.Input})
		if !ok {
			return false
		}
		if d.Failure != nil {
			m.fail(a, Failf(check.errorType, "%s", d.Failure.Message))
			return true
		}
	}
	if node.Type == TypeFork { // costs no step; its branches do
		m.address(a)
		a.Checks = 0
		m.openFork(node, a)
		return true
	}
	if a.Map == "" && !m.takeStep(now, a) { // a map costs one, whatever its length
		return true
	}
	a.Checks = 0
	m.run(now, a)
	return true
}

// takeStep takes a step for the visit of a node, and gives the visit its
// address. Without one left the run ends.
func (m *Machine) takeStep(now time.Time, a *Activation) bool {
	if m.cp.StepsLeft == 0 {
		m.stop(now, Outcome{Status: StatusFailed, Failure: &Failure{
			Type: ErrTypeBudgetExhausted, Node: a.Node,
			Message: "the step budget is spent; redrive with a larger max_steps to go on",
		}})
		return false
	}
	m.cp.StepsLeft--
	m.cp.Steps++
	m.address(a)
	return true
}

// run lets a node do what it does, for the first time or again: our activities
// evaluate their arguments themselves, all else begins with a decision.
func (m *Machine) run(now time.Time, a *Activation) {
	a.Phase = PhaseDeciding
	if node := m.plan.Node(a.Node); node.Wrapped() || node.Foreign() && a.Args != nil {
		m.emitRun(now, a)
	}
}

// address gives an activation the address of its node's next visit, and a
// branch's fork to know it.
func (m *Machine) address(a *Activation) {
	record := m.record(a.Node)
	record.Visits++
	record.Status = NodeActive
	a.Address = m.cp.prefix().Join(Segment{Node: a.Node, Epoch: record.Visits})
	m.trace(a.Address)
	if a.Fork == "" {
		return
	}
	fork := m.find(a.Fork)
	for i := range fork.Branches {
		if fork.Branches[i].ID == a.Node {
			fork.Branches[i].Address = a.Address
		}
	}
}

// schemaCheck is a schema and the error type of a value that does not fit it.
type schemaCheck struct {
	schema    json.RawMessage
	errorType string
}

// inputChecks are the schemas that a node's input must fit before its step. A
// node that passes its input through checks it as its output as well; what a
// fork gives is known when it joins.
func (m *Machine) inputChecks(node *Node) []schemaCheck {
	var checks []schemaCheck
	if !node.Wrapped() && node.InputSchema != nil {
		checks = append(checks, schemaCheck{node.InputSchema, ErrTypeNodeInputSchema})
	}
	if !node.Type.EdgeBearing() && node.Type != TypeFork && node.OutputSchema != nil {
		checks = append(checks, schemaCheck{node.OutputSchema, ErrTypeNodeOutputSchema})
	}
	return checks
}
