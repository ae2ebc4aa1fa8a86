package tidemill_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/tidemill/tidemill"
	"github.com/tidemill/tidemill/activities"
	"github.com/tidemill/tidemill/graph"
	"github.com/tidemill/tidemill/internal/temporaltest"
	"github.com/tidemill/tidemill/workflows"
)

// What a replay finds must be what the run itself would say: open, paused or closed.
func TestCheckpointIsWhatTheRunSays(t *testing.T) {
	t.Parallel()
	w := setup(t, newApp())
	run, err := w.runs.Start(t.Context(), tidemill.StartOptions{Graph: "approval", Input: map[string]string{"order": "7"}})
	require.NoError(t, err)
	_, err = w.runs.Await(t.Context(), run.ID, tidemill.AwaitOptions{})
	require.NoError(t, err)
	same := func() graph.Export {
		answer, err := w.client.QueryWorkflow(t.Context(), run.ID, "", "checkpoint")
		require.NoError(t, err)
		var said graph.Checkpoint
		require.NoError(t, answer.Get(&said))
		export, err := w.runs.Checkpoint(t.Context(), run.ID, tidemill.CheckpointOptions{Deep: true})
		require.NoError(t, err)
		require.Equal(t, said, export.Checkpoint)
		return export
	}
	export := same()
	require.Equal(t, []any{run.ID, run.RunID, w.queue, "approval"},
		[]any{export.WorkflowID, export.RunID, export.TaskQueue, export.Document.ID})
	require.JSONEq(t, `{"order":"7"}`, string(export.Input))
	_, err = w.runs.Resume(t.Context(), run.ID, tidemill.ResumeOptions{Input: map[string]bool{"approved": true}})
	require.NoError(t, err)
	_, err = w.runs.Await(t.Context(), run.ID, tidemill.AwaitOptions{})
	require.NoError(t, err)
	same()

	before, err := w.runs.Checkpoint(t.Context(), run.ID, tidemill.CheckpointOptions{Before: "shipped#1"})
	require.NoError(t, err)
	require.Nil(t, before.Checkpoint.Outcome)
	require.Equal(t, "shipped", before.Checkpoint.Activations[0].Node)
}

// A result that came when no worker of the run was left is in history. Terminating
// the run must not lose it: its activity has happened.
func TestRedriveKnowsWhatNoTaskWasToldOf(t *testing.T) {
	t.Parallel()
	m := newMill()
	w := idle(t)
	elsewhere := w.queue + "-elsewhere"
	app := tidemill.NewApp()
	tidemill.Action(app, "work", m.work)
	app.AddGraph("foreign.yaml", []byte(`
version: 1
id: foreign
entry: a
nodes:
  - {id: a, run: {activity: outside, task_queue: `+elsewhere+`}, next: b}
  - {id: b, run: work, args: {name: b}, next: end}
`))
	begin := func() worker.Worker {
		own, err := tidemill.NewWorker(t.Context(), w.client, app, tidemill.WorkerOptions{TaskQueue: w.queue, StopGrace: -1})
		require.NoError(t, err)
		require.NoError(t, own.Start())
		return own
	}
	first := begin()
	run, err := w.runs.Start(t.Context(), tidemill.StartOptions{Graph: "foreign"})
	require.NoError(t, err)
	count := func(kind enumspb.EventType) int {
		return temporaltest.Count(temporaltest.History(t, w.client, run.ID, run.RunID), kind)
	}
	temporaltest.Wait(t, within, "the activity", func() bool { return count(enumspb.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED) == 1 })
	first.Stop()

	var calls atomic.Int64
	w.server.Worker(t, w.client, elsewhere, worker.Options{}, func(r worker.Registry) {
		outside := func() (int64, error) { return calls.Add(1), nil }
		r.RegisterActivityWithOptions(outside, activity.RegisterOptions{Name: "outside"})
	})
	temporaltest.Wait(t, within, "its result", func() bool { return count(enumspb.EVENT_TYPE_ACTIVITY_TASK_COMPLETED) == 1 })
	require.NoError(t, w.client.TerminateWorkflow(t.Context(), run.ID, "", "stuck"))

	second := begin()
	defer second.Stop()
	redriven, err := w.runs.Redrive(t.Context(), run.ID, tidemill.RedriveOptions{})
	require.NoError(t, err)
	report, err := w.runs.Await(t.Context(), run.ID, tidemill.AwaitOptions{RunID: redriven.RunID})
	require.NoError(t, err)
	require.Equal(t, graph.StatusCompleted, report.Status, report.Error)
	require.EqualValues(t, 1, calls.Load())
	require.Equal(t, map[string]int{"b": 1}, m.called(run.ID))
}

// What has no checkpoint must be told apart, so that nobody waits for one.
func TestCheckpointRefuses(t *testing.T) {
	t.Parallel()
	m := newMill()
	w := setupMill(t, m, wheel, part)
	run, err := w.runs.Start(t.Context(), tidemill.StartOptions{Graph: "wheel", ID: w.queue})
	require.NoError(t, err)
	_, err = w.runs.Await(t.Context(), run.ID, tidemill.AwaitOptions{})
	require.NoError(t, err)

	t.Run("a run of no graph", func(t *testing.T) {
		t.Parallel()
		w := idle(t)
		w.server.Worker(t, w.client, w.queue, worker.Options{}, func(r worker.Registry) {
			nap := func(ctx workflow.Context) error { return workflow.Sleep(ctx, time.Millisecond) }
			r.RegisterWorkflowWithOptions(nap, workflow.RegisterOptions{Name: "nap"})
		})
		run, err := w.client.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{TaskQueue: w.queue}, "nap")
		require.NoError(t, err)
		require.NoError(t, run.Get(t.Context(), nil))
		_, err = w.runs.Redrive(t.Context(), run.GetID(), tidemill.RedriveOptions{})
		require.Equal(t, graph.ErrTypeUnknownGraph, tidemill.ErrorType(err), err)
	})
	t.Run("a run that nobody took up", func(t *testing.T) {
		t.Parallel()
		w := idle(t)
		run, err := w.runs.Start(t.Context(), tidemill.StartOptions{Graph: "wheel"})
		require.NoError(t, err)
		require.NoError(t, w.client.TerminateWorkflow(t.Context(), run.ID, "", ""))
		_, err = w.runs.Redrive(t.Context(), run.ID, tidemill.RedriveOptions{})
		require.Equal(t, graph.ErrTypeInvalidCheckpoint, tidemill.ErrorType(err), err)
		require.ErrorContains(t, err, "start it again")
	})
	t.Run("a run that was refused", func(t *testing.T) {
		t.Parallel()
		refused, err := w.runs.Start(t.Context(), tidemill.StartOptions{Graph: "nothing"})
		require.NoError(t, err)
		_, err = w.runs.Await(t.Context(), refused.ID, tidemill.AwaitOptions{})
		require.NoError(t, err)
		_, err = w.runs.Redrive(t.Context(), refused.ID, tidemill.RedriveOptions{})
		require.Equal(t, graph.ErrTypeInvalidCheckpoint, tidemill.ErrorType(err), err)
		require.ErrorContains(t, err, graph.ErrTypeUnknownGraph)
	})
	t.Run("a child", func(t *testing.T) {
		t.Parallel()
		_, err := w.runs.Redrive(t.Context(), run.ID+"/inner#1", tidemill.RedriveOptions{})
		require.Equal(t, graph.ErrTypeInvalidRunOptions, tidemill.ErrorType(err), err)
		require.ErrorContains(t, err, `name "`+run.ID+`"; from inner#1 repeats this one`)
	})
	t.Run("no address", func(t *testing.T) {
		t.Parallel()
		_, err := w.runs.Redrive(t.Context(), run.ID, tidemill.RedriveOptions{From: "z"})
		require.Equal(t, graph.ErrTypeInvalidRunOptions, tidemill.ErrorType(err), err)
		_, err = w.runs.Redrive(t.Context(), run.ID, tidemill.RedriveOptions{Deadline: -2})
		require.Equal(t, graph.ErrTypeInvalidRunOptions, tidemill.ErrorType(err), err)
	})
}

// A run that continued as new is one run: what it did in an earlier execution can be
// repeated as well.
func TestRedriveReachesThroughContinueAsNew(t *testing.T) {
	t.Parallel()
	m := newMill()
	w := idle(t)
	registry := activities.NewRegistry()
	activities.Register(registry, "work", m.work)
	catalogue := activities.NewCatalogue(registry)
	require.NoError(t, catalogue.AddFile("part.yaml", []byte(part)))
	require.NoError(t, catalogue.AddFile("wheel.yaml", []byte(wheel)))
	acts, err := activities.New(activities.Options{Registry: registry, Catalogue: catalogue, ContinueAt: 1})
	require.NoError(t, err)
	w.server.Worker(t, w.client, w.queue, worker.Options{}, func(r worker.Registry) {
		r.RegisterDynamicWorkflow(workflows.Graph, workflow.DynamicRegisterOptions{})
		acts.Register(r)
	})
	m.set(w.queue, "broken")
	run, err := w.runs.Start(t.Context(), tidemill.StartOptions{Graph: "wheel", ID: w.queue})
	require.NoError(t, err)
	report, err := w.runs.Await(t.Context(), run.ID, tidemill.AwaitOptions{})
	require.NoError(t, err)
	require.Equal(t, graph.StatusFailed, report.Status)
	require.NotEqual(t, run.RunID, report.RunID, "it has continued as new")
	m.called(run.ID)
	m.set(w.queue, "")
	visits := 0 // of the last node: z#1 failed, and goes on under its own address
	for _, asked := range [][2]string{{"z#1", "z"}, {"inner#1/c#1", "c z"}, {"right#1", "right b c z"}} {
		from, calls := graph.Address(asked[0]), asked[1]
		redriven, err := w.runs.Redrive(t.Context(), run.ID, tidemill.RedriveOptions{RunID: report.RunID, From: from})
		require.NoError(t, err, from)
		again, err := w.runs.Await(t.Context(), run.ID, tidemill.AwaitOptions{RunID: redriven.RunID})
		require.NoError(t, err, from)
		require.Equal(t, graph.StatusCompleted, again.Status, "%s: %v", from, again.Error)
		require.Equal(t, counts(calls), m.called(run.ID), from)
		for _, node := range again.Nodes {
			if node.Node == "z" {
				require.Greater(t, node.Visits, visits, "an address is used twice")
				visits = node.Visits
			}
		}
	}
}
