package graph

import (
	"encoding/json"
	"time"
)

// ExportVersion is the version of [Export] that this code writes.
const ExportVersion = 1

// Export is a run as data, with all that is needed to take it up again after it is
// gone: what "starter checkpoint --deep" prints, and what [RunOptions.Checkpoint]
// holds.
type Export struct {
	Version    int       `json:"version"`
	WorkflowID string    `json:"workflow_id"`
	RunID      string    `json:"run_id"` // the last run of its chain
	Started    time.Time `json:"started,omitzero"`
	// TaskQueue is the one the run had, and Options what else it was started with: its
	// lane, and how it waits for permits. Both are absent in a child's.
	TaskQueue string     `json:"task_queue,omitempty"`
	Options   RunOptions `json:"options,omitzero"`
	// Input is what the run was started with; absent: nothing.
	Input      json.RawMessage `json:"input,omitempty"`
	Checkpoint Checkpoint      `json:"checkpoint"`
	// Document and Graphs are what the run was bound to: its graph, and every graph
	// that it names, directly or through others. Both may be absent: then the worker's
	// own are meant.
	Document *Document   `json:"document,omitempty"`
	Graphs   []*Document `json:"graphs,omitempty"`
	// Children are the runs that activations of Checkpoint had started and that have
	// not completed, in the order of Checkpoint.Activations.
	Children []ExportedChild `json:"children,omitempty"`
}

// ExportedChild is a child run of an exported one.
type ExportedChild struct {
	Activation Address `json:"activation"` // that started it, in its parent
	Export
}
