package graph

import "slices"

// Repeats reports whether a redrive of a checkpoint can begin at an address of its
// run (not of a child): at an activation that has not committed, or that is about to
// take the step of that address, and at a branch or an item whose fork or map is
// still under way, committed or not.
//
// To begin at what the last checkpoint has left behind, replay the run and keep the
// last checkpoint for which this holds: it is the second argument of [Rewind].
func (cp *Checkpoint) Repeats(from Address) bool {
	for i := range cp.Activations {
		a := &cp.Activations[i]
		next := cp.prefix().Join(Segment{Node: a.Node, Epoch: cp.visits(a.Node) + 1})
		if a.Address == from && !a.committed() || a.Address == "" && a.Phase == PhaseReady && next == from {
			return from != ""
		}
		if slices.ContainsFunc(a.Branches, func(b Branch) bool { return b.Address == from && from != "" }) {
			return true
		}
		for j := range a.Mapping.len() {
			if a.Mapping.address(j) == from {
				return true
			}
		}
	}
	return false
}

// visits is how often a node has been visited.
func (cp *Checkpoint) visits(node string) int {
	for i := range cp.Nodes {
		if cp.Nodes[i].Node == node {
			return cp.Nodes[i].Visits
		}
	}
	return 0
}

// Rewind makes one checkpoint of two of a run: it stands where before stood, and
// goes on counting where last has got to. Visits of nodes, acquisitions, requests and
// the ledger of answers are those of last, so that no address, no permit and no
// answer is used twice; steps that were taken stay taken. For [Redrive].
func Rewind(last, before Checkpoint) (Checkpoint, *Failure) {
	switch {
	case last.Version != before.Version || last.Version != CheckpointVersion:
		return Checkpoint{}, Failf(ErrTypeInvalidCheckpoint, "checkpoint versions are %d and %d; this code reads %d: take them up with the release that wrote them",
			last.Version, before.Version, CheckpointVersion)
	case last.Graph != before.Graph || last.Lineage != before.Lineage || last.prefix() != before.prefix():
		return Checkpoint{}, Failf(ErrTypeInvalidCheckpoint, "the two checkpoints are not of one run: give two of the run that is redriven")
	case last.Fingerprint != before.Fingerprint:
		return Checkpoint{}, Failf(ErrTypeCheckpointDefinition, "the two checkpoints are of different versions of graph %q: give two of the execution that ended last", last.Graph)
	case last.Acquisitions < before.Acquisitions || last.Steps < before.Steps:
		return Checkpoint{}, Failf(ErrTypeInvalidCheckpoint, "the checkpoint to go back to is the later one: give them in the other order")
	}
	cp := before.clone()
	cp.Steps, cp.StepsLeft, cp.Clock = last.Steps, last.StepsLeft, last.Clock
	cp.Acquisitions, cp.Requests = last.Acquisitions, max(last.Requests, before.Requests)
	cp.Answers, cp.Rejected, cp.RedriveOf = slices.Clone(last.Answers), last.Rejected, last.RedriveOf
	cp.Nodes, cp.Gone = rewound(last.Nodes, before.Nodes), slices.Clone(last.Gone)
	for i := range cp.Activations {
		a := &cp.Activations[i]
		a.Used = a.Used || a.usedSince(&last, &before)
	}
	return cp, nil
}

// rewound are the records of nodes with the visits that were counted last, and the
// statuses they had before.
func rewound(last, before []NodeRecord) []NodeRecord {
	nodes := slices.Clone(last)
	for i := range nodes {
		nodes[i].Status = NodeUndone
		for _, n := range before {
			if n.Node == nodes[i].Node {
				nodes[i].Status = n.Status
				nodes[i].Visits = max(nodes[i].Visits, n.Visits)
			}
		}
	}
	for _, n := range before { // another history than the last one's
		if !slices.ContainsFunc(last, func(other NodeRecord) bool { return other.Node == n.Node }) {
			nodes = append(nodes, n)
		}
	}
	return nodes
}

// usedSince reports whether the run has gone on from an activation of an earlier
// checkpoint: what runs there again is another visit.
func (a *Activation) usedSince(last, before *Checkpoint) bool {
	if a.Address == "" {
		return last.visits(a.Node) > before.visits(a.Node)
	}
	return !slices.ContainsFunc(last.Activations, func(other Activation) bool {
		return other.Address == a.Address && !other.committed()
	})
}
