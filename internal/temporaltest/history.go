package temporaltest

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/sdk/client"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// History returns all events that a run has written so far. An empty runID means
// the latest run of the workflow id.
func History(tb testing.TB, c client.Client, workflowID, runID string) *historypb.History {
	tb.Helper()
	var history historypb.History
	events := c.GetWorkflowHistory(context.WithoutCancel(tb.Context()), workflowID, runID, false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for events.HasNext() {
		event, err := events.Next()
		require.NoError(tb, err)
		history.Events = append(history.Events, event)
	}
	return &history
}

// Count returns how many events of the history have one of the types; with no
// type, how many events there are.
func Count(history *historypb.History, types ...enumspb.EventType) int {
	if len(types) == 0 {
		return len(history.GetEvents())
	}
	count := 0
	for _, event := range history.GetEvents() {
		for _, wanted := range types {
			if event.GetEventType() == wanted {
				count++
			}
		}
	}
	return count
}

// Task is what one completed workflow task wrote.
type Task struct {
	EventID     int64 // of its WorkflowTaskCompleted event
	Commands    int   // events that its commands became
	Markers     int   // of those, the markers: results of local activities, versions, side effects
	MarkerBytes int   // size of the marker events on the wire
	Bytes       int   // size of all its events on the wire
	// Local is the time it spent on local activities, as [Audit] measures it.
	Local time.Duration

	at time.Time // of the workflow up to here: when the task began, when its latest local activity ended
}

// Tasks returns what each completed workflow task wrote, in order. A task's
// events are those that name its completion, so signals that arrived meanwhile
// are not counted.
func Tasks(history *historypb.History) []Task {
	var tasks []Task
	index := map[int64]int{}
	var started time.Time
	for _, event := range history.GetEvents() {
		switch event.GetEventType() { //nolint:exhaustive // the others are what a task wrote, or are none of its doing
		case enumspb.EVENT_TYPE_WORKFLOW_TASK_STARTED:
			started = event.GetEventTime().AsTime()
		case enumspb.EVENT_TYPE_WORKFLOW_TASK_COMPLETED:
			index[event.GetEventId()] = len(tasks)
			tasks = append(tasks, Task{EventID: event.GetEventId(), at: started})
		}
		at, known := index[completionOf(event)]
		if !known {
			continue
		}
		task, size := &tasks[at], proto.Size(event)
		task.Commands++
		task.Bytes += size
		if event.GetEventType() == enumspb.EVENT_TYPE_MARKER_RECORDED {
			task.Markers++
			task.MarkerBytes += size
			task.work(event.GetMarkerRecordedEventAttributes())
		}
	}
	return tasks
}

// completionOf returns the id of the WorkflowTaskCompleted event that the event
// came from, zero when it came from elsewhere. Every kind of event that a command
// becomes has the field under the same name.
func completionOf(event *historypb.HistoryEvent) int64 {
	message := event.ProtoReflect()
	attributes := message.WhichOneof(message.Descriptor().Oneofs().ByName("attributes"))
	if attributes == nil {
		return 0
	}
	inner := message.Get(attributes).Message()
	field := inner.Descriptor().Fields().ByName(protoreflect.Name("workflow_task_completed_event_id"))
	if field == nil {
		return 0
	}
	return inner.Get(field).Int()
}
