package workflows_test

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill/activities"
	"github.com/tidemill/tidemill/graph"
	"github.com/tidemill/tidemill/internal/temporaltest"
	"github.com/tidemill/tidemill/workflows"
)

// sizes makes text of a size in each place where a run can hold one.
const sizes = `
version: 1
id: sizes
entry: which
nodes:
  - id: which
    type: branch
    cases:
      - {when: "state.place == 'output'", to: output}
      - {when: "state.place == 'args'", to: args}
      - {when: "state.place == 'delta'", to: delta}
      - {when: "state.place == 'state'", to: grow}
      - {when: "state.place == 'decision'", to: grow2}
      - {when: "state.place == 'caught'", to: caught}
    default: ask
  - {id: output, run: fill, args: {bytes: 3000000}, retry: {max_attempts: 3}, next: end}
  - {id: args, run: act, args: {output: "${ [state.text, state.text, state.text] }"}, next: end}
  - {id: delta, run: fill, args: {bytes: 300000}, output: small, delta: {a: "${ result }", b: "${ result }"}, next: end}
  - {id: grow, run: fill, args: {bytes: 150000}, output: small, delta: {all: ["${ result }"]}, next: grow}
  - {id: grow2, type: set, delta: {text: "${ [state.text, state.text] }"}, next: end}
  - {id: caught, run: fill, args: {bytes: 3000000}, on_error: after, next: end}
  - {id: after, type: set, output: "${ input.type }", next: end}
  - {id: ask, type: pause, next: end}
state_reducers: {all: append}
`

// Whatever is too large must end in a typed failure that says so. Too large a
// command leaves a run stuck for ever, or has the server end it.
func TestTooLarge(t *testing.T) {
	t.Parallel()
	w := setup(t, parts{graphs: []string{sizes}, register: func(r *activities.Registry) {
		newScript().register(r)
		registerFill(r)
	}, edit: func(o *activities.Options) { o.Limits = graph.Limits{Payload: 400_000, State: 400_000} }})
	text := func(bytes int) string { return strings.Repeat("y", bytes) }
	for _, test := range []struct {
		name  string
		input map[string]string
		want  string
		says  string
	}{
		{"output", map[string]string{"place": "output"}, graph.ErrTypeOutputTooLarge, "3000"},
		{"args", map[string]string{"place": "args", "text": text(150_000)}, graph.ErrTypeOutputTooLarge, "args"},
		{"delta", map[string]string{"place": "delta"}, graph.ErrTypeOutputTooLarge, "delta"},
		{"state", map[string]string{"place": "state"}, graph.ErrTypeStateTooLarge, "state"},
		{"decision", map[string]string{"place": "decision", "text": text(200_000)}, graph.ErrTypeOutputTooLarge, "action"},
		{"input", map[string]string{"text": text(500_000)}, graph.ErrTypeStateTooLarge, "input"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w := w.in(t)
			run := w.run("sizes", test.input)
			kind, report := w.failure(run)
			require.Equal(t, test.want, kind)
			require.Contains(t, report.Error.Message, test.says)
		})
	}
	caught := w.run("sizes", map[string]string{"place": "caught"})
	require.Equal(t, `"output_too_large"`, w.output(caught))
}

// An answer that is too large is refused like any other that cannot be taken.
func TestAnswerTooLarge(t *testing.T) {
	t.Parallel()
	w := setup(t, parts{graphs: []string{sizes}, edit: func(o *activities.Options) {
		o.Limits = graph.Limits{Payload: 10_000, State: 20_000}
	}})
	run := w.run("sizes", map[string]string{"place": "pause"})
	w.paused(run)
	large := strings.Repeat("y", 10_000)
	w.signal(run, workflows.SignalResume, large)
	report := w.until(run, "the refusal", func(r graph.Report) bool { return r.Rejected.Count == 1 })
	require.Equal(t, graph.ErrTypeInvalidResumeInput, report.Rejected.Last[0].Type)

	raw, err := json.Marshal(large)
	require.NoError(t, err)
	_, err = w.update(run, "", workflows.ResumeInput{Input: raw})
	require.Equal(t, graph.ErrTypeInvalidResumeInput, refusalType(t, err))
	_, err = w.update(run, "", workflows.ResumeInput{Input: json.RawMessage(`"small"`)})
	require.NoError(t, err)
	require.JSONEq(t, `{"place":"pause"}`, w.output(run))
}

// What JSON encoders like to escape must not grow on its way: a page of HTML
// within the limits would leave the run stuck, each < written as six bytes.
func TestMarkupDoesNotGrow(t *testing.T) {
	t.Parallel()
	const size = 360_000 // six times that is more than a server takes
	w := setup(t, parts{
		graphs: []string{markup},
		edit:   func(o *activities.Options) { o.Limits.State = 1984 << 10 },
		register: func(r *activities.Registry) {
			activities.Register(r, "page", func(context.Context, struct{}) (string, error) { return strings.Repeat("<", size), nil })
			activities.Register(r, "length", func(_ context.Context, in struct{ Text string }) (int, error) { return len(in.Text), nil })
		},
	})
	for _, where := range []string{"args", "output", "state"} {
		run := w.run("markup", map[string]string{"where": where})
		switch where {
		case "args":
			require.Equal(t, strconv.Itoa(size), w.output(run))
		case "output":
			require.Len(t, w.output(run), size+2)
		default:
			require.Equal(t, "true", w.output(run))
			require.Greater(t, len(w.status(run).State), size)
			require.Greater(t, len(w.checkpoint(run).State.Raw()), size)
		}
	}
	failing := w.run("markup", map[string]string{"where": "failure"})
	kind, _ := w.failure(failing)
	require.Equal(t, "lost", kind)
}

const markup = `
version: 1
id: markup
entry: page
nodes:
  - {id: page, run: page, output: true, delta: {page: "${ result }"}, next: which}
  - id: which
    type: branch
    cases:
      - {when: "state.where == 'args'", to: length}
      - {when: "state.where == 'output'", to: page2}
      - {when: "state.where == 'failure'", to: lost}
    default: end
  - {id: length, run: length, args: {text: "${ state.page }"}, next: end}
  - {id: page2, run: page, next: end}
  - {id: lost, run: fail, args: {type: lost, message: lost}, next: end}
`

// A run whose state fills the limit must still be closed, asked and replayed:
// the failure's document leaves the state out, and says so.
func TestLargeStateIsClosed(t *testing.T) {
	t.Parallel()
	w := setup(t, parts{graphs: []string{`
version: 1
id: large
entry: a
nodes: [{id: a, run: fail, args: {type: no_luck, message: "no luck"}, next: end}]
`}})
	run := w.run("large", map[string]string{"text": strings.Repeat("z", 300_000)})
	kind, report := w.failure(run)
	require.Equal(t, "no_luck", kind)
	require.Equal(t, "null", string(report.State))
	require.Greater(t, len(w.status(run).State), 300_000)
}

// A state that nearly fills what a server takes as one payload is decoded, asked for,
// carried to the next run and replayed within the second that the SDK gives workflow
// code before it takes it for stuck (fault C16).
func TestStateOfAMegabyteAndAHalf(t *testing.T) {
	t.Parallel()
	w := setup(t, parts{graphs: []string{`
version: 1
id: big
entry: again
nodes:
  - {id: again, type: loop, while: "size(state.pages) < 6", body: page, done: ask, max_iterations: 9}
  - {id: page, run: fill, args: {bytes: 260000}, output: small, delta: {pages: ["${ result }"]}, next: again}
  - {id: ask, type: pause, next: sum}
  - {id: sum, type: set, output: "${ size(state.pages) }", next: end}
state_reducers: {pages: append}
`}, register: registerFill, edit: func(o *activities.Options) {
		o.Limits.State, o.ContinueAt = 1984<<10, 20
	}})
	run := chainOf(w.run("big", json.RawMessage(`{"pages":[]}`)))
	require.Greater(t, len(w.paused(run).State), 1_500_000)
	w.signal(run, workflows.SignalResume, nil)
	require.Equal(t, "6", w.output(run))
	runs := w.runsOf(run)
	require.Greater(t, len(runs), 1, "it continues as new")
	for _, id := range runs {
		for _, e := range temporaltest.History(t, w.client, run.GetID(), id).GetEvents() {
			require.Nil(t, e.GetWorkflowTaskFailedEventAttributes(), "%v", e)
			require.Nil(t, e.GetWorkflowTaskTimedOutEventAttributes(), "%v", e)
		}
	}
}
