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

// begin takes the pin and makes the machine.
func (r *run) begin(ctx workflow.Context, args converter.EncodedValues) *graph.Failure {
	if r.info.RetryPolicy != nil {
		return graph.Failf(graph.ErrTypeRetryPolicy,
			"a graph run takes no workflow retry policy: it would repeat committed nodes; use retry on nodes")
	}
	given, failure := payloads(args, r.info.ParentWorkflowExecution != nil)
	if failure != nil {
		return failure
	}
	if r.takePin(ctx, given); r.pin.Failure != nil {
		return r.pin.Failure
	}
	r.mustFollow()
	if r.child, failure = activities.ParseChildStart(given.child); failure != nil {
		return failure
	}
	if r.child != nil {
		r.parent = parent{execution: r.info.ParentWorkflowExecution, address: r.child.Address}
	}
	if err := r.setPermits(ctx); err != nil {
		blocked("the run cannot be asked about its permits", err)
	}
	return r.makeMachine(ctx, given.input)
}

// arguments are what a run was started with.
type arguments struct {
	input, options json.RawMessage
	child          json.RawMessage // only from a parent
}

// payloads reads the arguments of a run.
func payloads(args converter.EncodedValues, hasParent bool) (given arguments, failure *graph.Failure) {
	if args == nil || !args.HasValues() {
		return given, nil
	}
	var child, more converter.RawValue // whatever they are, nil included
	if err := args.Get(&given.input, &given.options, &child, &more); err != nil {
		return given, graph.Failf(graph.ErrTypeInputSchema, "the arguments of a run are JSON: %v", err)
	}
	if child.Payload() != nil {
		given.child = append(given.child, child.Payload().GetData()...)
	}
	if more.Payload() != nil || child.Payload() != nil && !hasParent {
		return given, graph.Failf(graph.ErrTypeInvalidRunOptions, "a run takes at most two arguments: its input and its options")
	}
	return given, nil
}

// takePin records what will steer the run. It is the first thing in history.
func (r *run) takePin(ctx workflow.Context, given arguments) {
	future := workflow.ExecuteLocalActivity(localContext(ctx, time.Minute), activities.NamePin, activities.PinInput{
		Graph: r.info.WorkflowType.Name, Input: given.input, Options: given.options,
		Child: given.child, HasParent: r.info.ParentWorkflowExecution != nil,
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

// makeMachine starts the machine of the pinned graph.
func (r *run) makeMachine(ctx workflow.Context, input json.RawMessage) *graph.Failure {
	document := r.pin.Document
	plan, err := graph.NewPlan(document, r.pin.Graphs...)
	if err != nil {
		return graph.Failf(graph.ErrTypeInvalidDocument, "%v", err)
	}
	state := json.RawMessage("{}")
	if input != nil && string(input) != "null" {
		if state, err = value.Canonical(input); err != nil {
			return graph.Failf(graph.ErrTypeInputSchema, "the input is not JSON: %v", err)
		}
	}
	r.machine, err = graph.New(plan, graph.Start{
		Input: state, Lineage: r.info.FirstRunID, Limits: r.pin.Limits, Now: workflow.Now(ctx),
		MaxSteps: r.pin.Options.MaxSteps, Deadline: r.pin.Options.Deadline, Child: r.child,
		Admission: r.admitted(), Overflow: graph.Overflow(r.pin.Options.Overflow), QueueTimeout: r.pin.Options.QueueTimeout,
		Facts: graph.RunFacts{
			ID: r.info.WorkflowExecution.ID, RunID: r.info.WorkflowExecution.RunID,
			Graph: document.ID, Revision: document.Revision, Lane: r.lane(),
			Started: r.info.WorkflowStartTime,
		},
	})
	switch {
	case err != nil && r.child != nil: // its input is known to be an object
		return graph.Failf(graph.ErrTypeInvalidRunOptions, "what the run inherits cannot be: %v", err)
	case err != nil:
		return graph.Failf(graph.ErrTypeInputSchema, "the input of a run is an object: %v", err)
	}
	return nil
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
		Refused: true, Pauses: []graph.OpenPause{}, Waiting: []graph.Waiting{}, Started: r.info.WorkflowStartTime,
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
