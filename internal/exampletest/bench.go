package exampletest

import (
	"context"
	"encoding/json"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"

	"github.com/tidemill/tidemill"
	"github.com/tidemill/tidemill/internal/temporaltest"
)

// patience is how long a run may take to get anywhere; the machine may be busy.
const patience = 90 * time.Second

// Bench is a worker with an example's App on a task queue of its own.
type Bench struct {
	Temporal client.Client
	Runs     *tidemill.Client
	Queue    string

	server *temporaltest.Server
	count  atomic.Int64 // of the runs, for their ids
}

// New starts a worker that is stopped when the test ends. Its task queue and the
// stop grace are the bench's to choose.
func New(tb testing.TB, server *temporaltest.Server, app *tidemill.App, options tidemill.WorkerOptions) *Bench {
	tb.Helper()
	b := &Bench{Temporal: server.Client(tb), Queue: server.TaskQueue(tb), server: server}
	b.Runs = tidemill.NewClient(b.Temporal, tidemill.ClientOptions{TaskQueue: b.Queue, App: app})
	options.TaskQueue, options.StopGrace = b.Queue, -1
	w, err := tidemill.NewWorker(tb.Context(), b.Temporal, app, options)
	require.NoError(tb, err)
	require.NoError(tb, w.Start())
	tb.Cleanup(w.Stop)
	return b
}

// Run is a run under test.
type Run struct {
	*Bench

	ID string // workflow id
}

// Start starts a run of a graph by its name, and has its history and those of its
// children replayed when the test has passed.
func (b *Bench) Start(tb testing.TB, graph, input string) *Run {
	tb.Helper()
	r := &Run{Bench: b, ID: fmt.Sprintf("%s-%s-%d", b.Queue, graph, b.count.Add(1))}
	_, err := b.Runs.Start(tb.Context(), tidemill.StartOptions{Graph: graph, ID: r.ID, Input: json.RawMessage(input)})
	require.NoError(tb, err)
	tb.Cleanup(func() {
		if !tb.Failed() {
			b.replay(tb, r.ID, "")
		}
	})
	return r
}

// CLI runs Temporal's command line against the bench's server and returns what it
// printed.
func (b *Bench) CLI(tb testing.TB, args ...string) string {
	tb.Helper()
	output, err := b.server.CLI(tb.Context(), args...)
	require.NoError(tb, err)
	return string(output)
}

// Status is how the run stands.
func (r *Run) Status(tb testing.TB) tidemill.Report {
	tb.Helper()
	report, err := r.Runs.Status(tb.Context(), r.ID)
	require.NoError(tb, err)
	return report
}

// Opens waits until a pause is open, and returns it.
func (r *Run) Opens(tb testing.TB, pause string) tidemill.OpenPause {
	tb.Helper()
	var found tidemill.OpenPause
	temporaltest.Wait(tb, patience, "the pause "+pause+" of "+r.ID+" to open", func() bool {
		report := r.Status(tb)
		require.Nil(tb, report.Finished, "the run has ended: %s %v", report.Output, report.Error)
		for _, open := range report.Pauses {
			// While no worker answers, the server only knows what a pause is called.
			if string(open.ID) == pause && open.Digest != "" {
				found = open
				return true
			}
		}
		return false
	})
	return found
}

// Answer waits until a pause is open, and answers it.
func (r *Run) Answer(tb testing.TB, pause, input string) {
	tb.Helper()
	r.Opens(tb, pause)
	answered, err := r.Runs.Resume(tb.Context(), r.ID, tidemill.ResumeOptions{
		PauseID: pause, Input: json.RawMessage(input), Actor: "tester", Wait: patience,
	})
	require.NoError(tb, err)
	require.Equal(tb, tidemill.Answered{PauseID: pause, Status: "accepted"}, answered)
}

// Pauses waits until all of the run waits for people.
func (r *Run) Pauses(tb testing.TB) tidemill.Report {
	tb.Helper()
	return r.await(tb, tidemill.StatusPaused, false)
}

// Ends waits until the run is closed, which must be with the status.
func (r *Run) Ends(tb testing.TB, want tidemill.Status) tidemill.Report {
	tb.Helper()
	return r.await(tb, want, true)
}

func (r *Run) await(tb testing.TB, want tidemill.Status, through bool) tidemill.Report {
	tb.Helper()
	ctx, cancel := context.WithTimeout(tb.Context(), patience)
	defer cancel()
	report, err := r.Runs.Await(ctx, r.ID, tidemill.AwaitOptions{ThroughPauses: through})
	require.NoError(tb, err, r.ID)
	require.Equal(tb, want, report.Status, "%s: output %s, error %v", r.ID, report.Output, report.Error)
	return report
}
