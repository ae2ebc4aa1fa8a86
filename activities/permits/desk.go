package permits

import (
	"context"
	"slices"
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
	gauges gauges
	alarm  *time.Timer
	post   []Message // to be delivered, in order
	busy   bool      // somebody delivers
	closed bool
	stop   chan struct{} // closed with the desk
	work   sync.WaitGroup
}

func newDesk(domain string, book *admission.Book, options *InProcessOptions) *desk {
	d := &desk{domain: domain, book: book, options: options, stop: make(chan struct{})}
	d.gauges = newGauges(domain, options.Metrics, book.Limits())
	d.alarm = time.AfterFunc(time.Hour, d.ring)
	d.alarm.Stop()
	return d
}

// carry carries calls out as one turn of the book, and answers them. What others
// must hear of leaves by post. Not ok: the desk is closed.
func (d *desk) carry(calls ...Call) (answers []CallAnswer, ok bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil, false
	}
	batch := Batch{Calls: calls}
	result, moves := batch.Carry(d.book, time.Now())
	d.follow(moves)
	return result.Answers, true
}

// change is a change of the whole book.
func (d *desk) change(do func(now time.Time) error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return ErrClosed
	}
	now := time.Now()
	err := do(now)
	d.gauges = newGauges(d.domain, d.options.Metrics, d.book.Limits())
	d.follow(Decide(d.book, now))
	return err
}

// ring does what is due by the clock.
func (d *desk) ring() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.closed {
		d.follow(Decide(d.book, time.Now()))
	}
}

// follow does what follows from a turn. The lock is held.
func (d *desk) follow(m Moves) {
	if d.alarm.Stop(); !m.Next.IsZero() {
		d.alarm.Reset(time.Until(m.Next))
	}
	d.gauges.count(d.book, m.Decisions)
	d.mail(m.Others...)
	d.check(m.Ask)
	d.deliver()
}

// mail puts decisions into the post, those of one owner together.
func (d *desk) mail(decisions ...admission.Decision) {
	if d.options.Owners == nil {
		return
	}
	for _, decision := range decisions {
		at := slices.IndexFunc(d.post, func(m Message) bool { return m.Owner == decision.Owner })
		if at < 0 {
			at = len(d.post)
			d.post = append(d.post, Message{Owner: decision.Owner})
		}
		d.post[at].Decisions = append(d.post[at].Decisions, decision)
	}
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
	if d.closed {
		return nil
	}
	round := d.post
	d.post = nil
	d.busy = len(round) > 0
	return round
}

// delivered ends what owners hold that are gone, and keeps for later what could not
// be delivered: it goes before what has come since.
func (d *desk) delivered(round []Message, became []Delivery) (again bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return false
	}
	now, since := time.Now(), d.post
	d.post = nil
	for i, m := range round {
		switch {
		case i < len(became) && became[i] == Delivered:
		case i < len(became) && became[i] == OwnerGone:
			d.book.Gone(now, m.Owner)
		default:
			d.mail(d.today(now, m)...)
			again = true
		}
	}
	for _, m := range since {
		d.mail(m.Decisions...)
	}
	d.follow(Decide(d.book, now))
	return again
}

// today are the decisions of a message as they stand now: a permit may have another
// lease, or have ended.
func (d *desk) today(now time.Time, m Message) (list []admission.Decision) {
	ids := make([]string, len(m.Decisions))
	for i := range m.Decisions {
		ids[i] = m.Decisions[i].ID
	}
	for _, decision := range d.book.Recall(now, m.Owner, ids) {
		if decision.Answer != admission.AnswerReleased {
			list = append(list, decision)
		}
	}
	return list
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
	d.follow(Decide(d.book, now))
}

// believes compares the book with what an owner believes. What it waits for, or
// holds, although it has been decided otherwise was lost on the way, and is told
// again.
func (d *desk) believes(now time.Time, f Finding) {
	if f.Belief == nil {
		return
	}
	d.book.Confirm(now, admission.Confirmation{
		Owner: f.Owner, Upto: f.Belief.Upto, IDs: slices.Concat(f.Belief.Held, f.Belief.Waited),
	})
	for _, told := range d.book.Recall(now, f.Owner, slices.Concat(f.Belief.Waited, f.Belief.Held)) {
		if told.Final() && told.Answer != admission.AnswerReleased || slices.Contains(f.Belief.Waited, told.ID) {
			d.mail(told)
		}
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
