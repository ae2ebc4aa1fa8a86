package orderreview_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/tidemill/tidemill"
	orderreview "github.com/tidemill/tidemill/examples/order-review"
	"github.com/tidemill/tidemill/examples/order-review/orders"
	"github.com/tidemill/tidemill/internal/historytest"
	"github.com/tidemill/tidemill/internal/temporaltest"
	"github.com/tidemill/tidemill/workflows"
)

// patience is how long anything here may take: a lost worker is noticed after 15
// seconds, and the machine may be busy.
const patience = 90 * time.Second

// fixture is what a test has to itself: a task queue, an order, and the run that
// reviews it, whose workflow id is the order's.
type fixture struct {
	server *temporaltest.Server
	client client.Client
	runs   *tidemill.Client
	queue  string
	order  string
}

// setup adds an order of that total to the shop.
func setup(t *testing.T, total int) *fixture {
	t.Helper()
	server := temporal.Server(t)
	c := server.Client(t)
	f := &fixture{server: server, client: c, runs: tidemill.NewClient(c, tidemill.ClientOptions{}), queue: server.TaskQueue(t)}
	f.order = f.queue
	shop.Put(orders.Order{ID: f.order, Total: total, Items: []orders.Item{{Name: "desk", Quantity: 1}}})
	return f
}

// worker starts the example's worker.
func (f *fixture) worker(t *testing.T, flags ...string) *process {
	t.Helper()
	flags = append([]string{"-task-queue", f.queue, "-orders", shop.Address()}, flags...)
	return launch(t, f.server.Environment(), "./cmd/worker", flags...)
}

// start starts the run with Temporal's command line, and has its history
// replayed when the test is over.
func (f *fixture) start(t *testing.T, input string) {
	t.Helper()
	f.temporal(t, "workflow", "start", "--type", orderreview.GraphID, "--task-queue", f.queue,
		"--workflow-id", f.order, "--input", input)
	t.Cleanup(func() {
		if !t.Failed() {
			f.replay(t)
		}
	})
}

// replay checks that the run's history is one the interpreter would write again.
func (f *fixture) replay(t *testing.T) {
	t.Helper()
	c, err := client.Dial(client.Options{HostPort: f.server.Address(), Logger: temporaltest.Logger()})
	require.NoError(t, err)
	defer c.Close()
	historytest.Replay(t, historytest.Record(t, c, f.order, ""), func(r worker.WorkflowReplayer) {
		r.RegisterDynamicWorkflow(workflows.Graph, workflow.DynamicRegisterOptions{})
	})
}

// temporal runs Temporal's command line.
func (f *fixture) temporal(t *testing.T, args ...string) string {
	t.Helper()
	output, err := f.server.CLI(t.Context(), args...)
	require.NoError(t, err)
	return string(output)
}

// answer sends the plain signal that answers the only open pause.
func (f *fixture) answer(t *testing.T, input string) {
	t.Helper()
	f.temporal(t, "workflow", "signal", "--workflow-id", f.order, "--name", "resume", "--input", input)
}

// await waits until the run is closed or paused.
func (f *fixture) await(t *testing.T, want tidemill.Status) tidemill.Report {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	report, err := f.runs.Await(ctx, f.order, tidemill.AwaitOptions{ThroughPauses: want != tidemill.StatusPaused})
	require.NoError(t, err)
	require.Equal(t, want, report.Status, "%v", report.Error)
	return report
}

// fetched is how often the order was fetched.
func (f *fixture) fetched() int { return shop.Calls(http.MethodGet, "/orders/"+f.order) }

// asked is how often the shop was asked to ship the order.
func (f *fixture) asked() int { return shop.Calls(http.MethodPost, "/parcels?order="+f.order) }

// inShipping waits until the run is in the middle of its node ship for the n-th
// time.
func (f *fixture) inShipping(t *testing.T, n int) {
	t.Helper()
	temporaltest.Wait(t, patience, "the shop to be asked to ship", func() bool { return f.asked() == n })
}
