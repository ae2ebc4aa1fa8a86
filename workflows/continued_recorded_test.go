package workflows_test

import (
	"encoding/json"
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"

	"github.com/tidemill/tidemill/internal/historytest"
	"github.com/tidemill/tidemill/internal/temporaltest"
	"github.com/tidemill/tidemill/workflows"
)

// chainShapes are chains of runs whose histories are kept, each run for itself: how a
// run ends that is continued, and how one begins that continues another.
var chainShapes = []struct {
	name, graph, input string
	at                 int
	act                func(w *world, run client.WorkflowRun)
}{
	{name: "continued_loop", graph: "loop", input: `{"k":0}`, at: 1},
	{name: "continued_map", graph: "map", input: `{"list":[1,2,3,4,5]}`, at: 14},
	{name: "continued_child", graph: "child", input: `{}`, at: 1, act: answersOnce},
	{name: "continued_fork", graph: "fork", input: `{}`, at: 1, act: answersOnce},
}

func answersOnce(w *world, run client.WorkflowRun) {
	w.paused(run)
	_, err := w.resume(run, workflows.ResumeInput{Input: json.RawMessage(`"yes"`)})
	require.NoError(w.tb, err)
}

// Chains are long: their histories must replay with every later release. What is
// recorded is replayed with all others, in TestRecordedHistories.
func TestChainHistories(t *testing.T) {
	t.Parallel()
	for _, shape := range chainShapes {
		first, last := recordingOf(shape.name+"_1"), recordingOf(shape.name+"_2")
		if _, err := os.Stat(first); err != nil && *update {
			w := setup(t, continuing(shape.at, newScript(), longLivedGraphs()...))
			run := w.run(shape.graph, json.RawMessage(shape.input))
			if shape.act != nil {
				shape.act(w, chainOf(run))
			}
			w.output(run)
			for i, id := range w.runsOf(run)[:2] {
				w.record(w.client.GetWorkflow(t.Context(), run.GetID(), id), fmt.Sprintf("%s_%d", shape.name, i+1))
			}
		}
		begun, ended := historytest.Load(t, last), historytest.Load(t, first)
		require.NotEmpty(t, begun.History.GetEvents()[0].GetWorkflowExecutionStartedEventAttributes().GetContinuedExecutionRunId())
		require.Equal(t, 1, temporaltest.Count(ended.History, enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_CONTINUED_AS_NEW))
	}
}
