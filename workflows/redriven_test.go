package workflows_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"

	"github.com/tidemill/tidemill/activities"
	"github.com/tidemill/tidemill/graph"
	"github.com/tidemill/tidemill/workflows"
)

// export is a run as data, with the children that are named.
func (w *world) export(run client.WorkflowRun, children ...string) graph.Export {
	w.tb.Helper()
	e := graph.Export{Version: graph.ExportVersion, WorkflowID: run.GetID(), RunID: run.GetRunID(), Checkpoint: w.checkpoint(run)}
	for _, address := range children {
		child := w.child(run, address)
		e.Children = append(e.Children, graph.ExportedChild{Activation: graph.Address(address), Export: graph.Export{
			Version: graph.ExportVersion, WorkflowID: child.GetID(), RunID: child.GetRunID(), Checkpoint: w.checkpoint(child),
		}})
	}
	return e
}

// redrive starts a run that takes a closed one up, under its id.
func (w *world) redrive(run client.WorkflowRun, graphID string, checkpoint any, options graph.RunOptions) client.WorkflowRun {
	w.tb.Helper()
	raw, err := json.Marshal(checkpoint)
	require.NoError(w.tb, err)
	options.Checkpoint = raw
	again, err := w.client.ExecuteWorkflow(w.tb.Context(), client.StartWorkflowOptions{ID: run.GetID(), TaskQueue: w.queue}, graphID, nil, options)
	require.NoError(w.tb, err)
	w.runs = append(w.runs, again)
	return again
}

// lastFails is a graph whose last node fails at its first call, in a child.
func lastFails(id string) string {
	return nested(id, "", `
        - {id: first, run: act, args: {output: 5, delta: {new: "<&>"}}, next: last}
        - {id: last, run: act, args: {fail: boom, until: 1, output: "${ input + 1 }"}, next: end}`)
}

// B9, E1: a redrive goes on inside of the child that failed, under the child's own
// workflow id, and repeats what had not committed. The new run says what it takes up,
// and its pin does not hold the checkpoint a second time.
func TestRedriveIntoAChild(t *testing.T) {
	t.Parallel()
	acts := newScript()
	w := setup(t, parts{register: acts.register, graphs: []string{lastFails("failing")}})
	run := w.run("failing", map[string]int{"start": 1})
	kind, _ := w.failure(run)
	require.Equal(t, graph.ErrTypeChildFailed, kind)
	child := w.child(run, "sub#1")
	require.Equal(t, []string{"sub#1/first#1", "sub#1/last#1"}, acts.called(child.GetID()))

	again := w.redrive(run, "failing", w.export(run, "sub#1"), graph.RunOptions{})
	require.JSONEq(t, `{"result":6,"state":{"kept":1,"new":"<&>","seen":1,"start":1}}`, w.output(again))
	require.Equal(t, []string{"sub#1/first#1", "sub#1/last#1", "sub#1/last#1"}, acts.called(child.GetID()))
	report := w.status(again)
	require.Equal(t, run.GetRunID(), report.RedriveOf)
	require.Equal(t, again.GetRunID(), report.RunID)
	require.Equal(t, child.GetID(), w.child(again, "sub#1").GetID())
	require.Equal(t, enumspb.WORKFLOW_EXECUTION_STATUS_COMPLETED, w.closed(w.child(again, "sub#1")))
	for _, event := range w.history(again).GetEvents() {
		if marker := event.GetMarkerRecordedEventAttributes(); marker != nil {
			for _, payloads := range marker.GetDetails() {
				for _, p := range payloads.GetPayloads() {
					require.NotContains(t, string(p.GetData()), `"activations"`, "a checkpoint in a marker")
				}
			}
		}
	}
}

// The same where parent and child are graphs of the catalogue.
func TestRedriveIntoANamedChild(t *testing.T) {
	t.Parallel()
	acts := newScript()
	inner := `version: 1
id: named_inner
entry: first
nodes:
  - {id: first, run: act, args: {output: 5}, next: last}
  - {id: last, run: act, args: {fail: boom, until: 1, output: "${ input + 1 }"}, next: end}
`
	outer := `version: 1
id: named_outer
entry: sub
nodes:
  - {id: sub, type: workflow, workflow: named_inner, next: end}
`
	w := setup(t, parts{register: acts.register, graphs: []string{inner, outer}})
	run := w.run("named_outer")
	w.failure(run)
	export := w.export(run, "sub#1")
	require.Equal(t, `6`, w.output(w.redrive(run, "named_outer", export, graph.RunOptions{})))
	require.Equal(t, []string{"sub#1/first#1", "sub#1/last#1", "sub#1/last#1"}, acts.called(run.GetID()+"/sub#1"))
}

// A bare checkpoint will do, of a run that was terminated while it waited for a person:
// the pause is open again, under its id, and the run goes on as one that continues as
// new at every point of rest.
func TestRedriveOfATerminatedRun(t *testing.T) {
	t.Parallel()
	acts := newScript()
	document := `version: 1
id: asking
entry: a
nodes:
  - {id: a, run: act, args: {output: "${ run.lane.session }", delta: {first: "${ run.lane.session }"}}, next: p}
  - {id: p, type: pause, expires: 1h, next: b}
  - {id: b, run: act, args: {output: {before: "${ state.first }", now: "${ run.lane.session }", key: "${ run.key }"}}, next: end}
`
	w := setup(t, continuing(1, acts, document))
	run := w.run("asking")
	w.until(chainOf(run), "the pause", pausedAt("p#1"))
	first, checkpoint := w.runsOf(run)[0], w.checkpoint(chainOf(run))
	require.NoError(t, w.client.TerminateWorkflow(t.Context(), run.GetID(), "", "by an operator"))

	again := chainOf(w.redrive(run, "asking", checkpoint, graph.RunOptions{}))
	w.until(again, "the pause to be open again", pausedAt("p#1"))
	_, err := w.resume(again, workflows.ResumeInput{PauseID: "p#1", Input: json.RawMessage(`true`)})
	require.NoError(t, err)
	var out struct{ Before, Now, Key string }
	require.NoError(t, w.client.GetWorkflow(t.Context(), run.GetID(), "").Get(t.Context(), &out))
	require.Equal(t, first, out.Before)
	require.Equal(t, first, out.Now, "the lane is that of the first run")
	require.Equal(t, first+"/b#1", out.Key)
	require.Equal(t, []string{"a#1", "b#1"}, acts.called(run.GetID()))
}

// A child of the earlier run that has not stopped yet still has its workflow id. That is
// waited for, and said so; it is no failure and no attempt.
func TestRedriveWaitsForTheEarlierChild(t *testing.T) {
	t.Parallel()
	acts, gate := newScript(), make(chan struct{})
	w := setup(t, parts{register: func(r *activities.Registry) {
		acts.register(r)
		activities.Register(r, "stubborn", func(ctx context.Context, _ struct{}) (string, error) {
			select { // deaf to being cancelled
			case <-gate:
			case <-time.After(time.Minute):
			}
			return "done", nil
		})
	}, graphs: []string{nested("waiting_for", "", `
        - {id: first, run: act, args: {output: 5}, next: last}
        - {id: last, run: stubborn, next: end}`)}})
	run := w.run("waiting_for")
	child := w.child(run, "sub#1")
	w.when(child, "the stubborn action", started)
	export := w.export(run, "sub#1")
	require.NoError(t, w.client.TerminateWorkflow(t.Context(), run.GetID(), run.GetRunID(), "by an operator"))
	again := w.redrive(run, "waiting_for", export, graph.RunOptions{})
	report := w.until(again, "the run to wait for the id", func(r graph.Report) bool { return len(r.Waiting) > 0 })
	require.Contains(t, report.Waiting[0].Reason, "earlier run's child")
	require.Equal(t, graph.Address("sub#1"), report.Waiting[0].Address)
	close(gate)
	require.JSONEq(t, `{"result":"done","state":{"kept":1,"seen":1}}`, w.output(again))
	require.Equal(t, []string{"sub#1/first#1"}, acts.called(child.GetID()), "it had committed")
}

// Row 87: a redrive is refused by the worker, whatever a client has let through, and nothing of
// it has run.
func TestRedriveRefused(t *testing.T) {
	t.Parallel()
	acts := newScript()
	mended := lastFails("failing")
	w := setup(t, parts{register: acts.register, graphs: []string{lastFails("failing")}, edit: func(o *activities.Options) { o.AllowInlineSpecs = false }})
	run := w.run("failing")
	w.failure(run)
	whole := w.export(run, "sub#1")
	calls := acts.calledBelow(run.GetID())
	change := func(edit func(*graph.Export)) graph.Export {
		e := whole
		edit(&e)
		return e
	}
	spec, err := json.Marshal(mended)
	require.NoError(t, err)
	for _, c := range []struct {
		name    string
		with    any
		options graph.RunOptions
		want    string
	}{
		{"no checkpoint", map[string]any{}, graph.RunOptions{}, graph.ErrTypeInvalidCheckpoint},
		{"another version", change(func(e *graph.Export) { e.Version = 9 }), graph.RunOptions{}, graph.ErrTypeInvalidCheckpoint},
		{"another graph", change(func(e *graph.Export) { e.Checkpoint.Graph = "other" }), graph.RunOptions{}, graph.ErrTypeCheckpointWorkflow},
		{"another definition", change(func(e *graph.Export) { e.Checkpoint.Fingerprint = "00" }), graph.RunOptions{}, graph.ErrTypeCheckpointDefinition},
		{"an unknown address", whole, graph.RunOptions{From: "nowhere#1"}, graph.ErrTypeInvalidRunOptions},
		{"negative visits", change(func(e *graph.Export) {
			e.Checkpoint.Nodes = append([]graph.NodeRecord{}, e.Checkpoint.Nodes...)
			e.Checkpoint.Nodes[0].Visits = -1
		}), graph.RunOptions{}, graph.ErrTypeInvalidCheckpoint},
		{"negative steps", change(func(e *graph.Export) { e.Checkpoint.StepsLeft = -1 }), graph.RunOptions{}, graph.ErrTypeInvalidCheckpoint},
		{"a child's checkpoint", whole.Children[0].Checkpoint, graph.RunOptions{}, graph.ErrTypeCheckpointWorkflow},
		{"a spec of another id", whole, graph.RunOptions{Spec: []byte(`{"version":1,"id":"x","entry":"a","nodes":[{"id":"a","type":"set","next":"end"}]}`)}, graph.ErrTypeInvalidDocument},
	} {
		again := w.redrive(run, "failing", c.with, c.options)
		kind, report := w.failure(again)
		require.Equal(t, c.want, kind, c.name)
		require.True(t, report.Refused, c.name)
	}
	require.Equal(t, calls, acts.calledBelow(run.GetID()))

	// The worker's own graph may be given as the spec where no other may.
	again := w.redrive(run, "failing", whole, graph.RunOptions{Spec: spec})
	require.JSONEq(t, `{"result":6,"state":{"kept":1,"new":"<&>","seen":1}}`, w.output(again))
}

// E7: the graph that failed is corrected, and the run goes on with it; the worker that
// has the corrected graph as its own takes it as the spec.
func TestRedriveWithASpec(t *testing.T) {
	t.Parallel()
	acts := newScript()
	broken := `version: 1
id: broken
entry: a
nodes:
  - {id: a, run: act, args: {output: {k: 1}}, next: b}
  - {id: b, run: act, args: {output: "${ input.wrong + 1 }"}, next: end}
`
	mended := `version: 1
id: broken
entry: a
nodes:
  - {id: a, run: act, args: {output: {k: 1}}, next: b}
  - {id: b, run: act, args: {output: "${ input.k + 1 }"}, next: end}
`
	w := setup(t, parts{register: acts.register, graphs: []string{broken}})
	run := w.run("broken")
	kind, _ := w.failure(run)
	require.Equal(t, graph.ErrTypeExpressionFailed, kind)
	export := w.export(run)
	w.worker.Stop()
	w.worker = w.start(parts{register: acts.register, graphs: []string{mended}})

	kind, report := w.failure(w.redrive(run, "broken", export, graph.RunOptions{}))
	require.Equal(t, graph.ErrTypeCheckpointDefinition, kind)
	require.Contains(t, report.Error.Message, "spec")
	spec, err := json.Marshal(mended)
	require.NoError(t, err)
	require.Equal(t, `2`, w.output(w.redrive(run, "broken", export, graph.RunOptions{Spec: spec})))
	require.Equal(t, []string{"a#1", "b#1"}, acts.called(run.GetID()), "a ran once, and b never had arguments before")
}
