package graph

import "fmt"

// forks opens forks again. One that failed runs the branches again that did not
// complete; one whose merge failed merges again; one that was under way goes on, and
// what its policy has taken into account stays as it was.
func (r *redriver) forks() *Failure {
	for i := range r.m.cp.Activations {
		a := &r.m.cp.Activations[i]
		if a.Branches != nil && (a.Phase == PhaseForking || a.Phase == PhaseFailed) {
			r.fork(a)
		}
	}
	return nil
}

func (r *redriver) fork(a *Activation) {
	failed := a.Verdict == VerdictBranch || a.Verdict == VerdictNobody
	switch {
	case failed:
		a.Verdict = VerdictOpen
	case a.Verdict == VerdictJoin:
		r.lose(a.Address)
	}
	for i := range a.Branches {
		b := &a.Branches[i]
		switch {
		case b.Status == BranchUnstarted && a.Used:
			b.Address, b.Earlier, b.Mapping = "", 0, nil
		case b.Status == BranchUnstarted && b.Address != "":
			r.again[b.Address] = b.ID
			r.items(b.Mapping, b.ID, true)
		case failed && b.settled() && b.Status != BranchCompleted:
			r.branch(b)
		}
	}
	a.Phase, a.Failure, a.Checks, a.At, a.Used = PhaseForking, nil, 0, nil, false
	r.m.mark(a, NodeActive)
}

// branch starts a branch again when its fork has room, under the address it has.
func (r *redriver) branch(b *Branch) {
	was, node := *b, r.m.plan.Node(b.ID)
	*b = Branch{ID: was.ID, Address: was.Address, Status: BranchUnstarted}
	if was.Address == "" { // it was never started, or its input was refused
		return
	}
	b.Earlier, b.Mapping = was.Earlier+was.begun(node), was.Mapping
	if was.Status == BranchFailed {
		r.charged++
	}
	r.again[b.Address] = b.ID
	r.items(b.Mapping, b.ID, true)
	r.repeat(PlannedStep{Node: b.ID, Address: b.Address, Why: "the branch " + string(was.Status)})
}

// begun is how many attempts of a child or a map the branch has begun.
func (b *Branch) begun(node *Node) int {
	return begun(node, b.Status, b.Failure, 0)
}

func begun(node *Node, status BranchStatus, failure *Failure, attempts int) int {
	if node.Type != TypeWorkflow && node.Type != TypeMap {
		return 0
	}
	if failure != nil {
		attempts = max(attempts, failure.Attempts)
	}
	if status == BranchCancelled { // one was under way
		attempts++
	}
	return attempts
}

// lose settles what belongs to a fork that was decided without it.
func (r *redriver) lose(owner Address) {
	for i := range r.m.cp.Activations {
		a := &r.m.cp.Activations[i]
		if a.owner() != owner || a.Phase == PhaseSettled {
			continue
		}
		if a.Mapping != nil {
			r.lose(a.Address)
		}
		r.m.settleInner(a, lost(r.m.locate(a, decidedWithout())))
	}
}

// maps opens maps again, as forks are opened.
func (r *redriver) maps() *Failure {
	for i := range r.m.cp.Activations {
		a := &r.m.cp.Activations[i]
		if a.Mapping == nil || a.Phase != PhaseMapping && a.Phase != PhaseFailed {
			continue
		}
		mp, node := a.Mapping, r.m.plan.Node(a.Node)
		failed := mp.Verdict != MapOpen || a.Phase == PhaseFailed
		if a.Phase == PhaseFailed && !r.m.cp.Child.runsMap() {
			r.charged++
		}
		a.Earlier = max(a.Earlier, mp.attempt()-1)
		if a.Used {
			for index := range mp.Items {
				if mp.Items[index].Status == BranchUnstarted && !r.hasChild(mp.address(index)) {
					mp.Items[index].Base = r.freshBase(a)
				}
			}
		}
		r.items(mp, a.Node, failed)
		mp.Verdict = MapOpen
		a.Phase, a.Failure, a.At, a.Attempts, a.Used = PhaseMapping, nil, nil, 0, false
		if node.Timeout > 0 {
			at := r.how.Now.Add(node.Timeout.Std())
			a.At = &at
		}
		r.m.mark(a, NodeActive)
		r.repeat(PlannedStep{
			Node: a.Node, Address: a.Address, Count: mp.count(BranchUnstarted, BranchActive),
			Why: fmt.Sprintf("items; %d have committed", mp.count(BranchCompleted)),
		})
	}
	return nil
}

// items makes items of a map ready that did not complete, if the map failed; and notes
// those that are not started.
func (r *redriver) items(mp *Mapping, mapID string, failed bool) {
	node := r.m.plan.items[ItemID(mapID)]
	for i := range mp.len() {
		item := &mp.Items[i]
		switch item.Status {
		case BranchFailed, BranchCancelled, BranchSkipped:
			if !failed {
				continue
			}
			item.again(node)
		case BranchUnstarted:
		case BranchActive, BranchCompleted:
			continue
		}
		r.again[mp.address(i)] = ItemID(mapID)
	}
	if failed && mp != nil {
		mp.Verdict = MapOpen
	}
}

// again makes an item as if it had not been started.
func (it *MapItem) again(node *Node) {
	earlier := it.Earlier + begun(node, it.Status, it.Failure, it.Attempts)
	*it = MapItem{Value: it.Value, Key: it.Key, Status: BranchUnstarted, Earlier: earlier, Base: it.Base}
}
