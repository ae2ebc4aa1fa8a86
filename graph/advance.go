package graph

import (
	"bytes"
	"encoding/json"
	"slices"
	"time"
)

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
	case PhaseSettled, PhaseRunning, PhaseBackoff, PhaseInterrupted, PhaseWaiting, PhasePaused, PhaseCancelling, PhaseCancelled:
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
	m.run(a)
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
func (m *Machine) run(a *Activation) {
	a.Phase = PhaseDeciding
	if node := m.plan.Node(a.Node); node.Wrapped() || node.Foreign() && a.Args != nil {
		a.Phase = PhaseRunning
		m.emitRun(a)
	}
}

// address gives an activation the address of its node's next visit, and a
// branch's fork to know it.
func (m *Machine) address(a *Activation) {
	record := m.record(a.Node)
	record.Visits++
	record.Status = NodeActive
	a.Address = m.cp.prefix().Join(Segment{Node: a.Node, Epoch: record.Visits})
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
			return m.decideForeign(a, decider)
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
