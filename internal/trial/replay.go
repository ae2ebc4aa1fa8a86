package trial

import (
	"context"
	"fmt"

	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/tidemill/tidemill/workflows"
)

// replay holds the history of a run, and those of its children, against the
// interpreter.
func (s *Server) replay(ctx context.Context, workflowID, runID string) error {
	history := &historypb.History{}
	events := s.temporal.GetWorkflowHistory(ctx, workflowID, runID, false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for events.HasNext() {
		event, err := events.Next()
		if err != nil {
			return fmt.Errorf("trial: the history of %s: %w", workflowID, err)
		}
		history.Events = append(history.Events, event)
	}
	if runID == "" {
		runID = history.GetEvents()[0].GetWorkflowExecutionStartedEventAttributes().GetOriginalExecutionRunId()
	}
	replayer := worker.NewWorkflowReplayer()
	replayer.RegisterDynamicWorkflow(workflows.Graph, workflow.DynamicRegisterOptions{})
	if err := replayer.ReplayWorkflowHistoryWithOptions(s.logger, history, worker.ReplayWorkflowHistoryOptions{
		OriginalExecution: workflow.Execution{ID: workflowID, RunID: runID},
	}); err != nil {
		return err
	}
	for _, event := range history.GetEvents() {
		if started := event.GetChildWorkflowExecutionStartedEventAttributes(); started != nil {
			child := started.GetWorkflowExecution()
			if err := s.replay(ctx, child.GetWorkflowId(), child.GetRunId()); err != nil {
				return err
			}
		}
	}
	return nil
}
