package admissiontest

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/tidemill/tidemill/activities/permits"
	"github.com/tidemill/tidemill/admission"
	"github.com/tidemill/tidemill/internal/temporaltest"
	"github.com/tidemill/tidemill/workflows"
)

// Books are the books of one task queue of graphs, with their worker.
type Books struct {
	Worker worker.Worker // stopped with the test
	client client.Client
	queue  string
	begun  []string // workflow ids
}

// New starts a worker of books for the graphs of a task queue. The books that were
// begun end with the test.
func New(tb testing.TB, server *temporaltest.Server, queue string) *Books {
	tb.Helper()
	c := server.Client(tb)
	b := &Books{client: c, queue: permits.TaskQueue(queue)}
	b.Worker = worker.New(c, b.queue, worker.Options{})
	b.Worker.RegisterWorkflowWithOptions(workflows.Admission, workflow.RegisterOptions{Name: permits.WorkflowType})
	permits.NewGateway(permits.TemporalOwners(c)).Register(b.Worker)
	require.NoError(tb, b.Worker.Start())
	tb.Cleanup(b.end)
	return b
}

// end stops the worker and the books: others share the server.
func (b *Books) end() {
	b.Worker.Stop()
	for _, id := range b.begun {
		_ = b.client.TerminateWorkflow(context.Background(), id, "", "the test is over") // if it is still there
	}
}

// Submit asks the book of a domain in one batch, and begins it with the limits if
// there is none.
func (b *Books) Submit(tb testing.TB, domain string, limits admission.Limits, requests ...admission.Request) []admission.Decision {
	tb.Helper()
	batch := permits.Batch{Limits: &limits}
	for i := range requests {
		batch.Calls = append(batch.Calls, permits.Call{Submit: &requests[i]})
	}
	start := b.client.NewWithStartWorkflowOperation(client.StartWorkflowOptions{
		ID: permits.WorkflowID(domain), TaskQueue: b.queue,
		WorkflowIDConflictPolicy: enumspb.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING,
	}, permits.WorkflowType, permits.Start{Domain: domain, Limits: limits})
	handle, err := b.client.UpdateWithStartWorkflow(tb.Context(), client.UpdateWithStartWorkflowOptions{
		StartWorkflowOperation: start,
		UpdateOptions: client.UpdateWorkflowOptions{
			WorkflowID: permits.WorkflowID(domain), UpdateName: permits.UpdateBatch, Args: []any{batch},
			WaitForStage: client.WorkflowUpdateStageCompleted,
		},
	})
	require.NoError(tb, err)
	b.begun = append(b.begun, permits.WorkflowID(domain))
	var result permits.BatchResult
	require.NoError(tb, handle.Get(tb.Context(), &result))
	decisions := make([]admission.Decision, len(result.Answers))
	for i, answer := range result.Answers {
		require.Empty(tb, answer.Refused)
		require.NotNil(tb, answer.Decision)
		decisions[i] = *answer.Decision
	}
	return decisions
}

// Request is what a workflow asks for: a unit of each key, and a place in the queue
// for an hour.
func Request(workflowID string, keys ...string) admission.Request {
	r := admission.Request{
		ID: workflowID + "/first/charge#1!1", Owner: admission.Owner{Workflow: workflowID, FirstRun: "first"},
		Overflow: admission.OverflowQueue, QueueTimeout: time.Hour,
	}
	for _, key := range keys {
		r.Keys = append(r.Keys, admission.Units{Key: key})
	}
	return r
}
