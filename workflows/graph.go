package workflows

import (
	"encoding/json"
	"slices"
	"time"

	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/tidemill/tidemill/activities"
	"github.com/tidemill/tidemill/activities/permits"
	"github.com/tidemill/tidemill/graph"
)

// Graph runs the graph whose id is the workflow's type. It is registered as
// the dynamic workflow of a worker, so it takes every type of its task queue; a
// type that is no graph fails at once as unknown_graph.
//
// The first payload is the run's input, an object; the second, if any, is
// [graph.RunOptions]. The result is the run's output. A run that a graph started
// has a third payload, [graph.ChildStart]; its result is a [graph.ChildResult].
func Graph(ctx workflow.Context, args converter.EncodedValues) (converter.RawValue, error) {
	r := newRun(ctx)
	r.asked = func() bool { return ctx.Err() != nil }
	if err := r.setHandlers(ctx); err != nil {
		return converter.RawValue{}, err
	}
	// Cancellation is an event like any other: what has to be done about it is
	// done on a context that goes on.
	live, _ := workflow.NewDisconnectedContext(ctx)
	if failure := r.begin(live, args); failure != nil {
		return converter.RawValue{}, r.refuse(live, failure)
	}
	output, err := r.loop(live)
	if err != nil {
		return converter.RawValue{}, err
	}
	return activities.Plain(output)
}

// run is one execution of a graph.
type run struct {
	info    *workflow.Info
	pin     activities.Pin
	input   json.RawMessage   // as given
	child   *graph.ChildStart // what it inherits; nil for a run of its own
	chain   chain             // the runs before this one
	machine *graph.Machine
	refused *graph.Report // of a run that could not begin

	asked func() bool // reports whether cancel was asked for
	heard bool        // the machine knows that it was
	// happened is what happened and is not applied yet, in order.
	happened []func(now time.Time)
	told     []func(now time.Time) // what children said and is not applied yet
	wanted   []graph.Effect        // what the machine wants done and is not done yet
	held     []graph.Effect        // what it wants and the next run will do
	open     map[graph.Address]workflow.CancelFunc
	timers   map[graph.Address]workflow.CancelFunc
	// children are those that are open. What one says may be read before it is known
	// that it has begun; until then its run id is empty.
	children map[graph.Address]workflow.Execution
	requests int // answers that were given a name
	errands  int // local activities of admission that are open

	returning []permits.Hold // given back with the next ask
	parent    parent

	budget budget
	drain  drain
	clock  deadlineTimer
	shown  attributes
}

func newRun(ctx workflow.Context) *run {
	return &run{
		info:   workflow.GetInfo(ctx),
		open:   map[graph.Address]workflow.CancelFunc{},
		timers: map[graph.Address]workflow.CancelFunc{},

		children: map[graph.Address]workflow.Execution{},
		shown:    attributes{status: graph.StatusRunning},
	}
}

// push queues an event for the loop.
func (r *run) push(event func(now time.Time)) {
	r.drain.moved = true
	r.note(event)
}

// note queues an event that does not by itself carry the run on.
func (r *run) note(event func(now time.Time)) { r.happened = append(r.happened, event) }

// loop carries the run from event to event until it has an outcome.
func (r *run) loop(ctx workflow.Context) (json.RawMessage, error) {
	r.drain.steps = r.machine.Steps()
	for {
		r.hear(ctx)
		r.look(ctx)
		if err := r.advance(ctx); err != nil {
			return nil, err
		}
		if err := r.perform(ctx); err != nil {
			return nil, err
		}
		r.publish(ctx)
		if outcome := r.machine.Outcome(); outcome != nil {
			return r.close(ctx, outcome)
		}
		r.tell(ctx)
		if r.goesOn(ctx) {
			if err := r.continueAsNew(ctx); err != nil {
				return nil, err
			}
			continue
		}
		r.clock.arm(ctx, r)
		if err := workflow.Await(ctx, func() bool { return r.due() || signalled(ctx) || r.goesOn(ctx) }); err != nil {
			return nil, err
		}
	}
}

// due reports whether something has happened that the machine does not know.
func (r *run) due() bool { return len(r.happened)+len(r.told) > 0 || r.cancelled() }

// cancelled reports whether the machine still has to hear of a cancel.
func (r *run) cancelled() bool { return !r.heard && r.asked() }

// apply tells the machine what happened, in the order it happened. A cancel
// comes first: what ends in the same workflow task ends after it was asked. What
// children said comes before how they ended: a signal is read when its turn comes,
// which may be after the end that followed it is known.
func (r *run) apply(ctx workflow.Context) {
	if r.cancelled() {
		r.heard = true
		r.machine.Cancel(workflow.Now(ctx), "cancelled by request")
	}
	events := append(r.told, r.happened...)
	r.told, r.happened = nil, nil
	for _, event := range events {
		event(workflow.Now(ctx))
	}
}

// close ends the run with its outcome. Handlers that still wait for an answer
// get one first, and so does the parent.
func (r *run) close(ctx workflow.Context, outcome *graph.Outcome) (json.RawMessage, error) {
	r.wanted = slices.DeleteFunc(r.wanted, func(effect graph.Effect) bool { return !errand(effect) })
	for r.busy(ctx) || r.due() || signalled(ctx) {
		r.hear(ctx)
		if err := r.perform(ctx); err != nil {
			return nil, err
		}
		r.tell(ctx)
		if err := workflow.Await(ctx, func() bool { return r.due() || signalled(ctx) || !r.busy(ctx) }); err != nil {
			return nil, err
		}
	}
	if r.child != nil && outcome.Status == graph.StatusCompleted {
		return r.machine.ChildResult().Raw(), nil
	}
	return closing(r.machine.Report(), outcome)
}

// busy reports whether somebody has yet to be answered, or a permit to be given back.
func (r *run) busy(ctx workflow.Context) bool {
	return !workflow.AllHandlersFinished(ctx) || r.parent.owes() || r.errands > 0 || len(r.wanted) > 0
}

// maxClosingState is the largest state, in bytes, that a failed run's details
// carry.
const maxClosingState = 256 << 10

// closing is what the workflow function returns for an outcome.
func closing(report graph.Report, outcome *graph.Outcome) (json.RawMessage, error) {
	if outcome.Status == graph.StatusCompleted {
		return outcome.Output, nil
	}
	if len(report.State) > maxClosingState {
		report.State = nil
	}
	document, err := activities.Plain(report)
	if err != nil {
		return nil, err
	}
	if outcome.Status == graph.StatusCancelled {
		return nil, temporal.NewCanceledError(document)
	}
	failure := outcome.Failure
	options := temporal.ApplicationErrorOptions{NonRetryable: true, Details: []any{document}}
	if failure.Business {
		options.Category = temporal.ApplicationErrorCategoryBenign
	}
	return nil, temporal.NewApplicationErrorWithOptions(failure.Message, failure.Type, options)
}
