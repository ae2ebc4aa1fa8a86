package graph

import "fmt"

// takeChildren lets the children go on whose activations run again, each from where it
// stood.
func (r *redriver) takeChildren() *Failure {
	cp := &r.m.cp
	for _, earlier := range cp.Resume { // of a redrive that ended before it started them
		if r.childOf(earlier.Activation) == nil {
			r.children = append(r.children, earlier)
		}
	}
	cp.Resume = nil
	for i := range r.children {
		c := &r.children[i]
		if failure := r.child(c); failure != nil {
			return failure
		}
	}
	return nil
}

// childOf is the exported child of an activation; nil when there is none.
func (r *redriver) childOf(address Address) *ExportedChild {
	for i := range r.children {
		if r.children[i].Activation == address {
			return &r.children[i]
		}
	}
	return nil
}

// hasChild reports whether the redrive begins inside of the child of an address, which
// is kept for that.
func (r *redriver) hasChild(address Address) bool {
	return r.how.From.within(address) && r.childOf(address) != nil
}

func (r *redriver) child(c *ExportedChild) *Failure {
	node := r.m.plan.Node(r.again[c.Activation])
	dropped := PlannedStep{Address: c.Activation}
	switch {
	case node == nil || node.Type != TypeWorkflow && node.Type != TypeMap:
		dropped.Why = "a child of what does not run again"
	case r.how.From == c.Activation:
		dropped.Why = "the child: it begins anew"
	}
	if dropped.Why != "" {
		r.drop(dropped)
		return nil
	}
	if err := c.check(); err != nil {
		return Failf(ErrTypeInvalidCheckpoint, "%v", err)
	}
	if c.completed() {
		return r.takeResult(c)
	}
	plan, err := r.m.plan.child(node)
	if err != nil {
		return Failf(ErrTypeCheckpointDefinition, "the child at %s cannot go on: %v", c.Activation, err)
	}
	redriven, failure := r.redriveChild(plan, node, c)
	if failure != nil {
		in := *failure
		in.Message = fmt.Sprintf("the child at %s: %s", c.Activation, failure.Message)
		return &in
	}
	r.m.cp.Resume = append(r.m.cp.Resume, redriven)
	return nil
}

// completed reports whether the child has given its result. Its parent may not have
// heard of it.
func (e *Export) completed() bool {
	return e.Checkpoint.Outcome != nil && e.Checkpoint.Outcome.Status == StatusCompleted
}

// takeResult keeps what a child gave that has completed.
func (r *redriver) takeResult(c *ExportedChild) *Failure {
	if r.how.From.within(c.Activation) {
		return r.unknownFrom()
	}
	r.reuse(PlannedStep{Address: c.Activation, Why: "its child has completed; what that gave is taken"})
	kept := ExportedChild{Activation: c.Activation, Export: Export{Version: ExportVersion, WorkflowID: c.WorkflowID, RunID: c.RunID}}
	kept.Checkpoint = Checkpoint{
		Version: c.Checkpoint.Version, Graph: c.Checkpoint.Graph, Fingerprint: c.Checkpoint.Fingerprint, Lineage: c.Checkpoint.Lineage,
		State: c.Checkpoint.State, Child: c.Checkpoint.Child, Outcome: c.Checkpoint.Outcome,
	}
	r.m.cp.Resume = append(r.m.cp.Resume, kept)
	return nil
}

func (r *redriver) redriveChild(plan *Plan, node *Node, c *ExportedChild) (ExportedChild, *Failure) {
	how := r.how
	how.Deadline, how.MaxSteps, how.From = 0, 0, ""
	if inside := r.how.From.within(c.Checkpoint.prefix()); inside {
		how.From, how.MaxSteps = r.how.From, r.how.MaxSteps
	}
	if stopped := c.Checkpoint.Stopping; stopped != nil && stopped.Failure != nil && stopped.Failure.Type == ErrTypeBudgetExhausted {
		how.MaxSteps = r.how.MaxSteps
	}
	sub := newRedriver(plan, c.Export, how)
	if node.Type == TypeMap && how.From != "" {
		sub.rebase = r.reserve(c.Activation)
	}
	if failure := sub.redrive(); failure != nil {
		return ExportedChild{}, failure
	}
	r.from = r.from || sub.from
	r.plan.Children = append(r.plan.Children, RedriveChild{Activation: c.Activation, WorkflowID: c.WorkflowID, Plan: sub.plan})
	return ExportedChild{Activation: c.Activation, Export: Export{
		Version: ExportVersion, WorkflowID: c.WorkflowID, RunID: c.RunID, Started: c.Started, Input: c.Input, Checkpoint: sub.m.Checkpoint(),
	}}, nil
}

// reserve is an address that the map at an address will not use for an attempt.
func (r *redriver) reserve(address Address) Address {
	if a := r.m.find(address); a != nil {
		a.Earlier++
		return a.Address.again(a.Earlier + 1)
	}
	for i := range r.m.cp.Activations {
		for j := range r.m.cp.Activations[i].Branches {
			if b := &r.m.cp.Activations[i].Branches[j]; b.Address == address {
				b.Earlier++
				return address.again(b.Earlier + 1)
			}
		}
	}
	return address
}
