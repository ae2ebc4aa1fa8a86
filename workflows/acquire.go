package workflows

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/tidemill/tidemill/activities"
	"github.com/tidemill/tidemill/activities/permits"
	"github.com/tidemill/tidemill/admission"
	"github.com/tidemill/tidemill/graph"
)

// PermitRequest asks for a permit in workflow code. It names an agent, keys or rates.
type PermitRequest struct {
	Name     string // what it is for, for people. Zero means "permit".
	Domain   string // Zero means permits.DefaultDomain.
	Agent    string
	Keys     []admission.Units
	Rates    []admission.Units
	Flow     string // fairness key
	Priority *int   // 0 to 100. Nil means 50.

	Overflow     admission.Overflow // Zero means that of the limits: reject.
	QueueTimeout time.Duration      // longest wait in the queue. Zero means that of the limits, 30 s; -1 is none.

	// Parent is a permit that covers this one too: what it holds is not taken again.
	// Within are permits that are kept meanwhile. What is asked for beside them must
	// come later in the declared order of keys, or the answer is would_deadlock.
	Parent *Permit
	Within []*Permit
}

// Permit is a permit that is held. It is plain data: it may be handed to the next run
// of a workflow that continues as new, which says [Keep].
type Permit struct {
	ID     string    `json:"id"`
	Domain string    `json:"domain"`
	Token  uint64    `json:"token"` // fencing token: grows with every grant of the domain
	Lease  time.Time `json:"lease"` // until when it is known to be held; extended while the workflow runs
}

// Acquire asks for a permit, and waits while the request is queued. A refusal is an
// ApplicationError whose type is the answer: concurrency_limit_reached,
// admission_queue_full, queue_deadline_exceeded, draining, infeasible, would_deadlock,
// cancelled, owner_gone; or classification_failed when the request is malformed, and
// unanswered when admission could not be reached within two seconds, though a request
// with a place to wait for goes on asking. When ctx is cancelled the request is
// withdrawn.
//
// A permit that is free costs no workflow task: the answer comes within the current
// one.
func Acquire(ctx workflow.Context, r PermitRequest) (*Permit, error) {
	box, err := inboxOf(ctx)
	if err != nil {
		return nil, err
	}
	began := workflow.Now(ctx)
	for pause := askAgain; ; pause = min(2*pause, mostAgain) {
		request := r.request(ctx, box)
		d, err := box.ask(ctx, r.Domain, request)
		switch {
		case err != nil:
			box.withdraw(ctx, r.Domain, request.ID)
			if !r.patient(ctx, err, began, pause) {
				return nil, err
			}
		case d.Answer == admission.AnswerGranted:
			box.hold(d.ID)
			return &Permit{ID: d.ID, Domain: r.Domain, Token: d.Token, Lease: d.Lease}, nil
		default:
			box.settle(d.ID)
			return nil, denial(d)
		}
	}
}

// request makes the request of one acquisition.
func (r PermitRequest) request(ctx workflow.Context, box *inbox) admission.Request {
	name := r.Name
	if name == "" {
		name = "permit"
	}
	number := box.next(ctx)
	request := admission.Request{
		ID: permits.RequestID(box.info.FirstRunID, name, number), Owner: box.owner(), Number: number,
		Agent: r.Agent, Keys: r.Keys, Rates: r.Rates, Flow: r.Flow, Priority: r.Priority,
		Overflow: r.Overflow, QueueTimeout: r.QueueTimeout,
	}
	if r.Parent != nil {
		request.Parent = r.Parent.ID
	}
	for _, p := range r.Within {
		request.Within = append(request.Within, p.ID)
	}
	return request
}

// The waits before admission is asked again that did not answer: the first, and the
// longest. Each asking is in the history, which has an end.
const (
	askAgain  = 5 * time.Second
	mostAgain = time.Minute
)

// patient waits before a request that would wait anyway is made again. It reports
// false when there is nothing to wait for.
func (r PermitRequest) patient(ctx workflow.Context, err error, began time.Time, pause time.Duration) bool {
	if r.Overflow != admission.OverflowQueue || errorType(err) != graph.AdmissionUnanswered {
		return false
	}
	most := r.QueueTimeout
	if most == 0 {
		most = admission.Limits{}.WithDefaults().QueueTimeout
	}
	if most != admission.None && !workflow.Now(ctx).Add(pause).Before(began.Add(most)) {
		return false
	}
	return workflow.Sleep(ctx, pause) == nil
}

// ask puts a request and follows it to its grant or its ending. While it has a place in
// the queue it is put again some time, under its id: the grant is told, but a book that
// is gone tells nobody.
func (b *inbox) ask(ctx workflow.Context, domain string, request admission.Request) (admission.Decision, error) {
	b.waiting = append(b.waiting, waiting{id: request.ID, domain: domain})
	look := graph.FirstLook
	for placed := false; ; {
		d, err := b.submit(ctx, permits.Ask{Domain: domain, Request: request, Belief: b.confirmation()})
		if err != nil && (!placed || ctx.Err() != nil || errorType(err) == graph.AdmissionUnclassified) {
			return d, err
		}
		if err != nil || d.Answer == admission.AnswerQueued { // unanswered, it keeps its place
			var told bool
			if d, told, err = b.await(ctx, request.ID, look); err != nil {
				return d, err
			}
			placed = true
			if look = min(2*look, graph.MostLook); !told {
				continue
			}
		}
		if d.Answer == admission.AnswerGranted && !d.Lease.After(workflow.Now(ctx)) {
			continue // heard too late to be sure of it: the book knows
		}
		return d, nil
	}
}

// await waits for what admission tells about a request; not told: for so long it told
// nothing.
func (b *inbox) await(ctx workflow.Context, id string, most time.Duration) (d admission.Decision, told bool, err error) {
	heard := func() bool {
		i := b.find(id)
		return i < 0 || b.waiting[i].told != nil
	}
	if told, err = workflow.AwaitWithTimeout(ctx, most, heard); err != nil || !told {
		return d, told, err
	}
	i := b.find(id)
	if i < 0 {
		return admission.Decision{ID: id, Answer: admission.AnswerCancelled}, true, nil
	}
	d = *b.waiting[i].told
	b.waiting[i].told = nil
	return d, true, nil
}

// submit makes one request, on a context that goes on when the workflow is cancelled:
// an answer that nobody waits for would leave a permit behind.
func (b *inbox) submit(ctx workflow.Context, ask permits.Ask) (d admission.Decision, err error) {
	if err := ctx.Err(); err != nil {
		return d, err
	}
	live, _ := workflow.NewDisconnectedContext(ctx)
	var raw json.RawMessage
	err = workflow.ExecuteLocalActivity(permitContext(live, ask.Request.ID), activities.NameSubmit, ask).Get(live, &raw)
	if err != nil {
		return d, err
	}
	if err := json.Unmarshal(raw, &d); err != nil {
		return d, fmt.Errorf("workflows: the answer of admission cannot be read: %w", err)
	}
	return d, nil
}

// withdraw ends a request whose answer nobody waits for any more.
func (b *inbox) withdraw(ctx workflow.Context, domain, id string) {
	b.settle(id)
	if err := b.giveBack(ctx, permits.Hold{Domain: domain, ID: id}); err != nil {
		workflow.GetLogger(ctx).Warn("a request is left to its lease", "request", id, "error", err)
	}
}

// giveBack hands over that a permit or a request has ended.
func (b *inbox) giveBack(ctx workflow.Context, hold permits.Hold) error {
	live, _ := workflow.NewDisconnectedContext(ctx)
	b.drop(hold.ID)
	hold.Belief = b.confirmation()
	return workflow.ExecuteLocalActivity(permitContext(live, hold.ID), activities.NameRelease, hold).Get(live, nil)
}

// Release gives a permit back, also when ctx is cancelled. A permit that has ended
// already, or nil, is nothing to give back. The error says that the release could not
// be handed over: the permit then ends with its lease, for the workflow no longer
// believes to have it.
func Release(ctx workflow.Context, p *Permit) error {
	if p == nil {
		return nil
	}
	box, err := inboxOf(ctx)
	if err != nil {
		return err
	}
	return box.giveBack(ctx, permits.Hold{Domain: p.Domain, ID: p.ID, Token: p.Token})
}

// Keep says that a permit of an earlier run of this chain, carried through
// continue-as-new, is still held. It is said before the run's first [Acquire]: without it
// the permit ends within two leases of the run's first own acquisition.
func Keep(ctx workflow.Context, p *Permit) error {
	box, err := inboxOf(ctx)
	if err == nil {
		box.hold(p.ID)
	}
	return err
}

// With runs fn while a permit is held, and gives it back however fn ends.
func With(ctx workflow.Context, r PermitRequest, fn func(workflow.Context, *Permit) error) error {
	p, err := Acquire(ctx, r)
	if err != nil {
		return err
	}
	defer func() {
		if err := Release(ctx, p); err != nil {
			workflow.GetLogger(ctx).Warn("a permit is left to its lease", "permit", p.ID, "error", err)
		}
	}()
	return fn(ctx, p)
}

// denial is the error of an answer that is no permit.
func denial(d admission.Decision) error {
	message := "admission: " + string(d.Answer)
	if d.Key != "" {
		message += " for " + d.Key
	}
	return temporal.NewApplicationError(message, string(d.Answer), d)
}

// errorType is the type of an application error; empty for another one.
func errorType(err error) string {
	if application := new(temporal.ApplicationError); errors.As(err, &application) {
		return application.Type()
	}
	return ""
}
