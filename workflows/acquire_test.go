package workflows_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/tidemill/tidemill/activities"
	"github.com/tidemill/tidemill/activities/permits"
	"github.com/tidemill/tidemill/admission"
	"github.com/tidemill/tidemill/internal/temporaltest"
	"github.com/tidemill/tidemill/workflows"
)

// scripted is an [permits.Admitter] that answers submits with the next line of its
// script, and keeps what it was told.
type scripted struct {
	permits.Admitter

	mu      sync.Mutex
	answers []func(admission.Request) (admission.Decision, error)
	asks    []permits.Ask
	ends    []permits.Hold
}

func (s *scripted) Submit(_ context.Context, ask permits.Ask) (admission.Decision, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asks = append(s.asks, ask)
	answer := s.answers[0]
	if len(s.answers) > 1 {
		s.answers = s.answers[1:]
	}
	return answer(ask.Request)
}

func (s *scripted) Release(_ context.Context, hold permits.Hold) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ends = append(s.ends, hold)
	return nil
}

func (s *scripted) Cancel(ctx context.Context, hold permits.Hold) error { return s.Release(ctx, hold) }

// says answers a submit.
func says(answer admission.Answer) func(admission.Request) (admission.Decision, error) {
	return func(r admission.Request) (admission.Decision, error) {
		d := admission.Decision{ID: r.ID, Owner: r.Owner, Answer: answer}
		if answer == granted {
			d.Token, d.Lease = 7, time.Now().Add(1_000*time.Hour)
		}
		return d, nil
	}
}

func silence(admission.Request) (admission.Decision, error) {
	return admission.Decision{}, permits.ErrUnanswered
}

// own is a workflow of the user's own in a test environment, whose clock jumps over
// what it waits for.
func own(t *testing.T, admitter *scripted, code func(workflow.Context) error) *testsuite.TestWorkflowEnvironment {
	t.Helper()
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(temporaltest.Logger())
	env := suite.NewTestWorkflowEnvironment()
	env.SetWorkerOptions(worker.Options{Interceptors: []interceptor.WorkerInterceptor{workflows.Interceptor()}})
	made, err := activities.New(activities.Options{
		Admitter:   admitter,
		Classifier: func(permits.Facts) (permits.Class, error) { return permits.Class{Agent: "a"}, nil },
	})
	require.NoError(t, err)
	made.Register(env)
	env.RegisterWorkflowWithOptions(code, workflow.RegisterOptions{Name: "own"})
	env.SetTestTimeout(30 * time.Second)
	return env
}

// A book that is lost, with its workflow terminated say, tells nobody. Who waits in
// its queue must find out by itself, or waits for ever.
func TestAcquireOutlivesTheBook(t *testing.T) {
	t.Parallel()
	admitter := &scripted{answers: []func(admission.Request) (admission.Decision, error){
		says(queued), silence, says(queued), says(granted),
	}}
	var took time.Duration
	env := own(t, admitter, func(ctx workflow.Context) error {
		began := workflow.Now(ctx)
		p, err := workflows.Acquire(ctx, workflows.PermitRequest{Agent: "a", Overflow: admission.OverflowQueue, QueueTimeout: admission.None})
		if err != nil {
			return err
		}
		took = workflow.Now(ctx).Sub(began)
		return workflows.Release(ctx, p)
	})
	env.ExecuteWorkflow("own")
	require.True(t, env.IsWorkflowCompleted(), "it waits for a grant that nobody will give")
	require.NoError(t, env.GetWorkflowError())
	require.Len(t, admitter.asks, 4)
	for _, ask := range admitter.asks {
		require.Equal(t, admitter.asks[0].Request.ID, ask.Request.ID, "its place in the queue must not be given up")
	}
	require.Less(t, took, 15*time.Minute)
	require.Len(t, admitter.ends, 1)
	require.EqualValues(t, 7, admitter.ends[0].Token)
}

// An admission that is away for a day must not fill the history of those who wait for
// it, or the server ends them.
func TestAcquireAsksRarely(t *testing.T) {
	t.Parallel()
	admitter := &scripted{answers: []func(admission.Request) (admission.Decision, error){silence}}
	env := own(t, admitter, func(ctx workflow.Context) error {
		_, err := workflows.Acquire(ctx, workflows.PermitRequest{Agent: "a", Overflow: admission.OverflowQueue, QueueTimeout: 24 * time.Hour})
		return err
	})
	env.ExecuteWorkflow("own")
	require.ErrorContains(t, env.GetWorkflowError(), "did not answer")
	require.Less(t, len(admitter.asks), 24*60+10)
	require.Greater(t, len(admitter.asks), 24*50)
	require.Len(t, admitter.ends, len(admitter.asks), "each that may have been taken is withdrawn")
}

// A run that leaves a request behind when it continues as new would get a permit that
// the next run knows nothing of, and that is held for as long as the chain goes on.
func TestAcquireLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	admitter := &scripted{answers: []func(admission.Request) (admission.Decision, error){says(queued)}}
	env := own(t, admitter, func(ctx workflow.Context) error {
		workflow.Go(ctx, func(ctx workflow.Context) {
			_, _ = workflows.Acquire(ctx, workflows.PermitRequest{Agent: "a", Overflow: admission.OverflowQueue})
		})
		if err := workflow.Sleep(ctx, time.Second); err != nil {
			return err
		}
		return workflow.NewContinueAsNewError(ctx, "own")
	})
	env.ExecuteWorkflow("own")
	require.True(t, workflow.IsContinueAsNewError(env.GetWorkflowError()))
	require.Len(t, admitter.ends, 1)
	require.Equal(t, admitter.asks[0].Request.ID, admitter.ends[0].ID)
	require.Zero(t, admitter.ends[0].Token, "withdrawn, whatever has become of it")
}
