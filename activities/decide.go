package activities

import (
	"context"
	"time"

	"github.com/tidemill/tidemill/graph"
)

// DecideInput is handed to the local activity as Go values; nothing of it is
// serialised or recorded.
type DecideInput struct {
	Machine     *graph.Machine // a copy that nobody advances while the activity may run
	Now         time.Time
	Document    *graph.Document
	Fingerprint string // of Document
}

// Decide is the local activity that runs ahead: it advances the machine with the
// expressions and callbacks evaluated, and returns what was decided, up to the
// bounds of one batch. The workflow applies the same decisions to its own machine.
//
// Repeats: it has no effect; only the list that is recorded counts.
// Final errors: none; what goes wrong in an expression is a decision.
func (a *Activities) Decide(_ context.Context, in DecideInput) ([]graph.Decision, error) {
	evaluator, err := a.Evaluator(in.Document, in.Fingerprint)
	if err != nil {
		return nil, err
	}
	// A callback that takes too long has the activity tried again, perhaps while
	// it still runs: each try begins where the run stands, on a machine of its own.
	machine := in.Machine.Clone()
	recorder := graph.NewRecorder(evaluator)
	machine.Advance(in.Now, recorder)
	return recorder.Decisions(), nil
}

// Flush is the activity that does nothing: it ends a workflow task that has
// grown long, so that what the task has recorded becomes durable.
//
// Repeats: it has no effect.
// Final errors: none.
func (a *Activities) Flush(context.Context) error { return nil }
