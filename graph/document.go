package graph

import (
	"encoding/json"

	"github.com/tidemill/tidemill/graph/value"
)

// NodeType says what a node does.
type NodeType string

// The node types of a document. Stable: documents and histories hold them.
const (
	TypeAction   NodeType = "action"
	TypeAgent    NodeType = "agent"
	TypeTool     NodeType = "tool"
	TypeWorkflow NodeType = "workflow"
	TypeSet      NodeType = "set"
	TypePause    NodeType = "pause"
	TypeWait     NodeType = "wait"
	TypeMap      NodeType = "map"
	TypeBranch   NodeType = "branch"
	TypeDynamic  NodeType = "dynamic"
	TypeLoop     NodeType = "loop"
	TypeFork     NodeType = "fork"
	TypeJoin     NodeType = "join"
)

// End is the reserved target that ends a run. Documents may also write $end.
const End = "end"

// DocumentVersion is the only version of the document format.
const DocumentVersion = 1

// Document is a graph in its normal form: every default filled in, every edge
// folded into the node it leaves, every state key that an expression names
// listed in [Node.Reads]. Its JSON is the canonical form that the fingerprint
// is taken over and that a run pins in its history.
//
// A Document made by hand is compiled with [CompileDocument]; one read from a
// file with [Compile]. The run machine trusts a compiled Document and checks
// nothing again.
type Document struct {
	Version      int             `json:"version"`
	ID           string          `json:"id"`
	Revision     string          `json:"revision,omitempty"`
	Description  string          `json:"description,omitempty"`
	Entry        string          `json:"entry"`
	MaxSteps     int             `json:"max_steps"`
	Deadline     Duration        `json:"deadline,omitzero"` // zero: none
	InputSchema  json.RawMessage `json:"input_schema,omitempty"`
	OutputSchema json.RawMessage `json:"output_schema,omitempty"`
	Reducers     []Reducer       `json:"state_reducers,omitempty"` // sorted by key
	Nodes        []Node          `json:"nodes"`                    // in declared order
	Callbacks    []Callback      `json:"callbacks,omitempty"`      // named in the graph, sorted by name
	// Graphs are the graphs of the catalogue that workflow nodes name, with the
	// fingerprints they had when the document was linked, sorted by id. Those
	// that an inline child names stand in the child.
	Graphs []GraphRef `json:"graphs,omitempty"`
}

// GraphRef is a graph as another one depends on it.
type GraphRef struct {
	ID          string `json:"id"`
	Fingerprint string `json:"fingerprint"`
}

// Reducer says how deltas of one state key are combined.
type Reducer struct {
	Key  string      `json:"key"`
	Kind ReducerKind `json:"kind"`
}

// ReducerKind is how a delta's value meets the value a key already has.
type ReducerKind string

// The reducers. A key without one is overwritten.
const (
	ReduceOverwrite      ReducerKind = "overwrite"
	ReduceAppend         ReducerKind = "append"          // both are lists; the delta's items follow
	ReduceSum            ReducerKind = "sum"             // both are numbers
	ReduceRejectConflict ReducerKind = "reject_conflict" // a second, different value is an error
)

// combines reports whether the reducer makes one value of several.
func (k ReducerKind) combines() bool { return k == ReduceAppend || k == ReduceSum }

// Callback is a Go function that the graph names, and the version it had when
// the graph was compiled. Both are part of the fingerprint.
type Callback struct {
	Name    string `json:"name"`
	Version int    `json:"version"`
}

// Call names a registered Go function: {call: NAME} in a document.
type Call struct {
	Call string `json:"call"`
}

// Node is one node in normal form. Only the fields of its type are set; the
// field table in docs/graph-reference.md says which.
type Node struct {
	ID           string          `json:"id"`
	Type         NodeType        `json:"type"`
	InputSchema  json.RawMessage `json:"input_schema,omitempty"`
	OutputSchema json.RawMessage `json:"output_schema,omitempty"`

	// Edge-bearing nodes: all but branch, dynamic, loop and fork.
	Output  json.RawMessage `json:"output,omitempty"` // value; absent: the type's own output
	Delta   json.RawMessage `json:"delta,omitempty"`  // value, an object
	OnError *OnError        `json:"on_error,omitempty"`
	Next    *Route          `json:"next,omitempty"`
	// Reads are the state keys the node's activity is given: those its
	// expressions name and those the author added; of a map those that its items
	// need, on_error included. ReadsAll stands for every key, as an expression that
	// names state as a whole needs, and a child graph that has no input of its own.
	Reads    []string `json:"reads,omitempty"`
	ReadsAll bool     `json:"reads_all,omitempty"`

	// action, agent, tool, workflow, map.
	Timeout Duration `json:"timeout,omitzero"` // per attempt; None: no limit
	Retry   *Retry   `json:"retry,omitempty"`

	// action.
	Run              *Run            `json:"run,omitempty"`
	Args             json.RawMessage `json:"args,omitempty"` // value
	ArgsCall         string          `json:"args_call,omitempty"`
	MaxInterruptions *int            `json:"max_interruptions,omitempty"`
	CancelGrace      Duration        `json:"cancel_grace,omitzero"`
	Overflow         Overflow        `json:"overflow,omitempty"`     // absent: the run's
	QueueTimeout     Duration        `json:"queue_timeout,omitzero"` // zero: the run's; None: no end
	Mode             Mode            `json:"mode,omitempty"`         // local only for an action declared idempotent

	// workflow.
	Workflow *Child          `json:"workflow,omitempty"`
	Input    json.RawMessage `json:"input,omitempty"`     // value, an object; absent: the whole state
	Deadline Duration        `json:"deadline,omitzero"`   // of the child; zero: its document's
	MaxSteps int             `json:"max_steps,omitempty"` // of the child; zero: its document's

	// map. Its MaxConcurrency is the window.
	Items    json.RawMessage `json:"items,omitempty"` // value, a list
	Item     *Node           `json:"item,omitempty"`  // its ID is [ItemID] of the map's
	Key      json.RawMessage `json:"key,omitempty"`   // value, the label of an item
	Tolerate *Tolerance      `json:"tolerate,omitempty"`

	// pause.
	Reason       string          `json:"reason,omitempty"`
	Summary      json.RawMessage `json:"summary,omitempty"` // value, text
	Show         json.RawMessage `json:"show,omitempty"`    // value
	ResumeSchema json.RawMessage `json:"resume_schema,omitempty"`
	Expires      Duration        `json:"expires,omitzero"`
	OnExpire     string          `json:"on_expire,omitempty"`

	// wait.
	For   Duration        `json:"for,omitzero"`
	Until json.RawMessage `json:"until,omitempty"` // value, RFC 3339 text

	// branch, dynamic.
	Cases   []Case   `json:"cases,omitempty"`
	Default string   `json:"default,omitempty"`
	Choose  string   `json:"choose,omitempty"` // callback
	Targets []string `json:"targets,omitempty"`

	// fork.
	Branches       []string    `json:"branches,omitempty"`
	Join           string      `json:"join,omitempty"`
	JoinPolicy     *JoinPolicy `json:"join_policy,omitempty"`
	Merge          MergeKind   `json:"merge,omitempty"`
	MergeCall      string      `json:"merge_call,omitempty"`
	MaxConcurrency int         `json:"max_concurrency,omitempty"`

	// loop.
	While         string `json:"while,omitempty"`      // condition
	WhileCall     string `json:"while_call,omitempty"` // callback
	Body          string `json:"body,omitempty"`
	Done          string `json:"done,omitempty"`
	MaxIterations int    `json:"max_iterations,omitempty"`
	OnExhausted   string `json:"on_exhausted,omitempty"`
}

// Child is the graph that a workflow node runs: one of the catalogue, by its id,
// or an inline document, whose id Graph then is.
type Child struct {
	Graph    string    `json:"graph"`
	Document *Document `json:"document,omitempty"`
}

// Mode is how an action is run.
type Mode string

// The modes of an action.
const (
	ModeRemote Mode = ""      // as an activity
	ModeLocal  Mode = "local" // as a local activity, while no remote node of the run is open
)

// Tolerance is how many items of a map may fail before the map does: a number,
// or a share of the list.
type Tolerance struct {
	Count   int     `json:"count,omitempty"`
	Percent float64 `json:"percent,omitempty"` // 0 to 100
}

// itemSuffix ends the ids of maps' items.
const itemSuffix = "/item"

// ItemID is the id of the node that a map runs for each item. No document can
// spell it.
func ItemID(mapID string) string { return mapID + itemSuffix }

// Run names what an action runs: a registered action, or an activity of any
// SDK on any task queue.
type Run struct {
	Name      string `json:"name,omitempty"`
	Activity  string `json:"activity,omitempty"`
	TaskQueue string `json:"task_queue,omitempty"`
}

// Runs reports whether the node is run by an activity.
func (n *Node) Runs() bool { return n.Run != nil }

// Foreign reports whether that activity is without our wrapper: its arguments,
// output and delta are then evaluated by the machine.
func (n *Node) Foreign() bool { return n.Run != nil && n.Run.Activity != "" }

// Wrapped reports whether the node is run by one of our activities.
func (n *Node) Wrapped() bool { return n.Run != nil && n.Run.Activity == "" }

// ActivityType is the Temporal activity type that runs it.
func (r *Run) ActivityType() string {
	if r.Activity != "" {
		return r.Activity
	}
	return r.Name
}

// Retry is a node's retry policy. MaxAttempts 1 means no retry.
type Retry struct {
	MaxAttempts  int      `json:"max_attempts"`
	Backoff      Duration `json:"backoff,omitzero"` // before the second attempt; zero: at once
	Coefficient  float64  `json:"coefficient"`
	MaxBackoff   Duration `json:"max_backoff,omitzero"`
	NonRetryable []string `json:"non_retryable,omitempty"` // error types
}

// Route is where a node's edge leads: one target, cases, or a callback.
type Route struct {
	To      string `json:"to,omitempty"`
	Cases   []Case `json:"cases,omitempty"`
	Default string `json:"default,omitempty"`
	Call    string `json:"call,omitempty"`
}

// Static reports whether the route needs no decision.
func (r *Route) Static() bool { return r.Call == "" && len(r.Cases) == 0 }

// Case is one condition and the target it leads to. The first that holds wins.
type Case struct {
	When string `json:"when"`
	To   string `json:"to"`
}

// OnError is where a node's failure leads, or what a branch gives in spite of
// it. Route.Call is never set.
type OnError struct {
	Route
	// Output and Delta settle a failed branch or item as completed. They are
	// values over error; nothing else may then be set.
	Output json.RawMessage `json:"output,omitempty"`
	Delta  json.RawMessage `json:"delta,omitempty"`
}

// ParseDocument reads a Document from its canonical JSON, as a run's pin holds
// it. It checks nothing that the compiler has checked.
func ParseDocument(raw json.RawMessage) (*Document, error) {
	var d Document
	if err := json.Unmarshal(raw, &d); err != nil {
		return nil, err
	}
	return &d, nil
}

// activated lists the nodes that activations are of: those of the document, the
// item of a map after the map.
func (d *Document) activated() []*Node {
	all := make([]*Node, 0, len(d.Nodes))
	for i := range d.Nodes {
		all = append(all, &d.Nodes[i])
		if item := d.Nodes[i].Item; item != nil {
			all = append(all, item)
		}
	}
	return all
}

// Inline lists the documents that stand in the document's workflow nodes, each
// before those that stand in it.
func (d *Document) Inline() []*Document {
	var all []*Document
	for _, node := range d.activated() {
		if node.Workflow != nil && node.Workflow.Document != nil {
			all = append(append(all, node.Workflow.Document), node.Workflow.Document.Inline()...)
		}
	}
	return all
}

// AllNodes lists every node of the document, those of maps' items and of inline
// documents too.
func (d *Document) AllNodes() []*Node {
	all := d.activated()
	for _, inline := range d.Inline() {
		all = append(all, inline.activated()...)
	}
	return all
}

// UnmarshalJSON reads a document as history holds it. What is written into a
// payload has < and > escaped; here its values are canonical again, as the
// machine commits them.
func (d *Document) UnmarshalJSON(data []byte) error {
	canonical, err := value.Canonical(data)
	if err != nil {
		return err
	}
	type plain Document
	return json.Unmarshal(canonical, (*plain)(d))
}

// Canonical is the document's canonical JSON.
func (d *Document) Canonical() (json.RawMessage, error) { return value.Marshal(d) }

// Fingerprint is the hex SHA-256 of the canonical form. It covers the names
// and versions of the callbacks the graph names.
func (d *Document) Fingerprint() (string, error) {
	raw, err := d.Canonical()
	if err != nil {
		return "", err
	}
	return value.Digest(raw), nil
}

// EdgeBearing reports whether nodes of this type leave by an edge; the others
// name their targets in fields of their own.
func (t NodeType) EdgeBearing() bool {
	switch t {
	case TypeBranch, TypeDynamic, TypeLoop, TypeFork:
		return false
	case TypeAction, TypeAgent, TypeTool, TypeWorkflow, TypeSet, TypePause, TypeWait, TypeMap, TypeJoin:
		return true
	default:
		return false
	}
}
