package permits

import (
	"context"
	"fmt"
	"sync"
	"time"

	"go.temporal.io/sdk/client"

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
	// Metrics counts the decisions, as the semaphores do. Nil: nobody does.
	Metrics client.MetricsHandler
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
	book.BeginAfter(uint64(max(time.Now().UnixMicro(), 0))) //nolint:gosec // not negative
	d := newDesk(name, book, &p.options)
	p.desks[name] = d
	return d, nil
}

// Submit asks for a permit.
func (p *InProcess) Submit(_ context.Context, ask Ask) (admission.Decision, error) {
	if err := ask.Request.Validate(); err != nil {
		return admission.Decision{}, err
	}
	var calls []Call
	for _, hold := range ask.Returns {
		if err := hold.validate(); err != nil {
			return admission.Decision{}, err
		}
		calls = append(calls, Call{Release: &Named{hold.ID, hold.Token}})
	}
	answer, err := p.call(ask.Domain, ask.Belief, append(calls, Call{Submit: &ask.Request})...)
	if err != nil {
		return admission.Decision{}, fmt.Errorf("%w: %w", ErrUnanswered, err)
	}
	return answer.decision()
}

// Release gives a permit back.
func (p *InProcess) Release(_ context.Context, hold Hold) error {
	_, err := p.about(hold, Call{Release: &Named{hold.ID, hold.Token}})
	return err
}

// Cancel ends a request in whatever state it is, known or not.
func (p *InProcess) Cancel(_ context.Context, hold Hold) error {
	_, err := p.about(hold, Call{Cancel: hold.ID})
	return err
}

// Flush has nothing to wait for: a release is heard when it returns.
func (p *InProcess) Flush(context.Context, string, string) error { return nil }

// Extend is a sign of life.
func (p *InProcess) Extend(_ context.Context, hold Hold) (admission.Result, error) {
	answer, err := p.about(hold, Call{Renew: &Named{hold.ID, hold.Token}})
	return answer.Result, err
}

func (p *InProcess) about(hold Hold, call Call) (CallAnswer, error) {
	if err := hold.validate(); err != nil {
		return CallAnswer{}, err
	}
	return p.call(hold.Domain, hold.Belief, call)
}

// call carries out calls, after what their owner believes, and gives the last answer.
func (p *InProcess) call(name string, belief *admission.Confirmation, calls ...Call) (CallAnswer, error) {
	d, err := p.desk(name)
	if err != nil {
		return CallAnswer{}, err
	}
	if belief != nil {
		calls = append([]Call{{Confirm: belief}}, calls...)
	}
	answers, ok := d.carry(calls...)
	if !ok {
		return CallAnswer{}, ErrClosed
	}
	return answers[len(answers)-1], nil
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

// Steer makes an operator's change to a domain. The error matches ErrInvalidSteer.
func (p *InProcess) Steer(name string, change Steer) error {
	if err := change.Check(); err != nil {
		return err
	}
	d, err := p.desk(name)
	if err != nil {
		return err
	}
	return d.change(func(now time.Time) error { return change.Apply(d.book, now) })
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
