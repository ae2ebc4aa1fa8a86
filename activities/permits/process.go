package permits

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"

	"github.com/tidemill/tidemill/admission"
)

// ErrDenied is matched by the error of a request that ended without a permit.
var ErrDenied = errors.New("permits: no permit")

// DeniedError is the error behind [ErrDenied].
type DeniedError struct {
	Decision admission.Decision // Answer and Key say why, NextCheck when asking again makes sense
}

// Error gives the answer and the key behind it.
func (e *DeniedError) Error() string {
	if e.Decision.Key == "" {
		return fmt.Sprintf("%v: %s", ErrDenied, e.Decision.Answer)
	}
	return fmt.Sprintf("%v: %s: %s", ErrDenied, e.Decision.Answer, e.Decision.Key)
}

// Unwrap makes errors.Is hold for ErrDenied.
func (e *DeniedError) Unwrap() error { return ErrDenied }

// ProcessOptions configure a [Process].
type ProcessOptions struct {
	Admitter Admitter
	Domain   string // Zero means DefaultDomain.
	// ID names the owner for operators. Two processes must not share one. Zero
	// means a random one.
	ID string
}

// Process asks for permits for a program that is no workflow. It keeps what it was
// given alive by renewing it, so a program that dies loses its permits after one
// lease. A domain with processes needs leases of six seconds or more: that is three
// times the longest pause between two signs of life of one that waits.
//
//	err := process.With(ctx, admission.Request{Agent: "planner"}, func(ctx context.Context, p *permits.Permit) error {
//		return call(ctx, p.Token()) // ctx ends when the permit is lost
//	})
//
// A request is rejected when there is no room, unless it, or the limits, say that
// it queues.
type Process struct {
	admitter Admitter
	domain   string
	owner    admission.Owner
}

// NewProcess makes the client of one process.
func NewProcess(o ProcessOptions) *Process {
	id := o.ID
	if id == "" {
		id = "process-" + rand.Text()
	}
	return &Process{admitter: o.Admitter, domain: o.Domain, owner: admission.Owner{Process: id}}
}

// Submit asks for a permit, and returns once it is granted or queued. The id and
// the owner of the request are set here. Whoever submits must Cancel, or Await and
// Release: until then the request is kept alive in the background.
//
// The error matches ErrDenied when the request ended at once, ErrUnanswered when
// admission did not answer, or admission.ErrInvalidRequest.
func (p *Process) Submit(ctx context.Context, request admission.Request) (*Pending, error) {
	request.ID, request.Owner = p.owner.Process+"/"+rand.Text(), p.owner
	q := newPending(p, request)
	d, err := p.admitter.Submit(ctx, q.ask())
	switch {
	case errors.Is(err, ErrUnanswered):
		return nil, errors.Join(err, p.admitter.Cancel(context.WithoutCancel(ctx), q.hold(0)))
	case err != nil:
		return nil, err
	case d.Final():
		return nil, &DeniedError{Decision: d}
	}
	q.begin(d)
	return q, nil
}

// With does work under a permit: it submits, waits, and releases whatever happens.
// The context of the work ends when the permit is lost, and With then returns an
// error matching ErrLost beside that of the work. Ctx bounds the wait too.
func (p *Process) With(ctx context.Context, request admission.Request, work func(context.Context, *Permit) error) (err error) {
	pending, err := p.Submit(ctx, request)
	if err != nil {
		return err
	}
	permit, err := pending.Await(ctx)
	switch {
	case errors.Is(err, ErrDenied):
		return err
	case err != nil:
		return errors.Join(err, p.finish(ctx, pending.Cancel))
	}
	defer func() { err = errors.Join(err, permit.Err(), p.finish(ctx, permit.Release)) }()
	held, stop := permit.Within(ctx)
	defer stop()
	return work(held, permit)
}

// finish says the last word on a request, whether ctx has ended or not. It is enough
// that the admitter has taken it over.
func (p *Process) finish(ctx context.Context, last func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), AnswerWithin)
	defer cancel()
	if err := last(ctx); !errors.Is(err, ErrUnanswered) {
		return err
	}
	return nil
}

// heard waits until what was said about a request has been heard.
func (p *Process) heard(ctx context.Context, id string) error {
	if f, ok := p.admitter.(Flusher); ok {
		return f.Flush(ctx, p.domain, id)
	}
	return nil
}
