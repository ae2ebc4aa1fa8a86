package tidemill

import (
	"context"
	"fmt"
	"strings"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflowservice/v1"
)

const (
	// lookBack is how many events from the end of a history are searched for why a
	// workflow task failed; the attempts after the first write none.
	lookBack = 10
	// lookAt is how many open runs Doctor looks at.
	lookAt = 50
	// failingAttempt is the attempt of a workflow task from which on it is failing:
	// once may be a worker that was lost.
	failingAttempt = 3
	// maxReason bounds what is shown of a failure.
	maxReason = 400
)

// taskFailure is why the workflow task that a run has now fails, as its history says;
// empty when that is not known.
func (c *Client) taskFailure(ctx context.Context, execution *commonpb.WorkflowExecution) string {
	short, cancel := context.WithTimeout(ctx, queryWithin)
	defer cancel()
	namespace, err := c.Namespace(short)
	if err != nil {
		return ""
	}
	page, err := c.temporal.WorkflowService().GetWorkflowExecutionHistoryReverse(short, &workflowservice.GetWorkflowExecutionHistoryReverseRequest{
		Namespace: namespace, Execution: execution, MaximumPageSize: lookBack,
	})
	if err != nil {
		return ""
	}
	for _, event := range page.GetHistory().GetEvents() {
		switch event.GetEventType() { //nolint:exhaustive // what else happened meanwhile does not matter
		case enumspb.EVENT_TYPE_WORKFLOW_TASK_COMPLETED:
			return ""
		case enumspb.EVENT_TYPE_WORKFLOW_TASK_FAILED:
			message, _, _ := strings.Cut(event.GetWorkflowTaskFailedEventAttributes().GetFailure().GetMessage(), "\n")
			return shorten(message, maxReason)
		}
	}
	return ""
}

// judgeRuns looks at the newest open runs of a task queue for those that make no way,
// because no worker there can do their workflow task: they look healthy otherwise.
func (c *Client) judgeRuns(ctx context.Context, d *Diagnosis) error {
	service := c.temporal.WorkflowService()
	page, err := service.ListWorkflowExecutions(ctx, &workflowservice.ListWorkflowExecutionsRequest{
		Namespace: d.Namespace, PageSize: lookAt,
		Query: fmt.Sprintf(`TaskQueue = '%s' AND ExecutionStatus = "Running"`, strings.ReplaceAll(d.TaskQueue, "'", "''")),
	})
	if err != nil {
		return err
	}
	var stuck []*commonpb.WorkflowExecution
	for _, info := range page.GetExecutions() {
		described, err := service.DescribeWorkflowExecution(ctx, &workflowservice.DescribeWorkflowExecutionRequest{
			Namespace: d.Namespace, Execution: info.GetExecution(),
		})
		if err == nil && described.GetPendingWorkflowTask().GetAttempt() >= failingAttempt {
			stuck = append(stuck, info.GetExecution())
		}
	}
	if len(stuck) == 0 {
		return nil
	}
	id, reason := stuck[0].GetWorkflowId(), c.taskFailure(ctx, stuck[0])
	if reason == "" {
		reason = "the history does not say why"
	}
	d.find(fmt.Sprintf("of the %d newest open runs, %d make no way, for their workflow task fails, such as %q: %s",
		len(page.GetExecutions()), len(stuck), id, reason),
		"start workers that can do it; the runs go on by themselves: starter status "+shellWord(id))
	return nil
}
