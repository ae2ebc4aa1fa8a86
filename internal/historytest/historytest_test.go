package historytest_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
	"google.golang.org/protobuf/proto"

	"github.com/tidemill/tidemill/internal/devserver"
	"github.com/tidemill/tidemill/internal/historytest"
	"github.com/tidemill/tidemill/internal/temporaltest"
)

var shared = temporaltest.NewShared(devserver.Options{})

func TestMain(m *testing.M) { os.Exit(shared.Main(m)) }

// parent starts a child whose id is made from its own, which a replay can only
// repeat when it knows the parent's id.
func parent(ctx workflow.Context) error {
	id := workflow.GetInfo(ctx).WorkflowExecution.ID + "/child"
	child := workflow.WithChildOptions(ctx, workflow.ChildWorkflowOptions{WorkflowID: id})
	return workflow.ExecuteChildWorkflow(child, "child").Get(ctx, nil)
}

func child(workflow.Context) error { return nil }

// changed is what somebody might make of parent without thinking of open runs.
func changed(ctx workflow.Context) error {
	if err := workflow.Sleep(ctx, time.Second); err != nil {
		return err
	}
	return parent(ctx)
}

func with(code func(workflow.Context) error) func(worker.WorkflowReplayer) {
	return func(r worker.WorkflowReplayer) {
		r.RegisterWorkflowWithOptions(code, workflow.RegisterOptions{Name: "parent"})
		r.RegisterWorkflowWithOptions(child, workflow.RegisterOptions{Name: "child"})
	}
}

// A replay must pass for the code that wrote the history and fail for code that
// decides otherwise, also after a trip through a file; else the corpus guards
// nothing.
func TestReplay(t *testing.T) {
	t.Parallel()
	server := shared.Server(t)
	c, queue := server.Client(t), server.TaskQueue(t)
	server.Worker(t, c, queue, worker.Options{}, func(r worker.Registry) {
		r.RegisterWorkflowWithOptions(parent, workflow.RegisterOptions{Name: "parent"})
		r.RegisterWorkflowWithOptions(child, workflow.RegisterOptions{Name: "child"})
	})
	run, err := c.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: queue, TaskQueue: queue}, "parent")
	require.NoError(t, err)
	require.NoError(t, run.Get(t.Context(), nil))

	recording := historytest.Record(t, c, queue, "")
	require.Equal(t, run.GetRunID(), recording.RunID)
	historytest.Replay(t, recording, with(parent))
	require.ErrorContains(t, historytest.TryReplay(recording, worker.WorkflowReplayerOptions{}, with(changed)), "nondeterministic")

	folder := filepath.Join(t.TempDir(), "histories")
	historytest.Save(t, filepath.Join(folder, "parent_plain.json"), recording)
	corpus, err := historytest.Corpus(folder)
	require.NoError(t, err)
	require.Len(t, corpus, 1)
	loaded := historytest.Load(t, corpus[0].Path)
	require.Equal(t, recording.WorkflowID, loaded.WorkflowID)
	require.Equal(t, recording.RunID, loaded.RunID)
	require.True(t, proto.Equal(recording.History, loaded.History))
	historytest.Replay(t, loaded, with(parent))

	// The id matters: without it the child's id comes out otherwise.
	loaded.WorkflowID = "somebody-else"
	require.Error(t, historytest.TryReplay(loaded, worker.WorkflowReplayerOptions{}, with(parent)))

	temporaltest.Wait(t, time.Minute, "both runs to be listed", func() bool {
		return len(historytest.RecordAll(t, c, `TaskQueue = "`+queue+`" AND ExecutionStatus = "Completed"`)) == 2
	})
}

// Equal recordings must be equal files, or every regeneration shows a difference
// that nobody reads.
func TestSaveIsStable(t *testing.T) {
	t.Parallel()
	server := shared.Server(t)
	c, queue := server.Client(t), server.TaskQueue(t)
	_, err := c.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: queue, TaskQueue: queue}, "nobody")
	require.NoError(t, err)
	recording := historytest.Record(t, c, queue, "")

	var contents [2]string
	for i := range contents {
		path := filepath.Join(t.TempDir(), "history.json")
		historytest.Save(t, path, recording)
		content, err := os.ReadFile(path)
		require.NoError(t, err)
		contents[i] = string(content)
	}
	require.Equal(t, contents[0], contents[1])
	require.Contains(t, contents[0], `"workflowId": "`+queue+`"`)
}
