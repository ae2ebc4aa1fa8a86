package permits

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/tidemill/tidemill/admission"
)

// Between two questions about a request that waits. Asking is a sign of life too.
const (
	firstPoll   = 100 * time.Millisecond
	longestPoll = 2 * time.Second
	leastPoll   = 5 * time.Millisecond
)

// Pending is a request of a [Process] that was granted or waits. It is safe for
// concurrent use.
type Pending struct {
	process *Process
	request admission.Request

	stop    chan struct{} // closed when the owner says the last word
	once    sync.Once     // closes stop
	decided chan struct{} // closed once permit or err stands
	over    chan struct{} // closed when nothing runs in the background

	mu     sync.Mutex
	latest admission.Decision

	permit *Permit
	err    error
}

func newPending(p *Process, request admission.Request) *Pending {
	return &Pending{
		process: p, request: request,
		stop: make(chan struct{}), decided: make(chan struct{}), over: make(chan struct{}),
	}
}

func (q *Pending) ask() Ask { return Ask{Domain: q.process.domain, Request: q.request} }

func (q *Pending) hold(token uint64) Hold {
	return Hold{Domain: q.process.domain, ID: q.request.ID, Token: token}
}

// Latest is the latest answer: while it waits, why and until when.
func (q *Pending) Latest() admission.Decision {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.latest
}

// Await waits for the permit until ctx ends, which does not end the request: it can
// be awaited again. The error matches ErrDenied when the request has ended.
func (q *Pending) Await(ctx context.Context) (*Permit, error) {
	select {
	case <-q.decided:
		return q.permit, q.err
	default:
	}
	select {
	case <-q.decided:
		return q.permit, q.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Cancel ends the request in whatever state it is; a permit is given back. It waits
// until that is heard; when ctx ends before, the error matches ErrUnanswered, and
// the cancel is on its way all the same.
func (q *Pending) Cancel(ctx context.Context) error {
	q.once.Do(func() { close(q.stop) })
	<-q.over
	if err := q.process.admitter.Cancel(context.WithoutCancel(ctx), q.hold(0)); err != nil {
		return err
	}
	return q.process.heard(ctx, q.request.ID)
}

// begin tends the request from its first answer on.
func (q *Pending) begin(d admission.Decision) {
	q.take(d, nil)
	go func() {
		defer close(q.over)
		if q.poll(); q.permit != nil {
			q.permit.keep()
		}
	}()
}

// poll asks until the request is granted, has ended, or is cancelled.
func (q *Pending) poll() {
	for pause := firstPoll; q.waits(); pause = min(2*pause, longestPoll) {
		if !sleep(q.until(pause), q.stop) {
			q.take(admission.Decision{ID: q.request.ID, Owner: q.request.Owner, Answer: admission.AnswerCancelled}, nil)
			return
		}
		ctx, cancel := within(AnswerWithin, q.stop)
		d, err := q.process.admitter.Submit(ctx, q.ask())
		cancel()
		if !errors.Is(err, ErrUnanswered) {
			q.take(d, err)
		}
	}
}

// until is when to ask next: after the pause, or when the book says that its answer
// may be another, if that is sooner.
func (q *Pending) until(pause time.Duration) time.Duration {
	if at := q.Latest().NextCheck; !at.IsZero() {
		pause = min(pause, max(time.Until(at), leastPoll))
	}
	return pause
}

func (q *Pending) waits() bool {
	select {
	case <-q.decided:
		return false
	default:
		return true
	}
}

// take takes an answer.
func (q *Pending) take(d admission.Decision, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case err != nil:
		q.err = err
	case d.Answer == admission.AnswerQueued, late(d):
		q.latest = d
		return
	case d.Answer == admission.AnswerGranted:
		q.latest, q.permit = d, newPermit(q, d)
	default:
		q.latest, q.err = d, &DeniedError{Decision: d}
	}
	close(q.decided)
}

// late tells whether a grant is heard of when its lease may have run out: it is
// asked for again. A repeated answer began a lease of its own.
func late(d admission.Decision) bool {
	return d.Answer == admission.AnswerGranted && !d.Repeated && d.Lease.Before(time.Now())
}
