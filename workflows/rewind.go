package workflows

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/workflow"

	"github.com/tidemill/tidemill/activities"
	"github.com/tidemill/tidemill/graph"
)

// Witness sees a run from inside while its history is replayed, and can tell
// afterwards how it stood. Whoever replays registers [Witness.Graph] in place of
// [Graph]; a worker does not. A witness sees one replay.
type Witness struct {
	// At is an address that the run may have left behind: the witness keeps the
	// checkpoint from which it can be repeated. Empty: none.
	At graph.Address

	run    *run
	input  json.RawMessage
	before *graph.Checkpoint
}

// Stood is how a run stood at the end of what was replayed.
type Stood struct {
	Pin     activities.Pin    // what it is bound to
	Input   json.RawMessage   // what it was started with; nil: nothing
	Child   *graph.ChildStart // what it inherits; nil for a run of its own
	Started time.Time         // its first execution
	// Refused is set for a run that ended before it began.
	Refused *graph.Failure
	// Begun reports whether there is a checkpoint.
	Begun      bool
	Checkpoint graph.Checkpoint
	// Before is the checkpoint from which the address that was asked for is repeated:
	// of a visit, just before its step; of a branch or an item, before its fork was
	// judged or its map closed; of what stands in a child, before the child ended. Nil:
	// the run has not got there, or has not left it.
	Before *graph.Checkpoint
}

// Graph is [Graph] with the witness looking on. It records nothing else.
func (w *Witness) Graph(ctx workflow.Context, args converter.EncodedValues) (converter.RawValue, error) {
	if args != nil && args.HasValues() {
		_ = args.Get(&w.input) // what cannot be read is refused by the run itself
	}
	return execute(ctx, args, w)
}

// attend is called when the run has its handlers, and nothing has happened yet.
func (w *Witness) attend(r *run) {
	if w != nil {
		w.run = r
	}
}

// begun is called when the run has its machine.
func (w *Witness) begun() {
	if w != nil && w.At != "" {
		w.run.machine.Watch(w.watch)
	}
}

// watch keeps the checkpoint from which the address can be repeated.
func (w *Witness) watch(moment graph.Moment, address graph.Address) {
	switch {
	case moment == graph.Entering:
		if address == w.At && w.At.Leaf().Node != "" { // an item is repeated in its map
			w.keep(w.run.machine.Checkpoint())
		}
	case strings.HasPrefix(string(w.At), string(address)+"/") && w.before == nil: // what is further inside is left first
		w.keep(w.run.machine.Checkpoint())
	default:
		// A branch or an item that is repeated alone leaves what the others gave.
		if cp := w.run.machine.Checkpoint(); cp.Repeats(w.At) {
			w.keep(cp)
		}
	}
}

// keep takes a checkpoint from the middle of a move, when what has settled is still
// there.
func (w *Witness) keep(cp graph.Checkpoint) {
	cp.Activations = slices.DeleteFunc(cp.Activations, func(a graph.Activation) bool { return a.Phase == graph.PhaseSettled })
	w.before = &cp
}

// Stood tells what was seen. It is asked once, when the replay has ended; at is the
// time of the last event.
func (w *Witness) Stood(at time.Time) Stood {
	s := Stood{Input: w.input, Before: w.before}
	r := w.run
	if r == nil {
		return s
	}
	s.Pin, s.Child = r.pin, r.child
	if r.refused != nil {
		s.Refused = r.refused.Error
	}
	if r.machine == nil {
		return s
	}
	w.catchUp(at)
	s.Begun, s.Checkpoint, s.Started = true, r.machine.Checkpoint(), r.machine.Report().Started
	return s
}

// catchUp applies what is in history and had not had its turn, such as the result of
// an activity that came while the run ended a task.
func (w *Witness) catchUp(at time.Time) {
	r := w.run
	if r.machine.Outcome() != nil {
		return
	}
	events := append(r.told, r.happened...)
	r.told, r.happened = nil, nil
	for _, event := range events {
		event(at)
	}
}
