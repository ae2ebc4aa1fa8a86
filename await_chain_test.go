package tidemill_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/tidemill/tidemill"
	"github.com/tidemill/tidemill/activities"
	"github.com/tidemill/tidemill/graph"
	"github.com/tidemill/tidemill/internal/temporaltest"
	"github.com/tidemill/tidemill/workflows"
)

// Who follows a run follows it through all the executions of its chain to its outcome,
// and is not told that the first of them has ended (fault C8).
func TestChainsAreFollowed(t *testing.T) {
	t.Parallel()
	m := newMill()
	w := idle(t)
	registry := activities.NewRegistry()
	activities.Register(registry, "work", m.work)
	catalogue := activities.NewCatalogue(registry)
	require.NoError(t, catalogue.AddFile("long.yaml", []byte(`
version: 1
id: long
entry: a
nodes:
  - {id: a, run: work, args: {name: a}, next: p}
  - {id: p, type: pause, next: b}
  - {id: b, run: work, args: {name: b}, next: c}
  - {id: c, run: work, args: {name: c}, next: end}
`)))
	acts, err := activities.New(activities.Options{Registry: registry, Catalogue: catalogue, ContinueAt: 1})
	require.NoError(t, err)
	w.server.Worker(t, w.client, w.queue, worker.Options{}, func(r worker.Registry) {
		r.RegisterDynamicWorkflow(workflows.Graph, workflow.DynamicRegisterOptions{})
		acts.Register(r)
	})
	run, err := w.runs.Start(t.Context(), tidemill.StartOptions{Graph: "long", ID: w.queue})
	require.NoError(t, err)

	type seen struct {
		reports []tidemill.Report
		err     error
	}
	watched := make(chan seen, 1)
	go func() {
		var s seen
		for report, err := range w.runs.Watch(t.Context(), run.ID) {
			if s.err = err; err != nil {
				break
			}
			s.reports = append(s.reports, report)
		}
		watched <- s
	}()
	report, err := w.runs.Await(t.Context(), run.ID, tidemill.AwaitOptions{})
	require.NoError(t, err)
	require.Equal(t, graph.StatusPaused, report.Status)
	_, err = w.runs.Resume(t.Context(), run.ID, tidemill.ResumeOptions{Input: json.RawMessage(`1`), PauseID: "p#1"})
	require.NoError(t, err)
	report, err = w.runs.Await(t.Context(), run.ID, tidemill.AwaitOptions{ThroughPauses: true})
	require.NoError(t, err)
	require.Equal(t, graph.StatusCompleted, report.Status, report.Error)
	require.JSONEq(t, `"c"`, string(report.Output))
	require.NotEqual(t, run.RunID, report.RunID, "it has continued as new")

	s := <-watched
	require.NoError(t, s.err)
	last := s.reports[len(s.reports)-1]
	require.Equal(t, report.RunID, last.RunID)
	require.Equal(t, graph.StatusCompleted, last.Status)
	for _, r := range s.reports[:len(s.reports)-1] {
		require.Nil(t, r.Error)
	}
}

// mute is a workflow that continues as new once and answers no query, like a run whose
// workers are gone.
func mute(ctx workflow.Context, again bool) error {
	if again {
		if err := workflow.Sleep(ctx, time.Second); err != nil {
			return err
		}
		return workflow.NewContinueAsNewError(ctx, mute, false)
	}
	workflow.GetSignalChannel(ctx, "go").Receive(ctx, nil)
	return nil
}

// Also a report that the server gives alone says when the chain began, and not when its
// last execution did.
func TestStatusWithoutAnAnswerSaysWhenTheChainBegan(t *testing.T) {
	t.Parallel()
	w := idle(t)
	w.server.Worker(t, w.client, w.queue, worker.Options{}, func(r worker.Registry) { r.RegisterWorkflow(mute) })
	run, err := w.client.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: w.queue, TaskQueue: w.queue}, mute, true)
	require.NoError(t, err)
	first, err := w.client.DescribeWorkflow(t.Context(), w.queue, run.GetRunID())
	require.NoError(t, err)
	var report tidemill.Report
	temporaltest.Wait(t, within, "the run to continue as new", func() bool {
		report, err = w.runs.Status(t.Context(), w.queue)
		require.NoError(t, err)
		return report.RunID != run.GetRunID()
	})
	require.Contains(t, report.Note, "this is what the server knows")
	require.WithinDuration(t, first.WorkflowStartTime, report.Started, 100*time.Millisecond)
}
