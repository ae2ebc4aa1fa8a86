package graph

// Place is where a checkpoint holds something that may have a child run.
type Place struct {
	Address Address
	// Completed is set for what has taken its child's result, such as a branch or an item
	// that has given its own to a fork or a map which is still under way.
	Completed bool
	// Failed is set for what has failed, whatever its child gave.
	Failed bool
}

// Takes reports whether a redrive has use for the last child of the place, which ended
// so; nil: it has not ended. One that has completed has nothing left to do, but what it
// gave may not have been taken: the run was stopped before it heard of it. A place that
// failed makes another attempt, and its child begins anew.
func (p Place) Takes(child *Outcome) bool {
	return child == nil || child.Status != StatusCompleted || !p.Completed && !p.Failed
}

// Places lists the activations of a checkpoint, and the branches and items of the forks
// and maps among them, each once.
func (cp *Checkpoint) Places() []Place {
	var places []Place
	known := map[Address]bool{"": true}
	add := func(address Address, status BranchStatus) {
		if !known[address] {
			known[address] = true
			places = append(places, Place{Address: address, Completed: status == BranchCompleted, Failed: status == BranchFailed})
		}
	}
	items := func(mp *Mapping) {
		for i := range mp.len() {
			if mp.Items[i].Status != BranchUnstarted || mp.Items[i].Earlier > 0 {
				add(mp.address(i), mp.Items[i].Status)
			}
		}
	}
	for i := range cp.Activations {
		a := &cp.Activations[i]
		status := BranchActive
		switch {
		case a.Phase == PhaseFailed:
			status = BranchFailed
		case a.committed() || a.Returned != nil:
			status = BranchCompleted
		}
		add(a.Address, status)
		items(a.Mapping)
		for j := range a.Branches {
			add(a.Branches[j].Address, a.Branches[j].Status)
			items(a.Branches[j].Mapping)
		}
	}
	return places
}
