package graph

import (
	"encoding/json"
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
	// Permits are the acquisitions that activations wait for or hold, at most one of
	// each; Acquisitions is the number of the latest, and never falls.
	Permits      []Permit       `json:"permits,omitempty"`
	Acquisitions uint64         `json:"acquisitions,omitempty"`
	Child        *ChildState    `json:"child,omitempty"`    // of a run that another one started
	Forwards     []forwarded    `json:"forwards,omitempty"` // answers on their way to children
	Requests     int            `json:"requests,omitempty"` // answers handed to children so far
	Answers      []AnswerRecord `json:"answers,omitempty"`  // the last maxAnswers, oldest first
	Rejected     Rejections     `json:"rejected,omitzero"`
	Stopping     *Outcome       `json:"stopping,omitempty"` // why the run is being ended
	Outcome      *Outcome       `json:"outcome,omitempty"`  // how it ended

	// RedriveOf is the id of the run that this one takes up.
	RedriveOf string `json:"redrive_of,omitempty"`
	// Resume are children of that run which go on where they stood and have not been
	// started yet.
	Resume []ExportedChild `json:"resume,omitempty"`
	// Gone are records of nodes that a corrected graph does not have. Another one may
	// have them again, and goes on counting.
	Gone []NodeRecord `json:"gone,omitempty"`
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
	NodeUndone    NodeStatus = "undone" // a redrive begins before it, and it has not run again
)

// Activation is one visit of a node that has not been left yet.
type Activation struct {
	Node    string          `json:"node"`
	Address Address         `json:"address,omitempty"` // absent until its step is taken
	Phase   Phase           `json:"phase"`
	Input   json.RawMessage `json:"input"`           // null for a branch, which is given its fork's
	Loops   []LoopFrame     `json:"loops,omitempty"` // the loops it is inside of, outermost first

	// Checks counts the schemas that the input is known to fit; PhaseReady.
	Checks int `json:"checks,omitempty"`

	// Attempts that ended; the one under way is the next. Earlier counts the attempts of
	// a child or a map that were made before a redrive: their addresses are taken.
	Attempts      int          `json:"attempts,omitempty"`
	Earlier       int          `json:"earlier,omitempty"`
	Interruptions int          `json:"interruptions,omitempty"`
	Missing       int          `json:"missing,omitempty"` // times no worker had the activity
	Interrupted   Interruption `json:"interrupted,omitempty"`
	Local         bool         `json:"local,omitempty"` // the attempt last begun is a local activity
	// Heartbeat is what the action left for its next attempt.
	Heartbeat json.RawMessage `json:"heartbeat,omitempty"`
	// At is when the activation goes on by itself: the end of a backoff or a
	// wait, the next try after an interruption or for a permit, or a pause's expiry.
	At     *time.Time `json:"at,omitempty"`
	Waited bool       `json:"waited,omitempty"` // a wait node whose time has come

	// Args and Returned are what an activity that is not ours was given and gave.
	Args     json.RawMessage `json:"args,omitempty"`
	Returned json.RawMessage `json:"returned,omitempty"`

	Result  *Result         `json:"result,omitempty"` // PhaseChecking
	Output  json.RawMessage `json:"output,omitempty"` // PhaseRouting: what the successor gets
	Target  string          `json:"target,omitempty"` // PhaseRouting: explicit
	Failure *Failure        `json:"failure,omitempty"`
	// Fork is the address of the fork that the activation is a branch of.
	Fork Address `json:"fork,omitempty"`
	// Delta is what a paused branch will commit with its answer.
	Delta value.Object `json:"delta,omitempty"`
	// Map is the address of the map that the activation is an item of; Item and
	// Index say which. The value stands in the map and is not repeated.
	Map   Address         `json:"map,omitempty"`
	Item  json.RawMessage `json:"item,omitempty"`
	Index int             `json:"index,omitempty"`
	// Mapping is set in PhaseMapping.
	Mapping *Mapping `json:"mapping,omitempty"`
	// Child is what is known of the child workflow that is open.
	Child *ChildRun `json:"child,omitempty"`
	// Branches and Verdict are set in PhaseForking.
	Branches []Branch `json:"branches,omitempty"`
	Verdict  Verdict  `json:"verdict,omitempty"`
	Pause    *Pause   `json:"pause,omitempty"`
	// Asked is set once an action has committed what it gave with its pause. Its pause is
	// then kept until an answer has committed: a redrive asks again, and does not run it.
	Asked bool `json:"asked,omitempty"`
	// Used is set by Rewind: the run has committed under this address since, so what
	// runs here again is another visit.
	Used    bool     `json:"used,omitempty"`
	Offered []Answer `json:"offered,omitempty"` // PhaseAnswered: being checked, in order
	Answer  *Answer  `json:"answer,omitempty"`  // accepted; what follows is not decided yet
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
	PhaseAdmission   Phase = "admission"   // waits for a permit
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
	PhaseForking     Phase = "forking"     // its branches are under way
	PhaseMapping     Phase = "mapping"     // its items are under way
	PhaseSettled     Phase = "settled"     // a branch or item whose fork or map has been told
	PhaseCancelling  Phase = "cancelling"  // asked to stop, not stopped
	PhaseCancelled   Phase = "cancelled"   // stopped with the run
)

// Clock is a run's budget of running time. While the run can move, Deadline is
// the instant it ends; while the whole run is paused, Left is what remains.
type Clock struct {
	Limited  bool       `json:"limited,omitempty"`
	Deadline *time.Time `json:"deadline,omitempty"`
	Left     Duration   `json:"left,omitzero"`
	// Timeout is set when the budget is that of an attempt of the parent's node.
	Timeout bool `json:"timeout,omitempty"`
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
