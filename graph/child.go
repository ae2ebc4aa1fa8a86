package graph

import (
	"encoding/json"
	"slices"

	"github.com/tidemill/tidemill/graph/value"
)

// ChildStartVersion is the highest version of [ChildStart] that this code reads.
//   - 2: Redriven, for a child that began anew would repeat what has committed.
const ChildStartVersion = 2

// ChildStart is the third argument of a run that another one started: what the
// child inherits. Stable: histories hold it.
type ChildStart struct {
	// Version is the lowest version that a reader must know to understand what is
	// given; zero means 1. A new field that may be passed over does not raise it.
	Version int `json:"version,omitempty"`

	Fingerprint string   `json:"fingerprint"` // of the child's document
	Root        string   `json:"root"`        // workflow id of the outermost run
	Address     Address  `json:"address"`     // begins the addresses of all that the child does
	Lineage     string   `json:"lineage"`     // begins its idempotency keys
	Lane        Lane     `json:"lane,omitzero"`
	Deadline    Duration `json:"deadline,omitzero"` // replaces the document's; zero: it does not
	MaxSteps    int      `json:"max_steps,omitempty"`
	// Left is what remains of the parent's budget of running time, Timeout the
	// node's own limit of an attempt; zero: none. The child's budget is the
	// smallest of them and of its deadline.
	Left    Duration `json:"left,omitzero"`
	Timeout Duration `json:"timeout,omitzero"`
	// Overflow and QueueTimeout are the parent's wishes to admission.
	Overflow     Overflow `json:"overflow,omitempty"`
	QueueTimeout Duration `json:"queue_timeout,omitzero"`
	// Redriven is set when the run takes up an earlier one: what [Redrive] made of it.
	Redriven *Export `json:"redriven,omitempty"`
	// Map is set when the run carries out one map of its graph.
	Map *MapStart `json:"map,omitempty"`
	// Documents are handed over when no worker has the graph any more: the child's
	// first, then every graph that it names, directly or through others.
	Documents []*Document `json:"documents,omitempty"`
}

// MapStart is the map that a run of its own carries out.
type MapStart struct {
	Node  string          `json:"node"`
	Input json.RawMessage `json:"input"` // of the map
	Items json.RawMessage `json:"items"` // the list
	Keys  []string        `json:"keys,omitempty"`
}

// ChildResult is the result of a run that another one started: its output, and
// the top-level state keys it changed.
type ChildResult struct {
	Output  json.RawMessage `json:"output"`
	Changed json.RawMessage `json:"changed"` // an object
}

// Raw is the result as canonical JSON. It may be nested a level deeper than values
// may be, which is for the parent to refuse: the child has completed.
func (r ChildResult) Raw() json.RawMessage {
	var result value.Object
	result.Set("changed", r.Changed)
	result.Set("output", orNull(r.Output))
	return result.Raw()
}

// ChildReport is what a child tells its parent while it is open: whether all of
// it waits for people, which pauses have opened and closed in it and below it
// since its last report, and what became of the answers that were handed to it. It
// holds changes, for a child may have hundreds of pauses that close one by one.
type ChildReport struct {
	Address  Address     `json:"address"`  // [ChildStart.Address] of the child
	Sequence int         `json:"sequence"` // counts the child's reports; an older one is ignored
	Paused   bool        `json:"paused,omitempty"`
	Pauses   []OpenPause `json:"pauses,omitempty"` // opened since
	Closed   []Address   `json:"closed,omitempty"` // pauses that have closed since
	Replies  []Reply     `json:"replies,omitempty"`
}

// Since is the report with only what a parent does not know that was told the
// pauses.
func (r ChildReport) Since(told []OpenPause) ChildReport {
	open := r.Pauses
	r.Pauses, r.Closed = nil, nil
	for _, p := range open {
		if !holdsPause(told, p.ID) {
			r.Pauses = append(r.Pauses, p)
		}
	}
	for _, p := range told {
		if !holdsPause(open, p.ID) {
			r.Closed = append(r.Closed, p.ID)
		}
	}
	return r
}

// Apply is what a parent knows that was told the pauses, once it has the report.
func (r ChildReport) Apply(told []OpenPause) []OpenPause {
	var open []OpenPause
	for _, p := range told {
		if !slices.Contains(r.Closed, p.ID) && !holdsPause(r.Pauses, p.ID) {
			open = append(open, p)
		}
	}
	return append(open, r.Pauses...)
}

func holdsPause(pauses []OpenPause, id Address) bool {
	return slices.ContainsFunc(pauses, func(p OpenPause) bool { return p.ID == id })
}

// Reply is what became of an answer that was handed to a child.
type Reply struct {
	Request string   `json:"request"`
	Failure *Failure `json:"failure,omitempty"` // absent: it was taken
}

// ForwardedAnswer is an answer on its way to a child.
type ForwardedAnswer struct {
	Request string `json:"request"`
	Answer  Answer `json:"answer"`
}
