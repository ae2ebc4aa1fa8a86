package graph

import (
	"time"

	"github.com/tidemill/tidemill/graph/value"
)

// decideMap takes up the list of a map: here, or in a run of its own when it is
// long. When that run has ended the node gets its output and delta.
func (m *Machine) decideMap(now time.Time, node *Node, a *Activation, decider Decider) bool {
	if a.Returned != nil {
		return m.finishMap(a, decider)
	}
	list, keys := node.Items, []string(nil)
	if !literal(node.Items) || node.Key != nil {
		d, ok := m.ask(a, decider, Question{Kind: AskItems, Scope: Scope{Input: a.Input}})
		if !ok {
			return false
		}
		if d.Failure != nil {
			m.fail(a, d.Failure)
			return true
		}
		list, keys = d.Output, d.Keys
	}
	mapping, err := newMapping(a.Address.again(a.Attempts+1), list, keys)
	switch {
	case err != nil || value.KindOf(list) != value.KindArray:
		m.fail(a, Failf(ErrTypeMapItemsInvalid, "items must give a list, and gave %s", value.KindOf(list)))
		return true
	case len(mapping.Items) > MaxItems:
		m.fail(a, Failf(ErrTypeMapItemsInvalid,
			"the list has %d items; a map takes at most %d: map over groups of them", len(mapping.Items), MaxItems))
		return true
	}
	given := mapping.size()
	if a.owner() == "" {
		given += len(a.Input) // it is kept for the items
	}
	if failure := m.carry(a, m.cp.State, given, len(m.cp.Output)); failure != nil {
		m.fail(a, failure)
		return true
	}
	if len(mapping.Items) > MaxInlineItems {
		m.startMap(now, node, a, &MapStart{Node: node.ID, Input: a.Input, Items: list, Keys: keys})
		return true
	}
	m.openMap(now, node, a, mapping)
	return true
}

// startMap gives a map to a run of its own, with the state keys that its items
// read.
func (m *Machine) startMap(now time.Time, node *Node, a *Activation, start *MapStart) {
	state := m.cp.State
	if !node.ReadsAll {
		state = state.Select(node.Reads)
	}
	m.startChild(now, node, a, StartChild{
		Graph: m.plan.Document.ID, Input: state.Raw(), Start: ChildStart{Fingerprint: m.plan.Fingerprint, Map: start},
	})
}

// openMap begins a map in this run.
func (m *Machine) openMap(now time.Time, node *Node, a *Activation, mapping *Mapping) {
	a.Mapping = mapping
	a.Phase = PhaseMapping
	m.mark(a, NodeActive)
	if node.Timeout > 0 {
		m.sleep(a, PhaseMapping, now.Add(node.Timeout.Std()))
	}
}

// advanceMap judges a map and takes up what its window has room for. Like a fork
// it waits until its items have come to rest.
func (m *Machine) advanceMap(now time.Time, a *Activation) bool {
	if m.stirs(a.Address) {
		return false
	}
	node, mp := m.plan.Node(a.Node), a.Mapping
	if mp.Verdict == MapOpen {
		if node.Tolerate.exceeded(mp.count(BranchFailed), len(mp.Items)) {
			m.dismissMap(now, a, MapExceeded)
			return true
		}
		if m.startItems(node, a) {
			return true
		}
	}
	if mp.count(BranchActive) > 0 {
		return false
	}
	m.closeMap(now, node, a)
	return true
}

// mapMoves reports whether a map goes on without the world.
func (m *Machine) mapMoves(a *Activation) bool {
	mp := a.Mapping
	active := mp.count(BranchActive)
	if active == 0 {
		return true
	}
	if mp.Verdict != MapOpen {
		return false
	}
	node := m.plan.Node(a.Node)
	return node.Tolerate.exceeded(mp.count(BranchFailed), len(mp.Items)) ||
		active < node.MaxConcurrency && mp.count(BranchUnstarted) > 0
}

// startItems takes up the next items while the window has room.
func (m *Machine) startItems(node *Node, a *Activation) bool {
	over := *a // appending may move the activation itself
	mp := over.Mapping
	active := mp.count(BranchActive)
	started := false
	for i := range mp.Items {
		if active >= node.MaxConcurrency {
			break
		}
		if mp.Items[i].Status != BranchUnstarted {
			continue
		}
		mp.Items[i].Status, started = BranchActive, true
		active++
		m.cp.Activations = append(m.cp.Activations, Activation{
			Node: ItemID(over.Node), Address: mp.Base.Join(Segment{Item: i}), Phase: PhaseReady,
			Input: over.Input, Map: over.Address, Item: mp.Items[i].Value, Index: i,
		})
		m.trace(m.cp.Activations[len(m.cp.Activations)-1].Address)
	}
	return started
}
