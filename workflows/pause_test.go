package workflows_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"

	"github.com/tidemill/tidemill/graph"
	"github.com/tidemill/tidemill/workflows"
)

const impatient = `
version: 1
id: impatient
entry: ask
nodes:
  - {id: ask, type: pause, expires: 1s, on_expire: unheard, next: heard}
  - {id: unheard, type: set, output: {unheard: "${ input.order }"}, next: end}
  - {id: heard, type: set, output: heard, next: end}
`

const strict = `
version: 1
id: strict
entry: ask
nodes: [{id: ask, type: pause, expires: 1s, next: end}]
`

// Silence is an outcome of its own: it takes the edge of its own, or fails the
// run, and is never taken for a "no".
func TestPauseExpires(t *testing.T) {
	t.Parallel()
	w := setup(t, parts{graphs: []string{impatient, strict}})
	lenient, failing := w.run("impatient", map[string]int{"order": 7}), w.run("strict")
	require.JSONEq(t, `{"unheard":7}`, w.output(lenient))
	answers := w.checkpoint(lenient).Answers
	require.Len(t, answers, 1)
	require.Equal(t, graph.ClosedExpired, answers[0].Closed)

	kind, report := w.failure(failing)
	require.Equal(t, graph.ErrTypePauseExpired, kind)
	require.Equal(t, graph.Address("ask#1"), report.Error.Address)
}

// C20: an answer in time takes the expiry back: no timer may stay open.
func TestPauseAnsweredBeforeItExpires(t *testing.T) {
	t.Parallel()
	w := setup(t, parts{graphs: []string{`
version: 1
id: timely
entry: ask
nodes: [{id: ask, type: pause, expires: 1h, on_expire: unheard, next: heard}, {id: unheard, type: set, output: unheard, next: end}, {id: heard, type: set, output: "${ input }", next: end}]
`}})
	run := w.run("timely")
	report := w.paused(run)
	require.NotNil(t, report.Pauses[0].Expires)
	w.signal(run, workflows.SignalResume, nil) // null is an answer
	require.Equal(t, "null", w.output(run))
	require.Empty(t, w.openTimers(run))
}

const actionPause = `
version: 1
id: action_pause
entry: ask
nodes:
  - id: ask
    run: act
    args:
      control: pause
      reason: sign
      summary: "Sign ${ state.order }"
      schema: {type: object, required: [name], properties: {name: {type: string}}}
    next: done
  - {id: done, type: set, output: "${ input.name }", next: end}
`

// An action may ask as well; its schema is held against the answer, and the
// answer is the successor's input.
func TestPauseOfAnAction(t *testing.T) {
	t.Parallel()
	acts := newScript()
	w := setup(t, parts{graphs: []string{actionPause}, register: acts.register})
	run := w.run("action_pause", map[string]string{"order": "7"})
	report := w.paused(run)
	require.Equal(t, "sign", report.Pauses[0].Reason)
	require.Equal(t, "Sign 7", report.Pauses[0].Summary)
	require.Contains(t, w.details(run), `--name 'resume:ask#1' --input '{"name":"…"}'`)

	w.signal(run, workflows.SignalResume, map[string]int{"name": 1})
	w.until(run, "the refusal", func(r graph.Report) bool { return r.Rejected.Count == 1 && r.Status == graph.StatusPaused })
	w.signal(run, workflows.SignalResume, map[string]string{"name": "ann"})
	require.Equal(t, `"ann"`, w.output(run))
	require.Equal(t, []string{"ask#1"}, acts.called(run.GetID()))
}

// rounds asks the same question twice in a loop, and collects the answers.
const rounds = `
version: 1
id: rounds
entry: again
state_reducers: {answers: append}
nodes:
  - {id: again, type: loop, while: "true", body: ask, done: end, max_iterations: 2}
  - {id: ask, type: pause, delta: {answers: ["${ result }"]}, next: again}
`

// round waits until the pause of a turn is open.
func (w *world) round(run client.WorkflowRun, pauseID graph.Address, refused int) {
	w.tb.Helper()
	w.until(run, "pause "+string(pauseID), func(r graph.Report) bool {
		return len(r.Pauses) == 1 && r.Pauses[0].ID == pauseID && r.Rejected.Count == refused
	})
}

// An answer is used once. Neither a second answer in the same workflow task nor
// a repeated address may answer the next turn of the same node.
func TestSamePauseTwice(t *testing.T) {
	t.Parallel()
	w := setup(t, parts{graphs: []string{rounds}})
	run := w.run("rounds")
	w.round(run, "ask#1", 0)
	w.worker.Stop() // so that the next task finds both
	w.signal(run, workflows.SignalResume, "first")
	w.signal(run, workflows.SignalResume, "too many")
	w.worker = w.start(parts{})
	w.round(run, "ask#2", 1)
	w.signal(run, workflows.SignalResumePrefix+"ask#1", "again")
	w.round(run, "ask#2", 2)
	w.signal(run, workflows.SignalResumePrefix+"ask#2", "second")
	require.JSONEq(t, `{"answers":["first","second"]}`, w.output(run))
}

// Of several answers in one task the addressed one goes first: its sender knew
// what was asked.
func TestTwoAnswersInOneTask(t *testing.T) {
	t.Parallel()
	w := setup(t, parts{graphs: []string{rounds}})
	run := w.run("rounds")
	w.round(run, "ask#1", 0)
	w.worker.Stop()
	w.signal(run, workflows.SignalResume, "plain")
	w.signal(run, workflows.SignalResumePrefix+"ask#1", "addressed")
	w.worker = w.start(parts{})
	w.round(run, "ask#2", 1)
	w.signal(run, workflows.SignalResume, "second")
	require.JSONEq(t, `{"answers":["addressed","second"]}`, w.output(run))
}

// An answer that comes before the question is refused and visible, not kept
// for whatever is asked later.
func TestEarlyAnswer(t *testing.T) {
	t.Parallel()
	w := setup(t, parts{graphs: []string{rounds}})
	for _, name := range []string{workflows.SignalResume, workflows.SignalResumePrefix + "ask#1", workflows.SignalResumePrefix + "ask#2"} {
		run := w.runSignalled("rounds", name, "early")
		w.round(run, "ask#1", 1)
		require.Equal(t, graph.ErrTypeUnknownPause, w.status(run).Rejected.Last[0].Type)
		w.signal(run, workflows.SignalResume, "first")
		w.round(run, "ask#2", 1)
		w.signal(run, workflows.SignalResume, "second")
		require.JSONEq(t, `{"answers":["first","second"]}`, w.output(run))
	}
}

// The printed command must answer the pause as it stands, but for the answer.
func TestPauseAnsweredByCommandLine(t *testing.T) {
	t.Parallel()
	w := setup(t, parts{graphs: []string{approval}})
	run := w.run("approval", map[string]int{"order": 7})
	w.paused(run)
	w.cli(run, "workflow", "signal", "--name", "resume", "--input", `"x"`)
	w.until(run, "the refusal", func(r graph.Report) bool { return r.Rejected.Count == 1 })
	w.cli(run, "workflow", "signal", "--name", "resume:ask#1", "--input", `{"approved":true}`)
	require.Equal(t, `"accepted"`, w.output(run))

	other := w.run("approval", map[string]int{"order": 8})
	w.paused(other)
	out := w.cli(other, "workflow", "update", "execute", "--name", "resume", "--input", `{"input":{"approved":false}}`)
	require.Contains(t, out, "accepted")
	require.Equal(t, `"rejected"`, w.output(other))
}

// A pause whose answer comes in the task that the run ends with must not lose
// what else arrives: it is refused and counted, or the run would fail.
func TestAnswerToAClosedRun(t *testing.T) {
	t.Parallel()
	w := setup(t, parts{graphs: []string{approval}})
	run := w.run("approval", map[string]int{"order": 7})
	w.paused(run)
	w.worker.Stop()
	for range 3 {
		w.signal(run, workflows.SignalResume, map[string]bool{"approved": true})
	}
	w.worker = w.start(parts{})
	require.Equal(t, `"accepted"`, w.output(run))
	report := w.status(run)
	require.Equal(t, 2, report.Rejected.Count)

	_, err := w.resume(run, workflows.ResumeInput{Input: json.RawMessage(`{"approved":true}`)})
	require.ErrorContains(t, err, "workflow execution already completed")
}
