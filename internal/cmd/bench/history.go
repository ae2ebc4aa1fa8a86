package main

import (
	"context"
	"errors"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
)

// history counts the events of a run.
type history struct{ all, tasks int }

// events counts the histories of one more run and of its child, when it has one.
func (b *bench) events(ctx context.Context, c contest, s side) (history, error) {
	b.started++
	id := "bench-events-" + s.queue + "-" + s.workflow
	if _, err := b.one(ctx, c, s, id); err != nil {
		return history{}, err
	}
	var h history
	err := b.count(ctx, &h, id)
	if s.below != "" && err == nil {
		err = b.count(ctx, &h, id+s.below)
	}
	return h, err
}

func (b *bench) count(ctx context.Context, h *history, id string) error {
	iterator := b.client.GetWorkflowHistory(ctx, id, "", false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for iterator.HasNext() {
		event, err := iterator.Next()
		if err != nil {
			return err
		}
		h.all++
		switch event.GetEventType() { //nolint:exhaustive // the others are not of workflow tasks
		case enumspb.EVENT_TYPE_WORKFLOW_TASK_SCHEDULED, enumspb.EVENT_TYPE_WORKFLOW_TASK_STARTED,
			enumspb.EVENT_TYPE_WORKFLOW_TASK_COMPLETED, enumspb.EVENT_TYPE_WORKFLOW_TASK_FAILED,
			enumspb.EVENT_TYPE_WORKFLOW_TASK_TIMED_OUT:
			h.tasks++
		default:
		}
	}
	return nil
}

// chain counts, by their types, the events of all runs of a workflow that continues
// as new. There are none of no workflow, and of one that nobody has started yet.
func (b *bench) chain(ctx context.Context, id string) (counts, error) {
	events := counts{}
	for run := ""; id != ""; {
		iterator := b.client.GetWorkflowHistory(ctx, id, run, false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
		for iterator.HasNext() {
			event, err := iterator.Next()
			if missing := new(serviceerror.NotFound); errors.As(err, &missing) && run == "" {
				return events, nil
			}
			if err != nil {
				return nil, err
			}
			events[event.GetEventType().String()]++
			if event.GetEventId() == 1 {
				run = event.GetWorkflowExecutionStartedEventAttributes().GetContinuedExecutionRunId()
			}
		}
		if run == "" {
			break
		}
	}
	return events, nil
}
