package graph

import (
	"slices"
	"strings"
)

// within reports whether an address is inside of what another one names.
func (a Address) within(above Address) bool {
	rest, under := strings.CutPrefix(string(a), string(above))
	return under && above != "" && rest != "" && (rest[0] == '/' || rest[0] == '~')
}

// takeFrom makes what the redrive begins at run again, committed or not.
func (r *redriver) takeFrom() *Failure {
	from := r.how.From
	if from == "" || r.m.cp.Child != nil && !from.within(r.m.cp.prefix()) {
		return nil
	}
	for i := range r.m.cp.Activations {
		a := &r.m.cp.Activations[i]
		switch {
		case r.standsBefore(a, from):
			r.from = true
		case a.Address == from && !a.committed():
			r.from = true
			r.wholly(a)
		case a.Address != "" && from.within(a.Address) && !a.committed() && a.Mapping == nil:
			a.Returned = nil // the child goes on
		}
		r.fromBranch(a, from)
		r.fromItem(a, a.Mapping, from)
	}
	return nil
}

// standsBefore reports whether an activation is about to take the step of an address,
// or a rewound one has taken it.
func (r *redriver) standsBefore(a *Activation, from Address) bool {
	if a.Address != "" || a.Phase != PhaseReady && a.Phase != PhaseFailed {
		return false
	}
	visits := 0
	if i, known := r.m.records[a.Node]; known {
		visits = r.m.cp.Nodes[i].Visits
	}
	leaf := from.Leaf()
	if leaf.Node != a.Node || r.m.cp.prefix().Join(Segment{Node: a.Node, Epoch: leaf.Epoch}) != from {
		return false
	}
	return leaf.Epoch == visits+1 || a.Used && leaf.Epoch <= visits
}

// committed reports whether the activation has given its result to the run.
func (a *Activation) committed() bool {
	return a.Asked || a.Phase == PhaseRouting || a.Phase == PhaseEnding || a.Phase == PhaseSettled
}

// wholly makes an activation run as if it had not begun: not from what a child or
// items have given, nor with the answer that it has.
func (r *redriver) wholly(a *Activation) {
	switch {
	case a.Branches != nil:
		r.forget(a.Address)
		*a = Activation{Node: a.Node, Phase: PhaseReady, Input: a.Input, Loops: a.Loops}
		return
	case a.Mapping != nil:
		r.forget(a.Address)
		a.Earlier = max(a.Earlier, a.Mapping.attempt())
		a.Attempts, a.Mapping = 0, nil
		if a.Phase == PhaseMapping {
			a.Phase = PhaseRunning
		}
	case a.Phase == PhaseChecking, a.Phase == PhaseDeciding && (a.Answer != nil || a.Returned != nil):
		a.Phase = PhaseRunning
	}
	a.Returned, a.Result, a.Waited = nil, nil, false
	if a.Answer != nil {
		a.Used, a.Answer = true, nil
	}
}

// forget drops what belongs to a fork or a map that begins anew.
func (r *redriver) forget(owner Address) {
	for i := range r.m.cp.Activations {
		a := &r.m.cp.Activations[i]
		if a.owner() == owner && a.Phase != PhaseSettled {
			if a.Mapping != nil {
				r.forget(a.Address)
			}
			*a = Activation{Node: a.Node, Address: a.Address, Fork: a.Fork, Map: a.Map, Phase: PhaseSettled}
		}
	}
}

// fromBranch clears the slot of a branch that has ended. The others stay as they are.
func (r *redriver) fromBranch(a *Activation, from Address) {
	for i := range a.Branches {
		b := &a.Branches[i]
		inside := from.within(b.Address)
		if b.Address != from && !inside || b.Address == "" || !b.settled() {
			continue
		}
		was := *b
		switch {
		case b.Mapping != nil && inside: // an item of it, or its child
			*b = Branch{ID: b.ID, Address: b.Address, Status: BranchUnstarted, Earlier: b.Earlier, Mapping: b.Mapping}
			b.Earlier = max(b.Earlier, b.Mapping.attempt()-1)
			over := Activation{Node: b.ID, Address: b.Address, Earlier: b.Earlier}
			r.fromItem(&over, b.Mapping, from)
			b.Earlier = over.Earlier
			r.charged++
		case inside || was.Status != BranchCompleted:
			r.branch(b)
			if !inside {
				b.Mapping = nil
			}
		default:
			*b = Branch{ID: b.ID, Status: BranchUnstarted}
			r.repeat(PlannedStep{Node: b.ID, Address: was.Address, Why: "asked for"})
		}
		r.from = r.from || !inside
		if a.Verdict == VerdictJoin {
			a.Verdict = VerdictOpen
		}
	}
}

// fromItem clears the slot of an item that has ended. Its map goes on when the item
// has run.
func (r *redriver) fromItem(over *Activation, mp *Mapping, from Address) {
	for i := range mp.len() {
		item := &mp.Items[i]
		address := mp.address(i)
		inside := from.within(address)
		if address != from && !inside || item.Status == BranchActive {
			continue
		}
		r.from = r.from || !inside
		if item.Status == BranchUnstarted {
			continue
		}
		completed := item.Status == BranchCompleted
		item.again(r.m.plan.items[ItemID(over.Node)])
		if completed && !inside { // it has a key that is used up
			if over.Mapping == nil {
				over.Mapping = mp
			}
			item.Earlier, item.Base = 0, r.freshBase(over)
		}
	}
}

// unknownFrom says why nothing can begin at From.
func (r *redriver) unknownFrom() *Failure {
	from := r.how.From
	rest, below := from.below(r.m.cp.prefix())
	segments := rest.Segments()
	if below && len(segments) > 0 {
		first := segments[0]
		node, i := r.m.plan.Node(first.Node), slices.IndexFunc(r.m.cp.Nodes, func(n NodeRecord) bool { return n.Node == first.Node })
		switch {
		case node == nil:
			return Failf(ErrTypeInvalidRunOptions, "from is %s, and graph %q has no node %q; %s", from, r.m.cp.Graph, first.Node, r.standing())
		case i >= 0 && first.Epoch <= r.m.cp.Nodes[i].Visits && len(segments) == 1:
			return Failf(ErrTypeInvalidRunOptions,
				"%s has committed, and this checkpoint has left it behind: begin from a checkpoint that was taken before; %s", from, r.standing())
		case i >= 0 && first.Epoch <= r.m.cp.Nodes[i].Visits:
			return Failf(ErrTypeInvalidRunOptions,
				"%s is inside of %s, which cannot go on from this checkpoint: it has committed, or the checkpoint of its child is not given; %s",
				from, first, r.standing())
		}
	}
	return Failf(ErrTypeInvalidRunOptions, "from is %s, where the run has not been; %s", from, r.standing())
}

// standing lists where the run stands, for a message.
func (r *redriver) standing() string {
	var all []string
	for i := range r.m.cp.Activations {
		a := &r.m.cp.Activations[i]
		if a.Map == "" && len(all) < maxListed {
			all = append(all, string(a.at()))
		}
	}
	if len(all) == 0 {
		return "it stands nowhere"
	}
	return "it stands at " + strings.Join(all, ", ")
}

// at is the address of an activation, or its node before it has one.
func (a *Activation) at() Address {
	if a.Address == "" {
		return Address(a.Node)
	}
	return a.Address
}
