package tidemill

import (
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/workflow"

	"github.com/tidemill/tidemill/admission"
	"github.com/tidemill/tidemill/workflows"
)

// Permits in workflow code of one's own: see [Acquire].
type (
	// PermitRequest asks for a permit in workflow code.
	PermitRequest = workflows.PermitRequest
	// Permit is a permit that a workflow holds.
	Permit = workflows.Permit
)

// What a [PermitRequest] wants when no permit is free.
const (
	OverflowQueue  = admission.OverflowQueue  // wait
	OverflowReject = admission.OverflowReject // be refused; also the meaning of no choice, unless the limits say otherwise
)

// Acquire asks for a permit in workflow code, and waits while the request is queued.
// Without a choice of overflow it does not wait. A refusal is an ApplicationError; its
// type, which [ErrorType] reads, is the answer. The permit belongs to the chain of
// the workflow's runs: it ends with [Release], with the chain, or when the workflow no
// longer believes to have it.
//
//	p, err := tidemill.Acquire(ctx, tidemill.PermitRequest{Agent: "planner", Overflow: tidemill.OverflowQueue})
//	if err != nil {
//		return err
//	}
//	defer tidemill.Release(ctx, p)
//
// The workflow's worker must have admission ([WorkerOptions.Admission]).
func Acquire(ctx workflow.Context, r PermitRequest) (*Permit, error) {
	return workflows.Acquire(ctx, r)
}

// Release gives a permit back, also when ctx is cancelled. Giving it back twice is
// giving it back once.
func Release(ctx workflow.Context, p *Permit) error { return workflows.Release(ctx, p) }

// Keep says that a permit which an earlier run of the chain acquired, and handed on
// through continue-as-new, is still held.
func Keep(ctx workflow.Context, p *Permit) error { return workflows.Keep(ctx, p) }

// With runs fn while a permit is held, and gives it back however fn ends.
func With(ctx workflow.Context, r PermitRequest, fn func(workflow.Context, *Permit) error) error {
	return workflows.With(ctx, r, fn)
}

// Interceptor is what [Acquire] needs in a worker. [WorkerOptions.Settings] brings it;
// a replayer of workflows that acquire permits must be given it.
func Interceptor() interceptor.WorkerInterceptor { return workflows.Interceptor() }
