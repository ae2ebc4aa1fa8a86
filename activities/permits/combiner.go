package permits

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"go.temporal.io/sdk/client"

	"github.com/tidemill/tidemill/admission"
)

// flushWithin is how long [Combiner.Close] tries to have everything heard.
const flushWithin = 5 * time.Second

// ErrClosed is returned by an admitter that was closed.
var ErrClosed = errors.New("permits: the admitter is closed")

// CombinerOptions configure a [Combiner].
type CombinerOptions struct {
	Client    client.Client
	TaskQueue string // of the semaphores; see [TaskQueue]
	// Limits are what this process configures, by domain. A domain without an
	// entry keeps the limits that it has.
	Limits map[string]admission.Limits
	// Owners has this process bring owners what the semaphore decided along with a
	// batch of it, which spares the semaphore the work. What is lost on the way, with
	// this process for one, is found when the lease of the owner runs out. Nil: the
	// semaphore delivers itself.
	Owners Owners
	// Semaphores are reached instead of those behind Client. Nil means those.
	Semaphores Semaphores
}

// Combiner is the [Admitter] of one process: it gathers what the process asks the
// semaphore workflow of a domain, and sends it in batches. A call is sent at once
// while no batch is out, and waits for the answer to the batch otherwise, so there
// is no delay without load, and few updates under load. A second batch goes out
// only behind one that is slow, or when more waits than a batch holds.
//
// A semaphore needs no setup: it is started with the first batch. The limits go
// with the first batch of the process, and again whenever a semaphore is started
// anew. A batch that was not answered is sent again; the book knows what it has
// seen by the ids.
type Combiner struct {
	semaphores Semaphores
	limits     map[string]admission.Limits
	post       *post // nil: the semaphores deliver themselves

	mu     sync.Mutex
	lines  map[string]*line
	closed bool
}

// NewCombiner makes a combiner. The error matches admission.ErrInvalidLimits.
func NewCombiner(o CombinerOptions) (*Combiner, error) {
	limits, err := checked(o.Limits)
	if err != nil {
		return nil, err
	}
	c := &Combiner{semaphores: o.Semaphores, limits: limits, lines: map[string]*line{}}
	if c.semaphores == nil {
		c.semaphores = TemporalSemaphores(o.Client, o.TaskQueue, limits)
	}
	if o.Owners != nil {
		c.post = newPost(o.Owners)
		c.post.again, c.post.gone = timely, func(admission.Owner) {} // found when its lease runs out
	}
	return c, nil
}

// timely are the decisions of a message that are worth another try: not a permit
// whose lease has run out meanwhile.
func timely(m Message) (list []admission.Decision) {
	for _, d := range m.Decisions {
		if d.Lease.IsZero() || d.Lease.After(time.Now()) {
			list = append(list, d)
		}
	}
	return list
}

// checked is a copy of limits by domain, in which the default domain has its name.
func checked(given map[string]admission.Limits) (map[string]admission.Limits, error) {
	limits := make(map[string]admission.Limits, len(given))
	var faults []error
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if err := given[name].Validate(); err != nil {
			faults = append(faults, fmt.Errorf("domain %q: %w", domain(name), err))
		}
		limits[domain(name)] = given[name]
	}
	return limits, errors.Join(faults...)
}

// domain is a domain by the name that it has.
func domain(name string) string {
	if name == "" {
		return DefaultDomain
	}
	return name
}

// line finds or makes the line of a domain.
func (c *Combiner) line(name string) (*line, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	name = domain(name)
	if c.closed {
		return nil, ErrClosed
	}
	if c.lines[name] == nil {
		var limits *admission.Limits
		if configured, ok := c.limits[name]; ok {
			limits = &configured
		}
		c.lines[name] = newLine(name, c.semaphores, c.post, limits)
	}
	return c.lines[name], nil
}

// call sends one call on its way.
func (c *Combiner) call(name string, wire Call, belief *admission.Confirmation) (*call, error) {
	l, err := c.line(name)
	if err != nil {
		return nil, err
	}
	return l.add(newCall(wire, belief))
}

// ask sends a request on its way, behind what is given back with it.
func (c *Combiner) ask(ask Ask) (*line, *call, error) {
	calls := make([]*call, 0, len(ask.Returns)+1)
	for _, hold := range ask.Returns {
		if err := hold.validate(); err != nil {
			return nil, nil, err
		}
		calls = append(calls, newCall(Call{Release: &Named{hold.ID, hold.Token}}, nil))
	}
	l, err := c.line(ask.Domain)
	if err != nil {
		return nil, nil, err
	}
	made, err := l.add(append(calls, newCall(Call{Submit: &ask.Request}, ask.Belief))...)
	return l, made, err
}

// Submit asks for a permit. It waits for the answer until ctx ends, at most
// AnswerWithin.
func (c *Combiner) Submit(ctx context.Context, ask Ask) (admission.Decision, error) {
	if err := ask.Request.Validate(); err != nil {
		return admission.Decision{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, AnswerWithin)
	defer cancel()
	l, made, err := c.ask(ask)
	if err != nil {
		return admission.Decision{}, fmt.Errorf("%w: %w", ErrUnanswered, err)
	}
	select {
	case <-made.heard:
	case <-ctx.Done():
		if cause, left := l.leave(made); left {
			return admission.Decision{}, unanswered(ctx, cause)
		}
	}
	if made.err != nil {
		return admission.Decision{}, made.err
	}
	return made.answer.decision()
}

// unanswered says why nothing was heard.
func unanswered(ctx context.Context, cause error) error {
	if cause == nil {
		return fmt.Errorf("%w: %w", ErrUnanswered, ctx.Err())
	}
	return fmt.Errorf("%w: %w: %w", ErrUnanswered, ctx.Err(), cause)
}

// Release gives a permit back. It returns at once, and the release is sent until it
// is heard; see [Combiner.Flush].
func (c *Combiner) Release(_ context.Context, hold Hold) error {
	if err := hold.validate(); err != nil {
		return err
	}
	_, err := c.call(hold.Domain, Call{Release: &Named{hold.ID, hold.Token}}, hold.Belief)
	return err
}

// Cancel ends a request in whatever state it is. As Release.
func (c *Combiner) Cancel(_ context.Context, hold Hold) error {
	if err := hold.validate(); err != nil {
		return err
	}
	_, err := c.call(hold.Domain, Call{Cancel: hold.ID}, hold.Belief)
	return err
}

// Extend is a sign of life. It waits for the answer as Submit does, and is sent
// until it is heard.
func (c *Combiner) Extend(ctx context.Context, hold Hold) (admission.Result, error) {
	if err := hold.validate(); err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, AnswerWithin)
	defer cancel()
	made, err := c.call(hold.Domain, Call{Renew: &Named{hold.ID, hold.Token}}, hold.Belief)
	if err != nil {
		return "", err
	}
	select {
	case <-made.heard:
		return made.answer.Result, made.err
	case <-ctx.Done():
		return "", unanswered(ctx, nil)
	}
}

// Flush waits until everything that was said about a request so far is heard.
func (c *Combiner) Flush(ctx context.Context, name, id string) error {
	l, err := c.line(name)
	if err != nil {
		return err
	}
	for _, made := range l.about(id) {
		select {
		case <-made.heard:
		case <-ctx.Done():
			return unanswered(ctx, nil)
		}
	}
	return nil
}

// Explain tells where a request stands.
func (c *Combiner) Explain(ctx context.Context, name, id string) (admission.Explanation, bool, error) {
	list, err := c.semaphores.Standings(ctx, domain(name), id)
	if err != nil {
		return admission.Explanation{}, false, err
	}
	for _, s := range list {
		if s.Explanation.ID == id {
			return s.Explanation, true, nil
		}
	}
	return admission.Explanation{}, false, nil
}

// Close takes nothing more and tries for a few seconds, at most until ctx ends, to
// have everything heard that was taken over. The error says how many calls were
// not.
func (c *Combiner) Close(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, flushWithin)
	defer cancel()
	c.mu.Lock()
	c.closed = true
	lines := slices.Collect(maps.Values(c.lines))
	c.mu.Unlock()
	for _, l := range lines {
		l.close()
	}
	unheard := 0
	for _, l := range lines {
		select {
		case <-l.drained:
		case <-ctx.Done():
			unheard += l.abandon()
		}
	}
	if c.post != nil {
		c.post.flush(ctx)
		c.post.close()
	}
	if unheard > 0 {
		return fmt.Errorf("%w: %d calls were not heard", ErrClosed, unheard)
	}
	return nil
}
