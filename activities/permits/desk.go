package permits

import (
	"context"
	"sync"
	"time"

	"github.com/tidemill/tidemill/admission"
)

const (
	// tellAgain is how long after a failed delivery the next is tried.
	tellAgain = time.Second
	// reachWithin bounds one round of deliveries or checks.
	reachWithin = 20 * time.Second
)

// desk is the book of one domain, with the clock that it does not have itself and
// the post that leaves it.
type desk struct {
	domain  string
	options *InProcessOptions

	mu     sync.Mutex
	book   *admission.Book
	alarm  *time.Timer
	post   []Message // to be delivered, in order
	busy   bool      // somebody delivers
	closed bool
	stop   chan struct{} // closed with the desk
	work   sync.WaitGroup
}

func newDesk(domain string, book *admission.Book, options *InProcessOptions) *desk {
	d := &desk{domain: domain, book: book, options: options, stop: make(chan struct{})}
	d.alarm = time.AfterFunc(time.Hour, d.ring)
	d.alarm.Stop()
	return d
}

// call is one call about a request, and what follows from it. It gives the latest
// decision on that request; those on others leave by post.
func (d *desk) call(id string, belief *admission.Confirmation, do func(now time.Time)) (about admission.Decision) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return about
	}
	now := time.Now()
	if belief != nil {
		d.book.Confirm(now, *belief)
	}
	do(now)
	for _, decision := range d.turn(now) {
		if decision.ID == id {
			about = decision
			continue
		}
		d.mail(decision)
	}
	d.deliver()
	return about
}

// ring does what is due by the clock.
func (d *desk) ring() { d.call("", nil, func(time.Time) {}) }

// turn lets the book decide until it is done, and sets the alarm.
func (d *desk) turn(now time.Time) (all []admission.Decision) {
	var ask []admission.Owner
	next := time.Time{}
	for more := true; more; {
		turn := d.book.Decide(now)
		all = append(all, turn.Decisions...)
		ask = append(ask, turn.Ask...)
		next, more = turn.Next, turn.More
	}
	if d.alarm.Stop(); !next.IsZero() {
		d.alarm.Reset(time.Until(next))
	}
	if observe := d.options.Observe; observe != nil && len(all) > 0 {
		observe(d.domain, all, d.book.Status(now))
	}
	d.check(ask)
	return all
}

// mail puts a decision into the post. Owners that are processes ask again.
func (d *desk) mail(decision admission.Decision) {
	if decision.Owner.Workflow == "" || d.options.Owners == nil {
		return
	}
	for i := range d.post {
		if m := &d.post[i]; m.Owner == decision.Owner {
			m.Decisions = append(m.Decisions, decision)
			return
		}
	}
	d.post = append(d.post, Message{Owner: decision.Owner, Decisions: []admission.Decision{decision}})
}

// deliver empties the post, unless somebody does already.
func (d *desk) deliver() {
	if d.busy || d.closed || len(d.post) == 0 {
		return
	}
	d.busy = true
	d.work.Go(func() {
		for round := d.take(); len(round) > 0; round = d.take() {
			ctx, cancel := d.within()
			became := d.options.Owners.Deliver(ctx, round)
			cancel()
			if d.delivered(round, became) && !d.wait(tellAgain) {
				return
			}
		}
	})
}

// take is the next round of the post.
func (d *desk) take() []Message {
	d.mu.Lock()
	defer d.mu.Unlock()
	round := d.post
	d.post = nil
	if len(round) == 0 {
		d.busy = false
	}
	return round
}

// delivered ends what owners hold that are gone, and keeps for later what could not
// be delivered: it goes before what has come since.
func (d *desk) delivered(round []Message, became []Delivery) (again bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	now, since := time.Now(), d.post
	d.post = nil
	for i, m := range round {
		switch {
		case i < len(became) && became[i] == Delivered:
		case i < len(became) && became[i] == OwnerGone:
			d.book.Gone(now, m.Owner)
		default:
			d.post, again = append(d.post, m), true
		}
	}
	for _, m := range since {
		for _, decision := range m.Decisions {
			d.mail(decision)
		}
	}
	d.settle(now)
	return again
}

// settle is a turn of which every decision leaves by post. Those on owners that
// are gone go nowhere.
func (d *desk) settle(now time.Time) {
	for _, decision := range d.turn(now) {
		if decision.Answer != admission.AnswerOwnerGone {
			d.mail(decision)
		}
	}
}

// check finds out about the owners whose lease ran out.
func (d *desk) check(ask []admission.Owner) {
	var owners []admission.Owner
	for _, o := range ask {
		if o.Workflow != "" {
			owners = append(owners, o)
		}
	}
	if len(owners) == 0 || d.closed || d.options.Owners == nil {
		return
	}
	d.work.Go(func() {
		ctx, cancel := d.within()
		defer cancel()
		d.found(d.options.Owners.Check(ctx, owners))
	})
}

// found tells the book what was found out.
func (d *desk) found(findings []Finding) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return
	}
	now := time.Now()
	for _, f := range findings {
		switch f.Life {
		case LifeClosed:
			d.book.Gone(now, f.Owner)
		case LifeOpen:
			d.book.Alive(now, f.Owner)
			d.believes(now, f)
		case LifeUnknown: // asked again after another lease
		}
	}
	d.settle(now)
	d.deliver()
}

// believes compares the book with what an owner believes. What it waits for
// although it has been decided was lost on the way, and is told again.
func (d *desk) believes(now time.Time, f Finding) {
	if f.Belief == nil {
		return
	}
	d.book.Confirm(now, f.Belief.Confirmation(f.Owner))
	for _, id := range f.Belief.Waited {
		x, known := d.book.Explain(now, id)
		if !known || x.Answer == admission.AnswerQueued {
			continue
		}
		d.mail(admission.Decision{
			ID: id, Owner: f.Owner, Agent: x.Agent, Answer: x.Answer,
			Token: x.Token, Lease: x.Lease, Repeated: true,
		})
	}
}

func (d *desk) explain(id string) (admission.Explanation, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.book.Explain(time.Now(), id)
}

func (d *desk) status() admission.Status {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.book.Status(time.Now())
}

// within is the context of work for the desk: it ends with the desk.
func (d *desk) within() (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(context.Background(), reachWithin)
	d.work.Go(func() {
		select {
		case <-d.stop:
			cancel()
		case <-ctx.Done():
		}
	})
	return ctx, cancel
}

// wait waits; false once the desk is closed.
func (d *desk) wait(by time.Duration) bool {
	timer := time.NewTimer(by)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-d.stop:
		return false
	}
}

// close stops the clock and waits for the work under way.
func (d *desk) close() {
	d.mu.Lock()
	if !d.closed {
		d.closed = true
		close(d.stop)
	}
	d.alarm.Stop()
	d.mu.Unlock()
	d.work.Wait()
}
