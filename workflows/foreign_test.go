package workflows_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"

	"github.com/tidemill/tidemill/graph"
)

func replaceQueue(text, queue string) string { return strings.ReplaceAll(text, "QUEUE", queue) }

const foreign = `
version: 1
id: foreign
entry: ship
nodes:
  - id: ship
    run: {activity: ShipOrder, task_queue: QUEUE}
    args: {order: "${ state.order }"}
    output: "${ result.parcel }"
    delta: {parcel: "${ result.parcel }"}
    retry: {max_attempts: 2, backoff: 1s, non_retryable: [NoStock]}
    on_error: {cases: [{when: "error.type == 'NoStock'", to: empty}]}
    next: end
  - {id: empty, type: set, output: nothing left, next: end}
`

// An existing activity of any SDK is a node: it is given its arguments alone,
// and its result and errors are its own.
func TestForeignActivity(t *testing.T) {
	t.Parallel()
	server := shared.Server(t)
	queue := server.TaskQueue(t)
	w := setup(t, parts{graphs: []string{replaceQueue(foreign, queue)}})
	server.Worker(t, w.client, queue, worker.Options{}, func(r worker.Registry) {
		r.RegisterActivityWithOptions(func(_ context.Context, in struct{ Order int }) (map[string]any, error) {
			if in.Order == 0 {
				return nil, temporal.NewApplicationError("sold out", "NoStock")
			}
			return map[string]any{"parcel": in.Order * 10}, nil
		}, activity.RegisterOptions{Name: "ShipOrder"})
	})
	run := w.run("foreign", json.RawMessage(`{"order":7}`))
	require.Equal(t, "70", w.output(run))
	require.JSONEq(t, `{"order":7,"parcel":70}`, string(w.status(run).State))

	require.Equal(t, `"nothing left"`, w.output(w.run("foreign", json.RawMessage(`{"order":0}`))))

	kind, report := w.failure(w.run("foreign", json.RawMessage(`{}`)))
	require.Equal(t, graph.ErrTypeExpressionFailed, kind)
	require.Equal(t, 1, report.Steps)
}
