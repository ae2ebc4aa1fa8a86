package tidemill

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

	"github.com/tidemill/tidemill/activities"
	"github.com/tidemill/tidemill/graph"
	"github.com/tidemill/tidemill/graph/value"
	"github.com/tidemill/tidemill/workflows"
)

// ResumeOptions are an answer to a pause.
type ResumeOptions struct {
	RunID   string // Zero means the latest run of the id.
	PauseID string // Zero means the only open pause.
	// Input is the answer: any Go value, or JSON text as json.RawMessage; null is
	// json.RawMessage("null"). It must be given.
	Input  any
	Actor  string // who answers; recorded
	Note   string // recorded
	Digest string // of the pause as it was shown; the answer to another is refused
	// UpdateID makes a repetition harmless: the same id to the same run gives the
	// first answer's result. Zero means a random one.
	UpdateID string
	// Signal leaves the answer with the server instead of waiting for a worker to
	// take it: it is kept until a worker comes, and whether it was taken is seen
	// in the status. It carries the input alone.
	Signal bool
	// Wait is how long a worker may take. Zero means 5 s.
	Wait time.Duration
}

// Answered says which pause an answer went to.
type Answered struct {
	// PauseID is empty for a signal that named no pause.
	PauseID string `json:"pause_id,omitempty"`
	// Status is "accepted" when the run has taken the answer, and "sent" for a
	// signal, of which that is not known.
	Status string `json:"status"`
}

// answerWithin is how long a worker may take to take an answer.
const answerWithin = 5 * time.Second

// Resume answers a pause and returns when the run has taken the answer. A
// refused answer is a [*RunError] of type unknown_pause, pause_closed,
// pause_ambiguous, pause_digest_mismatch, resume_input_required or
// invalid_resume_input, and leaves the pause open. An error matching
// [ErrNoWorker] says that nobody answered in time.
func (c *Client) Resume(ctx context.Context, id string, o ResumeOptions) (Answered, error) {
	if o.Input == nil {
		return Answered{}, refused(id, graph.Failf(graph.ErrTypeResumeInputRequired, "an answer needs an input; null is one"))
	}
	input, err := value.Marshal(o.Input)
	if err != nil {
		return Answered{}, refused(id, graph.Failf(graph.ErrTypeInvalidResumeInput, "the answer is not JSON: %v", err))
	}
	if o.Signal {
		return Answered{PauseID: o.PauseID, Status: "sent"}, c.signalAnswer(ctx, id, input, o)
	}
	wait := o.Wait
	if wait == 0 {
		wait = answerWithin
	}
	short, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	answered, err := c.updateAnswer(short, id, input, o)
	if err == nil {
		return answered, nil
	}
	var timedOut *client.WorkflowUpdateServiceTimeoutOrCanceledError
	if ctx.Err() == nil && (short.Err() != nil || errors.As(err, &timedOut)) {
		return Answered{}, c.unanswered(ctx, id, o.RunID, wait, err)
	}
	return Answered{}, c.closedOr(ctx, id, o.RunID, err)
}

func (c *Client) updateAnswer(ctx context.Context, id string, input json.RawMessage, o ResumeOptions) (Answered, error) {
	var result workflows.ResumeResult
	argument, err := activities.Plain(workflows.ResumeInput{
		PauseID: graph.Address(o.PauseID), Input: input, Actor: o.Actor, Note: o.Note, Digest: o.Digest,
	})
	if err != nil {
		return Answered{}, err
	}
	handle, err := c.temporal.UpdateWorkflow(ctx, client.UpdateWorkflowOptions{
		UpdateID: o.UpdateID, WorkflowID: id, RunID: o.RunID, UpdateName: workflows.UpdateResume,
		Args:         []any{argument},
		WaitForStage: client.WorkflowUpdateStageCompleted,
	})
	if err != nil {
		return Answered{}, err
	}
	err = handle.Get(ctx, &result)
	return Answered{PauseID: string(result.PauseID), Status: result.Status}, err
}

// signalAnswer leaves the answer with the server.
func (c *Client) signalAnswer(ctx context.Context, id string, input json.RawMessage, o ResumeOptions) error {
	if o.Actor != "" || o.Note != "" || o.Digest != "" || o.UpdateID != "" {
		return refused(id, graph.Failf(graph.ErrTypeInvalidRunOptions,
			"a signal carries the input alone; leave out actor, note, digest and update id, or do not signal"))
	}
	name := workflows.SignalResume
	if o.PauseID != "" {
		name = workflows.SignalResumePrefix + o.PauseID
	}
	payload, err := activities.Plain(input)
	if err != nil {
		return err
	}
	err = c.temporal.SignalWorkflow(ctx, id, o.RunID, name, payload)
	return c.closedOr(ctx, id, o.RunID, err)
}

// unanswered tells a worker that does not answer from a server that does not.
func (c *Client) unanswered(ctx context.Context, id, runID string, wait time.Duration, cause error) error {
	if _, err := c.describe(ctx, id, runID); err != nil {
		return edgeErrorOf(id, err)
	}
	return &RunError{Type: ErrTypeNoWorker, ID: id, Err: errors.Join(ErrNoWorker, cause), Message: fmt.Sprintf(
		"no worker answered within %v, so nothing was answered yet; start a worker and look at the status before you repeat it, "+
			"or send the answer as a signal, which is kept until a worker comes", wait)}
}

// closedOr tells a closed run from an unknown one: the server calls both not
// found.
func (c *Client) closedOr(ctx context.Context, id, runID string, err error) error {
	var notFound *serviceerror.NotFound
	if !errors.As(err, &notFound) {
		return edgeErrorOf(id, err)
	}
	d, describeErr := c.describe(ctx, id, runID)
	if describeErr != nil {
		return edgeErrorOf(id, describeErr)
	}
	if open(d.GetWorkflowExecutionInfo()) {
		return edgeErrorOf(id, err)
	}
	return terminal(id, d)
}

// terminal is the refusal of anything asked of a run that has closed.
func terminal(id string, d *workflowservice.DescribeWorkflowExecutionResponse) error {
	return &RunError{Type: ErrTypeAlreadyTerminal, ID: id, Message: fmt.Sprintf(
		"the run has closed (%s); nothing of it is open any more", d.GetWorkflowExecutionInfo().GetStatus())}
}
