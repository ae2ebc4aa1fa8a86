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
	input, options, failure := payloads(args)
	if failure != nil {
		return failure
	}
	if r.takePin(ctx, input, options); r.pin.Failure != nil {
		return r.pin.Failure
	}
	return r.makeMachine(ctx, input)
}

// payloads reads the two arguments of a run.
func payloads(args converter.EncodedValues) (input, options json.RawMessage, failure *graph.Failure) {
	if args == nil || !args.HasValues() {
		return nil, nil, nil
	}
	var more converter.RawValue // whatever it is, nil included
	if err := args.Get(&input, &options, &more); err != nil {
		return nil, nil, graph.Failf(graph.ErrTypeInputSchema, "the arguments of a run are JSON: %v", err)
	}
	if more.Payload() != nil {
		return nil, nil, graph.Failf(graph.ErrTypeInvalidRunOptions, "a run takes at most two arguments: its input and its options")
	}
	return input, options, nil
}

// takePin records what will steer the run. It is the first thing in history.
func (r *run) takePin(ctx workflow.Context, input, options json.RawMessage) {
	future := workflow.ExecuteLocalActivity(localContext(ctx, time.Minute), activities.NamePin, activities.PinInput{
		Graph: r.info.WorkflowType.Name, Input: input, Options: options,
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
	plan, err := graph.NewPlan(document)
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
		MaxSteps: r.pin.Options.MaxSteps, Deadline: r.pin.Options.Deadline,
		Facts: graph.RunFacts{
			ID: r.info.WorkflowExecution.ID, RunID: r.info.WorkflowExecution.RunID,
			Graph: document.ID, Revision: document.Revision, Lane: r.lane(),
			Started: r.info.WorkflowStartTime,
		},
	})
	if err != nil {
		return graph.Failf(graph.ErrTypeInputSchema, "the input of a run is an object: %v", err)
	}
	return nil
}

// lane is whose run it is: by default each run has a session of its own.
func (r *run) lane() graph.Lane {
	lane := r.pin.Options.Lane
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
		Pauses: []graph.OpenPause{}, Waiting: []graph.Waiting{}, Started: r.info.WorkflowStartTime,
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
