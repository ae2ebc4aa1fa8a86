package graph

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/tidemill/tidemill/graph/value"
)

// Machine is the scheduler of one run, as a value. It holds a plan and a
// checkpoint, says what should start next ([Machine.Effects]), and is told what
// happened ([Machine.End], [Machine.Fire], [Machine.Answer], [Machine.Admitted], [Machine.Cancel]).
// [Machine.Advance] carries it on as far as it gets without the world.
//
// It reads no clock and does no I/O: the same calls in the same order leave the
// same checkpoint and the same effects. It is not safe for concurrent use.
type Machine struct {
	plan    *Plan
	facts   RunFacts // of the run; the node's part is filled in per question
	limits  Limits
	cp      Checkpoint
	records map[string]int // place of a node in cp.Nodes

	effects   []Effect
	replies   []Reply // verdicts on answers that somebody waits for
	undecided bool    // the last Advance stopped for want of a decision
	unsettled bool    // the last Advance stopped to let others have a turn
	tracing   bool
	entered   []Address // what [Machine.Entered] hands out

	admission bool   // attempts need a permit
	wishes    wishes // of the run, for nodes that have none of their own
	handed    uint64 // acquisitions up to this number may have been asked for
}

// Start is what a run begins with.
type Start struct {
	Input    json.RawMessage // canonical object: the initial state and the entry's input
	Facts    RunFacts        // ID, RunID, Graph, Revision, Lane, Started
	Lineage  string
	Limits   Limits
	MaxSteps int      // zero: the graph's
	Deadline Duration // budget of running time; zero: the graph's
	Now      time.Time
	// Child is set for a run that another one started. Lineage, MaxSteps and
	// Deadline, Overflow and QueueTimeout are then taken from it.
	Child *ChildStart
	// Admission says that attempts need a permit. Overflow and QueueTimeout are the
	// run's wishes, for nodes that have none of their own; zero: wait, without end.
	Admission    bool
	Overflow     Overflow
	QueueTimeout Duration
}

// New makes the machine of a fresh run, its entry ready. The input has been
// checked with [CheckInput].
func New(p *Plan, s Start) (*Machine, error) {
	state, err := value.ParseObject(s.Input)
	if err != nil {
		return nil, err
	}
	m := s.machine(p)
	m.cp = Checkpoint{
		Version: CheckpointVersion, Graph: p.Document.ID, Fingerprint: p.Fingerprint,
		Lineage: s.Lineage, State: state, StepsLeft: p.Document.MaxSteps,
		Activations: []Activation{{Node: p.Document.Entry, Phase: PhaseReady, Input: s.Input}},
	}
	if s.Child != nil {
		s.MaxSteps, s.Deadline = s.Child.MaxSteps, s.Child.Deadline
	}
	if s.MaxSteps > 0 {
		m.cp.StepsLeft = s.MaxSteps
	}
	budget := p.Document.Deadline
	if s.Deadline != 0 {
		budget = s.Deadline
	}
	if budget != 0 && budget != None {
		m.cp.Clock = Clock{Limited: true, Left: budget}
	}
	if s.Child != nil {
		if err := m.beChild(s.Now, s.Child); err != nil {
			return nil, err
		}
	}
	m.runClock(s.Now)
	return m, nil
}

// Restore makes the machine that wrote a checkpoint. The effects that were
// open then are due again.
func Restore(p *Plan, cp Checkpoint, s Start) (*Machine, *Failure) {
	if failure := cp.check(p); failure != nil {
		return nil, failure
	}
	m := s.machine(p)
	m.cp = cp.clone()
	m.handed = cp.Acquisitions
	if !m.admission { // what an earlier life held is no concern of this one
		m.cp.Permits = nil
	}
	for i, n := range cp.Nodes {
		m.records[n.Node] = i
	}
	for i := range m.cp.Activations {
		a := &m.cp.Activations[i]
		if owner := m.find(a.owner()); owner != nil {
			a.Input = owner.Input
			if a.Map != "" {
				a.Item = owner.Mapping.Items[a.Index].Value
			}
		}
		m.forgetChild(s.Now, a)
		m.reopen(s.Now, a)
	}
	m.purge()
	m.sweep(s.Now)
	m.runClock(s.Now)
	return m, nil
}

// machine is a machine without a checkpoint yet.
func (s *Start) machine(p *Plan) *Machine {
	m := &Machine{plan: p, facts: s.Facts, limits: s.Limits.WithDefaults(), records: map[string]int{}, admission: s.Admission}
	m.wishes = wishes{s.Overflow, s.QueueTimeout}
	if s.Child != nil {
		m.wishes = wishes{s.Child.Overflow, s.Child.QueueTimeout}
	}
	return m
}

// reopen makes the effect of an activation due again.
func (m *Machine) reopen(now time.Time, a *Activation) {
	switch a.Phase {
	case PhaseRunning:
		if m.plan.Node(a.Node).Wrapped() && m.admitted(a) {
			m.emitAttempt(a) // as it was begun, so that a checkpoint is exact
			return
		}
		m.run(now, a)
	case PhaseAdmission:
		m.reopenAdmission(now, a)
	case PhaseMapping:
		if a.At != nil {
			m.emit(SetTimer{Address: a.Address, At: *a.At, Purpose: m.timerPurpose(a)})
		}
	case PhaseBackoff, PhaseInterrupted, PhaseWaiting, PhasePaused, PhaseAnswered:
		if a.At != nil {
			m.emit(SetTimer{Address: a.Address, At: *a.At, Purpose: m.timerPurpose(a)})
		}
	case PhaseCancelling: // what was asked to stop went with the run that asked
		if m.cp.Stopping == nil {
			m.settleInner(a, lost(m.locate(a, decidedWithout())))
			return
		}
		a.Phase = PhaseCancelled
	case PhaseReady, PhaseDeciding, PhaseChecking, PhaseRouting, PhaseFailed, PhaseEnding, PhaseForking, PhaseSettled, PhaseCancelled:
	}
}

// Clone is a copy that can be carried on by itself. It shares only values that
// never change.
func (m *Machine) Clone() *Machine {
	c := *m
	c.cp = m.cp.clone()
	c.records = make(map[string]int, len(m.cp.Nodes))
	for i, n := range m.cp.Nodes {
		c.records[n.Node] = i
	}
	c.effects, c.replies, c.entered = nil, nil, nil
	return &c
}

// Checkpoint is the machine's whole state at this moment.
func (m *Machine) Checkpoint() Checkpoint {
	cp := m.cp.clone()
	for i := range cp.Activations {
		if cp.Activations[i].owner() != "" {
			cp.Activations[i].Input, cp.Activations[i].Item = nil, nil // the fork's or the map's
		}
	}
	return cp
}

func (cp *Checkpoint) clone() Checkpoint {
	c := *cp
	c.State = cp.State.Clone()
	c.Nodes = slices.Clone(cp.Nodes)
	c.Activations = slices.Clone(cp.Activations)
	c.Permits = slices.Clone(cp.Permits)
	c.Answers = slices.Clone(cp.Answers)
	c.Rejected.Last = slices.Clone(cp.Rejected.Last)
	c.Forwards = slices.Clone(cp.Forwards)
	if cp.Child != nil {
		child := *cp.Child
		child.Own = child.Own.Clone()
		c.Child = &child
	}
	for i := range c.Activations {
		c.Activations[i].Loops = slices.Clone(c.Activations[i].Loops)
		c.Activations[i].Offered = slices.Clone(c.Activations[i].Offered)
		c.Activations[i].Branches = slices.Clone(c.Activations[i].Branches)
		c.Activations[i].Mapping = c.Activations[i].Mapping.clone()
		if child := c.Activations[i].Child; child != nil {
			again := *child
			c.Activations[i].Child = &again
		}
	}
	return c
}

// Plan is what the machine runs.
func (m *Machine) Plan() *Plan { return m.plan }

// Outcome is how the run ended; nil while it has not.
func (m *Machine) Outcome() *Outcome { return m.cp.Outcome }

// Undecided reports whether the machine waits for decisions: a copy of it must
// be advanced with an evaluator, and the recorded decisions fed to Advance.
func (m *Machine) Undecided() bool { return m.undecided }

// Unsettled reports whether the last Advance stopped only because it had gone
// on for long enough. Calling Advance again carries on.
func (m *Machine) Unsettled() bool { return m.unsettled }

// record is the record of a node, made on its first visit.
func (m *Machine) record(node string) *NodeRecord {
	i, ok := m.records[node]
	if !ok {
		i = len(m.cp.Nodes)
		m.cp.Nodes = append(m.cp.Nodes, NodeRecord{Node: node})
		m.records[node] = i
	}
	return &m.cp.Nodes[i]
}

// mark notes how the visit of an activation stands. The items of a map are
// counted there.
func (m *Machine) mark(a *Activation, status NodeStatus) {
	if a.Map == "" {
		m.record(a.Node).Status = status
	}
}

// owner is the address of the fork or the map that the activation belongs to;
// empty when it goes its own way.
func (a *Activation) owner() Address {
	if a.Map != "" {
		return a.Map
	}
	return a.Fork
}

// find is the open activation of an address.
func (m *Machine) find(address Address) *Activation {
	if address == "" {
		return nil
	}
	for i := range m.cp.Activations {
		if m.cp.Activations[i].Address == address {
			return &m.cp.Activations[i]
		}
	}
	return nil
}

// Facts are the facts of the run as the node of an activation sees them.
func (m *Machine) factsOf(a *Activation) RunFacts {
	facts := m.facts
	facts.Node, facts.Address = a.Node, a.Address
	facts.Attempt = a.Attempts + 1
	facts.StepsRemaining = m.cp.StepsLeft
	facts.Key = m.cp.Lineage + "/" + string(a.Address)
	facts.Deadline = m.cp.Clock.Deadline
	return facts
}
