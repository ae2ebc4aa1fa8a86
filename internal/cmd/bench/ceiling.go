package main

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/tidemill/tidemill/activities/permits"
	"github.com/tidemill/tidemill/admission"
)

// How long one load of the ceiling lasts, and when it counts as grown.
const (
	ceilingLength = 5 * time.Second
	ceilingGrowth = 1.05
	ceilingMost   = 1024
)

// ceiling measures how many permits a second one semaphore gives and takes back, to
// askers in this process that do nothing else. They are doubled until that brings
// no more.
func (b *bench) ceiling(ctx context.Context) (err error) {
	if err := b.serve(ctx, queueAdmitted); err != nil {
		return err
	}
	combiner, err := permits.NewCombiner(permits.CombinerOptions{
		Client: b.client, TaskQueue: permits.TaskQueue(queueAdmitted),
		Limits: map[string]admission.Limits{permits.DefaultDomain: limits(b.works)},
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, combiner.Close(ctx)) }()
	say("one semaphore, nobody waits for a permit\n")
	best := 0.0
	for askers := 16; askers <= ceilingMost; askers *= 2 {
		rate, events, err := b.load(ctx, combiner, askers)
		if err != nil {
			return err
		}
		say("  %4d askers: %7.1f permits/s, %.2f events of the semaphore to a permit\n", askers, rate, events)
		if rate < best*ceilingGrowth {
			break
		}
		best = rate
	}
	say("\n")
	return nil
}

// load is one load: permits a second, and events of the semaphore to a permit.
func (b *bench) load(ctx context.Context, a permits.Admitter, askers int) (rate, events float64, err error) {
	id := permits.WorkflowID(permits.DefaultDomain)
	before, err := b.chain(ctx, id)
	if err != nil {
		return 0, 0, err
	}
	var granted atomic.Int64
	began := time.Now()
	group, asking := errgroup.WithContext(ctx)
	for i := range askers {
		owner := admission.Owner{Process: fmt.Sprintf("asker-%d-%d", askers, i)}
		group.Go(func() error {
			for n := 0; time.Since(began) < ceilingLength; n++ {
				if err := once(asking, a, owner, n); err != nil {
					return err
				}
				granted.Add(1)
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return 0, 0, err
	}
	took := time.Since(began)
	after, err := b.chain(ctx, id)
	return float64(granted.Load()) / took.Seconds(), after.since(before).each(int(granted.Load())), err
}

// once takes one permit and gives it back.
func once(ctx context.Context, a permits.Admitter, owner admission.Owner, n int) error {
	request := admission.Request{ID: fmt.Sprintf("%s/%d", owner.Process, n), Owner: owner, Keys: []admission.Units{{Key: plenty}}}
	decision, err := a.Submit(ctx, permits.Ask{Request: request})
	if err != nil {
		return err
	}
	if decision.Answer != admission.AnswerGranted {
		return fmt.Errorf("%s: %s %s, not granted", request.ID, decision.Answer, decision.Key)
	}
	return a.Release(ctx, permits.Hold{ID: request.ID, Token: decision.Token})
}
