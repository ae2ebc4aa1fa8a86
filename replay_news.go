package tidemill

import (
	"slices"

	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"google.golang.org/protobuf/types/known/timestamppb"
)

// newsTypes are the events that tell a run something.
func newsTypes() []enumspb.EventType {
	return []enumspb.EventType{
		enumspb.EVENT_TYPE_ACTIVITY_TASK_COMPLETED, enumspb.EVENT_TYPE_ACTIVITY_TASK_FAILED,
		enumspb.EVENT_TYPE_ACTIVITY_TASK_TIMED_OUT, enumspb.EVENT_TYPE_ACTIVITY_TASK_CANCELED,
		enumspb.EVENT_TYPE_CHILD_WORKFLOW_EXECUTION_STARTED, enumspb.EVENT_TYPE_START_CHILD_WORKFLOW_EXECUTION_FAILED,
		enumspb.EVENT_TYPE_CHILD_WORKFLOW_EXECUTION_COMPLETED, enumspb.EVENT_TYPE_CHILD_WORKFLOW_EXECUTION_FAILED,
		enumspb.EVENT_TYPE_CHILD_WORKFLOW_EXECUTION_TIMED_OUT, enumspb.EVENT_TYPE_CHILD_WORKFLOW_EXECUTION_CANCELED,
		enumspb.EVENT_TYPE_CHILD_WORKFLOW_EXECUTION_TERMINATED, enumspb.EVENT_TYPE_TIMER_FIRED,
		enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED,
	}
}

// news is the history with one more workflow task at its end, when something had
// happened that no task was told of: the result of an activity stands in history even
// if nobody was there to take it up before the run was terminated.
func (p past) news() (events []*historypb.HistoryEvent, told bool) {
	types := newsTypes()
	told = slices.ContainsFunc(p.events[p.completedTask()+1:], func(event *historypb.HistoryEvent) bool {
		return slices.Contains(types, event.GetEventType())
	})
	if !told {
		return nil, false
	}
	events = p.events
	last := events[len(events)-1].GetEventType()
	if last == enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_TERMINATED || last == enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_TIMED_OUT {
		events = events[:len(events)-1]
	}
	return append(slices.Clip(events), lastTask(events)...), true
}

// lastTask completes the workflow task at the end of a history, or adds one.
func lastTask(events []*historypb.HistoryEvent) []*historypb.HistoryEvent {
	end := events[len(events)-1]
	id, at := end.GetEventId(), end.GetEventTime()
	if end.GetEventType() == enumspb.EVENT_TYPE_WORKFLOW_TASK_STARTED {
		return []*historypb.HistoryEvent{taskCompleted(id+1, end.GetWorkflowTaskStartedEventAttributes().GetScheduledEventId(), id, at)}
	}
	var added []*historypb.HistoryEvent
	if end.GetEventType() != enumspb.EVENT_TYPE_WORKFLOW_TASK_SCHEDULED {
		id++
		added = append(added, taskScheduled(id, at))
	}
	return append(added, taskStarted(id+1, id, at), taskCompleted(id+2, id, id+1, at))
}

func taskScheduled(id int64, at *timestamppb.Timestamp) *historypb.HistoryEvent {
	return &historypb.HistoryEvent{
		EventId: id, EventTime: at, EventType: enumspb.EVENT_TYPE_WORKFLOW_TASK_SCHEDULED,
		Attributes: &historypb.HistoryEvent_WorkflowTaskScheduledEventAttributes{
			WorkflowTaskScheduledEventAttributes: &historypb.WorkflowTaskScheduledEventAttributes{Attempt: 1},
		},
	}
}

func taskStarted(id, scheduled int64, at *timestamppb.Timestamp) *historypb.HistoryEvent {
	return &historypb.HistoryEvent{
		EventId: id, EventTime: at, EventType: enumspb.EVENT_TYPE_WORKFLOW_TASK_STARTED,
		Attributes: &historypb.HistoryEvent_WorkflowTaskStartedEventAttributes{
			WorkflowTaskStartedEventAttributes: &historypb.WorkflowTaskStartedEventAttributes{ScheduledEventId: scheduled},
		},
	}
}

func taskCompleted(id, scheduled, started int64, at *timestamppb.Timestamp) *historypb.HistoryEvent {
	return &historypb.HistoryEvent{
		EventId: id, EventTime: at, EventType: enumspb.EVENT_TYPE_WORKFLOW_TASK_COMPLETED,
		Attributes: &historypb.HistoryEvent_WorkflowTaskCompletedEventAttributes{
			WorkflowTaskCompletedEventAttributes: &historypb.WorkflowTaskCompletedEventAttributes{
				ScheduledEventId: scheduled, StartedEventId: started,
			},
		},
	}
}
