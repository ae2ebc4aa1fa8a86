package tidemill_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/tidemill/tidemill"
	"github.com/tidemill/tidemill/graph"
	"github.com/tidemill/tidemill/internal/temporaltest"
)

// failing is a graph that ends with a failure of its author's.
const failing = `
version: 1
id: failing
entry: fail
nodes: [{id: fail, run: fail, args: {type: out_of_stock, message: nothing left}, next: end}]
`

// However a run ends, Await says how, also what only the server did.
func TestAwaitTellsEveryEnding(t *testing.T) {
	t.Parallel()
	app := newApp()
	app.AddGraph("failing.yaml", []byte(failing))
	w := setup(t, app)
	for _, test := range []struct {
		name    string
		graph   string
		options client.StartWorkflowOptions
		end     func(t *testing.T, id string)
		status  tidemill.Status
		reason  string
	}{
		{name: "failed", graph: "failing", status: tidemill.StatusFailed, reason: "out_of_stock"},
		{
			name: "cancelled", graph: "approval", status: tidemill.StatusCancelled, reason: graph.ErrTypeCancelled,
			end: func(t *testing.T, id string) { t.Helper(); require.NoError(t, w.runs.Cancel(t.Context(), id, "no")) },
		},
		{
			name: "terminated", graph: "approval", status: tidemill.StatusFailed, reason: tidemill.ErrTypeTerminated,
			end: func(t *testing.T, id string) {
				t.Helper()
				require.NoError(t, w.client.TerminateWorkflow(t.Context(), id, "", "test"))
			},
		},
		{
			name: "workflow timeout", graph: "approval", status: tidemill.StatusTimedOut, reason: tidemill.ErrTypeWorkflowTimeout,
			options: client.StartWorkflowOptions{WorkflowExecutionTimeout: 2 * time.Second},
		},
		{name: "no graph", graph: "aproval", status: tidemill.StatusFailed, reason: graph.ErrTypeUnknownGraph},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			test.options.TaskQueue = w.queue
			run, err := w.client.ExecuteWorkflow(t.Context(), test.options, test.graph, map[string]string{"order": "7"})
			require.NoError(t, err)
			if test.end != nil {
				test.end(t, run.GetID())
			}
			report, err := w.runs.Await(t.Context(), run.GetID(), tidemill.AwaitOptions{ThroughPauses: true})
			require.NoError(t, err)
			require.Equal(t, test.status, report.Status)
			require.Equal(t, test.reason, report.Error.Type)
			require.Equal(t, run.GetID(), report.ID)
			require.Equal(t, test.graph, report.Graph)
			require.NotNil(t, report.Finished)
		})
	}
}

// A report must not be lost with the last worker: what a run closed with is the
// server's.
func TestAwaitWithoutAWorker(t *testing.T) {
	t.Parallel()
	w := idle(t)
	app := newApp()
	app.AddGraph("failing.yaml", []byte(failing))
	app.AddGraph("echo.yaml", []byte(echo))
	first, err := tidemill.NewWorker(t.Context(), w.client, app, tidemill.WorkerOptions{TaskQueue: w.queue, StopGrace: -1})
	require.NoError(t, err)
	require.NoError(t, first.Start())
	start := func(name string) string {
		run, err := w.runs.Start(t.Context(), tidemill.StartOptions{Graph: name, Input: map[string]int{"a": 1}})
		require.NoError(t, err)
		_, err = w.runs.Await(t.Context(), run.ID, tidemill.AwaitOptions{})
		require.NoError(t, err)
		return run.ID
	}
	completed, failed := start("echo"), start("failing")
	first.Stop()

	report, err := w.runs.Await(t.Context(), completed, tidemill.AwaitOptions{})
	require.NoError(t, err)
	require.Equal(t, tidemill.StatusCompleted, report.Status)
	require.JSONEq(t, `{"a":1}`, string(report.Output))
	require.NotEmpty(t, report.Note)

	report, err = w.runs.Await(t.Context(), failed, tidemill.AwaitOptions{})
	require.NoError(t, err)
	require.Equal(t, "out_of_stock", report.Error.Type)
	require.Equal(t, 1, report.Steps, "the whole outcome document is in the failure")
	require.Empty(t, report.Note)

	export, err := w.runs.Checkpoint(t.Context(), completed, tidemill.CheckpointOptions{})
	require.NoError(t, err, "a checkpoint needs no worker")
	require.Equal(t, graph.StatusCompleted, export.Checkpoint.Outcome.Status)
}

// Waiting must end with the caller's context, and leave the run alone.
func TestAwaitEndsWithItsContext(t *testing.T) {
	t.Parallel()
	w := idle(t)
	run, err := w.runs.Start(t.Context(), tidemill.StartOptions{Graph: "approval", Input: map[string]string{"order": "7"}})
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	_, err = w.runs.Await(ctx, run.ID, tidemill.AwaitOptions{})
	require.ErrorIs(t, err, context.DeadlineExceeded)

	_, err = w.runs.Await(t.Context(), "nobody-"+w.queue, tidemill.AwaitOptions{})
	require.Equal(t, tidemill.ErrTypeNotFound, tidemill.ErrorType(err))
}

// turn is a workflow that continues as new once before it is paused, as long
// runs do, and ends when it is signalled.
func turn(ctx workflow.Context, n int) (string, error) {
	info := workflow.GetInfo(ctx)
	status := graph.StatusRunning
	if n == 2 {
		status = graph.StatusPaused
	}
	if err := workflow.SetQueryHandler(ctx, "status", func() (graph.Report, error) {
		return graph.Report{ID: info.WorkflowExecution.ID, RunID: info.WorkflowExecution.RunID, Status: status, Steps: n}, nil
	}); err != nil {
		return "", err
	}
	if n == 1 {
		if err := workflow.Sleep(ctx, time.Second); err != nil {
			return "", err
		}
		return "", workflow.NewContinueAsNewError(ctx, turn, 2)
	}
	workflow.GetSignalChannel(ctx, "go").Receive(ctx, nil)
	return "done", nil
}

// A run that continues as new is still the run that is waited for; another run
// of the same id is not.
func TestAwaitFollowsContinueAsNew(t *testing.T) {
	t.Parallel()
	w := idle(t)
	w.server.Worker(t, w.client, w.queue, worker.Options{}, func(r worker.Registry) { r.RegisterWorkflow(turn) })
	options := client.StartWorkflowOptions{ID: w.queue, TaskQueue: w.queue}
	run, err := w.client.ExecuteWorkflow(t.Context(), options, turn, 1)
	require.NoError(t, err)
	first := run.GetRunID()

	progress := 0
	report, err := w.runs.Await(t.Context(), w.queue, tidemill.AwaitOptions{RunID: first, Progress: func(tidemill.Report) { progress++ }})
	require.NoError(t, err)
	require.Equal(t, tidemill.StatusPaused, report.Status)
	require.Equal(t, 2, report.Steps)
	require.NotEqual(t, first, report.RunID)
	require.Positive(t, progress)

	require.NoError(t, w.client.SignalWorkflow(t.Context(), w.queue, "", "go", nil))
	report, err = w.runs.Await(t.Context(), w.queue, tidemill.AwaitOptions{RunID: first, ThroughPauses: true})
	require.NoError(t, err)
	require.Equal(t, tidemill.StatusCompleted, report.Status, "though the stand-in itself says paused for ever")
	require.JSONEq(t, `"done"`, string(report.Output))
	require.Empty(t, report.Pauses)

	_, err = w.client.ExecuteWorkflow(t.Context(), options, turn, 2)
	require.NoError(t, err)
	report, err = w.runs.Await(t.Context(), w.queue, tidemill.AwaitOptions{RunID: first})
	require.NoError(t, err)
	require.Equal(t, tidemill.StatusCompleted, report.Status)
}

// A run whose task fails must not look healthy: its status says what is wrong.
func TestStatusTellsAFailingTask(t *testing.T) {
	t.Parallel()
	w := idle(t)
	w.server.Worker(t, w.client, w.queue, worker.Options{}, func(r worker.Registry) { r.RegisterWorkflow(turn) })
	run, err := w.runs.Start(t.Context(), tidemill.StartOptions{Graph: "approval", Input: json.RawMessage(`{"order":"7"}`)})
	require.NoError(t, err)
	temporaltest.Wait(t, within, "the workflow task to fail", func() bool {
		report, err := w.runs.Status(t.Context(), run.ID)
		require.NoError(t, err)
		require.Equal(t, tidemill.StatusRunning, report.Status)
		return report.Note != "" && report.Note != "no worker answers; this is what the server knows"
	})
	report, err := w.runs.Status(t.Context(), run.ID)
	require.NoError(t, err)
	require.Contains(t, report.Note, "the run's workflow task fails: ")
	require.Contains(t, report.Note, "approval", "it does not say which type the worker lacks")
	temporaltest.Wait(t, within, "Doctor to find the run", func() bool {
		diagnosis, err := w.runs.Doctor(t.Context(), "")
		require.NoError(t, err)
		return slices.ContainsFunc(diagnosis.Findings, func(f tidemill.Finding) bool {
			return strings.Contains(f.What, "1 make no way") && strings.Contains(f.What, run.ID) && strings.Contains(f.What, "approval")
		})
	})
	_, err = w.runs.Picture(t.Context(), run.ID)
	require.Equal(t, tidemill.ErrTypeTaskFailed, tidemill.ErrorType(err), "%v", err)
}

// The picture has the run drawn in.
func TestPicture(t *testing.T) {
	t.Parallel()
	w := setup(t, newApp())
	report := paused(t, w)
	text, err := w.runs.Picture(t.Context(), report.ID)
	require.NoError(t, err)
	require.Contains(t, text, "flowchart")
	require.Contains(t, text, "paused")
}
