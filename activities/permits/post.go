package permits

import (
	"context"
	"sync"
	"time"

	"github.com/tidemill/tidemill/admission"
)

const (
	// reachWithin bounds one round of deliveries or checks.
	reachWithin = 20 * time.Second
	// Between two rounds of which the first did not reach everybody.
	firstRetry   = time.Second
	longestRetry = 30 * time.Second
)

// post brings owners what was decided. One round is under way at a time, so what is
// decided meanwhile goes together; with nothing to bring there is no goroutine.
type post struct {
	owners Owners
	// again is what is still to be said when a message did not arrive.
	again func(m Message) []admission.Decision
	// gone hears of owners that have ended.
	gone func(o admission.Owner)

	mu      sync.Mutex
	waiting []Message
	rounds  chan struct{} // closed when the rounds under way are over; nil: none are
	stop    chan struct{} // closed with the post
	closed  bool
}

func newPost(owners Owners) *post { return &post{owners: owners, stop: make(chan struct{})} }

// add puts decisions into the post. Without anybody who reaches owners they are
// dropped.
func (p *post) add(decisions ...admission.Decision) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.owners == nil || p.closed || len(decisions) == 0 {
		return
	}
	p.waiting = Address(p.waiting, decisions...)
	if p.rounds == nil {
		p.rounds = make(chan struct{})
		go p.deliver(p.rounds)
	}
}

// deliver empties the post.
func (p *post) deliver(over chan struct{}) {
	defer close(over)
	retry := firstRetry
	for round := p.take(); len(round) > 0; round = p.take() {
		ctx, cancel := within(reachWithin, p.stop)
		became := p.owners.Deliver(ctx, round)
		cancel()
		if !p.delivered(round, became) {
			retry = firstRetry
			continue
		}
		if !sleep(retry, p.stop) {
			return
		}
		retry = min(2*retry, longestRetry)
	}
}

// take is the next round; none once the post is closed.
func (p *post) take() []Message {
	p.mu.Lock()
	defer p.mu.Unlock()
	round := p.waiting
	p.waiting = nil
	if len(round) == 0 || p.closed {
		p.rounds = nil
		return nil
	}
	return round
}

// delivered keeps what did not arrive for the next round, before what has come
// since. It tells whether there is any.
func (p *post) delivered(round []Message, became []Delivery) (failed bool) {
	var kept []Message
	for i, m := range round {
		switch {
		case i < len(became) && became[i] == Delivered:
		case i < len(became) && became[i] == OwnerGone:
			p.gone(m.Owner)
		default:
			failed = true
			kept = Address(kept, p.again(m)...)
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, m := range p.waiting {
		kept = Address(kept, m.Decisions...)
	}
	p.waiting = kept
	return failed
}

// flush waits until the post is empty, or ctx ends.
func (p *post) flush(ctx context.Context) {
	p.mu.Lock()
	over := p.rounds
	p.mu.Unlock()
	if over == nil {
		return
	}
	select {
	case <-over:
	case <-ctx.Done():
	}
}

// close drops what was not delivered, and waits for the round under way.
func (p *post) close() {
	p.mu.Lock()
	if !p.closed {
		p.closed = true
		close(p.stop)
	}
	over := p.rounds
	p.mu.Unlock()
	if over != nil {
		<-over
	}
}

// within is a context that ends after a while, and with stop.
func within(by time.Duration, stop <-chan struct{}) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(context.Background(), by)
	go func() {
		select {
		case <-stop:
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}

// sleep waits; false once stop is closed.
func sleep(by time.Duration, stop <-chan struct{}) bool {
	timer := time.NewTimer(by)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-stop:
		return false
	}
}
