package graph

import (
	"encoding/json"
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

	// Attempts that ended; the one under way is the next.
	Attempts      int          `json:"attempts,omitempty"`
	Interruptions int          `json:"interruptions,omitempty"`
	Missing       int          `json:"missing,omitempty"` // times no worker had the activity
	Interrupted   Interruption `json:"interrupted,omitempty"`
	// At is when the activation goes on by itself: the end of a backoff or a
	// wait, the next try after an interruption, or a pause's expiry.
	At     *time.Time `json:"at,omitempty"`
	Waited bool       `json:"waited,omitempty"` // a wait node whose time has come

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
	if err := json.Unmarshal(raw, &cp); err != nil {
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
	for i := range cp.Activations {
		if err := cp.Activations[i].check(p, visits); err != nil {
			return Failf(ErrTypeInvalidCheckpoint, "activation %d: %v", i, err)
		}
	}
	return nil
}

func (a *Activation) check(p *Plan, visits map[string]int) error {
	node := p.Node(a.Node)
	if node == nil {
		return fmt.Errorf("node %q is not in the graph", a.Node)
	}
	if a.Attempts < 0 || a.Interruptions < 0 || a.Missing < 0 {
		return fmt.Errorf("node %q has a negative counter", a.Node)
	}
	if (a.Address == "") != (a.Phase == PhaseReady) && a.Phase != PhaseFailed && a.Phase != PhaseCancelled {
		return fmt.Errorf("node %q is %s with address %q", a.Node, a.Phase, a.Address)
	}
	if a.Address != "" {
		leaf := a.Address.Leaf()
		if leaf.Node != a.Node || leaf.Epoch > visits[a.Node] {
			return fmt.Errorf("address %q does not belong to node %q", a.Address, a.Node)
		}
	}
	for _, frame := range a.Loops {
		loop := p.Node(frame.Loop)
		if loop == nil || loop.Type != TypeLoop || frame.Turns < 0 || frame.Turns > loop.MaxIterations {
			return fmt.Errorf("%d turns of loop %q", frame.Turns, frame.Loop)
		}
	}
	return a.checkPhase()
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
	case PhasePaused:
		if a.Pause == nil {
			missing = "pause"
		}
	case PhaseAnswered:
		if a.Pause == nil || len(a.Offered) == 0 {
			missing = "pause or answer"
		}
	case PhaseChecking:
		if a.Result == nil {
			missing = "result"
		}
	case PhaseFailed:
		if a.Failure == nil {
			missing = "failure"
		}
	default:
		return fmt.Errorf("node %q is in the unknown phase %q", a.Node, a.Phase)
	}
	if missing != "" {
		return fmt.Errorf("node %q is %s without %s", a.Node, a.Phase, missing)
	}
	return nil
}
