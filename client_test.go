package tidemill_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill"
)

// The whole story from Go: a run pauses, is answered and ends with its output.
func TestRunIsStartedAnsweredAndAwaited(t *testing.T) {
	t.Parallel()
	w := setup(t, newApp())
	ctx := t.Context()

	run, err := w.runs.Start(ctx, tidemill.StartOptions{Graph: "approval", ID: w.queue, Input: map[string]string{"order": "7"}})
	require.NoError(t, err)
	require.Equal(t, w.queue, run.ID)

	report, err := w.runs.Await(ctx, run.ID, tidemill.AwaitOptions{})
	require.NoError(t, err)
	require.Equal(t, tidemill.StatusPaused, report.Status)
	require.Len(t, report.Pauses, 1)
	require.Equal(t, "Order 7", report.Pauses[0].Summary)
	require.Equal(t, run.RunID, report.RunID)

	answered, err := w.runs.Resume(ctx, run.ID, tidemill.ResumeOptions{Input: json.RawMessage(`{"approved":true}`)})
	require.NoError(t, err)
	require.Equal(t, tidemill.Answered{PauseID: "approve#1", Status: "accepted"}, answered)

	report, err = w.runs.Await(ctx, run.ID, tidemill.AwaitOptions{})
	require.NoError(t, err)
	require.Equal(t, tidemill.StatusCompleted, report.Status)
	require.JSONEq(t, `"7 is shipped"`, string(report.Output))
	require.Equal(t, 2, report.Steps)
	require.Empty(t, report.Note)
}
