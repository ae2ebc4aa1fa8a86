package tidemill

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"

	"github.com/tidemill/tidemill/activities"
	"github.com/tidemill/tidemill/graph"
)

// Report is the outcome document of a run: how it stands or ended.
type Report struct {
	graph.Report
	// Note says where the report comes from when the run itself did not answer,
	// and that parts of it may be missing then.
	Note string `json:"note,omitempty"`
}

// described is what the server knows of a run without asking a worker.
func described(d *workflowservice.DescribeWorkflowExecutionResponse, note string) Report {
	info := d.GetWorkflowExecutionInfo()
	r := Report{Note: note, Report: graph.Report{
		ID: info.GetExecution().GetWorkflowId(), RunID: info.GetExecution().GetRunId(),
		Graph: info.GetType().GetName(), Status: graph.StatusRunning,
		Pauses: []graph.OpenPause{}, Waiting: pendingActivities(d.GetPendingActivities()),
		Started: info.GetStartTime().AsTime(),
	}}
	if info.GetCloseTime() != nil {
		at := info.GetCloseTime().AsTime()
		r.Finished = &at
	}
	indexed := info.GetSearchAttributes().GetIndexedFields()
	var status graph.Status
	if open(info) && decodeAttribute(indexed[activities.AttributeStatus], &status) && status == graph.StatusPaused {
		r.Status = graph.StatusPaused
		var ids []graph.Address
		decodeAttribute(indexed[activities.AttributeWaiting], &ids)
		for _, id := range ids {
			r.Pauses = append(r.Pauses, graph.OpenPause{Pause: graph.Pause{ID: id}, WorkflowID: r.ID})
		}
	}
	return r
}

// open reports whether a workflow is open; an operator may have paused it.
func open(info *workflowpb.WorkflowExecutionInfo) bool {
	return info.GetStatus() == enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING ||
		info.GetStatus() == enumspb.WORKFLOW_EXECUTION_STATUS_PAUSED
}

func decodeAttribute(payload *commonpb.Payload, v any) bool {
	return payload != nil && converter.GetDefaultDataConverter().FromPayload(payload, v) == nil
}

// pendingActivities says what the open activities of a run are about.
func pendingActivities(pending []*workflowpb.PendingActivityInfo) []graph.Waiting {
	waiting := make([]graph.Waiting, 0, len(pending))
	for _, a := range pending {
		w := graph.Waiting{Address: graph.Address(a.GetActivityId()), Reason: fmt.Sprintf(
			"activity %s, attempt %d", a.GetActivityType().GetName(), a.GetAttempt())}
		if a.GetState() == enumspb.PENDING_ACTIVITY_STATE_SCHEDULED {
			w.Reason += ", not started by a worker"
		}
		if a.GetPaused() {
			w.Reason += ", paused by an operator"
		}
		if failure := a.GetLastFailure().GetMessage(); failure != "" {
			w.Reason += ", last failure: " + shorten(failure, maxStaticSummary)
		}
		if a.GetScheduledTime() != nil && a.GetState() == enumspb.PENDING_ACTIVITY_STATE_SCHEDULED {
			at := a.GetScheduledTime().AsTime()
			w.NextCheck = &at
		}
		waiting = append(waiting, w)
	}
	return waiting
}

// ending is how a workflow execution closed, as its result says.
type ending struct {
	runID  string
	output json.RawMessage
	err    error
}

// ended waits until the run has closed, through continue-as-new.
func (c *Client) ended(ctx context.Context, id, runID string) ending {
	run := c.temporal.GetWorkflow(ctx, id, runID)
	var e ending
	e.err = run.Get(ctx, &e.output)
	e.runID = run.GetRunID()
	return e
}

// closed reports whether the run has closed, and the server did not merely fail
// to tell.
func (e ending) closed() bool {
	var how *temporal.WorkflowExecutionError
	return e.err == nil || errors.As(e.err, &how)
}

// fill completes the report of a closed run with what its ending says.
func (e ending) fill(r Report) Report {
	var application *temporal.ApplicationError
	var cancelled *temporal.CanceledError
	var terminated *temporal.TerminatedError
	var timeout *temporal.TimeoutError
	switch {
	case e.err == nil:
		r.Status, r.Output = graph.StatusCompleted, e.output
		if r.Output == nil {
			r.Output = json.RawMessage("null")
		}
		return r
	case errors.As(e.err, &terminated):
		r.Status = graph.StatusFailed
		r.Error = graph.Failf(ErrTypeTerminated, "the workflow was terminated; what its nodes were doing is unknown")
		return r
	case errors.As(e.err, &cancelled):
		r.Status = graph.StatusCancelled
		r.Error = graph.Failf(graph.ErrTypeCancelled, "the run was cancelled")
		return detailed(cancelled, r)
	case errors.As(e.err, &application):
		r.Status = graph.StatusFailed
		r.Error = graph.Failf(application.Type(), "%s", application.Message())
		return detailed(application, r)
	case errors.As(e.err, &timeout):
		r.Status = graph.StatusTimedOut
		r.Error = graph.Failf(ErrTypeWorkflowTimeout,
			"a timeout set on the workflow itself ended it; use the graph's deadline, which stops nodes in good order")
		return r
	default:
		r.Status = graph.StatusFailed
		r.Error = graph.Failf(ErrTypeServer, "%v", e.err)
		return r
	}
}

// detailed is the outcome document that a run closed with, or r if there is
// none.
func detailed(err interface {
	HasDetails() bool
	Details(d ...any) error
}, r Report,
) Report {
	var document graph.Report
	if !err.HasDetails() || err.Details(&document) != nil || document.Status == "" {
		return r
	}
	return Report{Report: document}
}

// elapse waits for a length of time, or until ctx ends.
func elapse(ctx context.Context, d time.Duration) {
	wait, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	<-wait.Done()
}
