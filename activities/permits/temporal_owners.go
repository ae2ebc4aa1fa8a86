package permits

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"

	"github.com/tidemill/tidemill/admission"
)

// How many owners are reached at a time, and how long one may take to say what it
// believes: it may have no worker.
const (
	deliverAtOnce = 32
	checkAtOnce   = 10
	believeWithin = 2 * time.Second
)

// temporalOwners reaches owners that are workflows of one namespace.
type temporalOwners struct{ client client.Client }

// TemporalOwners reaches owners that are chains of workflow runs in the client's
// namespace. Owners that are processes are left alone: they renew their leases and
// ask by themselves.
//
// A chain is reached by its workflow id. Should another chain run under that id, a
// message is wasted on it, for it takes only ids that begin with its own first run;
// that the chain it was meant for has ended is then found out by Check.
func TemporalOwners(c client.Client) Owners { return &temporalOwners{client: c} }

// Deliver signals the owners, many at a time.
func (t *temporalOwners) Deliver(ctx context.Context, messages []Message) []Delivery {
	deliveries := make([]Delivery, len(messages))
	each(len(messages), deliverAtOnce, func(i int) { deliveries[i] = t.tell(ctx, messages[i]) })
	return deliveries
}

func (t *temporalOwners) tell(ctx context.Context, m Message) Delivery {
	if m.Owner.Workflow == "" {
		return Delivered // nobody waits for it to be brought
	}
	err := t.client.SignalWorkflow(ctx, m.Owner.Workflow, "", SignalPermits, m.Decisions)
	switch {
	case err == nil:
		return Delivered
	case closed(err):
		return OwnerGone
	}
	return Undelivered
}

// Check describes the owners, and asks those that are open what they believe.
func (t *temporalOwners) Check(ctx context.Context, owners []admission.Owner) []Finding {
	findings := make([]Finding, len(owners))
	each(len(owners), checkAtOnce, func(i int) { findings[i] = t.find(ctx, owners[i]) })
	return findings
}

func (t *temporalOwners) find(ctx context.Context, o admission.Owner) Finding {
	found := Finding{Owner: o}
	if o.Workflow == "" {
		return found
	}
	description, err := t.client.DescribeWorkflow(ctx, o.Workflow, "")
	if err != nil {
		if closed(err) {
			found.Life = LifeClosed
		}
		return found
	}
	info := description.RawResponse.GetWorkflowExecutionInfo()
	if info.GetFirstRunId() != o.FirstRun || ended(info.GetStatus()) {
		found.Life = LifeClosed
		return found
	}
	found.Life, found.Belief = LifeOpen, t.believes(ctx, o)
	return found
}

// believes asks an owner what it believes to have; nil, if it does not say.
func (t *temporalOwners) believes(ctx context.Context, o admission.Owner) *Belief {
	ctx, cancel := context.WithTimeout(ctx, believeWithin)
	defer cancel()
	answer, err := t.client.QueryWorkflowWithOptions(ctx, &client.QueryWorkflowWithOptionsRequest{
		WorkflowID: o.Workflow, QueryType: QueryPermits,
		QueryRejectCondition: enumspb.QUERY_REJECT_CONDITION_NOT_OPEN,
	})
	var belief Belief
	if err != nil || answer.QueryRejected != nil || answer.QueryResult.Get(&belief) != nil {
		return nil
	}
	return &belief
}

// closed tells whether an error says that no run of the workflow id is open. That the
// namespace is not found is another error.
func closed(err error) bool {
	var missing *serviceerror.NotFound
	return errors.As(err, &missing)
}

// ended tells whether the current run of a workflow id is the end of its chain. One
// that is paused, or about to continue, is not.
func ended(status enumspb.WorkflowExecutionStatus) bool {
	return slices.Contains([]enumspb.WorkflowExecutionStatus{
		enumspb.WORKFLOW_EXECUTION_STATUS_COMPLETED, enumspb.WORKFLOW_EXECUTION_STATUS_FAILED,
		enumspb.WORKFLOW_EXECUTION_STATUS_CANCELED, enumspb.WORKFLOW_EXECUTION_STATUS_TERMINATED,
		enumspb.WORKFLOW_EXECUTION_STATUS_TIMED_OUT,
	}, status)
}

// each calls do for 0 to n-1, at most so many at a time, and waits for all.
func each(n, atOnce int, do func(i int)) {
	var all sync.WaitGroup
	slots := make(chan struct{}, atOnce)
	for i := range n {
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			do(i)
		})
	}
	all.Wait()
}
