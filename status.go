package tidemill

import (
	"context"
	"errors"
	"fmt"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"

	"github.com/tidemill/tidemill/graph"
	"github.com/tidemill/tidemill/workflows"
)

// queryWithin is how long a worker may take to answer a query.
const queryWithin = 3 * time.Second

// Status is how a run stands, open or closed. The run itself is asked; when no
// worker answers or the run's task fails, the report is what the server knows,
// and its Note says so. The latest run of the id is meant.
func (c *Client) Status(ctx context.Context, id string) (Report, error) {
	return c.statusOf(ctx, id, "")
}

func (c *Client) statusOf(ctx context.Context, id, runID string) (Report, error) {
	report, queryErr := c.ask(ctx, id, runID)
	if queryErr == nil {
		if report.Finished != nil {
			return report, nil
		}
		runID = report.RunID
	}
	d, err := c.describe(ctx, id, runID)
	if err != nil {
		return Report{}, edgeErrorOf(id, err)
	}
	if queryErr != nil {
		note := noteOf(queryErr)
		if reason := c.taskFailure(ctx, d.GetWorkflowExecutionInfo().GetExecution()); reason != "" {
			note = "the run's workflow task fails: " + reason
		}
		report = described(d, note+"; this is what the server knows")
		report.Started = c.began(ctx, d.GetWorkflowExecutionInfo())
	}
	info := d.GetWorkflowExecutionInfo()
	if !open(info) && info.GetStatus() != enumspb.WORKFLOW_EXECUTION_STATUS_CONTINUED_AS_NEW {
		return c.overruled(ctx, info, report)
	}
	queue := d.GetExecutionConfig().GetTaskQueue().GetName()
	if queryErr != nil && !c.polled(ctx, queue) {
		report.Note = fmt.Sprintf("no worker polls task queue %q; this is what the server knows", queue)
	}
	return report, nil
}

// overruled completes the report of a run that the server calls closed, with
// how: a run that was terminated does not know it.
func (c *Client) overruled(ctx context.Context, info *workflowpb.WorkflowExecutionInfo, report Report) (Report, error) {
	closing, cancel := context.WithTimeout(ctx, queryWithin)
	defer cancel()
	id := info.GetExecution().GetWorkflowId()
	e := c.ended(closing, id, info.GetExecution().GetRunId())
	if !e.closed() {
		return Report{}, edgeErrorOf(id, e.err)
	}
	at := info.GetCloseTime().AsTime()
	report.Finished = &at
	report.Pauses, report.Waiting, report.Deadline = []graph.OpenPause{}, []graph.Waiting{}, nil
	return e.fill(report), nil
}

// began is when the first execution of a run's chain started, as the run itself would
// say; the one that is known when the namespace no longer keeps the first.
func (c *Client) began(ctx context.Context, info *workflowpb.WorkflowExecutionInfo) time.Time {
	if first := info.GetFirstRunId(); first != "" && first != info.GetExecution().GetRunId() {
		if d, err := c.describe(ctx, info.GetExecution().GetWorkflowId(), first); err == nil {
			return d.GetWorkflowExecutionInfo().GetStartTime().AsTime()
		}
	}
	return info.GetStartTime().AsTime()
}

// ask puts the query "status" to a run.
func (c *Client) ask(ctx context.Context, id, runID string) (Report, error) {
	var report Report
	err := c.query(ctx, id, runID, workflows.QueryStatus, &report)
	return report, err
}

// query asks a run, whose worker must answer soon.
func (c *Client) query(ctx context.Context, id, runID, name string, v any) error {
	short, cancel := context.WithTimeout(ctx, queryWithin)
	defer cancel()
	answer, err := c.temporal.QueryWorkflow(short, id, runID, name)
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return err
	}
	return answer.Get(v)
}

// noteOf says why a query was not answered.
func noteOf(err error) string {
	var failed *serviceerror.QueryFailed
	if errors.As(err, &failed) {
		return "the run did not answer: " + failed.Message
	}
	if taskFailed(err) {
		return "the run's workflow task fails, see the worker's log: " + err.Error()
	}
	return "no worker answers"
}

// taskFailed reports whether the server refused a query because the run's task
// keeps failing.
func taskFailed(err error) bool {
	var invalid *serviceerror.InvalidArgument
	var notReady *serviceerror.WorkflowNotReady
	return errors.As(err, &invalid) || errors.As(err, &notReady)
}

// polled reports whether a worker polls a task queue for workflow tasks. When the
// server does not tell, it is taken for polled.
func (c *Client) polled(ctx context.Context, queue string) bool {
	namespace, err := c.Namespace(ctx)
	if err != nil {
		return true
	}
	pollers, err := pollers(ctx, c.temporal.WorkflowService(), namespace, queue, enumspb.TASK_QUEUE_TYPE_WORKFLOW)
	return err != nil || pollers > 0
}

func pollers(ctx context.Context, s workflowservice.WorkflowServiceClient, namespace, queue string, kind enumspb.TaskQueueType) (int, error) {
	response, err := s.DescribeTaskQueue(ctx, describeQueue(namespace, queue, kind))
	return len(response.GetPollers()), err
}

// needAnswer puts a query for which there is no other source.
func (c *Client) needAnswer(ctx context.Context, id, name string, v any) error {
	err := c.query(ctx, id, "", name, v)
	if err == nil || ctx.Err() != nil {
		return err
	}
	if _, gone := c.describe(ctx, id, ""); gone != nil {
		return edgeErrorOf(id, gone)
	}
	var failed *serviceerror.QueryFailed
	switch {
	case errors.As(err, &failed):
		return &RunError{Type: graph.ErrTypeInvalidCheckpoint, ID: id, Err: err, Message: noteOf(err)}
	case taskFailed(err):
		return &RunError{Type: ErrTypeTaskFailed, ID: id, Err: err, Message: noteOf(err)}
	default:
		return &RunError{
			Type: ErrTypeNoWorker, ID: id, Err: errors.Join(ErrNoWorker, err),
			Message: fmt.Sprintf("no worker answered within %v; only a worker can tell", queryWithin),
		}
	}
}
