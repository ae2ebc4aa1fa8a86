package workflows_test

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"

	"github.com/tidemill/tidemill/graph"
	"github.com/tidemill/tidemill/workflows"
)

// A run that an operator resets goes on from there: what had committed is not called
// again, and the history replays. The server hands over the answer that had come later,
// which now comes before its question: it is refused and counted, and the run asks.
func TestResetRun(t *testing.T) {
	t.Parallel()
	acts := newScript()
	w := setup(t, parts{graphs: []string{`
version: 1
id: resets
entry: a
nodes:
  - {id: a, run: act, args: {output: 1}, next: p}
  - {id: p, type: pause, next: b}
  - {id: b, run: act, args: {output: "${ input }"}, next: end}
`}, register: acts.register})
	run := w.run("resets")
	w.paused(run)
	w.signal(run, workflows.SignalResume, "yes")
	require.Equal(t, `"yes"`, w.output(run))
	var to int64 // the last task before the answer
	for _, event := range w.history(run).GetEvents() {
		if event.GetEventType() == enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED {
			break
		}
		if event.GetEventType() == enumspb.EVENT_TYPE_WORKFLOW_TASK_COMPLETED {
			to = event.GetEventId()
		}
	}
	w.cli(run, "workflow", "reset", "--event-id", strconv.FormatInt(to, 10), "--reason", "test")
	latest, err := w.client.DescribeWorkflow(t.Context(), run.GetID(), "")
	require.NoError(t, err)
	require.NotEqual(t, run.GetRunID(), latest.WorkflowExecution.RunID)
	again := w.client.GetWorkflow(t.Context(), run.GetID(), latest.WorkflowExecution.RunID)
	w.runs = append(w.runs, again)
	report := w.paused(again)
	require.Equal(t, 1, report.Rejected.Count)
	require.Equal(t, graph.ErrTypeUnknownPause, report.Rejected.Last[0].Type)
	w.signal(again, workflows.SignalResume, "no")
	require.Equal(t, `"no"`, w.output(again))
	require.Len(t, acts.called(run.GetID()), 3, "a once, b in both runs")
}
