package tidemill_test

import (
	"context"
	"embed"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/worker"

	"github.com/tidemill/tidemill"
	"github.com/tidemill/tidemill/activities"
	"github.com/tidemill/tidemill/graph"
	"github.com/tidemill/tidemill/internal/devserver"
	"github.com/tidemill/tidemill/internal/temporaltest"
)

//go:embed testdata/graphs
var embedded embed.FS

// A team must see everything that is wrong with its App at once, not one mistake
// per start.
func TestAppTellsEveryMistake(t *testing.T) {
	t.Parallel()
	nothing := func(context.Context, any) (string, error) { return "", nil }
	app := tidemill.NewApp()
	tidemill.Action(app, "tidemill.mine", nothing)
	tidemill.Action(app, "twice", nothing)
	tidemill.Action(app, "twice", nothing)
	tidemill.Callback(app, "old", 0, func(tidemill.Scope) (string, error) { return "", nil })
	app.AddGraph("broken.yaml", []byte("version: 2\nid: broken\nentry: a\nnodes: []\n"))
	app.AddGraph("a.yaml", []byte(echo))
	app.AddGraph("b.yaml", []byte(echo))
	app.AddGraphs(filepath.Join(t.TempDir(), "missing"))

	err := app.Validate()
	for _, want := range []error{
		activities.ErrName, activities.ErrRegistered, activities.ErrVersion, activities.ErrDuplicateGraph, os.ErrNotExist,
	} {
		require.ErrorIs(t, err, want)
	}
	var diagnostics graph.Diagnostics
	require.ErrorAs(t, err, &diagnostics)
	require.NotZero(t, diagnostics[0].Line)

	w := idle(t)
	_, err = tidemill.NewWorker(t.Context(), w.client, app, tidemill.WorkerOptions{
		StopGrace: -2, Limits: tidemill.Limits{State: -1}, HTTP: tidemill.HTTPOptions{Hosts: []string{"https://x"}},
	})
	for _, want := range []error{activities.ErrName, activities.ErrHosts} {
		require.ErrorIs(t, err, want)
	}
	require.ErrorContains(t, err, "StopGrace is -2ns")
	require.ErrorContains(t, err, "Limits are negative")
}

// The order in which functions and graphs are added must not matter, nor where
// graphs come from.
func TestAppTakesGraphsFromAnywhere(t *testing.T) {
	t.Parallel()
	app := tidemill.NewApp()
	app.AddGraphs("testdata/graphs/nested", filepath.Join("testdata", "graphs", "greet.yaml"))
	graphs, err := app.Graphs()
	require.ErrorContains(t, err, "unknown_callback")
	require.Empty(t, graphs)
	tidemill.Callback(app, "pick", 1, func(tidemill.Scope) (string, error) { return "end", nil })
	graphs, err = app.Graphs()
	require.NoError(t, err)
	require.Equal(t, []string{"greet", "picked"}, graphs)

	fromFS := tidemill.NewApp()
	fromFS.AddGraphsFS(embedded)
	tidemill.Callback(fromFS, "pick", 1, func(tidemill.Scope) (string, error) { return "end", nil })
	inFS, err := fromFS.Graphs()
	require.NoError(t, err)
	require.Equal(t, graphs, inFS)

	made := tidemill.NewApp()
	made.AddDocument(&graph.Document{
		Version: 1, ID: "made", Entry: "done",
		Nodes: []graph.Node{{ID: "done", Type: graph.TypeSet, Next: &graph.Route{To: graph.End}}},
	})
	graphs, err = made.Graphs()
	require.NoError(t, err)
	require.Equal(t, []string{"made"}, graphs)
}

// A graph may name another worker's action; whoever starts a worker should hear
// of it all the same.
func TestAppWarnsOfActionsItLacks(t *testing.T) {
	t.Parallel()
	app := tidemill.NewApp()
	app.AddGraph("greet.yaml", []byte(`
version: 1
id: greet
entry: shout
nodes:
  - {id: shout, run: shout, next: call}
  - {id: call, run: http, args: {url: "http://x.example"}, next: end}
`))
	warnings, err := app.Warnings()
	require.NoError(t, err)
	require.Equal(t, []string{`graph "greet", node "shout": this worker has no action "shout"; runs wait there for one that has`}, warnings)
	tidemill.Action(app, "shout", func(context.Context, any) (string, error) { return "", nil })
	warnings, err = app.Warnings()
	require.NoError(t, err)
	require.Empty(t, warnings)
}

// The wrapper of actions relies on these times; a team's own may only be stricter.
func TestWorkerSettings(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name    string
		o       tidemill.WorkerOptions
		beat    time.Duration
		stop    time.Duration
		options worker.Options
	}{
		{name: "defaults", beat: 5 * time.Second, stop: 15 * time.Second},
		{name: "no grace", o: tidemill.WorkerOptions{StopGrace: -1}, beat: 5 * time.Second, stop: 5 * time.Second},
		{name: "a longer grace", o: tidemill.WorkerOptions{StopGrace: time.Minute}, beat: 5 * time.Second, stop: 65 * time.Second},
		{
			name: "the team's own, stricter", beat: time.Second, stop: time.Hour,
			options: worker.Options{MaxHeartbeatThrottleInterval: time.Second, DefaultHeartbeatThrottleInterval: time.Second, WorkerStopTimeout: time.Hour},
		},
		{
			name: "the team's own, too lax", beat: 5 * time.Second, stop: 15 * time.Second,
			options: worker.Options{MaxHeartbeatThrottleInterval: time.Minute, DefaultHeartbeatThrottleInterval: time.Minute, WorkerStopTimeout: 1},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			test.o.Worker = test.options
			settings := test.o.Settings()
			require.Equal(t, test.beat, settings.MaxHeartbeatThrottleInterval)
			require.Equal(t, test.beat, settings.DefaultHeartbeatThrottleInterval)
			require.Equal(t, test.stop, settings.WorkerStopTimeout)
		})
	}
	require.ErrorContains(t, tidemill.WorkerOptions{Worker: worker.Options{DisableWorkflowWorker: true}}.Validate(), "DisableWorkflowWorker")
	require.ErrorContains(t, tidemill.WorkerOptions{Limits: tidemill.Limits{Payload: 3 << 20}}.Validate(), "more than a Temporal server takes")
	require.NoError(t, tidemill.WorkerOptions{}.Validate())
}

// A team's own worker runs graphs beside its own workflows.
func TestRegisterInAnOwnWorker(t *testing.T) {
	t.Parallel()
	w := idle(t)
	o := tidemill.WorkerOptions{StopGrace: -1}
	w.server.Worker(t, w.client, w.queue, o.Settings(), func(r worker.Registry) {
		r.RegisterWorkflow(turn)
		require.NoError(t, newApp().Register(t.Context(), w.client, r, o))
	})
	require.Equal(t, "Order 7", paused(t, w).Pauses[0].Summary)
}

// A namespace that nobody prepared must run graphs all the same, and Doctor must
// say how to prepare it.
func TestWithoutSearchAttributes(t *testing.T) {
	t.Parallel()
	server := temporaltest.Start(t, devserver.Options{NoAttributes: true})
	c, queue := server.Client(t), server.TaskQueue(t)
	w := world{server: server, client: c, queue: queue, runs: tidemill.NewClient(c, tidemill.ClientOptions{TaskQueue: queue})}
	one, err := tidemill.NewWorker(t.Context(), c, newApp(), tidemill.WorkerOptions{TaskQueue: queue, StopGrace: -1})
	require.NoError(t, err)
	require.NoError(t, one.Start())
	t.Cleanup(one.Stop)
	require.Equal(t, tidemill.StatusPaused, paused(t, w).Status)

	diagnosis, err := w.runs.Doctor(t.Context(), "")
	require.NoError(t, err)
	require.Equal(t, []string{"TidemillGraph", "TidemillStatus", "TidemillWaiting"}, diagnosis.Missing)
	require.Equal(t, 1, diagnosis.WorkflowPollers)
	require.Len(t, diagnosis.Findings, 1)
	const command = "temporal operator search-attribute create --namespace 'default'" +
		" --name TidemillGraph --type Keyword --name TidemillStatus --type Keyword --name TidemillWaiting --type KeywordList"
	require.Equal(t, command, diagnosis.Findings[0].Fix)

	// A list says what it lacks, and gives what can be had without it.
	for _, o := range []tidemill.ListOptions{{}, {Status: tidemill.StatusFailed}, {Graph: "approval", Status: tidemill.StatusPaused}} {
		_, err = w.runs.List(t.Context(), o)
		require.Equal(t, tidemill.ErrTypeNoSearchAttribute, tidemill.ErrorType(err), "%v", err)
		require.Contains(t, err.Error(), "temporal operator search-attribute create --namespace 'default' --name Tidemill")
	}
	var list tidemill.List
	temporaltest.Wait(t, within, "the run to be found", func() bool {
		list, err = w.runs.List(t.Context(), tidemill.ListOptions{Graph: "approval"})
		require.NoError(t, err)
		return len(list.Runs) == 1
	})
	require.Equal(t, tidemill.StatusRunning, list.Runs[0].Status, "that it is paused is not known")
	require.Equal(t, diagnosis.Missing, list.Missing)

	// The command must be one that works.
	_, err = server.CLI(t.Context(), "operator", "search-attribute", "create", "--namespace", "default",
		"--name", "TidemillGraph", "--type", "Keyword", "--name", "TidemillStatus", "--type", "Keyword", "--name", "TidemillWaiting", "--type", "KeywordList")
	require.NoError(t, err)
	temporaltest.Wait(t, within, "the attributes to be there", func() bool {
		diagnosis, err := w.runs.Doctor(t.Context(), "")
		return err == nil && len(diagnosis.Findings) == 0
	})
}

// Errors of the server keep their cause, and have a type that callers can match.
func TestErrorType(t *testing.T) {
	t.Parallel()
	require.Empty(t, tidemill.ErrorType(nil))
	require.Empty(t, tidemill.ErrorType(errors.New("other")))
	require.Equal(t, graph.ErrTypeInvalidDocument, tidemill.ErrorType(graph.Diagnostics{{}}))
	require.Equal(t, "http_404", tidemill.ErrorType(graph.Failf("http_404", "x")))
}
