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

const (
	waiting = `
version: 1
id: waiting
entry: w
deadline: 1s
nodes: [{id: w, type: wait, for: 1h, next: end}]
`
	working = `
version: 1
id: working
entry: beat
deadline: 1s
nodes: [{id: beat, run: beat, on_error: never, next: end}, {id: never, type: set, output: never, next: end}]
`
	absent = `
version: 1
id: absent
entry: a
deadline: 1s
nodes: [{id: a, run: nobody_has_it, next: end}]
`
	retrying = `
version: 1
id: retrying
entry: a
deadline: 1s
nodes: [{id: a, run: act, args: {fail: boom}, retry: {max_attempts: 9, backoff: 1h, max_backoff: 1h}, next: end}]
`
	soonOver = `
version: 1
id: soon_over
entry: count
deadline: 1s
max_steps: 2000000000
nodes: [{id: count, type: set, delta: {count: "${ state.count + 1 }"}, next: count}]
`
)

// registerBeat adds the action "beat", which lasts until it is told to end.
func registerBeat(r *activities.Registry) {
	activities.Register(r, "beat", func(ctx context.Context, _ struct{}) (any, error) { return nil, beatUntilDone(ctx) })
}

// The deadline ends whatever the run does: a wait, an action, a backoff, a search
// for a worker that has the action, a run-ahead. It closes as Failed with a type of its own, and on_error does not catch it.
func TestDeadline(t *testing.T) {
	t.Parallel()
	w := setup(t, parts{graphs: []string{waiting, working, absent, retrying, soonOver}, register: func(r *activities.Registry) {
		registerBeat(r)
		newScript().register(r)
	}})
	runs := map[string]client.WorkflowRun{}
	for _, id := range []string{"waiting", "working", "absent", "retrying", "soon_over"} {
		runs[id] = w.run(id, json.RawMessage(`{"count":0}`))
	}
	for id, run := range runs {
		kind, report := w.failure(run)
		require.Equal(t, graph.ErrTypeDeadlineExceeded, kind, id)
		require.Equal(t, graph.StatusTimedOut, report.Status, id)
		require.NotNil(t, report.Finished, id)
		require.Equal(t, enumspb.WORKFLOW_EXECUTION_STATUS_FAILED, w.closed(run), id)
		require.Less(t, report.Finished.Sub(report.Started), 20*time.Second, id)

		require.Empty(t, w.openTimers(run), id)
	}
}

// The option of a start comes before the graph's own deadline, both ways.
func TestDeadlineOption(t *testing.T) {
	t.Parallel()
	w := setup(t, parts{graphs: []string{waiting}})
	run := w.run("waiting", json.RawMessage(`{}`), json.RawMessage(`{"deadline":"1h"}`))
	report := w.until(run, "the wait", func(r graph.Report) bool { return len(r.Waiting) == 1 })
	require.NotNil(t, report.Deadline)
	require.InDelta(t, time.Hour.Seconds(), report.Deadline.Sub(report.Started).Seconds(), 30)
	require.Equal(t, "waiting until its time", report.Waiting[0].Reason)
	w.cancel(run)
	w.failure(run)

	unlimited := w.run("waiting", json.RawMessage(`{}`), json.RawMessage(`{"deadline":"none"}`))
	report = w.until(unlimited, "the wait", func(r graph.Report) bool { return len(r.Waiting) == 1 })
	require.Nil(t, report.Deadline)
	w.cancel(unlimited)
	w.failure(unlimited)
}

const patient = `
version: 1
id: patient
entry: ask
deadline: 2s
nodes: [{id: ask, type: pause, next: more}, {id: more, type: wait, for: 1s, next: end}]
`

const clockTick = `
version: 1
id: tick
entry: w
nodes: [{id: w, type: wait, for: 3s, next: end}]
`

// People may take their time: while the whole run is paused its clock stands
// still, and goes on with what was left when it moves again.
func TestClockStandsStill(t *testing.T) {
	t.Parallel()
	w := setup(t, parts{graphs: []string{patient, clockTick}})
	answered, forgotten := w.run("patient"), w.run("patient", json.RawMessage(`{}`), json.RawMessage(`{"deadline":"1s"}`))
	tick := w.run("tick")
	require.Nil(t, w.paused(answered).Deadline)
	left := w.checkpoint(answered).Clock.Left.Std()
	require.Greater(t, left, time.Duration(0))
	require.LessOrEqual(t, left, 2*time.Second)

	require.JSONEq(t, "{}", w.output(tick)) // longer than both deadlines
	require.Equal(t, graph.StatusPaused, w.status(forgotten).Status)
	w.signal(answered, workflows.SignalResume, nil)
	w.signal(forgotten, workflows.SignalResume, nil)
	require.JSONEq(t, "{}", w.output(answered))
	kind, _ := w.failure(forgotten) // its second does not last for a wait of a second
	require.Equal(t, graph.ErrTypeDeadlineExceeded, kind)
}
