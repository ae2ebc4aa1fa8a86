package graph

import "fmt"

// checkForks makes sure that forks and their branches know of each other: an
// active branch has an activation, and the other way round.
func (cp *Checkpoint) checkForks(p *Plan) error {
	active := map[string]*Activation{} // by branch: a branch belongs to one fork
	for i := range cp.Activations {
		a := &cp.Activations[i]
		fork := p.forkOf(a.Node)
		if (fork != nil && p.Node(a.Node).ID != fork.Join) != (a.Fork != "") {
			return fmt.Errorf("node %q with the fork %q", a.Node, a.Fork)
		}
		if a.Fork == "" {
			continue
		}
		if active[a.Node] != nil {
			return fmt.Errorf("branch %q is active twice", a.Node)
		}
		active[a.Node] = a
	}
	for i := range cp.Activations {
		a := &cp.Activations[i]
		node := p.Node(a.Node)
		if a.Phase != PhaseForking && a.Branches == nil {
			continue
		}
		if err := a.checkBranches(p, node, active); err != nil {
			return err
		}
	}
	for i := range cp.Activations {
		if a := &cp.Activations[i]; active[a.Node] != nil {
			return fmt.Errorf("branch %q has no fork %q", a.Node, a.Fork)
		}
	}
	return nil
}

// checkBranches holds what a fork remembers against its node. It takes the
// branches it finds out of active.
func (a *Activation) checkBranches(p *Plan, node *Node, active map[string]*Activation) error {
	if node.Type != TypeFork || len(a.Branches) != len(node.Branches) {
		return fmt.Errorf("node %q has %d branches", a.Node, len(a.Branches))
	}
	switch a.Verdict {
	case VerdictOpen, VerdictJoin, VerdictBranch, VerdictNobody:
	default:
		return fmt.Errorf("fork %q with the verdict %q", a.Node, a.Verdict)
	}
	for i := range a.Branches {
		b := &a.Branches[i]
		if b.ID != node.Branches[i] {
			return fmt.Errorf("fork %q has no branch %q there", a.Node, b.ID)
		}
		if err := b.check(a, active[b.ID]); err != nil {
			return err
		}
		if b.Mapping != nil && (p.Node(b.ID).Type != TypeMap || b.Status == BranchActive || b.Status == BranchCompleted || b.Address == "" ||
			b.Mapping.check() != nil || b.Mapping.count(BranchActive) > 0) {
			return fmt.Errorf("branch %q has items", b.ID)
		}
		delete(active, b.ID)
	}
	return nil
}

// check holds a branch against its activation, which is nil when it has none.
func (b *Branch) check(fork, own *Activation) error {
	switch b.Status {
	case BranchActive:
		if own == nil || own.Fork != fork.Address || own.Address != b.Address || b.Judged {
			return fmt.Errorf("branch %q is active without an activation of its own", b.ID)
		}
		return nil
	case BranchFailed, BranchCancelled:
		if b.Failure == nil {
			return fmt.Errorf("branch %q is %s without a failure", b.ID, b.Status)
		}
	case BranchUnstarted, BranchCompleted, BranchSkipped:
	default:
		return fmt.Errorf("branch %q is %q", b.ID, b.Status)
	}
	if own != nil {
		return fmt.Errorf("branch %q is %s and has an activation", b.ID, b.Status)
	}
	return nil
}
