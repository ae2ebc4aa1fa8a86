package workflows

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/tidemill/tidemill/activities"
	"github.com/tidemill/tidemill/graph"
	"github.com/tidemill/tidemill/graph/value"
)

// begin takes the pin and makes the machine: of a fresh run, of one that an earlier
// run of the chain left, or of one that is redriven.
func (r *run) begin(ctx workflow.Context, args converter.EncodedValues) *graph.Failure {
	if r.info.RetryPolicy != nil {
		return graph.Failf(graph.ErrTypeRetryPolicy,
			"a graph run takes no workflow retry policy: it would repeat committed nodes; use retry on nodes")
	}
	given, failure := payloads(args, r.info)
	if failure != nil {
		return failure
	}
	if r.takePin(ctx, given); r.pin.Failure != nil {
		return r.pin.Failure
	}
	r.mustFollow()
	if failure = r.inherit(given.child); failure != nil {
		return failure
	}
	r.input = given.input
	carry := r.takeUp(given.carry)
	if err := r.setPermits(ctx); err != nil {
		blocked("the run cannot be asked about its permits", err)
	}
	plan, err := graph.NewPlan(r.pin.Document, r.pin.Graphs...)
	if err != nil {
		return graph.Failf(graph.ErrTypeInvalidDocument, "%v", err)
	}
	switch start := r.start(ctx); {
	case carry != nil:
		r.goOn(plan, start, carry)
		return nil
	case r.pin.Redriving != nil:
		return r.redrive(plan, start, given.options)
	case r.child != nil && r.child.Redriven != nil:
		return r.redriveChild(plan, start)
	default:
		return r.beginFresh(plan, start)
	}
}

// inherit reads what a child is given by its parent.
func (r *run) inherit(raw json.RawMessage) (failure *graph.Failure) {
	child, err := activities.ParseChildStart(raw)
	switch {
	case errors.As(err, &failure):
		return failure
	case err != nil:
		blocked("what the run inherits cannot be read", err)
	case child != nil:
		r.child = child
		r.parent = parent{execution: r.info.ParentWorkflowExecution, address: child.Address}
	}
	return nil
}

// takePin records what will steer the run. It is the first thing in history.
func (r *run) takePin(ctx workflow.Context, given arguments) {
	future := workflow.ExecuteLocalActivity(localContext(ctx, time.Minute), activities.NamePin, activities.PinInput{
		Graph: r.info.WorkflowType.Name, Input: given.input, Options: given.options,
		Child: given.child, HasParent: r.info.ParentWorkflowExecution != nil,
		Carry: given.carry, Continues: r.info.ContinuedExecutionRunID,
	})
	var raw json.RawMessage
	err := future.Get(ctx, &raw)
	if err == nil {
		err = json.Unmarshal(raw, &r.pin)
	}
	if err != nil {
		blocked("the graph cannot be pinned", err)
	}
	r.budget.spend(ctx, len(raw))
}

// blocked fails the workflow task, not the run: what went wrong is this
// worker's, and the task is tried again until a worker can do it.
func blocked(what string, err error) {
	panic(fmt.Errorf("workflows: %s by this worker: %w", what, err))
}

// start is what every machine of this run is made with, however the run begins.
func (r *run) start(ctx workflow.Context) graph.Start {
	return graph.Start{
		Lineage: r.info.FirstRunID, Limits: r.pin.Limits, Now: workflow.Now(ctx),
		MaxSteps: r.pin.Options.MaxSteps, Deadline: r.pin.Options.Deadline, Child: r.child,
		Admission: r.admitted(), Overflow: graph.Overflow(r.pin.Options.Overflow), QueueTimeout: r.pin.Options.QueueTimeout,
		Facts: graph.RunFacts{
			ID: r.info.WorkflowExecution.ID, RunID: r.info.WorkflowExecution.RunID,
			Graph: r.pin.Document.ID, Revision: r.pin.Document.Revision, Lane: r.lane(),
			Started: r.started(),
		},
	}
}

// beginFresh makes the machine of a run that begins at its entry.
func (r *run) beginFresh(plan *graph.Plan, start graph.Start) *graph.Failure {
	var err error
	start.Input = json.RawMessage("{}")
	if r.input != nil && string(r.input) != "null" {
		if start.Input, err = value.Canonical(r.input); err != nil {
			return graph.Failf(graph.ErrTypeInputSchema, "the input is not JSON: %v", err)
		}
	}
	r.machine, err = graph.New(plan, start)
	switch {
	case err != nil && r.child != nil: // its input is known to be an object
		return graph.Failf(graph.ErrTypeInvalidRunOptions, "what the run inherits cannot be: %v", err)
	case err != nil:
		return graph.Failf(graph.ErrTypeInputSchema, "the input of a run is an object: %v", err)
	}
	return nil
}

// redrive makes the machine of a run that takes up where a closed one stood, as the
// pin has found that it can be.
func (r *run) redrive(plan *graph.Plan, start graph.Start, given json.RawMessage) *graph.Failure {
	options, failure := graph.ParseRunOptions(given)
	if failure != nil {
		return failure
	}
	export, failure := graph.ParseExport(options.Checkpoint)
	if failure != nil {
		return failure
	}
	r.input = activities.RedrivenInput(r.input, export)
	redriven, _, failure := graph.Redrive(plan, export, *r.pin.Redriving)
	if failure != nil {
		return failure
	}
	r.keepLane(&start, redriven.Checkpoint)
	r.machine, failure = graph.Redriven(plan, redriven, start)
	return failure
}

// redriveChild makes the machine of a child that goes on where an earlier one stood.
func (r *run) redriveChild(plan *graph.Plan, start graph.Start) (failure *graph.Failure) {
	r.machine, failure = graph.Redriven(plan, *r.child.Redriven, start)
	return failure
}

// keepLane keeps the session of a run that goes on elsewhere, when it had one of its
// own.
func (r *run) keepLane(start *graph.Start, cp graph.Checkpoint) {
	if r.child == nil && r.pin.Options.Lane.Session == "" {
		start.Facts.Lane.Session = cp.Lineage
	}
}

// lane is whose run it is: a child's is that of its root, and by default each root
// has a session of its own.
func (r *run) lane() graph.Lane {
	lane := r.pin.Options.Lane
	if r.child != nil {
		lane = r.child.Lane
	}
	if lane.App == "" {
		lane.App = "tidemill"
	}
	if lane.User == "" {
		lane.User = r.info.WorkflowExecution.ID
	}
	if lane.Session == "" {
		lane.Session = r.info.FirstRunID
	}
	return lane
}

// refuse ends a run that could not begin: no node has run.
func (r *run) refuse(ctx workflow.Context, failure *graph.Failure) error {
	report := graph.Report{
		ID: r.info.WorkflowExecution.ID, RunID: r.info.WorkflowExecution.RunID,
		Graph: r.info.WorkflowType.Name, Status: graph.StatusFailed, Error: failure,
		Refused: true, Pauses: []graph.OpenPause{}, Waiting: []graph.Waiting{}, Started: r.started(),
	}
	now := workflow.Now(ctx)
	report.Finished = &now
	r.refused = &report
	return temporal.NewApplicationErrorWithOptions(failure.Message, failure.Type,
		temporal.ApplicationErrorOptions{NonRetryable: true, Details: []any{report}})
}

// localContext is the context of our own local activities. What they do does
// not fail; when it does, this worker cannot do it.
func localContext(ctx workflow.Context, timeout time.Duration) workflow.Context {
	return workflow.WithLocalActivityOptions(ctx, workflow.LocalActivityOptions{
		StartToCloseTimeout: timeout,
		RetryPolicy:         &temporal.RetryPolicy{InitialInterval: 100 * time.Millisecond, MaximumAttempts: 3},
	})
}

// refusal turns a failure into the error that a caller of an update or a query
// reads: its type is the failure's.
func refusal(failure *graph.Failure) error {
	return temporal.NewNonRetryableApplicationError(failure.Message, failure.Type, nil)
}

var errNoRun = errors.New("the run has not begun")

// notBegun is what queries say that need a run: before the pin is taken, and of
// a run that was refused.
func (r *run) notBegun() error {
	if r.refused != nil {
		return fmt.Errorf("workflows: the run was refused: %w", r.refused.Error)
	}
	return fmt.Errorf("workflows: %w; ask again", errNoRun)
}
