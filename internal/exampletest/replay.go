package exampletest

import (
	"testing"

	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/tidemill/tidemill/internal/historytest"
	"github.com/tidemill/tidemill/workflows"
)

// replay checks that the histories of a run and of its children are what the
// interpreter would write again.
func (b *Bench) replay(tb testing.TB, workflowID, runID string) {
	tb.Helper()
	recording := historytest.Record(tb, b.Temporal, workflowID, runID)
	historytest.Replay(tb, recording, func(r worker.WorkflowReplayer) {
		r.RegisterDynamicWorkflow(workflows.Graph, workflow.DynamicRegisterOptions{})
	})
	for _, child := range children(recording.History) {
		execution := child.GetWorkflowExecution()
		b.replay(tb, execution.GetWorkflowId(), execution.GetRunId())
	}
}

// children are the child workflows that a run has started.
func children(history *historypb.History) []*historypb.ChildWorkflowExecutionStartedEventAttributes {
	var all []*historypb.ChildWorkflowExecutionStartedEventAttributes
	for _, event := range history.GetEvents() {
		if started := event.GetChildWorkflowExecutionStartedEventAttributes(); started != nil {
			all = append(all, started)
		}
	}
	return all
}
