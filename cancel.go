package tidemill

import (
	"context"
	"crypto/rand"
	"errors"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
)

// Cancel asks a run to stop, and returns when the server has taken the request.
// The run asks its open node to stop, gives it its cancel_grace, and closes as
// cancelled; [Client.Await] waits for that. A paused run closes at once. The
// reason is kept in the run's history. Asking twice is harmless; a closed run
// gives already_terminal.
func (c *Client) Cancel(ctx context.Context, id, reason string) error {
	namespace, err := c.Namespace(ctx)
	if err != nil {
		return err
	}
	// A server takes a second request to a closed run for the first one, and says
	// nothing.
	d, err := c.describe(ctx, id, "")
	if err != nil {
		return edgeErrorOf(id, err)
	}
	if !open(d.GetWorkflowExecutionInfo()) {
		return terminal(id, d)
	}
	_, err = c.temporal.WorkflowService().RequestCancelWorkflowExecution(ctx,
		&workflowservice.RequestCancelWorkflowExecutionRequest{
			Namespace: namespace, WorkflowExecution: &commonpb.WorkflowExecution{WorkflowId: id},
			Identity: "tidemill", RequestId: rand.Text(), Reason: reason,
		})
	var asked *serviceerror.CancellationAlreadyRequested
	if err == nil || errors.As(err, &asked) {
		return nil
	}
	return c.closedOr(ctx, id, "", err)
}
