package graph

import (
	"fmt"
	"slices"
	"strings"
)

// correct holds what a run has against a corrected graph, and binds the checkpoint to
// it. Where the run stands must be there, of the same kind; what lies behind it may
// have changed in any way.
func (r *redriver) correct() *Failure {
	cp, p := &r.m.cp, r.m.plan
	r.checked("graph %s: the run's version is %.8s, the corrected one %.8s", cp.Graph, cp.Fingerprint, p.Fingerprint)
	for i := range cp.Activations {
		a := &cp.Activations[i]
		if failure := r.correctActivation(a); failure != nil {
			return failure
		}
		a.Checks = 0
	}
	if schema := p.Document.InputSchema; !r.how.Settled && schema != nil && cp.Child == nil && (r.old == nil || string(r.old.InputSchema) != string(schema)) {
		//workflowcheck:ignore a run is given what its pin has settled, and asks no schema
		if failure := CheckSchema(schema, cp.State.Raw(), ErrTypeCheckpointDefinition); failure != nil {
			failure.Message = "the state does not fit the corrected graph's input_schema: " + failure.Message + "; loosen the schema"
			return failure
		}
		r.checked("the state fits the input_schema")
	}
	r.correctRecords()
	cp.Fingerprint = p.Fingerprint
	return nil
}

func (r *redriver) checked(format string, args ...any) {
	r.plan.Checked = append(r.plan.Checked, fmt.Sprintf(format, args...))
}

// unfit is a refusal of a corrected graph.
func unfit(format string, args ...any) *Failure {
	return Failf(ErrTypeCheckpointDefinition, format, args...)
}

func (r *redriver) correctActivation(a *Activation) *Failure {
	node := r.m.plan.Node(a.Node)
	id, _ := strings.CutSuffix(a.Node, itemSuffix)
	switch {
	case node == nil && a.Pause != nil:
		return unfit("the pause %s is open, and the corrected graph has no node %q: keep the node, or answer or cancel the run first", a.at(), id)
	case node == nil:
		return unfit("the run stands at %s, and the corrected graph has no node %q: keep the node, or begin further back with from", a.at(), id)
	}
	if was := r.typeBefore(a.Node); was != "" && was != node.Type || !node.canBe(a.Phase) || a.Pause != nil && !node.canBe(PhasePaused) {
		return unfit("the run stands at %s, and node %q is of another type now (%s): keep its type, or begin further back with from",
			a.at(), id, node.Type)
	}
	if failure := r.correctLoops(a); failure != nil {
		return failure
	}
	if failure := r.correctInner(a, node); failure != nil {
		return failure
	}
	if a.Map == "" {
		r.checked("node %s, where the run stands, is of type %s", a.Node, node.Type)
	}
	return nil
}

// typeBefore is the type that a node had; empty when it is not known.
func (r *redriver) typeBefore(id string) NodeType {
	if r.old == nil {
		return ""
	}
	for _, n := range r.old.activated() {
		if n.ID == id {
			return n.Type
		}
	}
	return ""
}

// correctLoops keeps the turns of the loops that the activation is still inside of.
func (r *redriver) correctLoops(a *Activation) *Failure {
	for i, frame := range a.Loops {
		loop := r.m.plan.Node(frame.Loop)
		switch {
		case loop == nil || loop.Type != TypeLoop || !r.m.plan.inLoop(frame.Loop, a.Node):
			for _, left := range a.Loops[i:] {
				r.drop(PlannedStep{Node: left.Loop, Count: left.Turns, Why: "turns of a loop that the run is not inside of any more"})
			}
			a.Loops = a.Loops[:i:i]
			return nil
		case frame.Turns > loop.MaxIterations:
			return unfit("loop %q has made %d turns, and the corrected graph allows %d: raise max_iterations to at least that",
				frame.Loop, frame.Turns, loop.MaxIterations)
		}
		r.checked("loop %s has made %d of %d turns", frame.Loop, frame.Turns, loop.MaxIterations)
	}
	return nil
}

// correctInner holds branches and items against their fork or map.
func (r *redriver) correctInner(a *Activation, node *Node) *Failure {
	if a.Branches != nil {
		ids := make([]string, len(a.Branches))
		for i := range a.Branches {
			ids[i] = a.Branches[i].ID
		}
		if node.Type != TypeFork || !slices.Equal(ids, node.Branches) {
			return unfit("fork %s is under way with the branches %s, and the corrected graph has %s: keep the branches, or begin further back with from",
				a.at(), strings.Join(ids, ", "), strings.Join(node.Branches, ", "))
		}
		for i := range a.Branches {
			if b := &a.Branches[i]; b.Mapping != nil && r.m.plan.Node(b.ID).Type != TypeMap {
				b.Mapping = nil
				r.drop(PlannedStep{Node: b.ID, Address: b.Address, Why: "items of a map that is none any more"})
			}
		}
		r.checked("fork %s has the same %d branches", a.Node, len(ids))
	}
	fork := r.m.plan.forkOf(a.Node)
	if (fork != nil && a.Node != fork.Join) != (a.Fork != "") {
		return unfit("the run stands at %s, and node %q begins or ceases to be a branch: keep its fork, or begin further back with from", a.at(), a.Node)
	}
	if a.Mapping == nil {
		return nil
	}
	if node.Type != TypeMap {
		return unfit("map %s has %d items under way, and node %q is no map any more: keep its type, or begin further back with from",
			a.at(), len(a.Mapping.Items), a.Node)
	}
	r.checked("map %s is under way with %d items", a.Node, len(a.Mapping.Items))
	return nil
}

// correctRecords sets the records of nodes aside that are gone, and takes those up
// again that are back: an address is never used twice.
func (r *redriver) correctRecords() {
	cp := &r.m.cp
	all := append(slices.Clone(cp.Nodes), cp.Gone...)
	cp.Nodes, cp.Gone = nil, nil
	for _, n := range all {
		if r.m.plan.Node(n.Node) != nil {
			cp.Nodes = append(cp.Nodes, n)
			continue
		}
		cp.Gone = append(cp.Gone, n)
		r.drop(PlannedStep{Node: n.Node, Count: n.Visits, Why: "the corrected graph does not have the node"})
	}
}
