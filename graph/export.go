package graph

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/tidemill/tidemill/graph/value"
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
	// Children are the runs that activations of Checkpoint had started and whose results
	// were not taken, in the order of Checkpoint.Activations.
	Children []ExportedChild `json:"children,omitempty"`
}

// ExportedChild is a child run of an exported one.
type ExportedChild struct {
	Activation Address `json:"activation"` // that started it, in its parent
	Export
}

// ParseExport reads an export, or a bare checkpoint as the query checkpoint gives it,
// strictly enough that [Redrive] can trust its shape. The failure's type is
// [ErrTypeInvalidCheckpoint].
func ParseExport(raw json.RawMessage) (Export, *Failure) {
	var shape struct {
		Checkpoint json.RawMessage `json:"checkpoint"`
	}
	err := json.Unmarshal(raw, &shape)
	if err == nil && value.KindOf(raw) != value.KindObject {
		err = fmt.Errorf("it is %s", kindWord(value.KindOf(raw)))
	}
	if err != nil {
		return Export{}, Failf(ErrTypeInvalidCheckpoint, "not an exported run: %v", err)
	}
	if shape.Checkpoint == nil {
		cp, failure := ParseCheckpoint(raw)
		return Export{Version: ExportVersion, Checkpoint: cp}, failure
	}
	var e Export
	if err = json.Unmarshal(raw, &e); err != nil {
		return Export{}, Failf(ErrTypeInvalidCheckpoint, "not an exported run: %v", err)
	}
	if failure := e.Canonicalize(); failure != nil {
		return Export{}, failure
	}
	return e, nil
}

// Canonicalize makes the values of an export canonical that was read as part of
// something else. The failure's type is [ErrTypeInvalidCheckpoint].
func (e *Export) Canonicalize() *Failure {
	if e.Version != ExportVersion {
		return Failf(ErrTypeInvalidCheckpoint, "the export's version is %d; this code reads %d: take it up with the release that wrote it", e.Version, ExportVersion)
	}
	if err := recanonicalize(e.values()...); err != nil {
		return Failf(ErrTypeInvalidCheckpoint, "not an exported run: %v", err)
	}
	return nil
}
