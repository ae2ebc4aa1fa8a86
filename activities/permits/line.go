package permits

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/tidemill/tidemill/admission"
)

// What a line does when.
const (
	// slowAfter is how long one batch may be out before a second may follow it.
	slowAfter = 250 * time.Millisecond
	// sendWithin bounds one sending. It is long, for the server counts an update
	// that nobody reads as being in flight; who waits for an answer waits
	// AnswerWithin.
	sendWithin = 10 * time.Second

	firstPause   = 20 * time.Millisecond // after a sending that failed
	longestPause = 2 * time.Second
)

// line is the calls of one domain. While nothing is out a call is sent at once;
// while a batch is out the others gather behind it. It needs a goroutine for each
// batch that is out, of which there are at most two, and none otherwise.
type line struct {
	domain     string
	semaphores Semaphores
	post       *post // nil: the semaphore delivers itself

	mu      sync.Mutex
	seq     uint64
	queue   []*call           // to be sent, in order of arrival
	out     []*batch          // being sent
	flying  map[string]bool   // ids of the calls in out
	limits  *admission.Limits // to be sent until they are heard; nil: nothing to say
	given   *admission.Limits // what this process configures; nil: nothing
	failed  int               // sendings in a row
	cause   error             // of the latest
	after   time.Time         // nothing is sent before
	pace    pace
	alarm   *time.Timer // calls pump; nil: not needed
	closed  bool
	dead    bool          // closed, and not even tried any more
	drained chan struct{} // closed when the line is closed and empty
}

func newLine(domain string, semaphores Semaphores, post *post, limits *admission.Limits) *line {
	return &line{
		domain: domain, semaphores: semaphores, post: post, limits: limits, given: limits,
		flying: map[string]bool{}, drained: make(chan struct{}),
	}
}

// add puts calls at the end of the line, so that they may go together, and gives
// the last.
func (l *line) add(calls ...*call) (last *call, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil, ErrClosed
	}
	for _, c := range calls {
		last = l.join(c)
	}
	l.pump()
	return last, nil
}

// join puts a call at the end. One that waits there already, saying the same, stands
// for it. The lock is held.
func (l *line) join(c *call) *call {
	if at := slices.IndexFunc(l.queue, c.same); at >= 0 && c.wire.Submit == nil {
		waits := l.queue[at]
		waits.belief = newer(waits.belief, c.belief)
		return waits
	}
	l.seq++
	c.seq, c.made = l.seq, time.Now()
	if c.wire.Release != nil || c.wire.Cancel != "" {
		l.pace.released(c.made, c.id)
	}
	l.queue = append(l.queue, c)
	return c
}

// leave says that the caller of a submit waits no more. One that was not sent yet,
// or is to be sent again, is taken out. Not ok: it has been answered meanwhile.
func (l *line) leave(c *call) (cause error, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case <-c.heard:
		return nil, false
	default:
	}
	c.left = true
	l.queue = slices.DeleteFunc(l.queue, func(o *call) bool { return o == c })
	l.rest()
	return l.cause, true
}

// about lists the calls of one request that are not heard yet.
func (l *line) about(id string) (list []*call) {
	l.mu.Lock()
	defer l.mu.Unlock()
	of := func(calls []*call) {
		for _, c := range calls {
			if c.id == id {
				list = append(list, c)
			}
		}
	}
	for _, b := range l.out {
		of(b.calls)
	}
	of(l.queue)
	return list
}

// pump sends what may be sent now, and sets the alarm for what may be later. The
// lock is held.
func (l *line) pump() {
	for len(l.queue) > 0 {
		now := time.Now()
		if at := l.next(now); at.After(now) {
			l.wakeAt(at.Sub(now))
			return
		} else if at.IsZero() {
			return
		}
		calls, rest := gather(l.queue, l.flying)
		if len(calls) == 0 {
			return // the answers to what is out come first
		}
		l.queue = rest
		l.send(&batch{calls: calls, begun: now})
	}
}

// next is when the next batch may go; zero: after one that is out.
func (l *line) next(now time.Time) time.Time {
	at := now
	switch {
	case len(l.out) > 1:
		return time.Time{}
	case len(l.out) == 1 && len(l.queue) <= MaxCalls:
		at = l.out[0].begun.Add(slowAfter)
	case len(l.queue) <= MaxCalls && !l.closed:
		at = l.due()
	}
	if l.after.After(at) {
		return l.after
	}
	if at.Before(now) {
		return now
	}
	return at
}

// due is when the first of the calls that wait should go.
func (l *line) due() (at time.Time) {
	for i, c := range l.queue {
		if due := l.pace.due(c); i == 0 || due.Before(at) {
			at = due
		}
	}
	return at
}

func (l *line) wakeAt(in time.Duration) {
	if l.alarm == nil {
		l.alarm = time.AfterFunc(in, l.wake)
		return
	}
	l.alarm.Reset(in)
}

func (l *line) wake() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.pump()
}

// send sends a batch. One that was refused goes without what it can do without.
func (l *line) send(b *batch) {
	if lone := b.calls[0].alone; !lone || b.submits() > 0 {
		b.limits = l.limits
	}
	ctx, cancel := context.WithTimeout(context.Background(), sendWithin)
	b.stop = cancel
	for _, c := range b.calls {
		l.flying[c.id] = true
	}
	l.out = append(l.out, b)
	wire, first := b.wire()
	wire.Delivers = l.post != nil
	go func() {
		defer cancel()
		result, err := l.semaphores.Send(ctx, l.domain, wire)
		if err == nil && len(result.Answers) != len(wire.Calls) {
			err = fmt.Errorf("permits: %d answers to %d calls", len(result.Answers), len(wire.Calls))
		}
		if err != nil {
			l.lost(b, err)
			return
		}
		if l.post != nil {
			for _, m := range result.Messages {
				l.post.add(m.Decisions...)
			}
		}
		l.heard(b, result, first)
	}()
}

// heard settles the calls of a batch, whose answers begin at first. A semaphore without
// limits is given them with the next.
func (l *line) heard(b *batch, result BatchResult, first int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, c := range b.calls {
		c.settle(result.Answers[first+i], nil)
	}
	l.pace.heard(time.Now(), b, result, first)
	if b.limits == l.limits {
		l.limits = nil
	}
	if result.Bare {
		l.limits = l.given
	}
	l.failed, l.cause, l.after = 0, nil, time.Time{}
	l.land(b)
}

// lost has the calls of a batch sent again, but for those that nobody waits for:
// their owner takes back what may have come of them. The book knows the calls it
// has seen.
func (l *line) lost(b *batch, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cause = err
	refused := errors.Is(err, ErrRefused)
	if !refused {
		l.failed++
		l.after = time.Now().Add(pause(l.failed))
	}
	for _, c := range b.calls {
		switch {
		case c.left:
		case l.dead:
			c.settle(CallAnswer{}, ErrClosed)
		case l.closed && c.wire.Submit != nil:
			c.settle(CallAnswer{}, fmt.Errorf("%w: %w: %w", ErrUnanswered, ErrClosed, err))
		case refused && c.alone && c.belief != nil:
			c.belief = nil // it may be this that is refused
			l.queue = append(l.queue, c)
		case refused && c.alone:
			c.settle(CallAnswer{}, fmt.Errorf("%w: %w", admission.ErrInvalidRequest, err))
		default:
			c.alone = c.alone || refused
			l.queue = append(l.queue, c)
		}
	}
	slices.SortFunc(l.queue, func(x, y *call) int { return cmp.Compare(x.seq, y.seq) })
	l.land(b)
}

// land takes a batch off the list of those that are out.
func (l *line) land(b *batch) {
	for _, c := range b.calls {
		delete(l.flying, c.id)
	}
	l.out = slices.DeleteFunc(l.out, func(o *batch) bool { return o == b })
	l.pump()
	l.rest()
}

// rest says that a closed line is empty, and stops the alarm of one that has
// nothing to send.
func (l *line) rest() {
	if len(l.queue) > 0 {
		return
	}
	if l.alarm != nil {
		l.alarm.Stop()
	}
	if !l.closed || len(l.out) > 0 {
		return
	}
	select {
	case <-l.drained:
	default:
		close(l.drained)
	}
}

// pause is how long to wait after so many failures in a row: the first time
// nearly nothing, for a semaphore that continues as new is there again at once.
func pause(failed int) time.Duration {
	longest := min(firstPause<<min(failed-1, 20), longestPause)
	return longest/2 + rand.N(longest/2)
}

// close takes nothing more. Submits that were not sent are given up.
func (l *line) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	defer l.pump()
	l.queue = slices.DeleteFunc(l.queue, func(c *call) bool {
		if c.wire.Submit != nil {
			c.settle(CallAnswer{}, fmt.Errorf("%w: %w", ErrUnanswered, ErrClosed))
		}
		return c.wire.Submit != nil
	})
	l.rest()
}

// abandon ends what a closed line has not been able to say, and gives the number
// of calls.
func (l *line) abandon() (unheard int) {
	l.mu.Lock()
	l.dead = true
	unheard = len(l.queue)
	for _, c := range l.queue {
		c.settle(CallAnswer{}, ErrClosed)
	}
	l.queue = nil
	for _, b := range l.out {
		unheard += len(b.calls)
		b.stop()
	}
	l.rest()
	l.mu.Unlock()
	<-l.drained
	return unheard
}
