package workflows

import (
	"encoding/json"
	"errors"
	"slices"

	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/workflow"

	"github.com/tidemill/tidemill/activities"
	"github.com/tidemill/tidemill/activities/permits"
	"github.com/tidemill/tidemill/admission"
)

// inbox holds what a workflow of the user's own believes about its permits, and is
// where admission tells it more. A workflow has one; [Interceptor] puts it into the
// context.
type inbox struct {
	root    workflow.Context
	info    *workflow.Info
	opened  bool
	latest  uint64 // number of the latest acquisition
	waiting []waiting
	held    []string // ids
}

// waiting is a request without an ending.
type waiting struct {
	id     string
	domain string
	told   *admission.Decision // heard, and not looked at yet
}

type inboxKey struct{}

// errNoInbox is what a workflow is told whose worker lacks the interceptor.
var errNoInbox = errors.New("workflows: permits need a worker made by tidemill.NewWorker, or with the options of WorkerOptions.Settings")

func inboxOf(ctx workflow.Context) (*inbox, error) {
	box, ok := ctx.Value(inboxKey{}).(*inbox)
	if !ok {
		return nil, errNoInbox
	}
	return box, box.open()
}

// open begins to listen, with the first acquisition: a workflow that never asks is
// left as it is.
func (b *inbox) open() error {
	if b.opened {
		return nil
	}
	b.opened = true
	err := workflow.SetQueryHandlerWithOptions(b.root, permits.QueryPermits, b.belief, workflow.QueryHandlerOptions{
		Description: "For admission only: the permits that the workflow holds or waits for.",
	})
	if err != nil {
		return err
	}
	channel := workflow.GetSignalChannelWithOptions(b.root, permits.SignalPermits, workflow.SignalChannelOptions{
		Description: "For admission only: what became of requests for permits.",
	})
	live, _ := workflow.NewDisconnectedContext(b.root) // answers are heard while a cancel is carried out
	workflow.GoNamed(live, "permits", func(ctx workflow.Context) {
		for {
			var payload converter.RawValue
			channel.Receive(ctx, &payload)
			b.hear(ctx, payload)
		}
	})
	return nil
}

// hear keeps what was decided about requests that still wait.
func (b *inbox) hear(ctx workflow.Context, payload converter.RawValue) {
	var decisions []admission.Decision
	if err := json.Unmarshal(payload.Payload().GetData(), &decisions); err != nil {
		workflow.GetLogger(ctx).Warn("a message of admission cannot be read", "error", err)
		return
	}
	for _, d := range decisions {
		if i := b.find(d.ID); i >= 0 {
			b.waiting[i].told = &d
			continue
		}
		if d.Final() {
			b.drop(d.ID)
		}
	}
}

func (b *inbox) find(id string) int {
	return slices.IndexFunc(b.waiting, func(w waiting) bool { return w.id == id })
}

// next is the number of the next acquisition. It grows over the whole chain of runs,
// each of which begins without memory of the one before.
func (b *inbox) next(ctx workflow.Context) uint64 {
	b.latest = max(b.latest+1, uint64(max(workflow.Now(ctx).UnixNano(), 1))) //nolint:gosec // positive
	return b.latest
}

// hold moves a request from those that wait to those that hold.
func (b *inbox) hold(id string) {
	b.settle(id)
	if !slices.Contains(b.held, id) {
		b.held = append(b.held, id)
	}
}

// settle forgets that a request waits.
func (b *inbox) settle(id string) {
	b.waiting = slices.DeleteFunc(b.waiting, func(w waiting) bool { return w.id == id })
}

// drop forgets a permit.
func (b *inbox) drop(id string) {
	b.held = slices.DeleteFunc(b.held, func(held string) bool { return held == id })
}

// leave withdraws what still waits when the run continues as new: the next run knows
// nothing of it. Whoever waits for it in this one is left waiting.
func (b *inbox) leave(ctx workflow.Context) {
	live, _ := workflow.NewDisconnectedContext(ctx)
	for _, w := range slices.Clone(b.waiting) {
		hold := permits.Hold{Domain: w.domain, ID: w.id}
		err := workflow.ExecuteLocalActivity(permitContext(live, w.id), activities.NameRelease, hold).Get(live, nil)
		if err != nil {
			workflow.GetLogger(ctx).Warn("a request is left to its lease", "request", w.id, "error", err)
		}
	}
}

func (b *inbox) owner() admission.Owner {
	return admission.Owner{Workflow: b.info.WorkflowExecution.ID, FirstRun: b.info.FirstRunID}
}

// belief answers the query of whoever checks on the workflow.
func (b *inbox) belief() (permits.Belief, error) {
	belief := permits.Belief{Upto: b.latest, Held: slices.Clone(b.held)}
	for _, w := range b.waiting {
		belief.Waited = append(belief.Waited, w.id)
	}
	return belief, nil
}

// confirmation is the belief as it goes with each message.
func (b *inbox) confirmation() *admission.Confirmation {
	c := &admission.Confirmation{Owner: b.owner(), Upto: b.latest, IDs: slices.Clone(b.held)}
	for _, w := range b.waiting {
		c.IDs = append(c.IDs, w.id)
	}
	return c
}

// Interceptor gives each workflow of a worker what [Acquire] needs. Workers made with
// the options of tidemill.WorkerOptions.Settings have it; a replayer of workflows that
// acquire permits needs it too.
func Interceptor() interceptor.WorkerInterceptor { return &permitInterceptor{} }

type permitInterceptor struct {
	interceptor.WorkerInterceptorBase
}

// InterceptWorkflow implements interceptor.WorkerInterceptor.
func (*permitInterceptor) InterceptWorkflow(
	_ workflow.Context, next interceptor.WorkflowInboundInterceptor,
) interceptor.WorkflowInboundInterceptor {
	in := &inboxInbound{}
	in.Next = next
	return in
}

type inboxInbound struct {
	interceptor.WorkflowInboundInterceptorBase
}

// ExecuteWorkflow implements interceptor.WorkflowInboundInterceptor.
func (i *inboxInbound) ExecuteWorkflow(ctx workflow.Context, in *interceptor.ExecuteWorkflowInput) (any, error) {
	box := &inbox{info: workflow.GetInfo(ctx)}
	ctx = workflow.WithValue(ctx, inboxKey{}, box)
	box.root = ctx
	result, err := i.Next.ExecuteWorkflow(ctx, in)
	if workflow.IsContinueAsNewError(err) {
		box.leave(ctx)
	}
	return result, err
}
