package workflows_test

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"

	"github.com/tidemill/tidemill/activities"
	"github.com/tidemill/tidemill/activities/permits"
	"github.com/tidemill/tidemill/admission"
	"github.com/tidemill/tidemill/graph"
	"github.com/tidemill/tidemill/internal/historytest"
	"github.com/tidemill/tidemill/internal/temporaltest"
)

// admitted is a graph of one action, which needs the only permit of an agent.
const admitted = `
version: 1
id: admitted
entry: work
nodes: [{id: work, run: act, args: {output: done}, next: end}]
`

// refused is admitted without patience.
const refused = `
version: 1
id: refused
entry: work
nodes:
  - {id: work, run: act, overflow: reject, on_error: {cases: [{when: "error.type == 'concurrency_limit_reached'", to: busy}]}, next: end}
  - {id: busy, type: set, output: "${ input.key }", next: end}
`

// waitsForWork is what a run waits for while the permit is another's.
const waitsForWork = "admission: limit of agent:work"

// permitShapes are the histories of runs under admission that are kept. What holds
// the permit meanwhile is no run.
func permitShapes() []permitShape {
	waits := reports(func(r graph.Report) bool { return len(r.Waiting) == 1 && r.Waiting[0].Reason == waitsForWork })
	return []permitShape{
		{name: "permit_granted", graph: "admitted"},
		{name: "permit_left_to_run", graph: "admitted", slow: true},
		{name: "permit_interrupted", graph: "once", act: func(w *world, run client.WorkflowRun, _ func()) {
			w.when(run, "the attempt", started)
			w.cli(run, "activity", "reset", "--activity-id", "hold#1")
		}},
		{name: "permit_queued", graph: "admitted", taken: true, act: func(w *world, run client.WorkflowRun, free func()) {
			w.when(run, "the wait", waits)
			free()
		}},
		{name: "permit_rejected", graph: "refused", taken: true},
		{name: "permit_cancelled_waiting", graph: "admitted", taken: true, act: func(w *world, run client.WorkflowRun, _ func()) {
			w.when(run, "the wait", waits)
			w.cancel(run)
		}},
	}
}

type permitShape struct {
	name  string
	graph string
	taken bool // the permit is held when the run asks
	slow  bool // attempts leave their permits to the run, as with an admitter that takes a while
	act   func(w *world, run client.WorkflowRun, free func())
}

// Every shape of a history under admission must replay with today's code: runs hold
// permits for days. What is recorded is replayed with all others, in
// TestRecordedHistories.
func TestPermitHistories(t *testing.T) {
	t.Parallel()
	for _, shape := range permitShapes() {
		path := recordingOf(shape.name)
		if _, err := os.Stat(path); err != nil && *update {
			recordPermit(t, shape)
		}
		recording := historytest.Load(t, path)
		historytest.Replay(t, recording, registerReplay)
		require.Equal(t, shape.name == "permit_queued", temporaltest.Count(recording.History, enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED) == 1)
	}
}

func recordPermit(t *testing.T, shape permitShape) {
	t.Helper()
	acts, held := newScript(), hold(t, false)
	made := parts{graphs: []string{admitted, refused, once}, register: func(r *activities.Registry) {
		acts.register(r)
		held.register(r)
	}}
	w := setup(t, made)
	w.worker.Stop() // the book needs the client
	book, err := permits.NewInProcess(permits.InProcessOptions{
		Limits: map[string]admission.Limits{"": {Agents: keysOf(admission.KeyLimit{Key: "work", Limit: 1})}},
		Owners: permits.TemporalOwners(w.client),
	})
	require.NoError(t, err)
	t.Cleanup(func() { _ = book.Close(context.Background()) })
	made.edit = func(o *activities.Options) {
		if o.Admitter = book; shape.slow {
			o.Admitter = struct{ permits.Admitter }{book}
		}
		o.Classifier = func(f permits.Facts) (permits.Class, error) { return permits.Class{Agent: f.Node}, nil }
	}
	w.worker = w.start(made)
	free := func() {}
	if shape.taken {
		hold := permits.Hold{ID: "other"}
		d, err := book.Submit(t.Context(), permits.Ask{Request: admission.Request{ID: hold.ID, Owner: admission.Owner{Process: "other"}, Agent: "work"}})
		require.NoError(t, err)
		hold.Token = d.Token
		free = func() { require.NoError(t, book.Release(t.Context(), hold)) }
	}
	run := w.run(shape.graph, map[string]any{})
	if shape.act != nil {
		shape.act(w, run, free)
	}
	temporaltest.Wait(t, time.Minute, shape.name+" to close", func() bool {
		return w.closed(run) != enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING
	})
	w.record(run, shape.name)
}
