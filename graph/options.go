package graph

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// RunOptions is the optional second payload of a run. An unknown field is
// refused: a run that would ignore what its starter asked for must not start.
type RunOptions struct {
	// Spec is a whole document to run instead of the worker's own graph of
	// that name. The worker must allow it.
	Spec json.RawMessage `json:"spec,omitempty"`
	// Deadline is the budget of running time; zero: the graph's.
	Deadline Duration `json:"deadline,omitzero"`
	// MaxSteps replaces the graph's step budget; zero: the graph's.
	MaxSteps int  `json:"max_steps,omitempty"`
	Lane     Lane `json:"lane,omitzero"`
	// Checkpoint and From start a run where an earlier one stood.
	Checkpoint json.RawMessage `json:"checkpoint,omitempty"`
	From       Address         `json:"from,omitempty"`
	// Overflow and QueueTimeout are the run's wishes to admission.
	Overflow     string   `json:"overflow,omitempty"`
	QueueTimeout Duration `json:"queue_timeout,omitzero"`
}

// ParseRunOptions reads the second payload of a run; absent or null is the
// zero value. The failure's type is [ErrTypeInvalidRunOptions].
func ParseRunOptions(raw json.RawMessage) (RunOptions, *Failure) {
	var options RunOptions
	if len(raw) == 0 || string(raw) == "null" {
		return options, nil
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&options); err != nil {
		return RunOptions{}, Failf(ErrTypeInvalidRunOptions,
			"the second argument of a run holds its options: %v", err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return RunOptions{}, Failf(ErrTypeInvalidRunOptions, "more than one value in the run options")
	}
	if err := options.check(); err != nil {
		return RunOptions{}, Failf(ErrTypeInvalidRunOptions, "%v", err)
	}
	return options, nil
}

// check refuses values out of range and wishes that this version cannot meet.
func (o RunOptions) check() error {
	switch {
	case o.MaxSteps < 0:
		return fmt.Errorf("max_steps is %d; give at least 1", o.MaxSteps)
	case len(o.Checkpoint) > 0 || o.From != "":
		return errors.New("checkpoint and from: this version cannot start a run from a checkpoint")
	case o.Overflow != "" || o.QueueTimeout != 0:
		return errors.New("overflow and queue_timeout: this version has no admission")
	}
	return nil
}
