package workflows_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"

	"github.com/tidemill/tidemill/activities"
	"github.com/tidemill/tidemill/graph"
	"github.com/tidemill/tidemill/graph/value"
	"github.com/tidemill/tidemill/internal/temporaltest"
	"github.com/tidemill/tidemill/workflows"
)

// longName is a node's id of the greatest length that begins like this.
func longName(start string) string { return start + strings.Repeat("x", 64-len(start)) }

// The server ends a run whose search attribute has more than 2,048 bytes. Twenty
// pauses have short ids in a run of their own, and long ones in children.
func TestManyPausesWithLongIDs(t *testing.T) {
	t.Parallel()
	const branches = 20
	var names, nodes []string
	for i := range branches {
		name := longName(fmt.Sprintf("b%d_", i))
		names = append(names, name)
		nodes = append(nodes, fmt.Sprintf(
			"  - {id: %s, type: workflow, workflow: {version: 1, id: i, entry: %s, nodes: [{id: %s, type: pause, next: end}]}, next: j}\n",
			name, longName("p"), longName("p")))
	}
	w := setup(t, parts{graphs: []string{fmt.Sprintf(
		"version: 1\nid: wide\nentry: f\nnodes:\n  - {id: f, type: fork, branches: [%s], join: j, max_concurrency: 20}\n%s  - {id: j, type: join, next: end}\n",
		strings.Join(names, ", "), strings.Join(nodes, ""))}})
	run := w.run("wide")
	report := w.until(run, "all pauses", func(r graph.Report) bool { return len(r.Pauses) == branches })
	for _, p := range report.Pauses {
		_, err := w.resume(run, workflows.ResumeInput{PauseID: p.ID, Input: json.RawMessage(`1`)})
		require.NoError(t, err)
	}
	require.NotEmpty(t, w.output(run))
}

// A pause that is longer than a report should be is told all the same, and once: a
// child that could not tell it would try for ever.
func TestPauseLongerThanAReport(t *testing.T) {
	t.Parallel()
	w := setup(t, parts{graphs: []string{nested("long", "", `
        - {id: first, type: pause, next: second, resume_schema: {const: "`+strings.Repeat("x", 300<<10)+`"}}
        - {id: second, type: pause, next: end}`)}})
	run := w.run("long")
	w.until(run, "the first pause", pausedAt("sub#1/first#1"))
	child := w.child(run, "sub#1")
	require.Equal(t, 1, temporaltest.Count(w.history(child), enumspb.EVENT_TYPE_SIGNAL_EXTERNAL_WORKFLOW_EXECUTION_INITIATED))
	w.signal(run, workflows.SignalResume, strings.Repeat("x", 300<<10))
	w.until(run, "the second pause", pausedAt("sub#1/second#1"))
	w.signal(run, workflows.SignalResume, 1)
	w.output(run)
}

// Whatever is done in a child has an id that begins with the child's address. An
// address that leaves no room for one would have the child's tasks fail for ever.
func TestNestingTooDeepForTheServer(t *testing.T) {
	t.Parallel()
	inner := "{id: " + longName("q") + ", run: act, args: {output: 1}, next: end}"
	for depth := range 14 {
		name := longName(fmt.Sprintf("n%d_", depth))
		entry := strings.TrimPrefix(strings.SplitN(inner, ",", 2)[0], "{id: ")
		inner = fmt.Sprintf("{id: %s, type: workflow, next: end, workflow: {version: 1, id: i%d, entry: %s, nodes: [%s]}}", name, depth, entry, inner)
	}
	entry := strings.TrimPrefix(strings.SplitN(inner, ",", 2)[0], "{id: ")
	w := setup(t, parts{register: newScript().register, graphs: []string{"version: 1\nid: d\nentry: " + entry + "\nnodes: [" + inner + "]\n"}})
	kind, report := w.failure(w.runWith(client.StartWorkflowOptions{}, "d"))
	require.Equal(t, graph.ErrTypeChildFailed, kind)
	cause := report.Error
	for cause.Cause != nil {
		cause = cause.Cause
	}
	require.Equal(t, graph.ErrTypeChildStartFailed, cause.Type)
	require.Contains(t, cause.Message, "1000")
}

// A child's result holds its output one level down. An output as deep as values may
// be is refused in its parent's words; the child itself has completed.
func TestChildOutputAsDeepAsValuesMayBe(t *testing.T) {
	t.Parallel()
	deepest := strings.Repeat("[", value.MaxDepth-1) + strings.Repeat("]", value.MaxDepth-1)
	register := func(r *activities.Registry) {
		activities.Register(r, "deep", func(context.Context, any) (json.RawMessage, error) { return json.RawMessage(deepest), nil })
	}
	w := setup(t, parts{register: register, graphs: []string{nested("deepest", "", `
        - {id: first, run: deep, next: wrap}
        - {id: wrap, type: set, output: "${ [input] }", next: end}`)}})
	run := w.run("deepest")
	kind, report := w.failure(run)
	require.Equal(t, graph.ErrTypeInvalidOutput, kind)
	require.Equal(t, graph.Address("sub#1"), report.Error.Address)
	require.Contains(t, report.Error.Message, "levels deep")
	require.Equal(t, graph.StatusCompleted, w.status(w.child(run, "sub#1")).Status)
}
