package permits_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/tidemill/tidemill/activities/permits"
	"github.com/tidemill/tidemill/admission"
	"github.com/tidemill/tidemill/internal/admittertest"
	"github.com/tidemill/tidemill/workflows"
)

// house is one worker of semaphores, with owners on a queue of theirs.
type house struct {
	client client.Client
	queue  string
	owners permits.Owners // by which combiners deliver; nil: semaphores do
}

func newHouse(t *testing.T) *house {
	t.Helper()
	server := temporal.Server(t)
	h := &house{client: server.Client(t), queue: server.TaskQueue(t)}
	server.Worker(t, h.client, permits.TaskQueue(h.queue), worker.Options{}, func(r worker.Registry) {
		r.RegisterWorkflowWithOptions(workflows.Admission, workflow.RegisterOptions{Name: permits.WorkflowType})
		permits.NewGateway(permits.TemporalOwners(h.client)).Register(r)
	})
	server.Worker(t, h.client, h.queue, worker.Options{}, func(r worker.Registry) { r.RegisterWorkflow(owner) })
	return h
}

// combiner is a combiner of its own, as of another process.
func (h *house) combiner(t *testing.T, domain string, limits admission.Limits) *permits.Combiner {
	t.Helper()
	c, err := permits.NewCombiner(permits.CombinerOptions{
		Client: h.client, TaskQueue: permits.TaskQueue(h.queue), Limits: map[string]admission.Limits{domain: limits},
		Owners: h.owners,
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, c.Close(context.Background())) })
	return c
}

func (h *house) setup(t *testing.T, limits admission.Limits) admittertest.Setup {
	t.Helper()
	domain := temporal.Server(t).TaskQueue(t)
	return admittertest.Setup{
		Admitter: h.combiner(t, domain, limits), Domain: domain, Begin: h.begin,
		Steer: func(t *testing.T, change permits.Steer) {
			t.Helper()
			steer(t, h.client, domain, change)
		},
	}
}

// steer makes an operator's change. A semaphore that was not asked for anything yet
// does not run.
func steer(t *testing.T, c client.Client, domain string, change permits.Steer) {
	t.Helper()
	handle, err := c.UpdateWorkflow(t.Context(), client.UpdateWorkflowOptions{
		WorkflowID: permits.WorkflowID(domain), UpdateName: permits.UpdateSteer,
		Args: []any{change}, WaitForStage: client.WorkflowUpdateStageCompleted,
	})
	require.NoError(t, err)
	require.NoError(t, handle.Get(t.Context(), nil))
}

const (
	signalBelieve = "believe"
	queryTold     = "told"
)

// owner is a workflow that keeps what it is told, and says what it was told to
// believe.
func owner(ctx workflow.Context) error {
	var belief *permits.Belief
	var told []admission.Decision
	err := workflow.SetQueryHandler(ctx, queryTold, func() ([]admission.Decision, error) { return told, nil })
	if err != nil {
		return err
	}
	for ctx.Err() == nil {
		selector := workflow.NewSelector(ctx)
		selector.AddReceive(ctx.Done(), func(workflow.ReceiveChannel, bool) {})
		selector.AddReceive(workflow.GetSignalChannel(ctx, permits.SignalPermits), func(c workflow.ReceiveChannel, _ bool) {
			var list []admission.Decision
			c.Receive(ctx, &list)
			told = append(told, list...)
		})
		selector.AddReceive(workflow.GetSignalChannel(ctx, signalBelieve), func(c workflow.ReceiveChannel, _ bool) {
			c.Receive(ctx, &belief)
			err = workflow.SetQueryHandler(ctx, permits.QueryPermits, func() (*permits.Belief, error) { return belief, nil })
		})
		selector.Select(ctx)
	}
	return err
}

// run is an owner that runs.
type run struct {
	t      *testing.T
	client client.Client
	owner  admission.Owner
}

func (h *house) begin(t *testing.T) admittertest.Owner {
	t.Helper()
	started, err := h.client.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{
		ID: temporal.Server(t).TaskQueue(t), TaskQueue: h.queue,
	}, owner)
	require.NoError(t, err)
	o := &run{t: t, client: h.client, owner: admission.Owner{Workflow: started.GetID(), FirstRun: started.GetRunID()}}
	t.Cleanup(o.End)
	return o
}

func (r *run) Owner() admission.Owner { return r.owner }

func (r *run) Told() (told []admission.Decision) {
	value, err := r.client.QueryWorkflow(context.Background(), r.owner.Workflow, "", queryTold)
	require.NoError(r.t, err)
	require.NoError(r.t, value.Get(&told))
	return told
}

func (r *run) Believe(b permits.Belief) {
	require.NoError(r.t, r.client.SignalWorkflow(context.Background(), r.owner.Workflow, "", signalBelieve, b))
}

func (r *run) End() {
	_ = r.client.TerminateWorkflow(context.Background(), r.owner.Workflow, "", "the test ends it")
}

// What a program may rely on must not depend on where its permits come from.
func TestCombinerAndSemaphoreKeepThePromises(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	admittertest.Run(t, h.setup)
}

// As before, where the combiner brings owners what comes with its batches.
func TestDeliveringCombinerAndSemaphoreKeepThePromises(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.owners = permits.TemporalOwners(h.client)
	admittertest.Run(t, h.setup)
}

// A domain that nobody has asked for anything has no semaphore to say so.
func TestCombinerExplainsInADomainWithoutSemaphore(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	_, known, err := h.combiner(t, "nobody", admission.Limits{}).Explain(t.Context(), "nobody", "x")
	require.NoError(t, err)
	require.False(t, known)
}

// A semaphore that was lost may begin anew by a process that configures nothing. Its
// limits are then the defaults, which are not those of the domain: whoever has those
// must say them again, or work runs under the wrong ones for ever.
func TestLimitsOutliveTheSemaphore(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	domain := temporal.Server(t).TaskQueue(t)
	configured := h.combiner(t, domain, admission.Limits{Version: 5, DefaultAgent: 1})
	bare, err := permits.NewCombiner(permits.CombinerOptions{Client: h.client, TaskQueue: permits.TaskQueue(h.queue)})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, bare.Close(context.Background())) })
	submit := func(c *permits.Combiner, id string) {
		d, err := c.Submit(t.Context(), permits.Ask{Domain: domain, Request: admission.Request{
			ID: id, Owner: admission.Owner{Process: "p"}, Agent: id,
		}})
		require.NoError(t, err)
		require.Equal(t, admission.AnswerGranted, d.Answer)
	}
	version := func() int64 {
		var view permits.View
		value, err := h.client.QueryWorkflow(t.Context(), permits.WorkflowID(domain), "", permits.QueryStatus)
		require.NoError(t, err)
		require.NoError(t, value.Get(&view))
		return view.Status.Version
	}
	submit(configured, "1")
	require.EqualValues(t, 5, version())
	require.NoError(t, h.client.TerminateWorkflow(t.Context(), permits.WorkflowID(domain), "", "lost"))
	submit(bare, "2")
	require.Zero(t, version())
	submit(configured, "3")
	submit(configured, "4")
	require.EqualValues(t, 5, version())
	submit(bare, "5")
	require.EqualValues(t, 5, version())
}
