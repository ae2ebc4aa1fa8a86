package activities_test

import (
	"context"
	"encoding/json"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/tidemill/tidemill/activities"
	"github.com/tidemill/tidemill/graph"
	"github.com/tidemill/tidemill/internal/devserver"
	"github.com/tidemill/tidemill/internal/temporaltest"
)

// heartbeat is short, so that a lost worker is noticed within a test.
const heartbeat = 2 * time.Second

// drive schedules a node once, as the interpreter does, and returns how it ended.
func drive(ctx workflow.Context, task graph.Task) (graph.Ending, error) {
	options := workflow.ActivityOptions{
		ActivityID: "work", StartToCloseTimeout: time.Minute, HeartbeatTimeout: heartbeat, WaitForCancellation: true,
		RetryPolicy: &temporal.RetryPolicy{
			InitialInterval: time.Millisecond, MaximumAttempts: int32(task.Node.Retry.MaxAttempts),
			NonRetryableErrorTypes: []string{activities.ErrTypeInterrupted, activities.ErrTypeNotRegistered},
		},
	}
	var result graph.Result
	err := workflow.ExecuteActivity(workflow.WithActivityOptions(ctx, options), task.Node.Run.Name, task).Get(ctx, &result)
	return activities.EndingOf(task.Node, &result, err), nil
}

// stage is a worker on a real server with one action.
type stage struct {
	*temporaltest.Server
	t      *testing.T
	client client.Client
	worker worker.Worker
	queue  string
	begun  chan int // number of the attempt, when it begins
	cut    atomic.Bool
}

// act is the action of a stage.
type act func(ctx context.Context) (any, error)

func newStage(t *testing.T, fn act, edit ...func(*activities.Options)) *stage {
	t.Helper()
	s := &stage{Server: shared.Server(t), t: t, begun: make(chan int, 10)}
	s.client = s.Client(t, func(o *client.Options) {
		o.ConnectionOptions.DialOptions = []grpc.DialOption{grpc.WithChainUnaryInterceptor(s.losing)}
	})
	s.queue = s.TaskQueue(t)
	registry := activities.NewRegistry()
	activities.Register(registry, "act", func(ctx context.Context, _ json.RawMessage) (any, error) {
		s.begun <- activities.Info(ctx).Attempt
		return fn(ctx)
	})
	options := activities.Options{Registry: registry}
	for _, change := range edit {
		change(&options)
	}
	acts, err := activities.New(options)
	require.NoError(t, err)
	s.worker = s.Worker(t, s.client, s.queue,
		worker.Options{MaxHeartbeatThrottleInterval: 100 * time.Millisecond, WorkerStopTimeout: 10 * time.Second},
		func(r worker.Registry) {
			r.RegisterWorkflow(drive)
			acts.Register(r)
		})
	return s
}

// losing makes the server hear nothing of running activities once the stage is
// cut off, as when their worker is gone.
func (s *stage) losing(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
	switch method {
	case "/temporal.api.workflowservice.v1.WorkflowService/RecordActivityTaskHeartbeat",
		"/temporal.api.workflowservice.v1.WorkflowService/RespondActivityTaskFailed",
		"/temporal.api.workflowservice.v1.WorkflowService/RespondActivityTaskCompleted":
		if s.cut.Load() {
			return status.Error(codes.InvalidArgument, "cut off") // not tried again by the client
		}
	}
	return invoke(ctx, method, req, reply, cc, opts...)
}

// run starts a run of the node and waits until its action has begun.
func (s *stage) run(fields string) client.WorkflowRun {
	s.t.Helper()
	run := s.start(fields)
	s.attempt(1)
	return run
}

func (s *stage) start(fields string) client.WorkflowRun {
	s.t.Helper()
	return s.startTask(setup(s.t).task(fields))
}

func (s *stage) startTask(task graph.Task) client.WorkflowRun {
	s.t.Helper()
	run, err := s.client.ExecuteWorkflow(s.t.Context(), client.StartWorkflowOptions{TaskQueue: s.queue}, drive, task)
	require.NoError(s.t, err)
	return run
}

// attempt waits for the begin of an attempt, which must have this number.
func (s *stage) attempt(want int) {
	s.t.Helper()
	select {
	case number := <-s.begun:
		require.Equal(s.t, want, number)
	case <-time.After(20 * time.Second):
		require.FailNow(s.t, "no attempt began")
	}
}

func (s *stage) ending(run client.WorkflowRun) graph.Ending {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), 30*time.Second)
	defer cancel()
	var e graph.Ending
	require.NoError(s.t, run.Get(ctx, &e))
	return e
}

// operator runs a verb of the temporal command on the run's activity.
func (s *stage) operator(verb string, run client.WorkflowRun) {
	s.t.Helper()
	_, err := s.CLI(s.t.Context(), "activity", verb, "--workflow-id", run.GetID(), "--activity-id", "work")
	require.NoError(s.t, err)
}

func untilTold(ctx context.Context) (any, error) { <-ctx.Done(); return nil, ctx.Err() }

func TestServerDrivesAttempts(t *testing.T) {
	t.Parallel()
	var calls atomic.Int32
	s := newStage(t, func(context.Context) (any, error) {
		if calls.Add(1) < 3 {
			return nil, errors.New("again")
		}
		return "done", nil
	})
	run := s.run("retry: {max_attempts: 3, backoff: 1ms}")
	s.attempt(2)
	s.attempt(3)
	require.Equal(t, `"done"`, string(s.ending(run).Result.Output))

	calls.Store(-9)
	run = s.run("retry: {max_attempts: 2, backoff: 1ms}")
	s.attempt(2)
	ending := s.ending(run)
	require.Equal(t, graph.Failed, ending.Kind)
	require.Equal(t, 2, ending.Used)
	require.False(t, ending.Final)
}

// A worker that is gone is an interruption and no attempt: neither for the
// interpreter at max_attempts 1, nor for the next attempt that the server starts.
func TestLostWorker(t *testing.T) {
	t.Parallel()
	s := newStage(t, untilTold)
	run := s.run("retry: {max_attempts: 1}, timeout: 30s")
	s.cut.Store(true)
	ending := s.ending(run)
	require.Equal(t, graph.Interrupted, ending.Kind)
	require.Equal(t, graph.InterruptWorkerLost, ending.Interruption)
	require.Zero(t, ending.Used)
}

func TestLostAttemptIsNotCounted(t *testing.T) {
	t.Parallel()
	var calls atomic.Int32
	heard := make(chan struct{})
	s := newStage(t, func(ctx context.Context) (any, error) {
		switch calls.Add(1) {
		case 1:
			return nil, errors.New("again")
		case 2:
			return untilTold(ctx)
		default:
			<-heard
			return nil, errors.New("last")
		}
	})
	run := s.run("retry: {max_attempts: 3, backoff: 1ms}, timeout: 30s")
	s.attempt(2)
	s.cut.Store(true)
	s.attempt(2)
	s.cut.Store(false)
	close(heard)
	require.Equal(t, 2, s.ending(run).Used)
}

func TestCancel(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		act    act
		effect string
	}{
		"says so": {func(ctx context.Context) (any, error) {
			<-ctx.Done()
			return nil, activities.Cancelled("none")
		}, "none"},
		"finishes":        {func(ctx context.Context) (any, error) { <-ctx.Done(); return "done", nil }, "unknown"},
		"does not listen": {func(context.Context) (any, error) { <-t.Context().Done(); return 1, nil }, "unknown"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, c.act)
			run := s.run("cancel_grace: 3s")
			require.NoError(t, s.client.CancelWorkflow(t.Context(), run.GetID(), ""))
			ending := s.ending(run)
			require.Equal(t, graph.Cancelled, ending.Kind)
			require.Equal(t, c.effect, ending.Failure.Effect)
		})
	}
}

// An operator's pause holds back the next attempt; the one that runs goes on, its
// result counts, and it can still be cancelled.
func TestOperatorPause(t *testing.T) {
	t.Parallel()
	for name, cancel := range map[string]bool{"goes on": false, "is cancelled": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			release := make(chan struct{})
			s := newStage(t, func(ctx context.Context) (any, error) {
				select {
				case <-release:
					return "done", ctx.Err()
				case <-ctx.Done():
					return untilTold(ctx)
				}
			})
			run := s.run("cancel_grace: 1s")
			s.operator("pause", run)
			if cancel {
				require.NoError(t, s.client.CancelWorkflow(t.Context(), run.GetID(), ""))
				require.Equal(t, graph.Cancelled, s.ending(run).Kind)
				return
			}
			time.AfterFunc(2*heartbeat, func() { close(release) }) // long enough to be lost without heartbeats
			require.Equal(t, `"done"`, string(s.ending(run).Result.Output))
		})
	}
}

// At max_attempts 1 the server would fail an activity that was reset while it
// ran; the interpreter hears of an interruption and schedules it again.
func TestOperatorReset(t *testing.T) {
	t.Parallel()
	s := newStage(t, untilTold)
	run := s.run("retry: {max_attempts: 1}")
	s.operator("reset", run)
	ending := s.ending(run)
	require.Equal(t, graph.Interrupted, ending.Kind)
	require.Equal(t, graph.InterruptReset, ending.Interruption)
}

func TestStoppingWorker(t *testing.T) {
	t.Parallel()
	s := newStage(t, untilTold)
	run := s.run("retry: {max_attempts: 1}")
	s.worker.Stop()
	s.Worker(t, s.client, s.queue, worker.Options{}, func(r worker.Registry) { r.RegisterWorkflow(drive) })
	ending := s.ending(run)
	require.Equal(t, graph.Interrupted, ending.Kind)
	require.Equal(t, graph.InterruptShutdown, ending.Interruption)
}

func TestMissingAction(t *testing.T) {
	t.Parallel()
	s := newStage(t, untilTold)
	task := setup(t).task("retry: {max_attempts: 3}")
	task.Node.Run.Name = "elsewhere"
	run, err := s.client.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{TaskQueue: s.queue}, drive, task)
	require.NoError(t, err)
	ending := s.ending(run)
	require.Equal(t, graph.Interrupted, ending.Kind)
	require.Equal(t, graph.InterruptNotRegistered, ending.Interruption)
}

// Setting a search attribute that the namespace does not have would leave a run
// stuck for ever.
func TestSearchAttributes(t *testing.T) {
	t.Parallel()
	s := shared.Server(t)
	got, err := activities.SearchAttributes(t.Context(), s.Client(t), devserver.DefaultNamespace)
	require.NoError(t, err)
	require.Equal(t, []string{
		activities.AttributeGraph, activities.AttributeStatus, activities.AttributeWaiting, activities.AttributeTrigger,
	}, got)
	_, err = activities.SearchAttributes(t.Context(), s.Client(t), "nowhere")
	require.ErrorContains(t, err, "nowhere")

	bare := temporaltest.Start(t, devserver.Options{NoAttributes: true})
	got, err = activities.SearchAttributes(t.Context(), bare.Client(t), devserver.DefaultNamespace)
	require.NoError(t, err)
	require.Empty(t, got)
}
