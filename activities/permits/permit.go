package permits

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/tidemill/tidemill/admission"
)

// Between two renewals of a permit: a third of its lease, within these bounds. The
// longest fits the usual lease of a minute however wrong this process' clock is.
const (
	leastRenewal   = 50 * time.Millisecond
	longestRenewal = 20 * time.Second
)

// ErrLost is matched by the error of a permit that ended while it was held.
var ErrLost = errors.New("permits: the permit is lost")

// LostError is the error behind [ErrLost].
type LostError struct {
	// Answer is how the permit ended: admission.AnswerHoldExceeded, say. Empty when
	// admission was not heard of for a whole lease.
	Answer admission.Answer
}

// Error says how it was lost.
func (e *LostError) Error() string {
	if e.Answer == "" {
		return fmt.Sprintf("%v: it could not be renewed", ErrLost)
	}
	return fmt.Sprintf("%v: %s", ErrLost, e.Answer)
}

// Unwrap makes errors.Is hold for ErrLost.
func (e *LostError) Unwrap() error { return ErrLost }

// Permit is held by a [Process] until it is released or lost. It is safe for
// concurrent use.
type Permit struct {
	pending *Pending
	token   uint64
	lease   time.Duration
	renewed time.Time     // when the book has surely heard of us
	lost    chan struct{} // closed once err stands

	mu  sync.Mutex
	err error
}

func newPermit(q *Pending, d admission.Decision) *Permit {
	now := time.Now()
	return &Permit{
		pending: q, token: d.Token, lease: max(d.Lease.Sub(now), 3*leastRenewal), renewed: now,
		lost: make(chan struct{}),
	}
}

// ID is the id of the permit, as a nested request names it as its Parent.
func (p *Permit) ID() string { return p.pending.request.ID }

// Token is the fencing token: it grows with every permit of the domain. What is
// done under the permit should carry it, so that a later holder's work is told from
// that of an earlier one.
func (p *Permit) Token() uint64 { return p.token }

// Lost is closed when the permit is lost: it was not renewed in time, or held for
// longer than is allowed. Work under it must end. It stays open after a release.
func (p *Permit) Lost() <-chan struct{} { return p.lost }

// Err is why the permit is lost, matching ErrLost; nil while it is not.
func (p *Permit) Err() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.err
}

// Within is a context that ends, with the cause, when the permit is lost.
func (p *Permit) Within(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	go func() {
		select {
		case <-p.lost:
			cancel(p.Err())
		case <-ctx.Done():
		}
	}()
	return ctx, func() { cancel(context.Canceled) }
}

// Release gives the permit back, and waits until that is heard. When ctx ends
// before, the error matches ErrUnanswered, and the release is on its way all the
// same. Releasing again, or a permit that is lost, does nothing.
func (p *Permit) Release(ctx context.Context) error {
	q := p.pending
	q.once.Do(func() { close(q.stop) })
	<-q.over
	if err := q.process.admitter.Release(context.WithoutCancel(ctx), q.hold(p.token)); err != nil {
		return err
	}
	return q.process.heard(ctx, q.request.ID)
}

// keep renews the permit until it is released or lost.
func (p *Permit) keep() {
	q := p.pending
	for sleep(min(max(p.lease/3, leastRenewal), longestRenewal), q.stop) {
		sent := time.Now()
		ctx, cancel := within(min(AnswerWithin, p.lease-sent.Sub(p.renewed)), q.stop)
		result, err := q.process.admitter.Extend(ctx, q.hold(p.token))
		cancel()
		switch {
		case err == nil && result == admission.ResultOK:
			p.renewed = sent
		case err == nil:
			p.lose(p.how())
			return
		case time.Since(p.renewed) >= p.lease:
			p.lose("")
			return
		}
	}
}

// how asks how the permit ended.
func (p *Permit) how() admission.Answer {
	q := p.pending
	ctx, cancel := within(AnswerWithin, q.stop)
	defer cancel()
	x, known, err := q.process.admitter.Explain(ctx, q.process.domain, q.request.ID)
	if err != nil || !known || x.Answer == admission.AnswerGranted {
		return admission.AnswerOwnerGone // as the book says of one that was not renewed
	}
	return x.Answer
}

// lose tells the holder. What may be left of the permit is given back: renewals that
// are still on their way could keep it.
func (p *Permit) lose(answer admission.Answer) {
	p.mu.Lock()
	p.err = &LostError{Answer: answer}
	p.mu.Unlock()
	close(p.lost)
	// An admitter that takes nothing more renews nothing more either.
	_ = p.pending.process.admitter.Release(context.Background(), p.pending.hold(p.token))
}
