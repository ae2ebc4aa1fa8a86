package graph

import (
	"encoding/json"
	"time"

	"github.com/tidemill/tidemill/graph/value"
)

// Control is what an action asks for besides going on.
type Control string

// The controls. The empty one continues with the output.
const (
	ControlOutput Control = ""      // commit output and delta, go on
	ControlOK     Control = "ok"    // commit the delta, go on with null; the run's output is unchanged
	ControlStop   Control = "stop"  // commit output and delta, end the run
	ControlRoute  Control = "route" // commit the delta, go on to Target with null
	ControlPause  Control = "pause" // commit the delta, wait for an answer
)

// Result is what one completed run of a node hands back, after the node's
// output and delta were evaluated. The wrapper of an action makes it; the
// machine commits it.
type Result struct {
	Control Control         `json:"control,omitempty"`
	Output  json.RawMessage `json:"output,omitempty"` // canonical; absent is null
	Delta   value.Object    `json:"delta,omitempty"`
	Target  string          `json:"target,omitempty"` // ControlRoute: a node id or end
	Pause   *PauseRequest   `json:"pause,omitempty"`  // ControlPause
	// Attempts is how many attempts of the activation were made in all; zero:
	// the first of this scheduling succeeded.
	Attempts int `json:"attempts,omitempty"`
	// Released is as that of [Ending], which takes it over.
	Released uint64 `json:"released,omitempty"`
}

// PauseRequest is what a pause shows and accepts.
type PauseRequest struct {
	Reason       string          `json:"reason,omitempty"`
	Summary      string          `json:"summary,omitempty"`       // cut at 4 KB
	Show         json.RawMessage `json:"show,omitempty"`          // at most 2 KB
	ResumeSchema json.RawMessage `json:"resume_schema,omitempty"` // of the answer
	Expires      Duration        `json:"expires,omitzero"`
}

// Ending is how one scheduling of a node ended, as the driver of its attempts
// saw it.
type Ending struct {
	Kind EndingKind
	// Result is set when Kind is Returned.
	Result *Result
	// Failure is set when Kind is Failed or TimedOut.
	Failure *Failure
	// Used is how many attempts of the activation have been made in all, this
	// one included, as the driver counted them. Zero: one more than before.
	Used int
	// Final is set when a retry cannot change the answer.
	Final bool
	// RetryAfter is the least wait before the next attempt; zero: as the policy
	// says.
	RetryAfter time.Duration
	// Heartbeat is what the action left for the next attempt, when it did.
	Heartbeat json.RawMessage
	// Interruption says what interrupted the attempt when Kind is Interrupted.
	Interruption Interruption
	// Released is the token of the permit that the attempt gave back itself; zero:
	// none, or nobody knows.
	Released uint64
}

// EndingKind is the kind of an Ending.
type EndingKind string

// The kinds of endings. Returned, Failed and TimedOut count as attempts.
const (
	Returned    EndingKind = "returned"
	Failed      EndingKind = "failed"
	TimedOut    EndingKind = "timed_out"
	Interrupted EndingKind = "interrupted"
	Cancelled   EndingKind = "cancelled"
)

// Interruption is why an attempt ended without the action having answered. It
// is not an attempt.
type Interruption string

// The interruptions.
const (
	InterruptWorkerLost    Interruption = "worker_lost"    // no heartbeat
	InterruptShutdown      Interruption = "worker_stopped" // the worker was told to stop
	InterruptNotRegistered Interruption = "not_registered" // no polling worker has the activity type
	InterruptReset         Interruption = "reset"          // an operator reset the activity
	InterruptIDTaken       Interruption = "id_taken"       // an earlier run's child still has the workflow id
)

// RunFacts are the facts of a run that expressions see as run.
type RunFacts struct {
	ID             string     `json:"id"`     // workflow id
	RunID          string     `json:"run_id"` // of the current run
	Graph          string     `json:"graph"`
	Revision       string     `json:"revision"`
	Lane           Lane       `json:"lane"`
	Started        time.Time  `json:"started"`
	Deadline       *time.Time `json:"deadline"` // null: none
	Node           string     `json:"node"`
	Address        Address    `json:"address"`
	Attempt        int        `json:"attempt"`
	Key            string     `json:"key"` // idempotency key of the activation
	StepsRemaining int        `json:"steps_remaining"`
	// Token is the fencing token of the permit the attempt holds; zero: none. It
	// grows with every grant of a book, so a downstream system can turn away work
	// whose permit has gone to somebody else. Expressions do not see it.
	Token uint64 `json:"token,omitempty"`
}

// Lane is whose run it is: the lane a conversation lives in.
type Lane struct {
	App     string `json:"app,omitempty"`
	User    string `json:"user,omitempty"`
	Session string `json:"session,omitempty"`
}

// Task is what the activity of an action node is given: its node, the facts of
// the run, and the state keys it reads. It is the activity's only argument, so
// any worker of the queue can run it without having the graph.
type Task struct {
	Node   *Node           `json:"node"`
	Run    RunFacts        `json:"run"`
	Input  json.RawMessage `json:"input"`
	Item   json.RawMessage `json:"item,omitempty"`  // in a map's item
	Index  int             `json:"index,omitempty"` // of Item
	State  value.Object    `json:"state"`
	Limits Limits          `json:"limits"`
	// Before counts the attempts made before this scheduling.
	Before int `json:"before,omitempty"`
	// Heartbeat is what an earlier scheduling's action left for this one.
	Heartbeat json.RawMessage `json:"heartbeat,omitempty"`
	// Permit is the permit of the attempt, whose token is that of the facts, for the
	// attempt to give it back where it ends. Nil: the run gives it back, or has none.
	Permit *TaskPermit `json:"permit,omitempty"`
}

// TaskPermit names the permit of an attempt to whoever makes it.
type TaskPermit struct {
	Domain string `json:"domain"`
	// ID is the request's. The machine knows its number alone: the driver fills it in.
	ID     string `json:"id"`
	Number uint64 `json:"-"`
}

// Limits are the sizes a run is bound to, in bytes of canonical JSON. A run
// pins them.
type Limits struct {
	Payload int `json:"payload"` // one input, output, argument or answer
	State   int `json:"state"`   // the state, and document + input + checkpoint
}

// Default sizes: 1 MiB each.
const (
	DefaultPayloadLimit = 1 << 20
	DefaultStateLimit   = 1 << 20
)

// WithDefaults is l with zero limits replaced by the defaults.
func (l Limits) WithDefaults() Limits {
	if l.Payload == 0 {
		l.Payload = DefaultPayloadLimit
	}
	if l.State == 0 {
		l.State = DefaultStateLimit
	}
	return l
}
