package graph

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/tidemill/tidemill/graph/value"
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
	// Checkpoint starts a run where an earlier one stood: it is an [Export], or a bare
	// [Checkpoint]. From is what to repeat of it; see [Redriving].
	Checkpoint json.RawMessage `json:"checkpoint,omitempty"`
	From       Address         `json:"from,omitempty"`
	// Overflow and QueueTimeout say how nodes wait for permits that do not say so
	// themselves. They mean nothing to a run that is not under admission. Empty and
	// zero: wait, without end; and so does None.
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
	if givesZero(raw, "deadline") {
		return RunOptions{}, Failf(ErrTypeInvalidRunOptions, "deadline is 0; give a length such as 2h, or none for no limit")
	}
	if givesZero(raw, "queue_timeout") {
		return RunOptions{}, Failf(ErrTypeInvalidRunOptions,
			"queue_timeout is 0; give a length such as 30s, write none for no limit, or overflow: reject not to wait at all")
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
	case len(o.Checkpoint) == 0 && o.From != "":
		return errors.New("from says where an earlier run is taken up; give its checkpoint too")
	case len(o.Checkpoint) > 0 && value.KindOf(o.Checkpoint) != value.KindObject:
		return errors.New("checkpoint holds an exported run, or what the query checkpoint gives")
	case o.From != "" && o.From.Segments() == nil:
		return fmt.Errorf("from is %q, which is no address; write one as status shows it, such as ship#1", o.From)
	case o.Overflow != "" && !slices.Contains(overflows(), Overflow(o.Overflow)):
		return fmt.Errorf("overflow is %q; write queue to wait for a permit, or reject to fail without one", o.Overflow)
	}
	return nil
}

// givesZero reports whether the options give a length of time that is 0, which is not
// the same as giving none.
func givesZero(raw json.RawMessage, name string) bool {
	var given map[string]json.RawMessage
	if json.Unmarshal(raw, &given) != nil || given[name] == nil {
		return false
	}
	var d *Duration
	err := json.Unmarshal(given[name], &d)
	return err == nil && d != nil && *d == 0
}
