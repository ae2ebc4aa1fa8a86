package workflows_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"

	"github.com/tidemill/tidemill/graph"
	"github.com/tidemill/tidemill/internal/temporaltest"
)

// Two graphs of 20,000 decisions without any activity: a loop of 10,000 turns,
// and a cycle over a branch.
const (
	longLoop = `
version: 1
id: long_loop
entry: again
max_steps: 30000
nodes:
  - {id: again, type: loop, while: "state.count < 10000", body: count, done: end, max_iterations: 20000}
  - {id: count, type: set, delta: {count: "${ state.count + 1 }"}, next: again}
`
	longCycle = `
version: 1
id: long_cycle
entry: count
max_steps: 30000
nodes:
  - {id: count, type: set, delta: {count: "${ state.count + 1 }"}, next: more}
  - {id: more, type: branch, cases: [{when: "state.count < 10000", to: count}], default: end}
`
)

// soon is how long a query or a cancel in the middle of a long run-ahead may
// take. The task budget makes it half a second; the rest is for a machine that
// has much else to do.
const soon = 3 * time.Second

// A long way without activities must not become one endless workflow task: a
// task that is lost repeats everything in it, and until it ends queries and
// signals wait.
func TestLongRunAhead(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"long_loop", "long_cycle"} {
		t.Run(id, func(t *testing.T) {
			t.Parallel()
			w := setup(t, parts{graphs: []string{longLoop, longCycle}})
			run := w.run(id, json.RawMessage(`{"count":0}`))
			require.JSONEq(t, `{"count":10000}`, w.output(run))

			history := w.history(run)
			require.Less(t, temporaltest.Count(history), 500)
			for i, task := range temporaltest.Tasks(history) {
				require.LessOrEqual(t, task.Markers, 256, "markers of workflow task %d", i)
				require.LessOrEqual(t, task.Bytes, 512<<10, "bytes of workflow task %d", i)
			}
			require.Greater(t, temporaltest.Count(history, enumspb.EVENT_TYPE_MARKER_RECORDED), 20000/graph.MaxBatchDecisions)
		})
	}
}

// endless is a cycle that ends only when it is stopped.
const endless = `
version: 1
id: endless
entry: count
max_steps: 2000000000
nodes: [{id: count, type: set, delta: {count: "${ state.count + 1 }"}, next: count}]
`

// A query and a cancel in the middle of a long run-ahead are heard at the next
// flush.
func TestLongRunAheadAnswers(t *testing.T) {
	t.Parallel()
	w := setup(t, parts{graphs: []string{endless}})
	run := w.run("endless", json.RawMessage(`{"count":0}`))
	w.inTheMiddle(run)
	asked := time.Now()
	w.cancel(run)
	kind, report := w.failure(run)
	require.Less(t, time.Since(asked), soon)
	require.Equal(t, "cancelled", kind)
	require.Equal(t, graph.StatusCancelled, report.Status)
}

// inTheMiddle waits until a run is well under way, and sees to it that each
// answer on the way there comes soon.
func (w *world) inTheMiddle(run client.WorkflowRun) {
	w.tb.Helper()
	temporaltest.Wait(w.tb, 30*time.Second, "the run to make its way", func() bool {
		asked := time.Now()
		report := w.status(run)
		require.Less(w.tb, time.Since(asked), soon)
		return report.Steps > 1000
	})
}
