package tidemill

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/sdk/converter"
	sdklog "go.temporal.io/sdk/log"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

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
	news, told := p.news()
	if !told || !stood.Begun {
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
		instead := "start it again, mended"
		if earlier := p.redriveOf(); earlier != "" {
			instead = "redrive the run that it was to take up, " + earlier + ", by its run id"
		}
		return refuse(graph.ErrTypeInvalidCheckpoint, "run %s was refused before any node ran (%s: %s), so there is nothing to go on from; %s",
			p.runID, s.Refused.Type, s.Refused.Message, instead)
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
	for i, event := range slices.Backward(p.events) {
		if event.GetEventType() == enumspb.EVENT_TYPE_WORKFLOW_TASK_COMPLETED {
			return i
		}
	}
	return -1
}

// previous is the run that continued as this one; empty: this one is the first.
func (p past) previous() string { return p.started().GetContinuedExecutionRunId() }

// redriveOf is the run that this one was to take up, as its memo says; empty: none.
func (p past) redriveOf() string {
	var runID string
	decodeAttribute(p.started().GetMemo().GetFields()[MemoRedriveOf], &runID)
	return runID
}

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
