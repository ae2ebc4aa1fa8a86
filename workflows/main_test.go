package workflows_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	sdkpb "go.temporal.io/api/sdk/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/tidemill/tidemill/activities"
	"github.com/tidemill/tidemill/graph"
	"github.com/tidemill/tidemill/internal/devserver"
	"github.com/tidemill/tidemill/internal/historytest"
	"github.com/tidemill/tidemill/internal/temporaltest"
	"github.com/tidemill/tidemill/workflows"
)

var shared = temporaltest.NewShared(devserver.Options{})

// noCacheVariable tells the test binary to keep no run in memory between
// workflow tasks, so that every task replays the run from its beginning.
const noCacheVariable = "TIDEMILL_TEST_NO_CACHE"

// continueVariable has every run continue as new at so many events, and tests look at
// the last run of each chain.
const continueVariable = "TIDEMILL_TEST_CONTINUE_AT"

// last is the run id by which a test asks for a run: none means the last of its chain.
func last(run client.WorkflowRun) string {
	if os.Getenv(continueVariable) != "" {
		return ""
	}
	return run.GetRunID()
}

func TestMain(m *testing.M) {
	if os.Getenv(noCacheVariable) != "" {
		worker.SetStickyWorkflowCacheSize(0)
	}
	os.Exit(shared.Main(m))
}

// world is one test's worker with its graphs and actions, on a task queue of
// its own. Every history it makes is replayed when the test ends (fault C17).
type world struct {
	tb     testing.TB
	server *temporaltest.Server
	client client.Client
	queue  string
	worker worker.Worker
	runs   []client.WorkflowRun
	sub    string // sets the ids of a subtest's runs apart
}

// parts is what a test's worker is built from.
type parts struct {
	graphs   []string // documents
	register func(*activities.Registry)
	edit     func(*activities.Options)
	foreign  func(worker.Registry) // activities without our wrapper
	worker   worker.Options
	client   []func(*client.Options)
}

// setup starts a worker for the parts.
func setup(tb testing.TB, p parts) *world {
	tb.Helper()
	return setupOn(tb, shared.Server(tb), p)
}

// setupOn is setup on a server of the test's own.
func setupOn(tb testing.TB, server *temporaltest.Server, p parts) *world {
	tb.Helper()
	// Histories hold the identity; a fixed one keeps recordings alike.
	identity := func(o *client.Options) { o.Identity = "test" }
	w := &world{tb: tb, server: server, client: server.Client(tb, append(p.client, identity)...), queue: server.TaskQueue(tb)}
	tb.Cleanup(w.replayAll)
	w.worker = w.start(p)
	return w
}

// start starts a further worker on the world's task queue.
func (w *world) start(p parts) worker.Worker {
	w.tb.Helper()
	registry := activities.NewRegistry()
	if p.register != nil {
		p.register(registry)
	}
	catalogue := activities.NewCatalogue(registry)
	for _, text := range p.graphs {
		require.NoError(w.tb, catalogue.AddFile("graph.yaml", []byte(text)))
	}
	options := activities.Options{
		Registry: registry, Catalogue: catalogue,
		SearchAttributes: []string{activities.AttributeGraph, activities.AttributeStatus, activities.AttributeWaiting},
	}
	if forced := os.Getenv(continueVariable); forced != "" {
		var err error
		options.ContinueAt, err = strconv.Atoi(forced)
		require.NoError(w.tb, err)
	}
	if p.edit != nil {
		p.edit(&options)
	}
	a, err := activities.New(options)
	require.NoError(w.tb, err)
	p.worker.MaxHeartbeatThrottleInterval = time.Second
	p.worker.DisableRegistrationAliasing = true
	p.worker.StickyScheduleToStartTimeout = time.Second // a stopped worker's runs move on soon
	return w.server.Worker(w.tb, w.client, w.queue, p.worker, func(r worker.Registry) {
		r.RegisterDynamicWorkflow(workflows.Graph, workflow.DynamicRegisterOptions{})
		a.Register(r)
		if p.foreign != nil {
			p.foreign(r)
		}
	})
}

// run starts a run of a graph.
func (w *world) run(graphID string, args ...any) client.WorkflowRun {
	w.tb.Helper()
	return w.runWith(client.StartWorkflowOptions{}, graphID, args...)
}

// runWith starts a run with options besides the id and the task queue.
func (w *world) runWith(options client.StartWorkflowOptions, graphID string, args ...any) client.WorkflowRun {
	w.tb.Helper()
	options.ID, options.TaskQueue = w.id(graphID), w.queue
	started, err := w.client.ExecuteWorkflow(w.tb.Context(), options, graphID, args...)
	require.NoError(w.tb, err)
	w.runs = append(w.runs, started)
	return started
}

// in is the same world as a subtest sees it. The subtest replays the runs that
// it starts.
func (w *world) in(tb testing.TB) *world {
	tb.Helper()
	inner := *w
	inner.tb, inner.runs, inner.sub = tb, nil, tb.Name()
	tb.Cleanup(inner.replayAll)
	return &inner
}

// id is a workflow id for the world's next run.
func (w *world) id(graphID string) string {
	return fmt.Sprintf("%s-%s-%d%s", w.queue, graphID, len(w.runs)+1, w.sub)
}

// runSignalled starts a run that finds a signal in its first task.
func (w *world) runSignalled(graphID, signal string, payload any, args ...any) client.WorkflowRun {
	w.tb.Helper()
	options := client.StartWorkflowOptions{TaskQueue: w.queue}
	started, err := w.client.SignalWithStartWorkflow(w.tb.Context(), w.id(graphID), signal, payload, options, graphID, args...)
	require.NoError(w.tb, err)
	w.runs = append(w.runs, started)
	return started
}

// openTimers are the ids of timers that a run has started and that
// neither fired nor were taken back.
func (w *world) openTimers(run client.WorkflowRun) []string {
	w.tb.Helper()
	var open []string
	for _, event := range w.history(run).GetEvents() {
		if started := event.GetTimerStartedEventAttributes(); started != nil {
			open = append(open, started.TimerId)
		}
		over := []string{event.GetTimerFiredEventAttributes().GetTimerId(), event.GetTimerCanceledEventAttributes().GetTimerId()}
		open = slices.DeleteFunc(open, func(id string) bool { return slices.Contains(over, id) })
	}
	return open
}

// cli runs the temporal command line on a run, as a user would.
func (w *world) cli(run client.WorkflowRun, words ...string) string {
	w.tb.Helper()
	out, err := w.server.CLI(w.tb.Context(), append(words, "--workflow-id", run.GetID())...)
	require.NoError(w.tb, err)
	return string(out)
}

func (w *world) cancel(run client.WorkflowRun) {
	w.tb.Helper()
	require.NoError(w.tb, w.client.CancelWorkflow(w.tb.Context(), run.GetID(), last(run)))
}

// history is what a run has written so far.
func (w *world) history(run client.WorkflowRun) *historypb.History {
	w.tb.Helper()
	return temporaltest.History(w.tb, w.client, run.GetID(), last(run))
}

// closed is how a run closed, in the server's words.
func (w *world) closed(run client.WorkflowRun) enumspb.WorkflowExecutionStatus {
	w.tb.Helper()
	described, err := w.client.DescribeWorkflow(w.tb.Context(), run.GetID(), last(run))
	require.NoError(w.tb, err)
	return described.Status
}

// checkpoint is the whole state of a run now.
func (w *world) checkpoint(run client.WorkflowRun) graph.Checkpoint {
	w.tb.Helper()
	value, err := w.client.QueryWorkflow(w.tb.Context(), run.GetID(), last(run), workflows.QueryCheckpoint)
	require.NoError(w.tb, err)
	var checkpoint graph.Checkpoint
	require.NoError(w.tb, value.Get(&checkpoint))
	return checkpoint
}

// details are the live details of a run, as the UI shows them.
func (w *world) details(run client.WorkflowRun) string {
	w.tb.Helper()
	metadata, err := w.client.QueryWorkflow(w.tb.Context(), run.GetID(), last(run), "__temporal_workflow_metadata")
	require.NoError(w.tb, err)
	var described sdkpb.WorkflowMetadata
	require.NoError(w.tb, metadata.Get(&described))
	return described.CurrentDetails
}

// output waits for a run's output.
func (w *world) output(run client.WorkflowRun) string {
	w.tb.Helper()
	ctx, cancel := context.WithTimeout(w.tb.Context(), time.Minute)
	defer cancel()
	var out json.RawMessage
	require.NoError(w.tb, run.Get(ctx, &out))
	return string(out)
}

// failure waits for a run to fail, and reads its error type and its document.
func (w *world) failure(run client.WorkflowRun) (string, graph.Report) {
	w.tb.Helper()
	ctx, cancel := context.WithTimeout(w.tb.Context(), time.Minute)
	defer cancel()
	err := run.Get(ctx, nil)
	var report graph.Report
	if canceled := new(temporal.CanceledError); errors.As(err, &canceled) {
		require.NoError(w.tb, canceled.Details(&report))
		return "cancelled", report
	}
	failed := new(temporal.ApplicationError)
	require.ErrorAs(w.tb, err, &failed)
	require.NoError(w.tb, failed.Details(&report))
	return failed.Type(), report
}

// status is a run's outcome document now.
func (w *world) status(run client.WorkflowRun) graph.Report {
	w.tb.Helper()
	value, err := w.client.QueryWorkflow(w.tb.Context(), run.GetID(), last(run), workflows.QueryStatus)
	require.NoError(w.tb, err)
	var report graph.Report
	require.NoError(w.tb, value.Get(&report))
	return report
}

// until waits until a run's document fits.
func (w *world) until(run client.WorkflowRun, what string, fits func(graph.Report) bool) graph.Report {
	w.tb.Helper()
	var report graph.Report
	temporaltest.Wait(w.tb, 30*time.Second, what, func() bool {
		value, err := w.client.QueryWorkflow(w.tb.Context(), run.GetID(), last(run), workflows.QueryStatus)
		return err == nil && value.Get(&report) == nil && fits(report)
	})
	return report
}

func (w *world) paused(run client.WorkflowRun) graph.Report {
	w.tb.Helper()
	return w.until(run, "the run to be paused", func(r graph.Report) bool { return r.Status == graph.StatusPaused })
}

// pausedAt recognises a run whose only open pause has an id.
func pausedAt(pauseID graph.Address) func(graph.Report) bool {
	return func(r graph.Report) bool { return len(r.Pauses) == 1 && r.Pauses[0].ID == pauseID }
}

func (w *world) signal(run client.WorkflowRun, name string, payload any) {
	w.tb.Helper()
	require.NoError(w.tb, w.client.SignalWorkflow(w.tb.Context(), run.GetID(), last(run), name, payload))
}

// resume answers by update.
func (w *world) resume(run client.WorkflowRun, in workflows.ResumeInput) (workflows.ResumeResult, error) {
	w.tb.Helper()
	handle, err := w.client.UpdateWorkflow(w.tb.Context(), client.UpdateWorkflowOptions{
		WorkflowID: run.GetID(), RunID: last(run), UpdateName: workflows.UpdateResume,
		Args: []any{in}, WaitForStage: client.WorkflowUpdateStageCompleted,
	})
	if err != nil {
		return workflows.ResumeResult{}, err
	}
	var result workflows.ResumeResult
	return result, handle.Get(w.tb.Context(), &result)
}

// replayAll replays what the test made, and the children of that, on a worker
// that has nothing of what the test's worker had: only history and pin may steer
// a run.
func (w *world) replayAll() {
	for _, run := range w.runs {
		w.replay(run.GetID(), w.runsOf(run)[0])
	}
}

func (w *world) replay(id, runID string) {
	w.tb.Helper()
	recording := historytest.Record(w.tb, w.client, id, runID)
	if len(recording.History.GetEvents()) < 3 {
		return // it closed before its first task
	}
	historytest.Replay(w.tb, recording, registerReplay)
	for _, event := range recording.History.GetEvents() {
		if os.Getenv(noCacheVariable) != "" {
			queue := event.GetWorkflowTaskScheduledEventAttributes().GetTaskQueue()
			require.NotEqual(w.tb, enumspb.TASK_QUEUE_KIND_STICKY, queue.GetKind(), "a task went to a worker that keeps the run")
		}
		if next := event.GetWorkflowExecutionContinuedAsNewEventAttributes(); next != nil {
			w.replay(id, next.GetNewExecutionRunId())
		}
		if child := event.GetChildWorkflowExecutionStartedEventAttributes(); child != nil {
			w.replay(child.GetWorkflowExecution().GetWorkflowId(), child.GetWorkflowExecution().GetRunId())
		}
	}
}
