package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	"go.temporal.io/sdk/temporal"
)

// gauge counts how much is under way at once, and how much of the permits that is.
type gauge struct {
	mu          sync.Mutex
	limit       int
	now         int
	first, last time.Time     // the first began, the last ended
	changed     time.Time     // when now did
	used        time.Duration // of all permits together, until then
	full, begun moment        // all permits were first in use; the last work began
}

// moment is what had been used of the permits at a time.
type moment struct {
	at   time.Time
	used time.Duration
}

// reset begins anew.
func (g *gauge) reset() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.first, g.last = time.Time{}, time.Time{}
	g.changed, g.used = time.Time{}, 0
	g.full, g.begun = moment{}, moment{}
}

// span is the time from the first beginning to the last end.
func (g *gauge) span() time.Duration {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.last.Sub(g.first)
}

// share is the share of the permits that was in use while somebody waited for one:
// from when all were first in use to the beginning of the last work.
func (g *gauge) share() float64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	whole := g.begun.at.Sub(g.full.at) * time.Duration(g.limit)
	return float64(g.begun.used-g.full.used) / float64(whole)
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
	now := g.change(1)
	if g.first.IsZero() {
		g.first = now
	}
	g.begun = moment{now, g.used}
	if g.now == g.limit && g.full.at.IsZero() {
		g.full = g.begun
	}
	return nil
}

func (g *gauge) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.last = g.change(-1)
}

// change counts what was used until now.
func (g *gauge) change(by int) time.Time {
	now := time.Now()
	if g.now > 0 {
		g.used += now.Sub(g.changed) * time.Duration(g.now)
	}
	g.now, g.changed = g.now+by, now
	return now
}
