package workflows_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"

	"github.com/tidemill/tidemill/activities"
	"github.com/tidemill/tidemill/graph"
	"github.com/tidemill/tidemill/internal/historytest"
	"github.com/tidemill/tidemill/workflows"
)

// redriveShapes are runs that take up another one, whose histories are kept.
var redriveShapes = []struct {
	name, graph, input string
	answer             any    // of the pause at which the earlier run is terminated; nil: it fails
	child              string // the address of a child that is taken up as well
	options            graph.RunOptions
}{
	{name: "redriven_line", graph: "redriven_line", input: `{}`},
	{name: "redriven_corrected", graph: "redriven_wrong", input: `{}`, options: graph.RunOptions{Spec: quoted(strings.ReplaceAll(redrivenWrong, "input.wrong", "input.k"))}},
	{name: "redriven_item", graph: "redriven_item", input: `{"list":[1,2,3]}`, options: graph.RunOptions{From: "each#1/0"}},
	{name: "redriven_pause", graph: "redriven_pause", input: `{}`, answer: true},
	{name: "redriven_child", graph: "redriven_child", input: `{}`, child: "sub#1"},
}

const redrivenWrong = `version: 1
id: redriven_wrong
entry: a
nodes:
  - {id: a, run: act, args: {output: {k: 1}}, next: b}
  - {id: b, run: act, args: {output: "${ input.wrong + 1 }"}, next: end}
`

var redriveShapeGraphs = []string{
	redrivenWrong, lastFails("redriven_child"), `version: 1
id: redriven_line
entry: a
nodes:
  - {id: a, run: act, args: {output: 1, delta: {a: 1}}, next: b}
  - {id: b, run: act, args: {fail: boom, until: 1, output: "${ [input, state.a] }"}, next: end}
`, `version: 1
id: redriven_pause
entry: a
nodes:
  - {id: a, run: act, args: {output: 1}, next: p}
  - {id: p, type: pause, expires: 1h, next: b}
  - {id: b, run: act, args: {output: "${ input }"}, next: end}
`,
	mapped("redriven_item", "\n    max_concurrency: 1", `
      run: act
      args: {fail: "${ item == 2 ? 'boom' : '' }", until: 1, output: "${ item * 10 }"}`),
}

func quoted(text string) json.RawMessage {
	raw, _ := json.Marshal(text) //nolint:errchkjson // a text can be written
	return raw
}

// Who redrives a run today has one tomorrow that a later release must replay, for it may
// wait for a person. What is recorded is replayed with all others, in
// TestRecordedHistories.
func TestRedriveHistories(t *testing.T) {
	t.Parallel()
	var w *world
	for _, shape := range redriveShapes {
		if !recorded(shape.name) && *update {
			if w == nil {
				w = setup(t, parts{
					register: newScript().register, graphs: redriveShapeGraphs,
					edit: func(o *activities.Options) { o.AllowInlineSpecs = true },
				})
			}
			w.recordRedrive(shape.name, w.run(shape.graph, json.RawMessage(shape.input)), shape.graph, shape.child, shape.answer, shape.options)
		}
		first := historytest.Load(t, recordingOf(shape.name)).History.GetEvents()[0].GetWorkflowExecutionStartedEventAttributes()
		require.Contains(t, string(first.GetInput().GetPayloads()[1].GetData()), `"checkpoint"`, "%s takes up nothing", shape.name)
		if shape.child != "" {
			require.True(t, recorded(shape.name+"_below"), "%s: the child is not recorded", shape.name)
		}
	}
}

// recordRedrive brings a run to its end, takes it up, and keeps what came of it.
func (w *world) recordRedrive(name string, run client.WorkflowRun, graphID, child string, answer any, options graph.RunOptions) {
	w.tb.Helper()
	if answer != nil {
		w.paused(run)
		require.NoError(w.tb, w.client.TerminateWorkflow(w.tb.Context(), run.GetID(), run.GetRunID(), "no longer wanted"))
	}
	children := []string{}
	if child != "" {
		w.failure(run)
		children = append(children, child)
	} else {
		_ = run.Get(w.tb.Context(), nil)
	}
	again := w.redrive(run, graphID, w.export(run, children...), options)
	if answer != nil {
		w.paused(again)
		w.signal(again, workflows.SignalResume, answer)
	}
	w.output(again)
	w.record(again, name)
	if child != "" {
		w.record(w.child(again, child), name+"_below")
	}
}
