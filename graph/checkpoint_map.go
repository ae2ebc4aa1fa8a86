package graph

import "fmt"

// checkMaps makes sure that maps and their items know of each other: an active
// item has an activation, and the other way round.
func (cp *Checkpoint) checkMaps(p *Plan) error {
	type place struct {
		of    Address
		index int
	}
	active := map[place]bool{}
	for i := range cp.Activations {
		a := &cp.Activations[i]
		if (p.items[a.Node] != nil) != (a.Map != "") {
			return fmt.Errorf("node %q with the map %q", a.Node, a.Map)
		}
		if a.Map == "" {
			continue
		}
		at := place{a.Map, a.Index}
		if active[at] {
			return fmt.Errorf("item %d of %s is active twice", a.Index, a.Map)
		}
		active[at] = true
	}
	for i := range cp.Activations {
		a := &cp.Activations[i]
		if !a.mayMap(p.Node(a.Node)) {
			return fmt.Errorf("node %q of type %s is %s, with or without items", a.Node, p.Node(a.Node).Type, a.Phase)
		}
		if a.Mapping == nil {
			continue
		}
		if err := a.Mapping.check(); err != nil {
			return fmt.Errorf("map %q: %w", a.Node, err)
		}
		for index := range a.Mapping.Items {
			at := place{a.Address, index}
			if (a.Mapping.Items[index].Status == BranchActive) != active[at] {
				return fmt.Errorf("item %d of map %q is %s", index, a.Node, a.Mapping.Items[index].Status)
			}
			delete(active, at)
		}
	}
	for i := range cp.Activations {
		a := &cp.Activations[i]
		if a.Map == "" {
			continue
		}
		if active[place{a.Map, a.Index}] {
			return fmt.Errorf("item %d has no map %q", a.Index, a.Map)
		}
		if err := cp.checkItem(a); err != nil {
			return err
		}
	}
	return nil
}

// mayMap reports whether the activation holds items where it must, and only where it
// may: one that failed keeps them for a redrive, which enters it again with them.
func (a *Activation) mayMap(node *Node) bool {
	if a.Mapping == nil {
		return a.Phase != PhaseMapping
	}
	rests := a.Phase == PhaseFailed || a.Phase == PhaseReady || a.Phase == PhaseDeciding
	return a.Phase == PhaseMapping || rests && node.Type == TypeMap && a.Address != "" && a.Mapping.count(BranchActive) == 0
}

// checkItem holds an item's activation against the map it belongs to.
func (cp *Checkpoint) checkItem(a *Activation) error {
	for i := range cp.Activations {
		owner := &cp.Activations[i]
		if owner.Address != a.Map || owner.Mapping == nil {
			continue
		}
		if a.Node != ItemID(owner.Node) || a.Address != owner.Mapping.address(a.Index) {
			return fmt.Errorf("address %q is not item %d of map %q", a.Address, a.Index, owner.Node)
		}
	}
	return nil
}

// check refuses items that no map could have.
func (mp *Mapping) check() error {
	switch mp.Verdict {
	case MapOpen, MapExceeded, MapTimedOut, MapDismissed:
	default:
		return fmt.Errorf("the verdict %q", mp.Verdict)
	}
	if mp.Base.Segments() == nil || miscounted(mp.attempt()) {
		return fmt.Errorf("the base %q", mp.Base)
	}
	for i := range mp.Items {
		item := &mp.Items[i]
		switch item.Status {
		case BranchFailed, BranchCancelled:
			if item.Failure == nil {
				return fmt.Errorf("item %d is %s without a failure", i, item.Status)
			}
		case BranchUnstarted, BranchActive, BranchCompleted, BranchSkipped:
		default:
			return fmt.Errorf("item %d is %q", i, item.Status)
		}
		if miscounted(item.Attempts, item.Earlier) || item.Value == nil {
			return fmt.Errorf("item %d has no value, or a counter that is negative or too large", i)
		}
		if item.Base != "" && item.Base.Segments() == nil {
			return fmt.Errorf("item %d has the base %q", i, item.Base)
		}
	}
	return nil
}
