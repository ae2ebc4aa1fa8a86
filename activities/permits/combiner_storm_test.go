package permits_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill/activities/permits"
	"github.com/tidemill/tidemill/admission"
)

// storm breaks the line at random, in every way.
func storm(r *rand.Rand) func(int, permits.Batch) fault {
	return func(int, permits.Batch) fault {
		slow := make(chan struct{})
		wait := rand.N(600 * time.Millisecond)
		if r.IntN(2) == 0 {
			wait = time.Duration(r.IntN(5)) * time.Millisecond
		}
		if r.IntN(8) == 0 {
			wait = 4 * time.Second // nobody waits that long
		}
		time.AfterFunc(wait, func() { close(slow) })
		switch r.IntN(10) {
		case 0, 1:
			return fault{gate: slow, before: errBroken}
		case 2:
			return fault{gate: slow, after: errBroken}
		case 3:
			return fault{late: 10 * time.Second, after: errBroken} // it arrives when all is over
		default:
			return fault{gate: slow}
		}
	}
}

// storms are owners that acquire, hold for a while, and release, as owners do.
type storms struct {
	t *testing.T
	c *permits.Combiner

	mu       sync.Mutex
	outcomes map[string]int
	holding  int
	peak     int
}

func (s *storms) count(outcome string, holding int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.outcomes[outcome]++
	s.holding += holding
	s.peak = max(s.peak, s.holding)
}

func (s *storms) acquire(id string) {
	ctx := context.Background()
	d, err := s.c.Submit(ctx, ask(id, id))
	switch {
	case errors.Is(err, permits.ErrUnanswered):
		s.count("unanswered", 0)
		require.NoError(s.t, s.c.Cancel(ctx, permits.Hold{ID: id}))
	case err != nil:
		s.count(err.Error(), 0)
	case d.Answer == admission.AnswerGranted:
		s.count("granted", 1)
		<-time.After(rand.N(20 * time.Millisecond))
		s.count("released", -1)
		require.NoError(s.t, s.c.Release(ctx, permits.Hold{ID: id, Token: d.Token}))
	default:
		s.count(string(d.Answer), 0)
		require.NoError(s.t, s.c.Cancel(ctx, permits.Hold{ID: id}))
	}
}

// A permit that is lost between an owner and the book is held until its lease ends,
// or for ever; one that is given twice breaks the limit.
func TestCombinerLosesNothingInAStorm(t *testing.T) {
	t.Parallel()
	for seed := range uint64(4) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				const limit, workers, each = 16, 64, 32
				f := newFake(t, admission.Limits{Global: limit, Lease: time.Minute})
				f.fault = storm(rand.New(rand.NewPCG(seed, 1)))
				s := &storms{t: t, c: combine(t, f, nil), outcomes: map[string]int{}}
				var work sync.WaitGroup
				for w := range workers {
					work.Go(func() {
						for i := range each {
							s.acquire(fmt.Sprint(w, "/", i))
						}
					})
				}
				work.Wait()
				f.mu.Lock()
				f.fault = nil
				f.mu.Unlock()
				require.NoError(t, s.c.Close(t.Context()))
				pass(15 * time.Second)

				require.Equal(t, workers*each, s.outcomes["granted"]+s.outcomes["unanswered"]+s.outcomes["queued"], s.outcomes)
				require.Positive(t, s.outcomes["granted"])
				require.Positive(t, s.outcomes["unanswered"])
				require.LessOrEqual(t, s.peak, limit)
				require.LessOrEqual(t, f.peak, 2)
				require.Empty(t, f.odd, "a release with the wrong token")
				status := f.status()
				require.Zero(t, status.Permits)
				require.Zero(t, status.Queued)
			})
		})
	}
}
