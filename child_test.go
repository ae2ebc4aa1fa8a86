package tidemill_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill"
	"github.com/tidemill/tidemill/graph"
)

const orders = `
version: 1
id: orders
entry: review
nodes:
  - {id: review, type: workflow, workflow: approval, next: end}
`

// Whoever looks at a run sees what a child of it asks, and answers it there; the
// answer at the child would do as well, and both know it by one id.
func TestResumeAChild(t *testing.T) {
	t.Parallel()
	app := newApp()
	app.AddGraph("orders.yaml", []byte(orders))
	w := setup(t, app)
	run, err := w.runs.Start(t.Context(), tidemill.StartOptions{Graph: "orders", Input: map[string]string{"order": "7"}})
	require.NoError(t, err)
	report, err := w.runs.Await(t.Context(), run.ID, tidemill.AwaitOptions{})
	require.NoError(t, err)
	require.Equal(t, tidemill.StatusPaused, report.Status)
	require.Len(t, report.Pauses, 1)
	pause := report.Pauses[0]
	require.Equal(t, graph.Address("review#1/approve#1"), pause.ID)
	require.Equal(t, run.ID+"/review#1", pause.WorkflowID)

	child, err := w.runs.Status(t.Context(), pause.WorkflowID)
	require.NoError(t, err)
	require.Equal(t, report.Pauses, child.Pauses)
	require.Equal(t, "approval", child.Graph)

	answered, err := w.runs.Resume(t.Context(), run.ID, tidemill.ResumeOptions{Input: yes, Digest: pause.Digest, Actor: "mara"})
	require.NoError(t, err)
	require.Equal(t, string(pause.ID), answered.PauseID)
	report, err = w.runs.Await(t.Context(), run.ID, tidemill.AwaitOptions{})
	require.NoError(t, err)
	require.Equal(t, tidemill.StatusCompleted, report.Status)
	child, err = w.runs.Status(t.Context(), pause.WorkflowID)
	require.NoError(t, err)
	require.Equal(t, tidemill.StatusCompleted, child.Status)
}
