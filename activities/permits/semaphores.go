package permits

import (
	"context"
	"errors"
	"fmt"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"github.com/tidemill/tidemill/admission"
)

// ErrTypeInvalidAdmission is the type of the error with which a semaphore refuses
// an update that it cannot read. Stable: callers match it.
const ErrTypeInvalidAdmission = "invalid_admission"

// ErrRefused is matched by the error of a batch that will be refused however often
// it is sent. Any other error says that the batch may or may not have been heard,
// and is to be sent again.
var ErrRefused = errors.New("permits: the batch is refused")

// Semaphores reaches the semaphore of a domain. It is safe for concurrent use.
type Semaphores interface {
	// Send hands a batch to the semaphore of the domain, which begins with it if
	// there is none, and waits for its answers.
	Send(ctx context.Context, domain string, batch Batch) (BatchResult, error)
	// Standings asks where one request stands, or all those of a workflow id.
	// Nothing is known where nobody has asked for anything yet.
	Standings(ctx context.Context, domain, id string) ([]Standing, error)
}

// temporalSemaphores are the semaphores that are workflows.
type temporalSemaphores struct {
	client client.Client
	queue  string                      // of the semaphores
	limits map[string]admission.Limits // by domain
}

// TemporalSemaphores reaches the semaphores that are workflows in the client's
// namespace and work on a task queue. One that is started begins with the limits of
// its domain.
func TemporalSemaphores(c client.Client, queue string, limits map[string]admission.Limits) Semaphores {
	return &temporalSemaphores{client: c, queue: queue, limits: limits}
}

// Send updates the semaphore, and starts it when there is none. Every sending has
// an update id of its own: an id would be answered from the memory of the run,
// whatever the batch says. The book knows the calls that it has seen by their ids.
func (w *temporalSemaphores) Send(ctx context.Context, domain string, batch Batch) (BatchResult, error) {
	options := client.UpdateWorkflowOptions{
		WorkflowID: WorkflowID(domain), UpdateName: UpdateBatch,
		Args: []any{batch}, WaitForStage: client.WorkflowUpdateStageCompleted,
	}
	handle, err := w.client.UpdateWorkflow(ctx, options)
	result, err := answered(ctx, handle, err)
	if missing := (*serviceerror.NotFound)(nil); errors.As(err, &missing) {
		result, err = w.begin(ctx, domain, batch, options)
	}
	if refuses(err) {
		err = fmt.Errorf("%w: %w", ErrRefused, err)
	}
	return result, err
}

// begin starts a semaphore with the batch. Another process may be quicker: then its
// semaphore gets the batch, and with it the limits of this process.
func (w *temporalSemaphores) begin(ctx context.Context, domain string, batch Batch, options client.UpdateWorkflowOptions) (BatchResult, error) {
	limits, configured := w.limits[domain]
	if configured {
		batch.Limits = &limits
	}
	options.Args = []any{batch}
	start := client.StartWorkflowOptions{
		ID: options.WorkflowID, TaskQueue: w.queue,
		WorkflowIDConflictPolicy: enumspb.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING,
		StaticSummary:            "admission · " + domain,
		Priority:                 temporal.Priority{PriorityKey: 1}, // everybody waits for it
	}
	operation := w.client.NewWithStartWorkflowOperation(start, WorkflowType, Start{Domain: domain, Limits: limits, Configured: configured})
	handle, err := w.client.UpdateWithStartWorkflow(ctx, client.UpdateWithStartWorkflowOptions{
		StartWorkflowOperation: operation, UpdateOptions: options,
	})
	return answered(ctx, handle, err)
}

func answered(ctx context.Context, handle client.WorkflowUpdateHandle, err error) (result BatchResult, _ error) {
	if err != nil {
		return result, err
	}
	err = handle.Get(ctx, &result)
	return result, err
}

// refuses tells whether sending again is of no use: the semaphore cannot read the
// batch, or the server finds it too large.
func refuses(err error) bool {
	if said := (*temporal.ApplicationError)(nil); errors.As(err, &said) {
		return said.Type() == ErrTypeInvalidAdmission
	}
	invalid := (*serviceerror.InvalidArgument)(nil)
	return errors.As(err, &invalid)
}

// Standings queries the semaphore.
func (w *temporalSemaphores) Standings(ctx context.Context, domain, id string) (list []Standing, _ error) {
	value, err := w.client.QueryWorkflow(ctx, WorkflowID(domain), "", QueryExplain, id)
	if missing := (*serviceerror.NotFound)(nil); errors.As(err, &missing) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	err = value.Get(&list)
	return list, err
}
