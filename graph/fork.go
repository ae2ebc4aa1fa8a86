package graph

import (
	"fmt"
	"slices"
	"time"
)

// openFork begins a fork: its branches start as the window allows.
func (m *Machine) openFork(node *Node, a *Activation) {
	a.Phase = PhaseForking
	a.Branches = make([]Branch, len(node.Branches))
	for i, id := range node.Branches {
		a.Branches[i] = Branch{ID: id, Status: BranchUnstarted}
	}
}

// advanceFork judges a fork and starts what its window has room for. It waits
// until its branches have come to rest, so that what settled in one workflow
// task is judged together, however the decisions on the way were batched.
func (m *Machine) advanceFork(now time.Time, a *Activation, decider Decider) bool {
	if m.stirs(a.Address) {
		return false
	}
	node := m.plan.Node(a.Node)
	if a.Verdict == VerdictOpen {
		m.leaving(a)
		if a.Verdict = m.judge(node.JoinPolicy, a.Branches); a.Verdict != VerdictOpen {
			m.dismiss(now, a)
			return true
		}
		return m.startBranches(node, a)
	}
	if slices.ContainsFunc(a.Branches, func(b Branch) bool { return b.Status == BranchActive }) {
		return false // losers are awaited
	}
	if a.Verdict == VerdictJoin {
		return m.join(node, a, decider)
	}
	m.fail(a, forkFailure(node, a))
	return true
}

// stirs reports whether something that belongs to a fork or a map can move by
// itself.
func (m *Machine) stirs(owner Address) bool {
	for i := range m.cp.Activations {
		if a := &m.cp.Activations[i]; a.owner() == owner && m.canMove(a) {
			return true
		}
	}
	return false
}

// canMove reports whether a branch or an item goes on without the world.
func (m *Machine) canMove(a *Activation) bool {
	switch a.Phase {
	case PhaseReady, PhaseDeciding, PhaseAnswered, PhaseChecking, PhaseFailed:
		return true
	case PhaseMapping:
		return m.mapMoves(a) || m.stirs(a.Address)
	case PhaseAdmission, PhaseRunning, PhaseBackoff, PhaseInterrupted, PhaseWaiting, PhasePaused, PhaseRouting,
		PhaseEnding, PhaseForking, PhaseSettled, PhaseCancelling, PhaseCancelled:
		return false
	default:
		return false
	}
}

// forkMoves reports whether a fork goes on without the world: it has an end to
// judge, or room for another branch.
func (m *Machine) forkMoves(a *Activation) bool {
	active, unstarted := 0, false
	for i := range a.Branches {
		b := &a.Branches[i]
		switch {
		case b.settled() && !b.Judged:
			return true
		case b.Status == BranchActive:
			active++
		case b.Status == BranchUnstarted:
			unstarted = true
		}
	}
	return a.Verdict != VerdictOpen || unstarted && active < m.plan.Node(a.Node).MaxConcurrency
}

// startBranches starts the next branches while the window has room. The step of
// each is taken when it is entered, like any node's.
func (m *Machine) startBranches(node *Node, a *Activation) bool {
	active := 0
	for _, b := range a.Branches {
		if b.Status == BranchActive {
			active++
		}
	}
	fork := *a // appending may move the activation itself
	started := false
	for i := range fork.Branches {
		b := &fork.Branches[i]
		if b.Status != BranchUnstarted || active >= node.MaxConcurrency {
			continue
		}
		b.Status, started = BranchActive, true
		active++
		m.cp.Activations = append(m.cp.Activations, Activation{
			Node: b.ID, Phase: PhaseReady, Input: fork.Input, Fork: fork.Address, Address: b.Address, Earlier: b.Earlier, Mapping: b.Mapping,
		})
		b.Mapping = nil
	}
	return started
}

// forkFailure is why a fork failed. Its cause is the branch that decided it, or
// where too few completed the first that failed, in declared order.
func forkFailure(node *Node, a *Activation) *Failure {
	var cause *Failure
	if i := slices.IndexFunc(a.Branches, func(b Branch) bool { return b.Status == BranchFailed }); i >= 0 {
		cause = a.Branches[i].Failure
	}
	if a.Verdict == VerdictNobody {
		return &Failure{
			Type: ErrTypeForkJoinUnsatisfied, Cause: cause,
			Message: fmt.Sprintf("too few branches completed for the join policy %s", node.JoinPolicy),
		}
	}
	f := &Failure{Type: ErrTypeForkBranchFailed, Cause: cause, Message: "a branch failed"}
	if cause != nil {
		f.Message = fmt.Sprintf("branch %s failed with %s: %s", cause.Node, cause.Type, cause.Message)
	}
	return f
}
