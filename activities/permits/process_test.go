package permits_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill/activities/permits"
	"github.com/tidemill/tidemill/admission"
)

// process is a client before an admitter of its own; in a bubble, so that leases
// pass at once.
func process(t *testing.T, limits admission.Limits) (*permits.Process, *permits.InProcess) {
	t.Helper()
	p, err := permits.NewInProcess(permits.InProcessOptions{Limits: map[string]admission.Limits{"": limits}})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, p.Close(context.Background())) })
	return permits.NewProcess(permits.ProcessOptions{Admitter: p}), p
}

// queueing is a request that waits.
func queueing() admission.Request {
	return admission.Request{Agent: "a", Overflow: admission.OverflowQueue}
}

func active(t *testing.T, p *permits.InProcess) (permits, queued int) {
	t.Helper()
	status, err := p.Status("")
	require.NoError(t, err)
	return status.Permits, status.Queued
}

// A permit that is not renewed while its holder works is given to another.
func TestProcessRenewsWhileItHoldsAndWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, p := process(t, admission.Limits{Global: 1, QueueTimeout: admission.None, Lease: 6 * time.Second})
		held, err := c.Submit(t.Context(), queueing())
		require.NoError(t, err)
		permit, err := held.Await(t.Context())
		require.NoError(t, err)
		waits, err := c.Submit(t.Context(), queueing())
		require.NoError(t, err)
		require.Equal(t, admission.ReasonLimit, waits.Latest().Reason)

		pass(10 * time.Minute)
		require.NoError(t, permit.Err())
		permits, queued := active(t, p)
		require.Equal(t, []int{1, 1}, []int{permits, queued})

		require.NoError(t, permit.Release(t.Context()))
		require.NoError(t, permit.Release(t.Context()))
		next, err := waits.Await(t.Context())
		require.NoError(t, err)
		require.Greater(t, next.Token(), permit.Token())
		require.NotEqual(t, next.ID(), permit.ID())
		require.NoError(t, next.Release(t.Context()))
		permits, _ = active(t, p)
		require.Zero(t, permits)
	})
}

// Waiting for longer than a caller can must not end the request: 139.
func TestProcessAwaitsAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, p := process(t, admission.Limits{Global: 1, MaxQueue: 2, QueueTimeout: admission.None})
		seed, err := c.Submit(t.Context(), queueing())
		require.NoError(t, err)
		first, err := c.Submit(t.Context(), queueing())
		require.NoError(t, err)
		second, err := c.Submit(t.Context(), queueing())
		require.NoError(t, err)
		_, err = c.Submit(t.Context(), queueing())
		require.ErrorIs(t, err, permits.ErrDenied)
		var denied *permits.DeniedError
		require.ErrorAs(t, err, &denied)
		require.Equal(t, admission.AnswerQueueFull, denied.Decision.Answer)

		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err = second.Await(ctx)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.NoError(t, seed.Cancel(t.Context()))
		permit, err := first.Await(t.Context())
		require.NoError(t, err)
		require.NoError(t, permit.Release(t.Context()))
		permit, err = second.Await(t.Context())
		require.NoError(t, err)
		require.NoError(t, permit.Release(t.Context()))
		permits, queued := active(t, p)
		require.Zero(t, permits+queued)
	})
}

// Without a word a request is rejected, and one that queues does so for half a
// minute.
func TestProcessDefaults(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, _ := process(t, admission.Limits{Global: 1})
		held, err := c.Submit(t.Context(), admission.Request{Agent: "a"})
		require.NoError(t, err)
		_, err = c.Submit(t.Context(), admission.Request{Agent: "a"})
		require.ErrorContains(t, err, "concurrency_limit_reached")

		begun := time.Now()
		waits, err := c.Submit(t.Context(), queueing())
		require.NoError(t, err)
		_, err = waits.Await(t.Context())
		require.ErrorContains(t, err, "queue_deadline_exceeded")
		require.InDelta(t, 30, time.Since(begun).Seconds(), 2)

		_, err = c.Submit(t.Context(), admission.Request{})
		require.ErrorIs(t, err, admission.ErrInvalidRequest)
		require.NoError(t, held.Cancel(t.Context()))
	})
}

// A cancel that left the request in the queue would give a permit to nobody.
func TestProcessCancels(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, p := process(t, admission.Limits{Global: 1})
		held, err := c.Submit(t.Context(), queueing())
		require.NoError(t, err)
		waits, err := c.Submit(t.Context(), queueing())
		require.NoError(t, err)
		awaited := make(chan error)
		go func() {
			_, err := waits.Await(t.Context())
			awaited <- err
		}()
		synctest.Wait()
		require.NoError(t, waits.Cancel(t.Context()))
		require.ErrorContains(t, <-awaited, "cancelled")
		require.NoError(t, held.Cancel(t.Context()))
		permits, queued := active(t, p)
		require.Zero(t, permits+queued)
	})
}

// Work that goes on without its permit runs beside whoever has it now.
func TestProcessIsToldOfALostPermit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, p := process(t, admission.Limits{Global: 1, Lease: 6 * time.Second, MaxHold: time.Minute})
		begun := time.Now()
		err := c.With(t.Context(), queueing(), func(ctx context.Context, permit *permits.Permit) error {
			<-ctx.Done()
			require.ErrorIs(t, context.Cause(ctx), permits.ErrLost)
			<-permit.Lost()
			return nil
		})
		var lost *permits.LostError
		require.ErrorAs(t, err, &lost)
		require.Equal(t, admission.AnswerHoldExceeded, lost.Answer)
		require.InDelta(t, 62, time.Since(begun).Seconds(), 3)
		permits, _ := active(t, p)
		require.Zero(t, permits)
	})
}

// An admitter that is not heard of for a whole lease has given the permit away.
func TestProcessLosesAPermitThatItCannotRenew(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t, admission.Limits{Global: 1, Lease: 6 * time.Second})
		combiner := combine(t, f, nil)
		c := permits.NewProcess(permits.ProcessOptions{Admitter: combiner})
		f.fault = func(nth int, _ permits.Batch) fault {
			if nth > 3 {
				return fault{before: errBroken}
			}
			return fault{}
		}
		begun := time.Now()
		err := c.With(t.Context(), queueing(), func(ctx context.Context, _ *permits.Permit) error {
			<-ctx.Done()
			return context.Cause(ctx)
		})
		var lost *permits.LostError
		require.ErrorAs(t, err, &lost)
		require.Empty(t, lost.Answer)
		require.InDelta(t, 10, time.Since(begun).Seconds(), 2.1, "two renewals, then a lease of silence")
		f.mu.Lock()
		f.fault = nil
		f.mu.Unlock()
		require.NoError(t, combiner.Close(t.Context()))
		require.Zero(t, f.status().Permits)
	})
}

// A submit without an answer may have been taken: it must not stay.
func TestProcessTakesBackWhatWasNotAnswered(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t, admission.Limits{Global: 1})
		gate, script := gates(1)
		f.fault = script
		combiner := combine(t, f, nil)
		c := permits.NewProcess(permits.ProcessOptions{Admitter: combiner, ID: "me"})
		_, err := c.Submit(t.Context(), queueing())
		require.ErrorIs(t, err, permits.ErrUnanswered)
		require.Equal(t, admission.Owner{Process: "me"}, f.batches()[0].Calls[0].Submit.Owner)
		close(gate[0])
		require.NoError(t, combiner.Close(t.Context()))
		require.Zero(t, f.status().Permits)
	})
}

// With gives back whatever the work does.
func TestProcessWith(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, p := process(t, admission.Limits{Global: 1})
		failure := errors.New("no")
		err := c.With(t.Context(), queueing(), func(context.Context, *permits.Permit) error { return failure })
		require.Equal(t, failure.Error(), err.Error())
		require.Panics(t, func() {
			_ = c.With(t.Context(), queueing(), func(context.Context, *permits.Permit) error { panic("no") })
		})
		ctx, cancel := context.WithCancel(t.Context())
		err = c.With(ctx, queueing(), func(ctx context.Context, _ *permits.Permit) error {
			cancel()
			return c.With(ctx, queueing(), func(context.Context, *permits.Permit) error { return failure })
		})
		require.ErrorIs(t, err, context.Canceled)
		require.NotErrorIs(t, err, failure)
		permits, queued := active(t, p)
		require.Zero(t, permits+queued)
	})
}

// A nested request names the permit that covers it.
func TestProcessNests(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, _ := process(t, admission.Limits{Global: 1})
		require.NoError(t, c.With(t.Context(), queueing(), func(ctx context.Context, outer *permits.Permit) error {
			inner := queueing()
			inner.Parent = outer.ID()
			return c.With(ctx, inner, func(context.Context, *permits.Permit) error { return nil })
		}))
	})
}
