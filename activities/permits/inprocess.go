package permits

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/tidemill/tidemill/admission"
)

// InProcess is an [Admitter] with books of its own, for programs that need no more
// than one process: what it has given is forgotten when the process ends. What
// owners that are workflows must hear later is delivered to them, and when their
// lease runs out they are asked.
type InProcess struct {
	limits  map[string]admission.Limits
	options InProcessOptions

	mu     sync.Mutex
	desks  map[string]*desk
	closed bool
}

// InProcessOptions configure an [InProcess].
type InProcessOptions struct {
	// Limits by domain. A domain without an entry has those of the zero value.
	Limits map[string]admission.Limits
	// Owners reaches owners that are workflows. Nil: there are none.
	Owners Owners
	// Observe is told every decision, repeated ones too, and the book in numbers
	// after it. It must not call the admitter. Nil: nobody is.
	Observe func(domain string, decisions []admission.Decision, status admission.Status)
}

// NewInProcess makes an admitter with empty books. The error matches
// admission.ErrInvalidLimits.
func NewInProcess(o InProcessOptions) (*InProcess, error) {
	limits, err := checked(o.Limits)
	if err != nil {
		return nil, err
	}
	return &InProcess{limits: limits, options: o, desks: map[string]*desk{}}, nil
}

// desk finds or makes the desk of a domain.
func (p *InProcess) desk(name string) (*desk, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	name = domain(name)
	if p.closed {
		return nil, ErrClosed
	}
	if d := p.desks[name]; d != nil {
		return d, nil
	}
	book, err := admission.NewBook(p.limits[name])
	if err != nil {
		return nil, fmt.Errorf("permits: domain %q: %w", name, err)
	}
	d := newDesk(name, book, &p.options)
	p.desks[name] = d
	return d, nil
}

// Submit asks for a permit.
func (p *InProcess) Submit(_ context.Context, ask Ask) (admission.Decision, error) {
	d, err := p.desk(ask.Domain)
	if err != nil {
		return admission.Decision{}, fmt.Errorf("%w: %w", ErrUnanswered, err)
	}
	var refused error
	decision := d.call(ask.Request.ID, ask.Belief, func(now time.Time) { refused = d.book.Submit(now, ask.Request) })
	if refused != nil {
		return admission.Decision{}, refused
	}
	if decision.ID == "" {
		return admission.Decision{}, fmt.Errorf("%w: %w", ErrUnanswered, ErrClosed)
	}
	return decision, nil
}

// Release gives a permit back.
func (p *InProcess) Release(_ context.Context, hold Hold) error {
	return p.about(hold, func(d *desk, now time.Time) { d.book.Release(now, hold.ID, hold.Token) })
}

// Cancel ends a request in whatever state it is, known or not.
func (p *InProcess) Cancel(_ context.Context, hold Hold) error {
	return p.about(hold, func(d *desk, now time.Time) { d.book.Cancel(now, hold.ID) })
}

// Extend is a sign of life.
func (p *InProcess) Extend(_ context.Context, hold Hold) (result admission.Result, _ error) {
	err := p.about(hold, func(d *desk, now time.Time) { result = d.book.Renew(now, hold.ID, hold.Token) })
	return result, err
}

func (p *InProcess) about(hold Hold, do func(*desk, time.Time)) error {
	d, err := p.desk(hold.Domain)
	if err == nil {
		err = hold.validate()
	}
	if err == nil {
		d.call(hold.ID, hold.Belief, func(now time.Time) { do(d, now) })
	}
	return err
}

// Explain tells where a request stands.
func (p *InProcess) Explain(_ context.Context, name, id string) (admission.Explanation, bool, error) {
	d, err := p.desk(name)
	if err != nil {
		return admission.Explanation{}, false, err
	}
	x, known := d.explain(id)
	return x, known, nil
}

// Status gives the book of a domain in numbers.
func (p *InProcess) Status(name string) (admission.Status, error) {
	d, err := p.desk(name)
	if err != nil {
		return admission.Status{}, err
	}
	return d.status(), nil
}

// Steer lets an operator change a domain while it is in use. The error matches
// admission.ErrInvalidLimits.
func (p *InProcess) Steer(name string, change func(now time.Time, book *admission.Book) error) error {
	d, err := p.desk(name)
	if err != nil {
		return err
	}
	var failed error
	d.call("", nil, func(now time.Time) { failed = change(now, d.book) })
	return failed
}

// Close takes nothing more, and ends what is being delivered or asked.
func (p *InProcess) Close(context.Context) error {
	p.mu.Lock()
	p.closed = true
	desks := p.desks
	p.mu.Unlock()
	for _, d := range desks {
		d.close()
	}
	return nil
}
