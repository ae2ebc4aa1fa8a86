package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill"
	"github.com/tidemill/tidemill/internal/devserver"
	"github.com/tidemill/tidemill/internal/temporaltest"
)

var shared = temporaltest.NewShared(devserver.Options{})

func TestMain(m *testing.M) { os.Exit(shared.Main(m)) }

// world is a server that the command line is pointed at.
type world struct {
	server *temporaltest.Server
	queue  string
}

// setup starts a worker of the graphs in testdata on a queue of the test's own.
func setup(t *testing.T, files ...string) world {
	t.Helper()
	app := tidemill.NewApp()
	for _, file := range files {
		app.AddGraphs("testdata/" + file)
	}
	return setupApp(t, app)
}

// setupApp starts a worker of an App on a queue of the test's own.
func setupApp(t *testing.T, app *tidemill.App) world {
	t.Helper()
	server := shared.Server(t)
	w := world{server: server, queue: server.TaskQueue(t)}
	worker, err := tidemill.NewWorker(t.Context(), server.Client(t), app, tidemill.WorkerOptions{TaskQueue: w.queue, StopGrace: -1})
	require.NoError(t, err)
	require.NoError(t, worker.Start())
	t.Cleanup(worker.Stop)
	return w
}

// result is what one call of the command line left.
type result struct {
	code     int
	out, err string
}

// call runs the command line against the world's server.
func (w world) call(t *testing.T, args ...string) result {
	t.Helper()
	return call(t.Context(), "", append(args, "--address", w.server.Address(), "--namespace", devserver.DefaultNamespace)...)
}

// call runs the command line with a standard input.
func call(ctx context.Context, in string, args ...string) result {
	var out, errs bytes.Buffer
	code := run(ctx, args, strings.NewReader(in), &out, &errs)
	return result{code: code, out: out.String(), err: errs.String()}
}

// document decodes the one JSON document on standard output.
func (r result) document(t *testing.T) map[string]any {
	t.Helper()
	var document map[string]any
	decoder := json.NewDecoder(strings.NewReader(r.out))
	require.NoError(t, decoder.Decode(&document), "%s", r.out)
	require.False(t, decoder.More(), "more than one document: %s", r.out)
	return document
}

// problem is the error that the document holds.
func (r result) problem(t *testing.T) problem {
	t.Helper()
	var document struct{ Error problem }
	require.NoError(t, json.Unmarshal([]byte(r.out), &document), "%s", r.out)
	return document.Error
}
