package permits

import (
	"sync"
	"time"

	"github.com/tidemill/tidemill/admission"
)

// desk is the book of one domain, with the clock that it does not have itself and
// the post that leaves it.
type desk struct {
	domain  string
	options *InProcessOptions

	mu     sync.Mutex
	book   *admission.Book
	gauges gauges
	post   *post
	alarm  *time.Timer
	closed bool
	stop   chan struct{} // closed with the desk
	work   sync.WaitGroup
}

func newDesk(domain string, book *admission.Book, options *InProcessOptions) *desk {
	d := &desk{domain: domain, book: book, options: options, stop: make(chan struct{})}
	d.gauges = newGauges(domain, options.Metrics, book.Limits())
	d.post = newPost(options.Owners)
	d.post.again, d.post.gone = d.today, d.gone
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
	d.post.add(m.Others...)
	d.check(m.Ask)
}

// gone ends what an owner holds and waits for.
func (d *desk) gone(o admission.Owner) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return
	}
	now := time.Now()
	d.book.Gone(now, o)
	d.follow(Decide(d.book, now))
}

// today are the decisions of a message as they stand now.
func (d *desk) today(m Message) []admission.Decision {
	d.mu.Lock()
	defer d.mu.Unlock()
	return m.Today(d.book, time.Now())
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
		ctx, cancel := within(reachWithin, d.stop)
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
	d.post.add(Learn(d.book, now, findings)...)
	d.follow(Decide(d.book, now))
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

// close stops the clock and waits for the work under way.
func (d *desk) close() {
	d.mu.Lock()
	if !d.closed {
		d.closed = true
		close(d.stop)
	}
	d.alarm.Stop()
	d.mu.Unlock()
	d.post.close()
	d.work.Wait()
}
