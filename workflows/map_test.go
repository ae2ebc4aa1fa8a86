package workflows_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"
	"google.golang.org/protobuf/proto"

	"github.com/tidemill/tidemill/graph"
	"github.com/tidemill/tidemill/internal/temporaltest"
	"github.com/tidemill/tidemill/workflows"
)

// mapped maps over state.list.
func mapped(id, fields, item string) string {
	return "version: 1\nid: " + id + `
entry: each
nodes:
  - id: each
    type: map
    items: "${ state.list }"` + fields + `
    item:` + item + `
    next: done
  - {id: done, type: set, output: "${ input }", next: end}
`
}

func listOf(n int) map[string][]int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return map[string][]int{"list": list}
}

const tenfold = `
      run: act
      args: {output: "${ item * 10 }"}`

// A long map is a run of its own: the run above has two events for it, not
// hundreds, and gets the same list.
func TestLongMap(t *testing.T) {
	t.Parallel()
	acts := newScript()
	w := setup(t, parts{register: acts.register, graphs: []string{mapped("long", "\n    max_concurrency: 50", tenfold)}})
	run := w.run("long", listOf(230))
	var got []int
	require.NoError(t, json.Unmarshal([]byte(w.output(run)), &got))
	require.Len(t, got, 230)
	require.Equal(t, 2290, got[229])
	child := w.child(run, "each#1")
	require.Len(t, acts.called(child.GetID()), 230)
	require.Equal(t, "long", w.status(child).Graph)
	require.Zero(t, temporaltest.Count(w.history(run), enumspb.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED))

	short := w.run("long", listOf(3))
	require.JSONEq(t, `[0,10,20]`, w.output(short))
	require.Len(t, acts.called(short.GetID()), 3)
}

// A long map fails as a short one does: its failure is the map's own, with what
// its items gave, and no child's.
func TestLongMapFails(t *testing.T) {
	t.Parallel()
	w := setup(t, parts{register: newScript().register, graphs: []string{mapped("failing", "\n    tolerate: {count: 1}", `
      run: act
      args: {fail: "${ item % 3 == 0 ? 'boom' : '' }", output: 1}`)}})
	for _, length := range []int{5, 210} {
		kind, report := w.failure(w.run("failing", listOf(length)))
		require.Equal(t, graph.ErrTypeMapTolerance, kind, length)
		require.Equal(t, graph.Address("each#1"), report.Error.Address)
		require.Equal(t, "each", report.Error.Node)
		var result struct{ Items []struct{ Status string } }
		require.NoError(t, json.Unmarshal(report.Error.Details, &result))
		require.Len(t, result.Items, length)
	}
}

// Items ask one by one, wherever they run; each pause has an id of its own that is
// the same at every level. What a child says of them grows with their number, not
// with its square, or hundreds of pauses would overflow both histories.
func TestPausesInItems(t *testing.T) {
	t.Parallel()
	w := setup(t, parts{graphs: []string{mapped("asking_items", `
    key: "k${ item }"
    max_concurrency: 500`, `
      type: pause
      summary: "item ${ item }"`)}})
	for _, length := range []int{3, 201} {
		run := w.run("asking_items", listOf(length))
		w.until(run, "all pauses", func(r graph.Report) bool { return len(r.Pauses) == length && r.Status == graph.StatusPaused })
		_, err := w.resume(run, workflows.ResumeInput{Input: json.RawMessage(`0`)})
		require.Equal(t, graph.ErrTypePauseAmbiguous, refusedAs(t, err))
		for i := range length {
			w.signal(run, fmt.Sprintf("resume:each#1/%d", i), i+100)
		}
		var got []int
		require.NoError(t, json.Unmarshal([]byte(w.output(run)), &got))
		require.Equal(t, 100+length-1, got[length-1])
		require.Less(t, proto.Size(w.history(run)), 1<<20, length)
	}
}

// A map whose items are graphs: each item is a child of its own.
func TestMapOfGraphs(t *testing.T) {
	t.Parallel()
	w := setup(t, parts{register: newScript().register, graphs: []string{mapped("graphs", "", `
      type: workflow
      input: {number: "${ item }"}
      workflow:
        version: 1
        id: inner
        entry: ask
        nodes: [{id: ask, type: pause, next: done}, {id: done, type: set, output: "${ state.number } ${ input }", next: end}]`)}})
	run := w.run("graphs", listOf(2))
	w.until(run, "both pauses", func(r graph.Report) bool { return len(r.Pauses) == 2 && r.Status == graph.StatusPaused })
	for i, r := range []client.WorkflowRun{run, w.child(run, "each#1/1")} {
		_, err := w.resume(r, workflows.ResumeInput{PauseID: graph.Address(fmt.Sprintf("each#1/%d/ask#1", i)), Input: json.RawMessage(`"yes"`)})
		require.NoError(t, err)
	}
	require.JSONEq(t, `["0 yes","1 yes"]`, w.output(run))
}
