package graph

// Place is where a checkpoint holds something that may have a child run.
type Place struct {
	Address Address
	// Completed is set for a branch or an item that has given its result to a fork or a
	// map which is still under way.
	Completed bool
}

// Places lists the activations of a checkpoint, and the branches and items of the forks
// and maps among them, each once.
func (cp *Checkpoint) Places() []Place {
	var places []Place
	known := map[Address]bool{"": true}
	add := func(address Address, status BranchStatus) {
		if !known[address] {
			known[address] = true
			places = append(places, Place{Address: address, Completed: status == BranchCompleted})
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
		add(a.Address, BranchActive)
		items(a.Mapping)
		for j := range a.Branches {
			add(a.Branches[j].Address, a.Branches[j].Status)
			items(a.Branches[j].Mapping)
		}
	}
	return places
}
