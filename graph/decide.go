package graph

import (
	"bytes"
	"encoding/json"
	"slices"
	"time"
)

// decide does what an entered node does.
func (m *Machine) decide(now time.Time, a *Activation, decider Decider) bool {
	node := m.plan.Node(a.Node)
	switch node.Type {
	case TypeBranch, TypeDynamic:
		return m.decideBranch(a, decider)
	case TypeLoop:
		return m.decideLoop(node, a, decider)
	case TypePause:
		return m.openPauseNode(now, node, a, decider)
	case TypeWait:
		return m.beginWait(now, node, a, decider)
	case TypeSet, TypeAction, TypeJoin:
		if node.Foreign() {
			return m.decideForeign(now, a, decider)
		}
		return m.finish(a, decider, a.Input, nil)
	case TypeWorkflow:
		return m.decideChild(now, node, a, decider)
	case TypeMap:
		return m.decideMap(now, node, a, decider)
	case TypeAgent, TypeTool, TypeFork:
		m.fail(a, Failf(ErrTypeInvalidDocument, "this version runs no %s nodes", node.Type))
		return true
	default:
		m.fail(a, Failf(ErrTypeInvalidDocument, "unknown node type %q", node.Type))
		return true
	}
}

func (m *Machine) decideBranch(a *Activation, decider Decider) bool {
	d, ok := m.ask(a, decider, Question{Kind: AskBranch, Scope: Scope{Input: a.Input}})
	switch {
	case !ok:
		return false
	case d.Failure != nil:
		m.fail(a, d.Failure)
	case d.To == "":
		m.fail(a, Failf(ErrTypeRouteFailed, "no case holds and the branch has no default"))
	default:
		m.follow(a, d.To, a.Input)
	}
	return true
}

func (m *Machine) decideLoop(node *Node, a *Activation, decider Decider) bool {
	d, ok := m.ask(a, decider, Question{Kind: AskWhile, Scope: Scope{Input: a.Input}})
	if !ok {
		return false
	}
	if d.Failure != nil {
		m.fail(a, d.Failure)
		return true
	}
	turns := 0
	if at := slices.IndexFunc(a.Loops, func(f LoopFrame) bool { return f.Loop == node.ID }); at >= 0 {
		turns = a.Loops[at].Turns // coming from inside; loops within are entered anew
		a.Loops = a.Loops[:at]
	}
	switch {
	case !d.Holds:
		m.follow(a, node.Done, a.Input)
	case turns >= node.MaxIterations:
		m.follow(a, node.OnExhausted, a.Input)
	default:
		a.Loops = append(a.Loops[:len(a.Loops):len(a.Loops)], LoopFrame{Loop: node.ID, Turns: turns + 1})
		m.follow(a, node.Body, a.Input)
	}
	return true
}

func (m *Machine) beginWait(now time.Time, node *Node, a *Activation, decider Decider) bool {
	if a.Waited {
		return m.finish(a, decider, a.Input, nil)
	}
	at := now.Add(node.For.Std())
	if node.Until != nil {
		d, ok := m.ask(a, decider, Question{Kind: AskUntil, Scope: Scope{Input: a.Input}})
		if !ok {
			return false
		}
		until, failure := instant(d)
		if failure != nil {
			m.fail(a, failure)
			return true
		}
		at = until
	}
	if !at.After(now) {
		a.Waited = true
		return true
	}
	m.mark(a, NodeWaiting)
	m.sleep(a, PhaseWaiting, at)
	return true
}

// lastYear is the last one that JSON has a form for.
const lastYear = 9999

// instant reads the moment that until gave.
func instant(d Decision) (time.Time, *Failure) {
	if d.Failure != nil {
		return time.Time{}, d.Failure
	}
	var at time.Time
	if err := json.Unmarshal(d.Output, &at); err != nil {
		return time.Time{}, Failf(ErrTypeExpressionFailed, "until is not an RFC 3339 time")
	}
	if at = at.UTC(); at.Year() > lastYear {
		return time.Time{}, Failf(ErrTypeExpressionFailed, "until lies after the year %d, which no checkpoint can hold", lastYear)
	}
	return at, nil
}

// finish gives a machine-run node its output and delta. Without an output of
// its own it passes own on and leaves the run's output as it was.
func (m *Machine) finish(a *Activation, decider Decider, own, result json.RawMessage) bool {
	return m.values(a, decider, Result{Control: ControlOK, Output: own}, result)
}

// values gives a node the output and the delta that its own fields say; what
// they do not say is as given.
func (m *Machine) values(a *Activation, decider Decider, given Result, result json.RawMessage) bool {
	node := m.plan.Node(a.Node)
	switch {
	case literal(node.Output) && node.Delta == nil:
		if node.Output != nil {
			given.Control, given.Output = ControlOutput, node.Output
		}
	default:
		d, ok := m.ask(a, decider, Question{Kind: AskValues, Scope: Scope{Input: a.Input, Result: result}})
		if !ok {
			return false
		}
		if d.Failure != nil {
			m.fail(a, d.Failure)
			return true
		}
		if node.Delta != nil {
			given.Delta = d.Delta
		}
		if d.Output != nil {
			given.Control, given.Output = ControlOutput, d.Output
		}
	}
	a.Phase, a.Result = PhaseChecking, &given
	return true
}

// literal reports whether a value needs no evaluation.
func literal(raw json.RawMessage) bool { return !bytes.Contains(raw, []byte("${")) }

// checkResult holds a machine-run node's output against its schema and commits
// it. The output of an action was checked where it ran, before its delta left.
func (m *Machine) checkResult(now time.Time, a *Activation, decider Decider) bool {
	node := m.plan.Node(a.Node)
	if node.OutputSchema != nil {
		d, ok := m.ask(a, decider, Question{Kind: AskSchema, Schema: node.OutputSchema, Subject: a.Result.Output})
		if !ok {
			return false
		}
		if d.Failure != nil {
			m.fail(a, Failf(ErrTypeNodeOutputSchema, "%s", d.Failure.Message))
			return true
		}
	}
	result := a.Result
	a.Result = nil
	m.commit(now, a, result)
	return true
}
