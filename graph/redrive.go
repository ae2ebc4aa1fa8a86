package graph

import "slices"

// Redrive makes of a run that has closed the run that takes it up: an export that
// [Redriven] starts (its checkpoint holds the children that go on), and what that
// means. The export may be of a run that failed, timed out, was cancelled, was
// terminated while it was open, or of one that [Rewind] put back.
//
// What has committed is not repeated. Activations that failed or were stopped run
// again under their own addresses, so with their own idempotency keys, and with
// fresh attempts; one that had failed takes a step for it. The plan is also given with
// a failure, as far as it got.
//
// Failures: checkpoint_complete (of a completed run),
// checkpoint_definition_mismatch, checkpoint_workflow_mismatch, invalid_checkpoint,
// budget_exhausted (too few steps are left and none are given), state_too_large (the
// run with its children is too large to carry), invalid_run_options (From names nothing
// that can be repeated here, or a budget is out of range).
func Redrive(p *Plan, e Export, how Redriving) (Export, RedrivePlan, *Failure) {
	r := newRedriver(p, e, how)
	if failure := r.redrive(); failure != nil {
		return Export{}, r.plan, failure
	}
	e.Checkpoint, e.Children = r.m.Checkpoint(), nil
	return e, r.plan, nil
}

// redriver makes the checkpoint of a redrive, on a machine that is never run.
type redriver struct {
	m        *Machine
	how      Redriving
	old      *Document // what the run was bound to; nil when the export does not say
	children []ExportedChild
	plan     RedrivePlan

	from    bool               // From has been found
	charged int                // activations that take a step to run again
	again   map[Address]string // nodes of what runs again under its own address
	bases   map[Address]Address
	// rebase begins the addresses of items that are repeated, in a map's own run: only
	// the parent knows which are free.
	rebase Address
}

func newRedriver(p *Plan, e Export, how Redriving) *redriver {
	r := &redriver{how: how, children: e.Children, again: map[Address]string{}, bases: map[Address]Address{}}
	r.m = &Machine{plan: p, cp: e.Checkpoint.clone(), records: map[string]int{}}
	if e.Document != nil {
		if fingerprint, err := e.Document.Fingerprint(); err == nil && fingerprint == e.Checkpoint.Fingerprint {
			r.old = e.Document
		}
	}
	r.plan = RedrivePlan{
		Graph: p.Document.ID, RedriveOf: e.RunID, From: how.From, Reused: []PlannedStep{}, Repeated: []PlannedStep{},
		Dropped: []PlannedStep{}, Pauses: []Address{}, Children: []RedriveChild{},
	}
	r.m.cp.RedriveOf = e.RunID
	return r
}

func (r *redriver) redrive() *Failure {
	if failure := r.check(); failure != nil {
		return failure
	}
	for i, n := range r.m.cp.Nodes {
		r.m.records[n.Node] = i
	}
	r.begin()
	for _, step := range []func() *Failure{r.takeFrom, r.forks, r.maps, r.activations, r.takeChildren, r.steps, r.fits} {
		if failure := step(); failure != nil {
			return failure
		}
	}
	r.sum()
	return nil
}

// check refuses what cannot be redriven, and fits what a corrected graph is given.
func (r *redriver) check() *Failure {
	cp, p := &r.m.cp, r.m.plan
	switch {
	case r.how.MaxSteps < 0:
		return Failf(ErrTypeInvalidRunOptions, "max_steps is %d; give at least 1, or nothing for what is left", r.how.MaxSteps)
	case r.how.Deadline < None:
		return Failf(ErrTypeInvalidRunOptions, "the deadline lies in the past; give a length of time such as 2h, or none")
	}
	if _, err := ParseAddress(string(r.how.From)); r.how.From != "" && err != nil {
		return Failf(ErrTypeInvalidRunOptions, "from is %q, which is no address; write one as status shows it, such as ship#1, and an item of a map by its number, such as each#1/17", r.how.From)
	}
	if cp.Version == CheckpointVersion && cp.Graph == p.Document.ID && cp.Fingerprint != p.Fingerprint {
		if !r.how.Corrected {
			return Failf(ErrTypeCheckpointDefinition,
				"the run was bound to another version of graph %q (%.8s, not %.8s): to go on with this one, say so by giving it as the spec",
				cp.Graph, cp.Fingerprint, p.Fingerprint)
		}
		if failure := r.correct(); failure != nil {
			return failure
		}
	}
	return cp.check(p)
}

// begin drops what belongs to the life that has ended.
func (r *redriver) begin() {
	cp := &r.m.cp
	if held := len(cp.Permits); held > 0 {
		r.drop(PlannedStep{Count: held, Why: "permits, or places in the queue for one: asked for anew"})
	}
	if late := len(cp.Forwards); late > 0 {
		r.drop(PlannedStep{Count: late, Why: "answers on their way to children"})
	}
	cp.Outcome, cp.Stopping, cp.Permits, cp.Forwards = nil, nil, nil, nil
	cp.Clock = Clock{}
	if cp.Child == nil { // a child's is made of what its parent grants
		cp.Clock = newClock(r.m.plan, r.how.Deadline)
		r.plan.Deadline = cp.Clock.Left
	}
	if r.how.MaxSteps > 0 {
		cp.StepsLeft = r.how.MaxSteps
	}
}

// activations makes whatever is not a fork or a map ready to go on.
func (r *redriver) activations() *Failure {
	for i := range r.m.cp.Activations {
		r.activation(&r.m.cp.Activations[i])
	}
	r.m.purge()
	return nil
}

func (r *redriver) activation(a *Activation) {
	switch a.Phase {
	case PhaseForking, PhaseMapping, PhaseSettled:
		return
	case PhaseRouting, PhaseEnding, PhaseChecking:
		r.goOn(a, "it has committed; where it leads is decided again")
	case PhaseReady:
		a.Checks = 0
		if a.Address != "" && a.Map == "" {
			r.rerun(a, "it was about to run")
		} else if a.Map == "" {
			r.repeat(PlannedStep{Node: a.Node, Why: "its step is not taken yet"})
		}
		a.Used = false
	case PhaseDeciding:
		if a.Used {
			r.rerun(a, "repeated")
			return
		}
		r.goOn(a, "it goes on where it stood")
	case PhasePaused, PhaseAnswered, PhaseCancelled, PhaseCancelling:
		switch {
		case a.Asked && a.Used:
			r.askAgain(a)
		case a.Pause != nil && !a.Used && !r.asksAnew(a):
			r.reopen(a)
		default:
			r.rerun(a, "it was stopped")
		}
	case PhaseFailed:
		if a.Asked {
			r.askAgain(a)
			return
		}
		r.rerun(a, "it failed: "+a.Failure.Type)
	case PhaseRunning, PhaseAdmission, PhaseBackoff, PhaseInterrupted, PhaseWaiting:
		r.rerun(a, "it was under way")
	}
}

// goOn leaves an activation where it stands.
func (r *redriver) goOn(a *Activation, why string) {
	a.At, a.Used = nil, false
	r.m.mark(a, NodeActive)
	if a.Phase != PhaseDeciding {
		r.m.mark(a, NodeCompleted)
	}
	r.reuse(PlannedStep{Node: a.Node, Address: a.Address, Why: why})
}

// asksAnew reports whether a pause is not opened as it was: a corrected graph may ask
// something else.
func (r *redriver) asksAnew(a *Activation) bool {
	return r.plan.Checked != nil && r.m.plan.Node(a.Node).Type == TypePause
}

// reopen opens a pause again that nobody has answered. Its time begins anew.
func (r *redriver) reopen(a *Activation) {
	p := *a.Pause
	if p.Expires != nil {
		at := r.how.Now.Add(p.Expires.Sub(p.Opened))
		p.Expires = &at
	}
	p.Opened = r.how.Now
	a.Phase, a.Pause, a.At, a.Offered, a.Failure = PhasePaused, &p, p.Expires, nil, nil
	r.m.mark(a, NodePaused)
	r.plan.Pauses = append(r.plan.Pauses, a.Address)
}

// askAgain opens the pause of an action again that was answered, or not in time, to no
// avail. The action does not run again: what it gave with the pause has committed. The
// id of a pause that has closed is used up, so this is the node's next visit.
func (r *redriver) askAgain(a *Activation) {
	p := *a.Pause
	r.m.address(a)
	p.ID = a.Address
	p.Digest = p.digest()
	a.Pause, a.Used = &p, false
	r.charged++
	r.reopen(a)
}

// rerun makes an activation enter its node again. It keeps its address, and so its
// key, unless it has committed under it or its approval is used up.
func (r *redriver) rerun(a *Activation, why string) {
	node := r.m.plan.Node(a.Node)
	address, failed := a.Address, a.Phase == PhaseFailed
	next := Activation{
		Node: a.Node, Address: a.Address, Phase: PhaseReady, Input: a.Input, Loops: a.Loops, Fork: a.Fork,
		Map: a.Map, Item: a.Item, Index: a.Index, Earlier: a.Earlier + a.attemptsBegun(node),
	}
	switch {
	case a.Used && !r.hasChild(a.Address), failed && r.answered(a):
		r.renew(&next)
	case a.Address == "": // its step is not taken yet
	case a.Returned != nil && (node.Type == TypeWorkflow || node.Type == TypeMap):
		next.Phase, next.Returned = PhaseDeciding, a.Returned
	default:
		r.again[a.Address] = a.Node
		next.Mapping = a.Mapping
	}
	if failed && next.Address != "" && next.Map == "" && node.Type != TypeFork {
		r.charged++
	}
	*a = next
	if a.Address != "" {
		r.m.mark(a, NodeActive)
	}
	if a.Map != "" { // counted with the others of its map
		return
	}
	r.repeat(PlannedStep{Node: a.Node, Address: address, Why: why})
}

// answered reports whether the pause of an activation has been answered, so that the
// approval is used up.
func (r *redriver) answered(a *Activation) bool {
	return a.Answer != nil || slices.ContainsFunc(r.m.cp.Answers, func(given AnswerRecord) bool {
		return given.PauseID == a.Address && a.Address != "" && given.Closed == ClosedAnswered
	})
}

// renew gives an activation that has an address another one: a branch or a node its
// next visit, an item another base.
func (r *redriver) renew(a *Activation) {
	if a.Map != "" {
		over := r.m.find(a.Map)
		over.Mapping.Items[a.Index].Base = r.freshBase(over)
		a.Address = over.Mapping.address(a.Index)
		return
	}
	a.Address, a.Earlier = "", 0
	if fork := r.m.find(a.Fork); fork != nil {
		for i := range fork.Branches {
			if fork.Branches[i].ID == a.Node {
				fork.Branches[i].Address = ""
			}
		}
	}
}

// freshBase begins the addresses of the items of a map that are repeated although
// they had committed: that of an attempt which the map will not make.
func (r *redriver) freshBase(over *Activation) Address {
	if base, known := r.bases[over.Address]; known {
		return base
	}
	base := r.rebase
	if !r.m.cp.Child.runsMap() {
		over.Earlier = max(over.Earlier, over.Mapping.attempt()-1) + 1
		base = over.Address.again(over.Earlier + 1)
	}
	r.bases[over.Address] = base
	return base
}

// attempt is the last attempt of the map that items have addresses of: those that were
// repeated alone have one that the map did not make.
func (mp *Mapping) attempt() int {
	last := max(mp.Base.Leaf().Attempt, 1)
	for i := range mp.Items {
		last = max(last, mp.Items[i].Base.Leaf().Attempt)
	}
	return last
}

// attemptsBegun is how many attempts of a child or a map have been begun, so that
// their addresses are taken.
func (a *Activation) attemptsBegun(node *Node) int {
	if node.Type != TypeWorkflow && node.Type != TypeMap {
		return 0
	}
	begun := a.Attempts
	if a.Phase != PhaseFailed && (a.Child != nil || a.Failure != nil) { // one was under way
		begun++
	}
	return begun
}

// steps takes the steps of what runs again.
func (r *redriver) steps() *Failure {
	cp := &r.m.cp
	need := r.charged
	for i := range cp.Activations {
		a := &cp.Activations[i]
		if a.Phase == PhaseReady && a.Address == "" && r.m.plan.Node(a.Node).Type != TypeFork {
			need++
		}
	}
	if need > cp.StepsLeft {
		return Failf(ErrTypeBudgetExhausted,
			"%d steps are left and %d are needed to go on: give a larger budget as max_steps", cp.StepsLeft, need)
	}
	cp.Steps, cp.StepsLeft = cp.Steps+r.charged, cp.StepsLeft-r.charged
	r.plan.StepsLeft = cp.StepsLeft
	return nil
}

// fits makes sure that the run can be carried, and that what was made of it is what a
// machine takes.
func (r *redriver) fits() *Failure {
	limit := r.how.Limit
	if limit == 0 {
		limit = DefaultStateLimit
	}
	if size := r.m.plan.Size + r.m.cp.size(); size > limit {
		return Failf(ErrTypeStateTooLarge,
			"the graph and the checkpoint, with its %d children, have %d bytes; at most %d are carried: redrive with a larger limit of the worker, "+
				"or begin from an address further back", len(r.m.cp.Resume), size, limit)
	}
	if r.how.From != "" && !r.from {
		return r.unknownFrom()
	}
	return r.m.cp.check(r.m.plan)
}

func (r *redriver) reuse(s PlannedStep)  { r.plan.Reused = append(r.plan.Reused, s) }
func (r *redriver) repeat(s PlannedStep) { r.plan.Repeated = append(r.plan.Repeated, s) }
func (r *redriver) drop(s PlannedStep)   { r.plan.Dropped = append(r.plan.Dropped, s) }

// sum lists what the run has behind it: visits that are not repeated, and those that a
// rewind left out.
func (r *redriver) sum() {
	cp := &r.m.cp
	open := map[Address]bool{}
	for i := range cp.Activations {
		open[cp.Activations[i].Address] = true
	}
	reused := make([]PlannedStep, 0, len(cp.Nodes))
	for _, n := range cp.Nodes {
		visits := n.Visits
		last := cp.prefix().Join(Segment{Node: n.Node, Epoch: visits})
		if n.Status == NodeUndone {
			r.drop(PlannedStep{Node: n.Node, Address: last, Why: "it lies behind what is repeated"})
			continue
		}
		if open[last] || r.again[last] != "" {
			visits--
			last = cp.prefix().Join(Segment{Node: n.Node, Epoch: visits})
		}
		if visits > 0 {
			reused = append(reused, PlannedStep{Node: n.Node, Address: last, Count: visits, Why: "committed"})
		}
	}
	r.plan.Reused = append(reused, r.plan.Reused...)
}
