package temporaltest_test

import (
	"encoding/json"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/tidemill/tidemill/internal/devserver"
	"github.com/tidemill/tidemill/internal/temporaltest"
)

var shared = temporaltest.NewShared(devserver.Options{})

func TestMain(m *testing.M) { os.Exit(shared.Main(m)) }

// greet writes two markers in its first task and none in its second.
func greet(ctx workflow.Context, name string) (string, error) {
	var greeting string
	for range 2 {
		effect := workflow.SideEffect(ctx, func(workflow.Context) any { return "hello, " + name })
		if err := effect.Get(&greeting); err != nil {
			return "", err
		}
	}
	workflow.GetSignalChannel(ctx, "go").Receive(ctx, nil)
	return greeting, nil
}

func register(r worker.Registry) {
	r.RegisterWorkflowWithOptions(greet, workflow.RegisterOptions{Name: "greet"})
}

// A harness that does not run a plain workflow, or counts its events wrongly,
// would make every test that stands on it meaningless.
func TestServerRunsWorkflow(t *testing.T) {
	t.Parallel()
	server := shared.Server(t)
	c, queue := server.Client(t), server.TaskQueue(t)
	server.Worker(t, c, queue, worker.Options{}, register)

	// Without our client, as a user would.
	_, err := server.CLI(t.Context(), "workflow", "start", "--type", "greet", "--task-queue", queue, "--workflow-id", queue, "--input", `"tide"`)
	require.NoError(t, err)
	temporaltest.Wait(t, time.Minute, "the first workflow task", func() bool {
		return len(temporaltest.Tasks(temporaltest.History(t, c, queue, ""))) == 1
	})
	_, err = server.CLI(t.Context(), "workflow", "signal", "--workflow-id", queue, "--name", "go", "--input", "null")
	require.NoError(t, err)

	var greeting string
	require.NoError(t, c.GetWorkflow(t.Context(), queue, "").Get(t.Context(), &greeting))
	require.Equal(t, "hello, tide", greeting)

	history := temporaltest.History(t, c, queue, "")
	require.Equal(t, 2, temporaltest.Count(history, enumspb.EVENT_TYPE_MARKER_RECORDED))
	require.Len(t, history.GetEvents(), temporaltest.Count(history))
	tasks := temporaltest.Tasks(history)
	require.Len(t, tasks, 2)
	require.Equal(t, []int{2, 1}, []int{tasks[0].Commands, tasks[1].Commands})
	require.Equal(t, []int{2, 0}, []int{tasks[0].Markers, tasks[1].Markers})
	require.Equal(t, tasks[0].Bytes, tasks[0].MarkerBytes)
	require.Positive(t, tasks[1].Bytes)
}

// Tests that shared a task queue would take each other's tasks.
func TestTaskQueuesDiffer(t *testing.T) {
	t.Parallel()
	server := shared.Server(t)
	first, second := server.TaskQueue(t), server.TaskQueue(t)
	require.NotEqual(t, first, second)
	t.Run("a/b", func(t *testing.T) {
		t.Parallel()
		require.NotContains(t, server.TaskQueue(t), "/")
	})
}

// An error of the command line must carry what it said, or a failing test says
// only "exit status 1".
func TestCLIErrorHoldsItsReason(t *testing.T) {
	t.Parallel()
	_, err := shared.Server(t).CLI(t.Context(), "workflow", "describe", "--workflow-id", "nobody")
	require.ErrorContains(t, err, "not found")
}

// The shared server must accept every attribute the product writes, and a server
// without them must refuse: a run on it would otherwise look healthy by accident.
func TestSearchAttributes(t *testing.T) {
	t.Parallel()
	graph := temporal.NewSearchAttributeKeyKeyword("TidemillGraph").ValueSet("greet")
	waiting := temporal.NewSearchAttributeKeyKeywordList("TidemillWaiting").ValueSet([]string{"a#1", "b#1"})
	status := temporal.NewSearchAttributeKeyKeyword("TidemillStatus").ValueSet("paused")
	trigger := temporal.NewSearchAttributeKeyKeyword("TidemillTrigger").ValueSet("orders")
	start := func(t *testing.T, server *temporaltest.Server) error {
		t.Helper()
		_, err := server.Client(t).ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{
			TaskQueue:             server.TaskQueue(t),
			TypedSearchAttributes: temporal.NewSearchAttributes(graph, waiting, status, trigger),
		}, "greet", "tide")
		return err
	}

	t.Run("registered", func(t *testing.T) {
		t.Parallel()
		require.NoError(t, start(t, shared.Server(t)))
	})
	t.Run("left out, in another namespace, with a UI", func(t *testing.T) {
		t.Parallel()
		server := temporaltest.Start(t, devserver.Options{NoAttributes: true, UI: true, Namespaces: []string{"other"}})
		require.ErrorContains(t, start(t, server), "no mapping defined for search attribute")
		require.Contains(t, server.UI(), "http://127.0.0.1:")

		c := server.Client(t, func(o *client.Options) { o.Namespace = "other" })
		out, err := server.CLI(t.Context(), "operator", "namespace", "describe", "--namespace", "other", "--output", "json")
		require.NoError(t, err)
		require.True(t, json.Valid(out))
		_, err = c.DescribeWorkflow(t.Context(), "nobody", "")
		require.ErrorContains(t, err, "not found")
	})
}

// A package without Main would leave its server behind.
func TestSharedNeedsMain(t *testing.T) {
	t.Parallel()
	fake := &failing{TB: t, failed: make(chan struct{})}
	go func() {
		defer close(fake.failed)
		temporaltest.NewShared(devserver.Options{}).Server(fake)
	}()
	<-fake.failed
	require.Contains(t, fake.text, "add `func TestMain")
}
