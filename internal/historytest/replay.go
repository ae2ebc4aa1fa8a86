package historytest

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/tidemill/tidemill/internal/temporaltest"
)

// Replay replays the recording on a replayer to which register has added the
// workflows, and fails the test when the code would decide differently, or when a
// workflow task of it holds more than it may ([temporaltest.Audit]).
func Replay(tb testing.TB, recording Recording, register func(worker.WorkflowReplayer)) {
	tb.Helper()
	require.NoError(tb, temporaltest.Audit(recording.History), "audit of %s, run %s", recording.WorkflowID, recording.RunID)
	require.NoError(tb, TryReplay(recording, worker.WorkflowReplayerOptions{}, register), "replay of %s, run %s", recording.WorkflowID, recording.RunID)
}

// TryReplay is [Replay] for callers that need options, such as a data converter
// or interceptors, or that expect the replay to fail.
func TryReplay(recording Recording, opts worker.WorkflowReplayerOptions, register func(worker.WorkflowReplayer)) error {
	replayer, err := worker.NewWorkflowReplayerWithOptions(opts)
	if err != nil {
		return err
	}
	register(replayer)
	return replayer.ReplayWorkflowHistoryWithOptions(temporaltest.Logger(), recording.History, worker.ReplayWorkflowHistoryOptions{
		OriginalExecution: workflow.Execution{ID: recording.WorkflowID, RunID: recording.RunID},
	})
}
