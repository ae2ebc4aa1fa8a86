package workflows_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/tidemill/tidemill/graph"
	"github.com/tidemill/tidemill/internal/temporaltest"
	"github.com/tidemill/tidemill/workflows"
)

// caller runs other graphs by name: leaf by way of middle.
const (
	caller = "version: 1\nid: caller\nentry: ask\nnodes:\n  - {id: ask, type: pause, next: call}\n  - {id: call, type: workflow, workflow: middle, input: {from: caller}, next: end}\n"
	middle = "version: 1\nid: middle\nentry: call\nnodes: [{id: call, type: workflow, workflow: leaf, next: end}]\n"
	leaf   = "version: 1\nid: leaf\nentry: say\nnodes: [{id: say, type: set, output: \"leaf of ${ state.from }\", next: end}]\n"
)

// A run is bound to the graphs it names as they were when it began: when workers
// have others, or none, it hands over those that it has. Where they have the same,
// it hands over nothing.
func TestNamedChildren(t *testing.T) {
	t.Parallel()
	all := []string{caller, middle, leaf}
	for name, later := range map[string][]string{
		"the same":    all,
		"other leaf":  {caller, middle, strings.Replace(leaf, "leaf of", "another leaf of", 1)},
		"other graph": {caller, strings.Replace(middle, "id: middle", "id: middle\nrevision: \"2\"", 1), leaf},
		"none":        {},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := setup(t, parts{graphs: all})
			run := w.run("caller")
			w.paused(run)
			w.worker.Stop()
			w.worker = w.start(parts{graphs: later})
			w.signal(run, workflows.SignalResume, 1)
			require.Equal(t, `"leaf of caller"`, w.output(run))
			started := temporaltest.Count(w.history(run), enumspb.EVENT_TYPE_START_CHILD_WORKFLOW_EXECUTION_INITIATED)
			if name == "the same" {
				require.Equal(t, 1, started)
			} else {
				require.Equal(t, 2, started, "refused, and begun again with the documents")
			}
			require.Empty(t, w.checkpoint(run).Activations)
			require.Equal(t, "middle", w.status(w.child(run, "call#1")).Graph)
			w.output(w.child(run, "call#1/call#1"))
		})
	}
}

// What a child inherits is trusted, so nobody but a run may hand it over.
func TestThirdArgumentFromOutside(t *testing.T) {
	t.Parallel()
	w := setup(t, parts{graphs: []string{leaf}})
	start := graph.ChildStart{Fingerprint: "f", Root: "r", Address: "a#1", Lineage: "l"}
	kind, report := w.failure(w.run("leaf", json.RawMessage(`{"from":"me"}`), nil, start))
	require.Equal(t, graph.ErrTypeInvalidRunOptions, kind)
	require.True(t, report.Refused)
	require.Contains(t, report.Error.Message, "at most two")
}

// A workflow of the worker's own that has taken a graph's name is no graph, and its
// result none of a graph's.
func TestChildOfAnotherMake(t *testing.T) {
	t.Parallel()
	w := setup(t, parts{graphs: []string{caller, middle, leaf}, foreign: func(r worker.Registry) {
		name := workflow.RegisterOptions{Name: "middle"}
		r.RegisterWorkflowWithOptions(func(workflow.Context, json.RawMessage, json.RawMessage, json.RawMessage) (int, error) { return 5, nil }, name)
	}})
	run := w.run("caller")
	w.paused(run)
	w.signal(run, workflows.SignalResume, 1)
	kind, report := w.failure(run)
	require.Equal(t, graph.ErrTypeChildFailed, kind)
	require.Equal(t, graph.ErrTypeInvalidOutput, report.Error.Cause.Type)
	w.runs = nil // the other workflow's history is none of ours to replay
}

// A workflow of another make may start a graph with a third argument that no run
// would hand over. What cannot be inherited is refused by name.
func TestInheritedFromAnotherMake(t *testing.T) {
	t.Parallel()
	text := mapped("forged", "", tenfold)
	compiled, _ := graph.Compile("graph.yaml", []byte(text), graph.CompileOptions{})
	require.NotNil(t, compiled)
	start := graph.ChildStart{
		Fingerprint: compiled.Fingerprint, Root: "r", Address: "other#1", Lineage: "l",
		Map: &graph.MapStart{Node: "each", Input: json.RawMessage(`1`), Items: json.RawMessage(`[1]`)},
	}
	forge := func(ctx workflow.Context) error {
		return workflow.ExecuteChildWorkflow(ctx, "forged", json.RawMessage(`{}`), nil, start).Get(ctx, nil)
	}
	w := setup(t, parts{register: newScript().register, graphs: []string{text}, foreign: func(r worker.Registry) {
		r.RegisterWorkflowWithOptions(forge, workflow.RegisterOptions{Name: "forger"})
	}})
	run := w.run("forger")
	refused := new(temporal.ApplicationError)
	require.ErrorAs(t, run.Get(t.Context(), nil), &refused)
	require.Equal(t, graph.ErrTypeInvalidRunOptions, refused.Type(), refused.Message())
	require.Contains(t, refused.Message(), "not a map of this graph")
	w.runs = nil // the other workflow's history is none of ours to replay
}
