package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/tidemill/tidemill"
	"github.com/tidemill/tidemill/activities"
	"github.com/tidemill/tidemill/activities/permits"
	"github.com/tidemill/tidemill/internal/historytest"
	"github.com/tidemill/tidemill/internal/temporaltest"
	"github.com/tidemill/tidemill/workflows"
)

// archive reads histories: those of runs, of the runs they continued from, and of their
// children.
type archive struct {
	client   client.Client
	commits  map[place][]commit
	silences map[place][]time.Time
	worst    temporaltest.Task // the most of each that a workflow task held
	runs     int
	faults   []string
}

// read reads the latest run of a workflow id and all that belongs to it.
func (a *archive) read(ctx context.Context, workflowID, runID string) error {
	for more := true; more; more = runID != "" {
		recording := historytest.Recording{WorkflowID: workflowID, RunID: runID, History: &historypb.History{}}
		events := a.client.GetWorkflowHistory(ctx, workflowID, runID, false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
		for events.HasNext() {
			event, err := events.Next()
			if err != nil {
				return fmt.Errorf("history of %s: %w", workflowID, err)
			}
			recording.History.Events = append(recording.History.Events, event)
		}
		started := recording.History.Events[0].GetWorkflowExecutionStartedEventAttributes()
		if recording.RunID == "" {
			recording.RunID = started.GetOriginalExecutionRunId()
		}
		a.check(recording)
		a.note(recording)
		for _, event := range recording.History.Events {
			if child := event.GetChildWorkflowExecutionStartedEventAttributes().GetWorkflowExecution(); child != nil {
				if err := a.read(ctx, child.GetWorkflowId(), child.GetRunId()); err != nil {
					return err
				}
			}
		}
		runID = started.GetContinuedExecutionRunId()
	}
	return nil
}

// check replays and audits a history.
func (a *archive) check(recording historytest.Recording) {
	a.runs++
	options := worker.WorkflowReplayerOptions{Interceptors: []interceptor.WorkerInterceptor{tidemill.Interceptor()}}
	err := historytest.TryReplay(recording, options, func(r worker.WorkflowReplayer) {
		r.RegisterDynamicWorkflow(workflows.Graph, workflow.DynamicRegisterOptions{})
		r.RegisterWorkflowWithOptions(workflows.Admission, workflow.RegisterOptions{Name: permits.WorkflowType})
	})
	if err != nil {
		a.faults = append(a.faults, fmt.Sprintf("%s does not replay: %v", recording.WorkflowID, err))
	}
	if err := temporaltest.Audit(recording.History); err != nil {
		a.faults = append(a.faults, fmt.Sprintf("%s: %v", recording.WorkflowID, err))
	}
	for _, task := range temporaltest.Tasks(recording.History) {
		a.worst.Markers = max(a.worst.Markers, task.Markers)
		a.worst.MarkerBytes = max(a.worst.MarkerBytes, task.MarkerBytes)
		a.worst.Local = max(a.worst.Local, task.Local)
	}
}

// note notes when the nodes of a run were committed, and when their workers were given
// up: an activity that timed out was lost with its worker.
func (a *archive) note(recording historytest.Recording) {
	scheduled, before := map[int64]place{}, tasksBefore(recording.History)
	for _, event := range recording.History.GetEvents() {
		at := event.GetEventTime().AsTime()
		end := func(p place, since time.Time) {
			if p.address != "" {
				a.commits[p] = append(a.commits[p], commit{since: since, at: at})
			}
		}
		switch event.GetEventType() { //nolint:exhaustive // the others commit no action
		case enumspb.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED:
			if attributes := event.GetActivityTaskScheduledEventAttributes(); attributes.GetActivityType().GetName() == "work" {
				scheduled[event.GetEventId()] = place{recording.WorkflowID, attributes.GetActivityId()}
			}
		case enumspb.EVENT_TYPE_ACTIVITY_TASK_COMPLETED:
			end(scheduled[event.GetActivityTaskCompletedEventAttributes().GetScheduledEventId()], time.Time{})
		case enumspb.EVENT_TYPE_ACTIVITY_TASK_FAILED:
			end(scheduled[event.GetActivityTaskFailedEventAttributes().GetScheduledEventId()], time.Time{})
		case enumspb.EVENT_TYPE_ACTIVITY_TASK_TIMED_OUT:
			p := scheduled[event.GetActivityTaskTimedOutEventAttributes().GetScheduledEventId()]
			a.silences[p] = append(a.silences[p], at)
		case enumspb.EVENT_TYPE_MARKER_RECORDED:
			task := event.GetMarkerRecordedEventAttributes().GetWorkflowTaskCompletedEventId()
			end(place{recording.WorkflowID, localAddress(event)}, before[task])
		}
	}
}

// tasksBefore is, for each workflow task, when the one before it had ended. One that wrote
// nothing only kept a local activity alive, and is no end.
func tasksBefore(history *historypb.History) map[int64]time.Time {
	before, last := map[int64]time.Time{}, time.Time{}
	for _, task := range temporaltest.Tasks(history) {
		before[task.EventID] = last
		if task.Commands > 0 {
			last = history.GetEvents()[task.EventID-1].GetEventTime().AsTime()
		}
	}
	return before
}

// localAddress is the address of the local action that a marker is of; empty when it is
// of something else.
func localAddress(event *historypb.HistoryEvent) string {
	var data struct{ ActivityType string }
	payloads := event.GetMarkerRecordedEventAttributes().GetDetails()["data"].GetPayloads()
	if len(payloads) != 1 || json.Unmarshal(payloads[0].GetData(), &data) != nil || data.ActivityType != activities.NameLocal {
		return ""
	}
	var address string
	if json.Unmarshal(event.GetUserMetadata().GetSummary().GetData(), &address) != nil {
		return ""
	}
	return address
}
