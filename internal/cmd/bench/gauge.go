package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	"go.temporal.io/sdk/temporal"
)

// gauge counts how much is under way at once, and when the first began and the
// last ended.
type gauge struct {
	mu          sync.Mutex
	limit       int
	now         int
	first, last time.Time
}

// reset begins anew.
func (g *gauge) reset() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.first, g.last = time.Time{}, time.Time{}
}

// span is the time from the first beginning to the last end.
func (g *gauge) span() time.Duration {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.last.Sub(g.first)
}

// work is an action that takes so long. It fails when more is under way than
// permits allow, so that nobody wins a contest by giving too many.
func (g *gauge) work(length time.Duration) func(context.Context, input) (int, error) {
	return func(ctx context.Context, in input) (int, error) {
		if err := g.enter(); err != nil {
			return 0, err
		}
		defer g.leave()
		if length > 0 {
			timer := time.NewTimer(length)
			defer timer.Stop()
			select {
			case <-timer.C:
			case <-ctx.Done():
				return 0, ctx.Err()
			}
		}
		return add(ctx, in)
	}
}

func (g *gauge) enter() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.now == g.limit {
		return temporal.NewNonRetryableApplicationError(fmt.Sprintf("more than %d at once", g.limit), "too_many", nil)
	}
	g.now++
	if g.first.IsZero() {
		g.first = time.Now()
	}
	return nil
}

func (g *gauge) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.now--
	g.last = time.Now()
}
