package workflows_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/tidemill/tidemill/activities/permits"
	"github.com/tidemill/tidemill/admission"
	"github.com/tidemill/tidemill/internal/historytest"
	"github.com/tidemill/tidemill/internal/temporaltest"
	"github.com/tidemill/tidemill/workflows"
)

// hall is one test's semaphore with its worker, on a domain of its own. Every history
// that it makes is replayed when the test ends.
type hall struct {
	tb     testing.TB
	server *temporaltest.Server
	client client.Client
	queue  string
	domain string
	start  permits.Start
	large  bool // its histories are not replayed: the replayer takes a second of work for a deadlock
}

// newHall starts the workers of a semaphore and of its owners. The semaphore itself
// begins with the first batch.
func newHall(tb testing.TB, limits admission.Limits, edits ...func(*hallParts)) *hall {
	tb.Helper()
	server := shared.Server(tb)
	parts := hallParts{}
	for _, edit := range edits {
		edit(&parts)
	}
	identity := func(o *client.Options) { o.Identity = "test" }
	h := &hall{tb: tb, server: server, client: server.Client(tb, append(parts.client, identity)...), queue: server.TaskQueue(tb)}
	h.domain = h.queue
	h.start = permits.Start{Domain: h.domain, Limits: limits, MaxEvents: parts.maxEvents}
	tb.Cleanup(h.replayAll)
	owners := permits.TemporalOwners(h.client)
	if parts.owners != nil {
		owners = parts.owners(owners)
	}
	options := worker.Options{
		StickyScheduleToStartTimeout: time.Second,
		DeadlockDetectionTimeout:     5 * time.Second, // for books as large as they may be
	}
	server.Worker(tb, h.client, permits.TaskQueue(h.queue), options, func(r worker.Registry) {
		registerAdmission(r)
		permits.NewGateway(owners).Register(r)
	})
	server.Worker(tb, h.client, h.queue, options, func(r worker.Registry) {
		r.RegisterWorkflowWithOptions(tenant, workflow.RegisterOptions{Name: "tenant"})
	})
	return h
}

type hallParts struct {
	client    []func(*client.Options)
	owners    func(permits.Owners) permits.Owners
	maxEvents int
}

type workflowRegistry interface {
	RegisterWorkflowWithOptions(w any, options workflow.RegisterOptions)
}

func registerAdmission(r workflowRegistry) {
	r.RegisterWorkflowWithOptions(workflows.Admission, workflow.RegisterOptions{Name: permits.WorkflowType})
}

// id is the workflow id of the semaphore.
func (h *hall) id() string { return permits.WorkflowID(h.domain) }

// try sends an update, and starts the semaphore for it if need be.
func (h *hall) try(name string, arg, result any) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(h.tb.Context()), time.Minute)
	defer cancel()
	handle, err := h.client.UpdateWithStartWorkflow(ctx, client.UpdateWithStartWorkflowOptions{
		StartWorkflowOperation: h.client.NewWithStartWorkflowOperation(client.StartWorkflowOptions{
			ID: h.id(), TaskQueue: permits.TaskQueue(h.queue),
			WorkflowIDConflictPolicy: enumspb.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING,
		}, permits.WorkflowType, h.start),
		UpdateOptions: client.UpdateWorkflowOptions{
			UpdateName: name, Args: []any{arg}, WaitForStage: client.WorkflowUpdateStageCompleted,
		},
	})
	if err != nil {
		return err
	}
	return handle.Get(ctx, result)
}

// batch sends calls in one go.
func (h *hall) batch(calls ...permits.Call) []permits.CallAnswer {
	h.tb.Helper()
	var result permits.BatchResult
	require.NoError(h.tb, h.try(permits.UpdateBatch, permits.Batch{Calls: calls}, &result))
	require.Len(h.tb, result.Answers, len(calls))
	return result.Answers
}

// ask submits requests, each in a batch of its own, and gives the answers.
func (h *hall) ask(list ...admission.Request) (answers []admission.Answer) {
	h.tb.Helper()
	for _, r := range list {
		answers = append(answers, h.submit(r).Answer)
	}
	return answers
}

// submit submits one request.
func (h *hall) submit(r admission.Request) admission.Decision {
	h.tb.Helper()
	answer := h.batch(permits.Call{Submit: &r})[0]
	require.Empty(h.tb, answer.Refused)
	require.NotNil(h.tb, answer.Decision)
	return *answer.Decision
}

// release gives a permit back.
func (h *hall) release(id string, token uint64) admission.Result {
	h.tb.Helper()
	return h.batch(permits.Call{Release: &permits.Named{ID: id, Token: token}})[0].Result
}

func (h *hall) cancel(id string) admission.Result {
	h.tb.Helper()
	return h.batch(permits.Call{Cancel: id})[0].Result
}

// steer makes an operator's change.
func (h *hall) steer(change permits.Steer) admission.Status {
	h.tb.Helper()
	var status admission.Status
	require.NoError(h.tb, h.try(permits.UpdateSteer, change, &status))
	return status
}

// view is the status of the semaphore now.
func (h *hall) view() permits.View {
	h.tb.Helper()
	var view permits.View
	h.query(h.id(), permits.QueryStatus, &view)
	return view
}

// query asks until it is answered: a run that is being replayed may take too long.
func (h *hall) query(id, name string, into any, args ...any) {
	h.tb.Helper()
	temporaltest.Wait(h.tb, time.Minute, "an answer to "+name, func() bool {
		value, err := h.client.QueryWorkflow(h.tb.Context(), id, "", name, args...)
		if err != nil {
			return false
		}
		require.NoError(h.tb, value.Get(into))
		return true
	})
}

// until waits until the status fits.
func (h *hall) until(what string, fits func(permits.View) bool) permits.View {
	h.tb.Helper()
	var view permits.View
	temporaltest.Wait(h.tb, 30*time.Second, what, func() bool {
		value, err := h.client.QueryWorkflow(h.tb.Context(), h.id(), "", permits.QueryStatus)
		return err == nil && value.Get(&view) == nil && fits(view)
	})
	return view
}

// used waits until so many permits are held and so many requests wait.
func (h *hall) used(active, queued int) {
	h.tb.Helper()
	h.until(fmt.Sprintf("%d permits and %d waiting", active, queued), func(v permits.View) bool {
		return v.Status.Permits == active && v.Status.Queued == queued
	})
}

// runs are the runs of the semaphore so far, the oldest first.
func (h *hall) runs() []string {
	h.tb.Helper()
	var runs []string
	description, err := h.client.DescribeWorkflow(context.WithoutCancel(h.tb.Context()), h.id(), "")
	if err != nil {
		return nil // it never began
	}
	for run := description.WorkflowExecution.RunID; run != ""; {
		runs = append(runs, run)
		run = h.history(run).GetEvents()[0].GetWorkflowExecutionStartedEventAttributes().GetContinuedExecutionRunId()
	}
	slices.Reverse(runs)
	return runs
}

// begun is the latest run of the semaphore.
func (h *hall) begun() string {
	h.tb.Helper()
	description, err := h.client.DescribeWorkflow(h.tb.Context(), h.id(), "")
	require.NoError(h.tb, err)
	return description.WorkflowExecution.RunID
}

func (h *hall) history(run string) *historypb.History {
	h.tb.Helper()
	return temporaltest.History(h.tb, h.client, h.id(), run)
}

// events counts events of all runs of the semaphore.
func (h *hall) events(types ...enumspb.EventType) (n int) {
	h.tb.Helper()
	for _, run := range h.runs() {
		n += temporaltest.Count(h.history(run), types...)
	}
	return n
}

func (h *hall) replayAll() {
	if h.large {
		return
	}
	for _, run := range h.runs() {
		historytest.Replay(h.tb, historytest.Record(h.tb, h.client, h.id(), run), func(r worker.WorkflowReplayer) { registerAdmission(r) })
	}
}

// occupant is an owner in a test: a workflow that keeps what it is told.
type occupant struct {
	hall *hall
	run  client.WorkflowRun
	next uint64 // number of its next request
}

// Names of what a tenant takes.
const (
	signalEnd      = "end"
	signalContinue = "continue"
	signalBelieve  = "believe"
	queryTold      = "told"
)

// tenancy is what a tenant begins with.
type tenancy struct {
	Told   []admission.Decision
	Belief *permits.Belief // nil: it does not say
}

// tenant is the workflow behind an occupant.
func tenant(ctx workflow.Context, in tenancy) error {
	if err := workflow.SetQueryHandler(ctx, queryTold, func() ([]admission.Decision, error) { return in.Told, nil }); err != nil {
		return err
	}
	if in.Belief != nil {
		if err := workflow.SetQueryHandler(ctx, permits.QueryPermits, func() (*permits.Belief, error) { return in.Belief, nil }); err != nil {
			return err
		}
	}
	over, renew := false, false
	selector := workflow.NewSelector(ctx)
	selector.AddReceive(workflow.GetSignalChannel(ctx, permits.SignalPermits), func(c workflow.ReceiveChannel, _ bool) {
		var decisions []admission.Decision
		c.Receive(ctx, &decisions)
		in.Told = append(in.Told, decisions...)
	})
	selector.AddReceive(workflow.GetSignalChannel(ctx, signalBelieve), func(c workflow.ReceiveChannel, _ bool) {
		c.Receive(ctx, in.Belief)
	})
	selector.AddReceive(workflow.GetSignalChannel(ctx, signalContinue), func(c workflow.ReceiveChannel, _ bool) {
		c.Receive(ctx, nil)
		renew = true
	})
	selector.AddReceive(workflow.GetSignalChannel(ctx, signalEnd), func(c workflow.ReceiveChannel, _ bool) {
		c.Receive(ctx, nil)
		over = true
	})
	for !over && !renew || selector.HasPending() {
		selector.Select(ctx)
	}
	if renew {
		return workflow.NewContinueAsNewError(ctx, "tenant", in)
	}
	return nil
}

// occupant starts an owner. It says what it believes only if it was given a belief.
func (h *hall) occupant(belief *permits.Belief) *occupant {
	h.tb.Helper()
	run, err := h.client.ExecuteWorkflow(h.tb.Context(), client.StartWorkflowOptions{TaskQueue: h.queue}, "tenant", tenancy{Belief: belief})
	require.NoError(h.tb, err)
	return &occupant{hall: h, run: run, next: 1}
}

func (o *occupant) owner() admission.Owner {
	return admission.Owner{Workflow: o.run.GetID(), FirstRun: o.run.GetRunID()}
}

// wants is a request of the owner that queues: for an agent, or for keys.
func (o *occupant) wants(agent string, keys ...admission.Units) admission.Request {
	r := admission.Request{
		ID: permits.RequestID(o.run.GetRunID(), "work", o.next), Owner: o.owner(), Number: o.next,
		Agent: agent, Keys: keys, Overflow: admission.OverflowQueue, QueueTimeout: admission.None,
	}
	o.next++
	return r
}

// ends a run in one of the ways that runs end.
func (o *occupant) terminate() {
	o.hall.tb.Helper()
	require.NoError(o.hall.tb, o.hall.client.TerminateWorkflow(o.hall.tb.Context(), o.run.GetID(), "", "test"))
}

func (o *occupant) signal(name string, payload any) {
	o.hall.tb.Helper()
	require.NoError(o.hall.tb, o.hall.client.SignalWorkflow(o.hall.tb.Context(), o.run.GetID(), "", name, payload))
}

// told is what was brought to the owner.
func (o *occupant) told() (decisions []admission.Decision) {
	o.hall.tb.Helper()
	o.hall.query(o.run.GetID(), queryTold, &decisions)
	return decisions
}

// hears waits until an answer about a request was brought to the owner.
func (o *occupant) hears(id string, answer admission.Answer) admission.Decision {
	o.hall.tb.Helper()
	var heard admission.Decision
	temporaltest.Wait(o.hall.tb, 30*time.Second, string(answer)+" of "+id, func() bool {
		for _, d := range o.told() {
			if d.ID == id && d.Answer == answer {
				heard = d
				return true
			}
		}
		return false
	})
	return heard
}
