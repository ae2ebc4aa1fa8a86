package tidemill_test

import (
	"fmt"
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"

	"github.com/tidemill/tidemill"
	"github.com/tidemill/tidemill/internal/devserver"
	"github.com/tidemill/tidemill/internal/temporaltest"
)

// otherNamespace is a namespace that the shared server has besides the default one.
const otherNamespace = "other"

var shared = temporaltest.NewShared(devserver.Options{Namespaces: []string{otherNamespace}})

func TestMain(m *testing.M) { os.Exit(shared.Main(m)) }

// approval is a graph that asks a person and ends with what they said.
const approval = `
version: 1
id: approval
description: Asks whether an order may be shipped.
entry: approve
input_schema: {type: object, required: [order], properties: {order: {type: string}}}
nodes:
  - id: approve
    type: pause
    reason: approval
    summary: "Order ${ state.order }"
    resume_schema: {type: object, required: [approved], properties: {approved: {type: boolean}}}
    next: {cases: [{when: "input.approved", to: shipped}], default: rejected}
  - {id: shipped, type: set, output: "${ state.order + ' is shipped' }", next: end}
  - {id: rejected, type: set, output: rejected, next: end}
`

// newApp holds the graphs of the tests.
func newApp() *tidemill.App {
	app := tidemill.NewApp()
	app.AddGraph("approval.yaml", []byte(approval))
	return app
}

// world is a server with a worker that runs an App.
type world struct {
	server *temporaltest.Server
	client client.Client
	runs   *tidemill.Client
	queue  string
}

// setup starts a worker of the App on a queue of the test's own.
func setup(t *testing.T, app *tidemill.App, edits ...func(*tidemill.WorkerOptions)) world {
	t.Helper()
	w := idle(t)
	w.serve(t, app, edits...)
	return w
}

// serve starts a worker of the App on the world's queue.
func (w world) serve(t *testing.T, app *tidemill.App, edits ...func(*tidemill.WorkerOptions)) {
	t.Helper()
	options := tidemill.WorkerOptions{TaskQueue: w.queue, StopGrace: -1}
	for _, edit := range edits {
		edit(&options)
	}
	worker, err := tidemill.NewWorker(t.Context(), w.client, app, options)
	require.NoError(t, err)
	require.NoError(t, worker.Start())
	t.Cleanup(worker.Stop)
}

// idle is a world without a worker.
func idle(t *testing.T) world {
	t.Helper()
	server := shared.Server(t)
	c, queue := server.Client(t), server.TaskQueue(t)
	return world{server: server, client: c, queue: queue, runs: tidemill.NewClient(c, tidemill.ClientOptions{TaskQueue: queue})}
}

// within bounds what takes a moment on an idle machine.
const within = time.Minute

// exampleTB lets examples, which have no testing.T, use the shared server.
type exampleTB struct{ testing.TB }

func (exampleTB) Helper() {}

func (exampleTB) Errorf(format string, args ...any) { fmt.Fprintf(os.Stderr, format, args...) }

func (exampleTB) FailNow() { runtime.Goexit() }
