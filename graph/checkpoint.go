package graph

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/tidemill/tidemill/graph/value"
)

// CheckpointVersion is the version of [Checkpoint] that this code writes.
const CheckpointVersion = 1

// Checkpoint is the whole state of a run machine. It is what the checkpoint
// query returns and what a run is restored from. Its JSON is exact: restoring
// one and taking it again gives the same bytes.
type Checkpoint struct {
	Version     int             `json:"version"`
	Graph       string          `json:"graph"`
	Fingerprint string          `json:"fingerprint"` // of the document it belongs to
	Lineage     string          `json:"lineage"`     // names the first run; idempotency keys begin with it
	State       value.Object    `json:"state"`
	Output      json.RawMessage `json:"output,omitempty"` // last committed; absent: none yet
	Steps       int             `json:"steps"`            // taken
	StepsLeft   int             `json:"steps_left"`
	Clock       Clock           `json:"clock"`
	Nodes       []NodeRecord    `json:"nodes,omitempty"` // in order of their first visit
	Activations []Activation    `json:"activations,omitempty"`
	Answers     []AnswerRecord  `json:"answers,omitempty"` // the last maxAnswers, oldest first
	Rejected    Rejections      `json:"rejected,omitzero"`
	Stopping    *Outcome        `json:"stopping,omitempty"` // why the run is being ended
	Outcome     *Outcome        `json:"outcome,omitempty"`  // how it ended
}

// NodeRecord is what a run remembers of a node it visited. Visits is the last
// epoch given to an address of the node, and never falls.
type NodeRecord struct {
	Node   string     `json:"node"`
	Visits int        `json:"visits"`
	Status NodeStatus `json:"status"`
}

// NodeStatus is how the last visit of a node stands.
type NodeStatus string

// The statuses of a node.
const (
	NodeActive    NodeStatus = "active"
	NodePaused    NodeStatus = "paused"
	NodeWaiting   NodeStatus = "waiting"
	NodeCompleted NodeStatus = "completed"
	NodeFailed    NodeStatus = "failed"
	NodeCancelled NodeStatus = "cancelled"
)

// Activation is one visit of a node that has not been left yet.
type Activation struct {
	Node    string          `json:"node"`
	Address Address         `json:"address,omitempty"` // absent until its step is taken
	Phase   Phase           `json:"phase"`
	Input   json.RawMessage `json:"input"`
	Loops   []LoopFrame     `json:"loops,omitempty"` // the loops it is inside of, outermost first

	// Checks counts the schemas that the input is known to fit; PhaseReady.
	Checks int `json:"checks,omitempty"`

	// Attempts that ended; the one under way is the next.
	Attempts      int          `json:"attempts,omitempty"`
	Interruptions int          `json:"interruptions,omitempty"`
	Missing       int          `json:"missing,omitempty"` // times no worker had the activity
	Interrupted   Interruption `json:"interrupted,omitempty"`
	// At is when the activation goes on by itself: the end of a backoff or a
	// wait, the next try after an interruption, or a pause's expiry.
	At     *time.Time `json:"at,omitempty"`
	Waited bool       `json:"waited,omitempty"` // a wait node whose time has come

	// Args and Returned are what an activity that is not ours was given and gave.
	Args     json.RawMessage `json:"args,omitempty"`
	Returned json.RawMessage `json:"returned,omitempty"`

	Result  *Result         `json:"result,omitempty"` // PhaseChecking
	Output  json.RawMessage `json:"output,omitempty"` // PhaseRouting: what the successor gets
	Target  string          `json:"target,omitempty"` // PhaseRouting: explicit
	Failure *Failure        `json:"failure,omitempty"`
	Pause   *Pause          `json:"pause,omitempty"`
	Offered []Answer        `json:"offered,omitempty"` // PhaseAnswered: being checked, in order
	Answer  *Answer         `json:"answer,omitempty"`  // accepted; what follows is not decided yet
}

// LoopFrame counts the turns of a loop that an activation is inside of.
type LoopFrame struct {
	Loop  string `json:"loop"`
	Turns int    `json:"turns"`
}

// Phase is where an activation stands.
type Phase string

// The phases of an activation.
const (
	PhaseReady       Phase = "ready"       // its step is not taken yet
	PhaseDeciding    Phase = "deciding"    // entered; something must be evaluated
	PhaseRunning     Phase = "running"     // its activity is open
	PhaseBackoff     Phase = "backoff"     // until the next attempt
	PhaseInterrupted Phase = "interrupted" // until the same attempt is scheduled again
	PhaseWaiting     Phase = "waiting"     // a wait node
	PhasePaused      Phase = "paused"      // its pause is open
	PhaseAnswered    Phase = "answered"    // an answer is being checked
	PhaseChecking    Phase = "checking"    // its result is being checked
	PhaseRouting     Phase = "routing"     // committed; its route is not decided
	PhaseFailed      Phase = "failed"      // failed; where that leads is not decided
	PhaseEnding      Phase = "ending"      // leads to the end; the output is being checked
	PhaseCancelling  Phase = "cancelling"  // asked to stop, not stopped
	PhaseCancelled   Phase = "cancelled"   // stopped with the run
)

// Clock is a run's budget of running time. While the run can move, Deadline is
// the instant it ends; while the whole run is paused, Left is what remains.
type Clock struct {
	Limited  bool       `json:"limited,omitempty"`
	Deadline *time.Time `json:"deadline,omitempty"`
	Left     Duration   `json:"left,omitzero"`
}

// Status is how a run stands or ended.
type Status string

// The statuses of a run.
const (
	StatusRunning   Status = "running"
	StatusPaused    Status = "paused"
	StatusCompleted Status = "completed"
	StatusFailed    Status = "failed"
	StatusTimedOut  Status = "timed_out"
	StatusCancelled Status = "cancelled"
)

// Outcome is how a run ended.
type Outcome struct {
	Status   Status          `json:"status"`
	Output   json.RawMessage `json:"output,omitempty"` // completed: the run's result
	Failure  *Failure        `json:"failure,omitempty"`
	Finished time.Time       `json:"finished,omitzero"`
}

// ParseCheckpoint reads a checkpoint strictly enough that Restore can trust
// its shape. The failure's type is [ErrTypeInvalidCheckpoint].
func ParseCheckpoint(raw json.RawMessage) (Checkpoint, *Failure) {
	var cp Checkpoint
	raw, err := value.Canonical(raw) // a writer may have escaped what canonical text does not
	if err == nil {
		err = json.Unmarshal(raw, &cp)
	}
	if err != nil {
		return Checkpoint{}, Failf(ErrTypeInvalidCheckpoint, "not a checkpoint: %v", err)
	}
	return cp, nil
}

// check refuses a checkpoint that does not belong to the plan or that no
// machine could have written.
func (cp *Checkpoint) check(p *Plan) *Failure {
	switch {
	case cp.Version != CheckpointVersion:
		return Failf(ErrTypeInvalidCheckpoint, "checkpoint version is %d; this code reads %d", cp.Version, CheckpointVersion)
	case cp.Graph != p.Document.ID:
		return Failf(ErrTypeCheckpointWorkflow, "the checkpoint is of graph %q, not of %q", cp.Graph, p.Document.ID)
	case cp.Fingerprint != p.Fingerprint:
		return Failf(ErrTypeCheckpointDefinition, "the checkpoint was taken under another version of graph %q", cp.Graph)
	case cp.Outcome != nil && cp.Outcome.Status == StatusCompleted:
		return Failf(ErrTypeCheckpointComplete, "the run has completed; nothing is left to do")
	case cp.Steps < 0 || cp.StepsLeft < 0:
		return Failf(ErrTypeInvalidCheckpoint, "negative steps")
	}
	if err := cp.checkEnd(); err != nil {
		return Failf(ErrTypeInvalidCheckpoint, "%v", err)
	}
	visits := map[string]int{}
	for _, n := range cp.Nodes {
		if p.Node(n.Node) == nil || n.Visits < 0 {
			return Failf(ErrTypeInvalidCheckpoint, "node %q with %d visits", n.Node, n.Visits)
		}
		if _, twice := visits[n.Node]; twice {
			return Failf(ErrTypeInvalidCheckpoint, "node %q is recorded twice", n.Node)
		}
		visits[n.Node] = n.Visits
	}
	seen := map[Address]bool{}
	for i := range cp.Activations {
		a := &cp.Activations[i]
		if err := a.check(p, visits); err != nil {
			return Failf(ErrTypeInvalidCheckpoint, "activation %d: %v", i, err)
		}
		if seen[a.Address] && a.Address != "" {
			return Failf(ErrTypeInvalidCheckpoint, "address %q is there twice", a.Address)
		}
		seen[a.Address] = true
	}
	return nil
}

// checkEnd makes sure that the run either goes on or has ended in a way that
// can be reported.
func (cp *Checkpoint) checkEnd() error {
	switch {
	case cp.Outcome != nil && cp.Stopping == nil:
		return errors.New("the run has an outcome and was not stopped")
	case cp.Stopping == nil && len(cp.Activations) == 0:
		return errors.New("nothing is active and the run has not ended")
	}
	for _, o := range []*Outcome{cp.Stopping, cp.Outcome} {
		if o == nil {
			continue
		}
		switch o.Status {
		case StatusCompleted:
		case StatusFailed, StatusTimedOut, StatusCancelled:
			if o.Failure == nil {
				return fmt.Errorf("the run is %s without a failure", o.Status)
			}
		case StatusRunning, StatusPaused:
			return fmt.Errorf("%q is not how a run ends", o.Status)
		default:
			return fmt.Errorf("%q is not how a run ends", o.Status)
		}
	}
	return nil
}

func (a *Activation) check(p *Plan, visits map[string]int) error {
	node := p.Node(a.Node)
	if node == nil {
		return fmt.Errorf("node %q is not in the graph", a.Node)
	}
	if a.Checks < 0 || a.Attempts < 0 || a.Interruptions < 0 || a.Missing < 0 {
		return fmt.Errorf("node %q has a negative counter", a.Node)
	}
	// A node whose input was refused has failed, or leads to the end, without
	// its step having been taken.
	if (a.Address == "") != (a.Phase == PhaseReady) && a.Phase != PhaseFailed && a.Phase != PhaseEnding {
		return fmt.Errorf("node %q is %s with address %q", a.Node, a.Phase, a.Address)
	}
	if a.Address != "" {
		segments := a.Address.Segments()
		if len(segments) != 1 || segments[0].Node != a.Node || segments[0].Epoch > visits[a.Node] {
			return fmt.Errorf("address %q does not belong to node %q", a.Address, a.Node)
		}
	}
	for _, frame := range a.Loops {
		loop := p.Node(frame.Loop)
		if loop == nil || loop.Type != TypeLoop || frame.Turns < 0 || frame.Turns > loop.MaxIterations {
			return fmt.Errorf("%d turns of loop %q", frame.Turns, frame.Loop)
		}
	}
	if !node.canBe(a.Phase) {
		return fmt.Errorf("node %q of type %s cannot be %s", a.Node, node.Type, a.Phase)
	}
	return a.checkPhase()
}

// canBe reports whether an activation of the node can be in a phase.
func (n *Node) canBe(phase Phase) bool {
	switch phase {
	case PhaseReady, PhaseFailed, PhaseEnding, PhaseCancelled:
		return true
	case PhaseDeciding:
		return n.Type != TypeAction || n.Foreign()
	case PhaseRunning, PhaseBackoff, PhaseInterrupted, PhaseCancelling:
		return n.Type == TypeAction
	case PhaseWaiting:
		return n.Type == TypeWait
	case PhasePaused, PhaseAnswered:
		return n.Type == TypePause || n.Type == TypeAction
	case PhaseChecking, PhaseRouting:
		return n.Type.EdgeBearing()
	default:
		return false
	}
}

// checkPhase makes sure that what the phase needs is there.
func (a *Activation) checkPhase() error {
	missing := ""
	switch a.Phase {
	case PhaseReady, PhaseDeciding, PhaseRunning, PhaseCancelling, PhaseCancelled, PhaseRouting, PhaseEnding:
	case PhaseBackoff, PhaseInterrupted, PhaseWaiting:
		if a.At == nil {
			missing = "at"
		}
	case PhasePaused, PhaseAnswered:
		if a.Pause == nil || a.Pause.ID != a.Address {
			missing = "its pause"
		} else if a.Phase == PhaseAnswered && len(a.Offered) == 0 {
			missing = "an answer"
		}
	case PhaseChecking:
		if a.Result == nil || a.Result.checkControl() != nil {
			missing = "a result"
		}
	case PhaseFailed:
		if a.Failure == nil {
			missing = "failure"
		}
	}
	if missing != "" {
		return fmt.Errorf("node %q is %s without %s", a.Node, a.Phase, missing)
	}
	return nil
}
