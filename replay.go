package tidemill

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/sdk/converter"
	sdklog "go.temporal.io/sdk/log"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/tidemill/tidemill/activities"
	"github.com/tidemill/tidemill/graph"
	"github.com/tidemill/tidemill/workflows"
)

// past is the history of one execution.
type past struct {
	id, runID string
	events    []*historypb.HistoryEvent
}

// past reads a history from the server.
func (c *Client) past(ctx context.Context, id, runID string) (past, error) {
	p := past{id: id, runID: runID}
	events := c.temporal.GetWorkflowHistory(ctx, id, runID, false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for events.HasNext() {
		event, err := events.Next()
		if err != nil {
			if ctx.Err() != nil {
				return p, ctx.Err()
			}
			return p, edgeErrorOf(id, err)
		}
		p.events = append(p.events, event)
	}
	if len(p.events) == 0 {
		return p, &RunError{Type: ErrTypeServer, ID: id, Message: "the server gave an empty history; ask again"}
	}
	return p, nil
}

// started is what the execution was started with.
func (p past) started() *historypb.WorkflowExecutionStartedEventAttributes {
	return p.events[0].GetWorkflowExecutionStartedEventAttributes()
}

// next is the run that the execution continued as; empty: it is the last of its chain.
func (p past) next() string {
	return p.events[len(p.events)-1].GetWorkflowExecutionContinuedAsNewEventAttributes().GetNewExecutionRunId()
}

// children are the child runs that were started, in order.
func (p past) children() []*commonpb.WorkflowExecution {
	var all []*commonpb.WorkflowExecution
	for _, event := range p.events {
		if child := event.GetChildWorkflowExecutionStartedEventAttributes(); child != nil {
			all = append(all, child.GetWorkflowExecution())
		}
	}
	return all
}

// stood replays the history in this process, and tells how the run stood at its end.
// No worker is needed. An address makes it look for the moment from which that can be
// repeated.
func (p past) stood(at graph.Address, payloads converter.DataConverter) (workflows.Stood, error) {
	stood, err := p.replay(p.events, at, payloads)
	if failure := p.judge(stood, err); failure != nil {
		return stood, failure
	}
	news, any := p.news()
	if !any || !stood.Begun {
		return stood, nil
	}
	// What the replay makes of the news was never recorded, so that it does not match
	// the history is no error.
	informed, _ := p.replay(news, at, payloads)
	if !informed.Begun {
		return stood, nil
	}
	return informed, nil
}

// replay is one replay, with what a witness saw of it.
func (p past) replay(events []*historypb.HistoryEvent, at graph.Address, payloads converter.DataConverter) (workflows.Stood, error) {
	replayer, err := worker.NewWorkflowReplayerWithOptions(worker.WorkflowReplayerOptions{
		DataConverter: payloads, DisableDeadlockDetection: true,
	})
	if err != nil {
		return workflows.Stood{}, err
	}
	witness := &workflows.Witness{At: at}
	replayer.RegisterDynamicWorkflow(witness.Graph, workflow.DynamicRegisterOptions{})
	// A replay that fails is told by its error.
	silent := sdklog.NewStructuredLogger(slog.New(slog.DiscardHandler))
	err = replayer.ReplayWorkflowHistoryWithOptions(silent, &historypb.History{Events: events}, worker.ReplayWorkflowHistoryOptions{
		OriginalExecution: workflow.Execution{ID: p.id, RunID: p.runID},
	})
	return witness.Stood(events[len(events)-1].GetEventTime().AsTime()), err
}

// judge says why a history cannot be used.
func (p past) judge(s workflows.Stood, err error) error {
	refuse := func(errorType, format string, args ...any) error {
		return &RunError{Type: errorType, ID: p.id, Err: err, Message: fmt.Sprintf(format, args...)}
	}
	name := p.started().GetWorkflowType().GetName()
	switch {
	case p.completedTask() < 0:
		return refuse(graph.ErrTypeInvalidCheckpoint,
			"run %s ended before any worker took it up, so there is nothing to go on from; start it again with the same id", p.runID)
	case s.Pin.Core > activities.Core:
		return refuse(ErrTypeUnknownCore,
			"run %s is bound to version %d of the interpreter, and this program knows versions up to %d; use a newer one", p.runID, s.Pin.Core, activities.Core)
	case s.Pin.Document == nil && s.Pin.Failure == nil:
		return refuse(graph.ErrTypeUnknownGraph, "run %s of the type %q is not the run of a graph", p.runID, name)
	case s.Refused != nil:
		return refuse(graph.ErrTypeInvalidCheckpoint,
			"run %s was refused before any node ran (%s: %s), so there is nothing to go on from; start it again, mended", p.runID, s.Refused.Type, s.Refused.Message)
	case err != nil:
		return refuse(ErrTypeNotReplayed,
			"the history of run %s cannot be replayed by this program (%v); use the version of it that the run's workers have", p.runID, err)
	case !s.Begun:
		return refuse(graph.ErrTypeInvalidCheckpoint, "run %s has not begun; ask again", p.runID)
	}
	return nil
}

// completedTask is the index of the last workflow task that was completed; -1: none.
func (p past) completedTask() int {
	for i := len(p.events) - 1; i >= 0; i-- {
		if p.events[i].GetEventType() == enumspb.EVENT_TYPE_WORKFLOW_TASK_COMPLETED {
			return i
		}
	}
	return -1
}

// news is the history with one more workflow task at its end, when something had
// happened that no task was told of: the result of an activity stands in history even
// if nobody was there to take it up before the run was terminated.
func (p past) news() (events []*historypb.HistoryEvent, any bool) {
	last := p.completedTask()
	for _, event := range p.events[last+1:] {
		any = any || isNews(event.GetEventType())
	}
	if !any {
		return nil, false
	}
	events = p.events
	switch events[len(events)-1].GetEventType() {
	case enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_TERMINATED, enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_TIMED_OUT:
		events = events[:len(events)-1]
	default:
	}
	return append(events[:len(events):len(events)], lastTask(events)...), true
}

// isNews reports whether an event tells a run something.
func isNews(t enumspb.EventType) bool {
	switch t {
	case enumspb.EVENT_TYPE_ACTIVITY_TASK_COMPLETED, enumspb.EVENT_TYPE_ACTIVITY_TASK_FAILED,
		enumspb.EVENT_TYPE_ACTIVITY_TASK_TIMED_OUT, enumspb.EVENT_TYPE_ACTIVITY_TASK_CANCELED,
		enumspb.EVENT_TYPE_CHILD_WORKFLOW_EXECUTION_STARTED, enumspb.EVENT_TYPE_START_CHILD_WORKFLOW_EXECUTION_FAILED,
		enumspb.EVENT_TYPE_CHILD_WORKFLOW_EXECUTION_COMPLETED, enumspb.EVENT_TYPE_CHILD_WORKFLOW_EXECUTION_FAILED,
		enumspb.EVENT_TYPE_CHILD_WORKFLOW_EXECUTION_TIMED_OUT, enumspb.EVENT_TYPE_CHILD_WORKFLOW_EXECUTION_CANCELED,
		enumspb.EVENT_TYPE_CHILD_WORKFLOW_EXECUTION_TERMINATED, enumspb.EVENT_TYPE_TIMER_FIRED,
		enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED:
		return true
	default:
		return false
	}
}

// lastTask completes the workflow task at the end of a history, or adds one.
func lastTask(events []*historypb.HistoryEvent) []*historypb.HistoryEvent {
	end := events[len(events)-1]
	id, at := end.GetEventId(), end.GetEventTime()
	scheduled, started := id+1, id+2
	var added []*historypb.HistoryEvent
	switch end.GetEventType() {
	case enumspb.EVENT_TYPE_WORKFLOW_TASK_STARTED:
		scheduled, started = end.GetWorkflowTaskStartedEventAttributes().GetScheduledEventId(), id
	case enumspb.EVENT_TYPE_WORKFLOW_TASK_SCHEDULED:
		scheduled, started = id, id+1
		added = append(added, taskStarted(started, scheduled, at))
	default:
		added = append(added, &historypb.HistoryEvent{
			EventId: scheduled, EventTime: at, EventType: enumspb.EVENT_TYPE_WORKFLOW_TASK_SCHEDULED,
			Attributes: &historypb.HistoryEvent_WorkflowTaskScheduledEventAttributes{
				WorkflowTaskScheduledEventAttributes: &historypb.WorkflowTaskScheduledEventAttributes{Attempt: 1},
			},
		}, taskStarted(started, scheduled, at))
	}
	return append(added, &historypb.HistoryEvent{
		EventId: started + 1, EventTime: at, EventType: enumspb.EVENT_TYPE_WORKFLOW_TASK_COMPLETED,
		Attributes: &historypb.HistoryEvent_WorkflowTaskCompletedEventAttributes{
			WorkflowTaskCompletedEventAttributes: &historypb.WorkflowTaskCompletedEventAttributes{
				ScheduledEventId: scheduled, StartedEventId: started,
			},
		},
	})
}

func taskStarted(id, scheduled int64, at *timestamppb.Timestamp) *historypb.HistoryEvent {
	return &historypb.HistoryEvent{
		EventId: id, EventTime: at, EventType: enumspb.EVENT_TYPE_WORKFLOW_TASK_STARTED,
		Attributes: &historypb.HistoryEvent_WorkflowTaskStartedEventAttributes{
			WorkflowTaskStartedEventAttributes: &historypb.WorkflowTaskStartedEventAttributes{ScheduledEventId: scheduled},
		},
	}
}

// previous is the run that continued as this one; empty: this one is the first.
func (p past) previous() string { return p.started().GetContinuedExecutionRunId() }

var errNoTime = errors.New("tidemill: the child has not closed in time")

// closedWithin waits until an execution has closed.
func (c *Client) closedWithin(ctx context.Context, id, runID string, patience time.Duration) error {
	waiting, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if e := c.ended(waiting, id, runID); e.closed() {
		return nil
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return errNoTime
}
