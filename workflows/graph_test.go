package workflows_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/temporal"

	"github.com/tidemill/tidemill/activities"
	"github.com/tidemill/tidemill/graph"
	"github.com/tidemill/tidemill/internal/temporaltest"
	"github.com/tidemill/tidemill/workflows"
)

const linear = `
version: 1
id: linear
entry: a
nodes:
  - {id: a, run: add, args: {count: "${ state.count }"}, delta: {count: "${ result }"}, next: b}
  - {id: b, run: add, args: {count: "${ state.count }"}, delta: {count: "${ result }"}, next: c}
  - {id: c, run: add, args: {count: "${ state.count }"}, delta: {count: "${ result }"}, next: d}
  - {id: d, run: add, args: {count: "${ state.count }"}, delta: {count: "${ result }"}, next: e}
  - {id: e, run: add, args: {count: "${ state.count }"}, delta: {count: "${ result }"}, next: end}
`

type number struct {
	N int `json:"count"`
}

func add(_ context.Context, in number) (int, error) { return in.N + 1, nil }

func registerAdd(r *activities.Registry) { activities.Register(r, "add", add) }

// Five remote actions in a line cost one event more than the same written by
// hand: the pin.
func TestLinearGraph(t *testing.T) {
	t.Parallel()
	w := setup(t, parts{graphs: []string{linear}, register: registerAdd})
	run := w.run("linear", json.RawMessage(`{"count":1}`))
	require.Equal(t, "6", w.output(run))

	history := temporaltest.History(t, w.client, run.GetID(), run.GetRunID())
	require.LessOrEqual(t, temporaltest.Count(history), 36)
	for _, event := range history.Events {
		if event.EventType == enumspb.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED {
			attributes := event.GetActivityTaskScheduledEventAttributes()
			require.Equal(t, "add", attributes.ActivityType.Name)
			require.Contains(t, attributes.ActivityId, "#1")
		}
	}
	report := w.status(run)
	require.Equal(t, graph.StatusCompleted, report.Status)
	require.JSONEq(t, `{"count":6}`, string(report.State))
	require.Equal(t, 5, report.Steps)
}

const approval = `
version: 1
id: approval
entry: ask
nodes:
  - id: ask
    type: pause
    reason: approval
    summary: "Order ${ state.order }"
    resume_schema: {type: object, required: [approved], properties: {approved: {type: boolean}}}
    next: {cases: [{when: "input.approved", to: yes_}], default: no_}
  - {id: yes_, type: set, output: accepted, next: end}
  - {id: no_, type: set, output: rejected, next: end}
`

// A run pauses, says so, and goes on with the answer of a plain signal.
func TestPauseAnsweredBySignal(t *testing.T) {
	t.Parallel()
	w := setup(t, parts{graphs: []string{approval}})
	run := w.run("approval", json.RawMessage(`{"order":7}`))
	report := w.paused(run)
	require.Len(t, report.Pauses, 1)
	require.Equal(t, graph.Address("ask#1"), report.Pauses[0].ID)
	require.Equal(t, "Order 7", report.Pauses[0].Summary)
	require.Equal(t, run.GetID(), report.Pauses[0].WorkflowID)

	w.signal(run, workflows.SignalResume, map[string]any{"approved": true})
	require.Equal(t, `"accepted"`, w.output(run))
}

// Answers that cannot be taken are refused, counted and visible; the pause
// stays open.
func TestRefusedSignals(t *testing.T) {
	t.Parallel()
	w := setup(t, parts{graphs: []string{approval}})
	run := w.run("approval", json.RawMessage(`{"order":7}`))
	w.paused(run)

	w.signal(run, workflows.SignalResume, "x")                                  // no object
	w.signal(run, workflows.SignalResume, map[string]any{"approved": "true"})   // does not fit
	w.signal(run, workflows.SignalResumePrefix+"ask#2", map[string]any{"a": 1}) // no such pause
	w.signal(run, "nonsense", 1)                                                // no such signal
	w.signal(run, workflows.SignalResume, []byte{0xff, 0xfe})                   // not JSON
	w.signal(run, workflows.SignalResume, map[string]any{"pause_id": "ask#1", "input": true})
	report := w.until(run, "six refusals", func(r graph.Report) bool { return r.Rejected.Count == 6 })
	require.Equal(t, graph.StatusPaused, report.Status)
	var types []string
	for _, rejection := range report.Rejected.Last {
		types = append(types, rejection.Type)
	}
	require.ElementsMatch(t, []string{
		graph.ErrTypeInvalidResumeInput, graph.ErrTypeInvalidResumeInput, graph.ErrTypeUnknownPause,
		graph.ErrTypeUnknownPause, graph.ErrTypeInvalidResumeInput, graph.ErrTypeInvalidResumeInput,
	}, types)

	w.signal(run, workflows.SignalResumePrefix+"ask#1", map[string]any{"approved": false})
	require.Equal(t, `"rejected"`, w.output(run))
}

// An update is refused with nothing written, and taken with an answer.
func TestPauseAnsweredByUpdate(t *testing.T) {
	t.Parallel()
	w := setup(t, parts{graphs: []string{approval}})
	run := w.run("approval", json.RawMessage(`{"order":7}`))
	report := w.paused(run)
	before := temporaltest.Count(temporaltest.History(t, w.client, run.GetID(), run.GetRunID()))

	for name, test := range map[string]struct {
		in   workflows.ResumeInput
		want string
	}{
		"unknown":  {workflows.ResumeInput{PauseID: "other#1", Input: json.RawMessage(`{}`)}, graph.ErrTypeUnknownPause},
		"no input": {workflows.ResumeInput{}, graph.ErrTypeInvalidResumeInput},
		"schema":   {workflows.ResumeInput{Input: json.RawMessage(`{"approved":1}`)}, graph.ErrTypeInvalidResumeInput},
		"digest":   {workflows.ResumeInput{Input: json.RawMessage(`{"approved":true}`), Digest: "0"}, graph.ErrTypePauseDigestMismatch},
	} {
		_, err := w.resume(run, test.in)
		refused := new(temporal.ApplicationError)
		require.ErrorAs(t, err, &refused, name)
		require.Equal(t, test.want, refused.Type(), name)
	}
	require.Equal(t, before, temporaltest.Count(temporaltest.History(t, w.client, run.GetID(), run.GetRunID())))

	result, err := w.resume(run, workflows.ResumeInput{
		Input: json.RawMessage(`{"approved":true}`), Actor: "ann", Note: "fine", Digest: report.Pauses[0].Digest,
	})
	require.NoError(t, err)
	require.Equal(t, workflows.ResumeResult{PauseID: "ask#1", Status: "accepted"}, result)
	require.Equal(t, `"accepted"`, w.output(run))

	checkpoint := w.checkpoint(run)
	require.Len(t, checkpoint.Answers, 1)
	require.Equal(t, "ann", checkpoint.Answers[0].Actor)
	require.Equal(t, "fine", checkpoint.Answers[0].Note)
}

// The details of a paused run name the node and the exact command.
func TestDetails(t *testing.T) {
	t.Parallel()
	w := setup(t, parts{graphs: []string{approval}})
	run := w.run("approval", json.RawMessage(`{"order":"<h1>x</h1>"}`))
	w.paused(run)
	shown := w.details(run)
	require.Contains(t, shown, "temporal workflow signal")
	require.Contains(t, shown, "&lt;h1&gt;")
	require.NotContains(t, shown, "<h1>")
}
