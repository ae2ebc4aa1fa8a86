package docstest_test

import (
	"context"
	"errors"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/tidemill/tidemill/activities"
	"github.com/tidemill/tidemill/graph"
	"github.com/tidemill/tidemill/internal/devserver"
	"github.com/tidemill/tidemill/internal/temporaltest"
	"github.com/tidemill/tidemill/workflows"
)

var temporal = temporaltest.NewShared(devserver.Options{})

func TestMain(m *testing.M) { os.Exit(temporal.Main(m)) }

// costs are the runs whose events docs/performance.md counts, by their names
// there.
func costs() map[string]cost {
	const line = `
  - {id: a, run: add, args: {count: "${ state.count }"}, delta: {count: "${ result }"}, next: b}
  - {id: b, run: add, args: {count: "${ state.count }"}, delta: {count: "${ result }"}, next: c}
  - {id: c, run: add, args: {count: "${ state.count }"}, delta: {count: "${ result }"}, next: d}
  - {id: d, run: add, args: {count: "${ state.count }"}, delta: {count: "${ result }"}, next: e}
  - {id: e, run: add, args: {count: "${ state.count }"}, delta: {count: "${ result }"}, next: end}`
	const pause = `
  - {id: a, type: pause, next: end}`
	const strict = `
  - {id: a, type: pause, resume_schema: {type: object}, next: end}`
	all := []string{activities.AttributeGraph, activities.AttributeStatus, activities.AttributeWaiting}
	return map[string]cost{
		"one `set` node with a literal output":                           {nodes: "\n  - {id: a, type: set, output: 1, next: end}"},
		"one `set` node with an expression":                              {nodes: "\n  - {id: a, type: set, output: \"${ state.count }\", next: end}"},
		"a branch, then a `set` node with an expression":                 {nodes: "\n  - {id: a, type: branch, cases: [{when: state.count > 1, to: b}], default: b}\n  - {id: b, type: set, output: \"${ state.count }\", next: end}"},
		"a loop of 100 turns over a `set` node":                          {nodes: "\n  - {id: a, type: loop, while: state.count < 100, body: b, max_iterations: 1000}\n  - {id: b, type: set, delta: {count: \"${ state.count + 1 }\"}, next: a}"},
		"one action":                                                     {nodes: "\n  - {id: a, run: add, next: end}"},
		"one action with expressions in `args`, `output` and `delta`":    {nodes: "\n  - {id: a, run: add, args: {count: \"${ state.count }\"}, output: \"${ result }\", delta: {count: \"${ result }\"}, next: end}"},
		"one action that fails twice and is retried":                     {nodes: "\n  - {id: a, run: third-time, retry: {max_attempts: 3, backoff: 1s}, next: end}"},
		"one action, then an edge with a condition":                      {nodes: "\n  - {id: a, run: add, next: {cases: [{when: input > 5, to: end}], default: end}}"},
		"one activity of another SDK":                                    {nodes: "\n  - {id: a, run: {activity: plain}, next: end}"},
		"five actions in a line":                                         {nodes: line},
		"five actions with `mode: local` in a line":                      {nodes: strings.ReplaceAll(line, "run: add", "run: add, mode: local, idempotent: true, timeout: 1s")},
		"five actions in a line, with a `deadline`":                      {nodes: line, root: "deadline: 1h\n"},
		"a fork of three `set` nodes with literal outputs, and its join": {nodes: "\n  - {id: a, type: fork, branches: [b, c, d], join: e}\n  - {id: b, type: set, output: 1, next: e}\n  - {id: c, type: set, output: 1, next: e}\n  - {id: d, type: set, output: 1, next: e}\n  - {id: e, type: join, next: end}"},
		"a `wait` of a second":                                           {nodes: "\n  - {id: a, type: wait, for: 1s, next: end}"},
		"a pause answered by a signal":                                   {nodes: pause, signal: true},
		"a pause answered by a signal, with search attributes":           {nodes: pause, signal: true, attributes: all},
		"a pause with a `resume_schema` answered by a signal":            {nodes: strict, signal: true},
		"a pause with a `resume_schema` answered by an update":           {nodes: strict, update: true},
		"a pause with `expires: 1h` answered by a signal":                {nodes: "\n  - {id: a, type: pause, expires: 1h, on_expire: end, next: end}", signal: true},
	}
}

// cost is a run whose events are counted.
type cost struct {
	root, nodes    string // of the document
	signal, update bool   // how its pause is answered
	attributes     []string
}

// Readers size their histories by this table. It counts whole runs, so that an
// event too many anywhere shows.
func TestEvents(t *testing.T) {
	t.Parallel()
	runs := costs()
	rows := read(t, "docs/performance.md").rows(t, "events")
	require.Len(t, rows, len(runs))
	for _, row := range rows {
		t.Run(row[0], func(t *testing.T) {
			t.Parallel()
			run, known := runs[row[0]]
			require.True(t, known, "the test has no such run")
			require.Equal(t, row[1], strconv.Itoa(run.events(t)))
		})
	}
}

// events carries the run out on a real server and counts what it wrote.
func (c cost) events(tb testing.TB) int {
	tb.Helper()
	server := temporal.Server(tb)
	temporalClient, queue := server.Client(tb), server.TaskQueue(tb)
	server.Worker(tb, temporalClient, queue, worker.Options{}, c.worker(tb))
	options := client.StartWorkflowOptions{ID: queue, TaskQueue: queue}
	run, err := temporalClient.ExecuteWorkflow(tb.Context(), options, "g", map[string]int{"count": 1})
	require.NoError(tb, err)
	if c.signal || c.update {
		c.answer(tb, temporalClient, run)
	}
	require.NoError(tb, run.Get(tb.Context(), nil))
	return temporaltest.Count(temporaltest.History(tb, temporalClient, run.GetID(), run.GetRunID()))
}

// answer waits for the run's pause and answers it.
func (c cost) answer(tb testing.TB, temporalClient client.Client, run client.WorkflowRun) {
	tb.Helper()
	ctx, id := tb.Context(), run.GetID()
	temporaltest.Wait(tb, time.Minute, "the run to be paused", func() bool {
		var report graph.Report
		answer, err := temporalClient.QueryWorkflow(ctx, id, "", workflows.QueryStatus)
		return err == nil && answer.Get(&report) == nil && report.Status == graph.StatusPaused
	})
	if c.signal {
		require.NoError(tb, temporalClient.SignalWorkflow(ctx, id, "", workflows.SignalResume, map[string]bool{"yes": true}))
		return
	}
	handle, err := temporalClient.UpdateWorkflow(ctx, client.UpdateWorkflowOptions{
		WorkflowID: id, UpdateName: workflows.UpdateResume, WaitForStage: client.WorkflowUpdateStageCompleted,
		Args: []any{workflows.ResumeInput{Input: []byte(`{"yes":true}`)}},
	})
	require.NoError(tb, err)
	require.NoError(tb, handle.Get(ctx, nil))
}

// worker registers the graph and the actions of the table.
func (c cost) worker(tb testing.TB) func(worker.Registry) {
	tb.Helper()
	registry := activities.NewRegistry()
	activities.Register(registry, "add", func(_ context.Context, in struct {
		N int `json:"count"`
	},
	) (int, error) {
		return in.N + 1, nil
	})
	activities.Register(registry, "third-time", func(ctx context.Context, _ struct{}) (int, error) {
		if attempt := activities.Info(ctx).Attempt; attempt < 3 {
			return 0, errors.New("not yet")
		}
		return 3, nil
	})
	catalogue := activities.NewCatalogue(registry)
	require.NoError(tb, catalogue.AddFile("g.yaml", []byte("id: g\nentry: a\n"+c.root+"nodes:"+c.nodes)))
	all, err := activities.New(activities.Options{Registry: registry, Catalogue: catalogue, SearchAttributes: c.attributes})
	require.NoError(tb, err)
	return func(r worker.Registry) {
		r.RegisterDynamicWorkflow(workflows.Graph, workflow.DynamicRegisterOptions{})
		all.Register(r)
		plain := func(context.Context, struct{}) (int, error) { return 1, nil }
		r.RegisterActivityWithOptions(plain, activity.RegisterOptions{Name: "plain"})
	}
}
