package permits_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill/activities/permits"
	"github.com/tidemill/tidemill/admission"
	"github.com/tidemill/tidemill/internal/admittertest"
)

// gates holds up sendings until a test opens them, in order.
func gates(n int) ([]chan struct{}, func(int, permits.Batch) fault) {
	list := make([]chan struct{}, n)
	for i := range list {
		list[i] = make(chan struct{})
	}
	return list, func(nth int, _ permits.Batch) fault {
		if nth > n {
			return fault{}
		}
		return fault{gate: list[nth-1]}
	}
}

// pass lets the time of the bubble go by.
func pass(by time.Duration) {
	<-time.After(by)
	synctest.Wait()
}

func cancelAll(t *testing.T, c *permits.Combiner, from, to int) {
	t.Helper()
	for i := from; i < to; i++ {
		require.NoError(t, c.Cancel(t.Context(), permits.Hold{ID: fmt.Sprint("x", i)}))
	}
}

// A window would delay a call that nobody competes with; without gathering, every
// call would be an update.
func TestCombinerSendsAtOnceAndGathersMeanwhile(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t, admission.Limits{})
		gate, script := gates(1)
		f.fault = script
		c, begun := combine(t, f, nil), time.Now()

		cancelAll(t, c, 0, 1)
		synctest.Wait()
		require.Equal(t, []int{1}, f.sizes())
		cancelAll(t, c, 1, 50)
		synctest.Wait()
		require.Equal(t, []int{1}, f.sizes(), "one is out")
		close(gate[0])
		synctest.Wait()
		require.Equal(t, []int{1, 49}, f.sizes())
		require.Zero(t, time.Since(begun), "nothing waited for a clock")
	})
}

// More updates than ten in flight are refused by the server, and there are other
// processes.
func TestCombinerHasAtMostTwoBatchesOut(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t, admission.Limits{})
		gate, script := gates(3)
		f.fault = script
		c := combine(t, f, nil)

		cancelAll(t, c, 0, 2)
		pass(240 * time.Millisecond)
		require.Equal(t, []int{1}, f.sizes())
		pass(20 * time.Millisecond)
		require.Equal(t, []int{1, 1}, f.sizes(), "the first is slow")
		cancelAll(t, c, 2, 500)
		pass(time.Second)
		require.Equal(t, []int{1, 1}, f.sizes())
		close(gate[1])
		synctest.Wait()
		require.Equal(t, []int{1, 1, 200}, f.sizes())
		close(gate[0])
		close(gate[2])
		synctest.Wait()
		require.Equal(t, []int{1, 1, 200, 200, 98}, f.sizes())
		require.Equal(t, 2, f.peak)
	})
}

// A flood would wait for one slow batch although a second would help.
func TestCombinerSendsASecondBatchWhenMoreWaitsThanOneHolds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t, admission.Limits{})
		gate, script := gates(1)
		f.fault = script
		c := combine(t, f, nil)
		cancelAll(t, c, 0, 1+permits.MaxCalls)
		synctest.Wait()
		require.Equal(t, []int{1}, f.sizes())
		cancelAll(t, c, 500, 501)
		synctest.Wait()
		require.Equal(t, []int{1, permits.MaxCalls}, f.sizes())
		close(gate[0])
		synctest.Wait()
		require.Equal(t, []int{1, permits.MaxCalls, 1}, f.sizes())
	})
}

// An update is limited in bytes too; one too large would be refused with all that
// is in it.
func TestCombinerBoundsTheSizeOfABatch(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t, admission.Limits{})
		gate, script := gates(1)
		f.fault = script
		c := combine(t, f, nil)
		ids := make([]string, 1000)
		for i := range ids {
			ids[i] = fmt.Sprintf("%0100d", i)
		}
		for i := range 6 {
			belief := &admission.Confirmation{Owner: admission.Owner{Workflow: fmt.Sprint(i), FirstRun: "r"}, Upto: 1, IDs: ids}
			require.NoError(t, c.Cancel(t.Context(), permits.Hold{ID: fmt.Sprint(i), Belief: belief}))
		}
		close(gate[0])
		synctest.Wait()
		require.Equal(t, []int{2, 4, 4, 2}, f.sizes())
	})
}

// Beliefs of one owner, one for each call, would make most of a batch; and one that
// came after a submit could take what it has just got for abandoned.
func TestCombinerSendsOneBeliefOfEachOwnerFirst(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t, admission.Limits{})
		gate, script := gates(1)
		f.fault = script
		c := combine(t, f, nil)
		cancelAll(t, c, 0, 1)
		submit := func(id string, number uint64, upto uint64) {
			request := ask(id, "w")
			request.Request.Number = number
			request.Belief = &admission.Confirmation{Owner: request.Request.Owner, Upto: upto, IDs: []string{id}}
			_, err := c.Submit(t.Context(), request)
			require.NoError(t, err)
		}
		go submit("w/1", 1, 1)
		synctest.Wait()
		go submit("w/3", 3, 3)
		synctest.Wait()
		go submit("w/2", 2, 2) // it was written earlier and comes later
		synctest.Wait()
		close(gate[0])
		synctest.Wait()
		calls := f.batches()[1].Calls
		require.Len(t, calls, 4)
		require.Equal(t, uint64(3), calls[0].Confirm.Upto)
		require.Equal(t, "w/1", submitted(calls[1]))
	})
}

// An answer that is lost must not cost the call: it is sent again, and has its
// effect once.
func TestCombinerSendsAgainWhatWasNotHeard(t *testing.T) {
	t.Parallel()
	for name, broken := range map[string]fault{"not arrived": {before: errBroken}, "answer lost": {after: errBroken}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				f := newFake(t, admission.Limits{Global: 1})
				f.fault = func(nth int, _ permits.Batch) fault {
					if nth%2 == 1 {
						return broken
					}
					return fault{}
				}
				c := combine(t, f, nil)
				d, err := c.Submit(t.Context(), ask("w/1", "w"))
				require.NoError(t, err)
				require.Equal(t, admission.AnswerGranted, d.Answer)
				require.Equal(t, uint64(1), d.Token)
				require.NoError(t, c.Release(t.Context(), permits.Hold{ID: "w/1", Token: d.Token}))
				require.NoError(t, c.Flush(t.Context(), "", "w/1"))
				require.Zero(t, f.status().Permits)
				require.Len(t, f.batches(), 4)
			})
		})
	}
}

// One call that a semaphore cannot read must not take down those it travels with.
func TestCombinerSendsTheCallsOfARefusedBatchOneByOne(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t, admission.Limits{})
		gate, script := gates(1)
		f.fault = func(nth int, b permits.Batch) fault {
			for _, call := range b.Calls {
				if call.Cancel == "poison" || submitted(call) == "poison" {
					return fault{before: fmt.Errorf("%w: poison", permits.ErrRefused)}
				}
			}
			return script(nth, b)
		}
		c := combine(t, f, map[string]admission.Limits{"": {Global: 5}})
		cancelAll(t, c, 0, 1)
		answers := make(map[string]error)
		var mu sync.Mutex
		for _, id := range []string{"w/1", "poison", "w/2"} {
			go func() {
				_, err := c.Submit(t.Context(), ask(id, "w"))
				mu.Lock()
				defer mu.Unlock()
				answers[id] = err
			}()
			synctest.Wait()
		}
		require.NoError(t, c.Cancel(t.Context(), permits.Hold{ID: "poison"}))
		close(gate[0])
		synctest.Wait()
		require.NoError(t, answers["w/1"])
		require.NoError(t, answers["w/2"])
		require.ErrorIs(t, answers["poison"], admission.ErrInvalidRequest)
		require.Equal(t, []int{1, 4, 1, 1, 1, 1}, f.sizes())
		require.Equal(t, 2, f.status().Permits)
		require.NoError(t, c.Close(t.Context()), "nothing is left that would be sent for ever")
	})
}

// A call that could overtake the submit of its own request would end nothing, and
// the submit that comes after it would hold a permit that nobody has.
func TestCombinerKeepsTheOrderOfOneRequest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t, admission.Limits{})
		gate, script := gates(1)
		f.fault = script
		c := combine(t, f, nil)
		_, err := c.Submit(t.Context(), ask("w/1", "w"))
		require.ErrorIs(t, err, permits.ErrUnanswered)
		require.NoError(t, c.Cancel(t.Context(), permits.Hold{ID: "w/1"}))
		cancelAll(t, c, 0, 3)
		pass(time.Second)
		require.Equal(t, []int{1, 1, 2}, f.sizes(), "others go on")
		require.Equal(t, 1, f.out)
		close(gate[0])
		synctest.Wait()
		require.Equal(t, "w/1", f.batches()[3].Calls[0].Cancel)
		require.Zero(t, f.status().Permits)
	})
}

// A submit that was never sent must not be sent when its owner has gone on.
func TestCombinerTakesOutASubmitThatWasGivenUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t, admission.Limits{})
		gate, script := gates(2)
		f.fault = script
		c := combine(t, f, nil)
		cancelAll(t, c, 0, 1)
		pass(time.Second)
		cancelAll(t, c, 1, 2)
		synctest.Wait()
		begun := time.Now()
		_, err := c.Submit(t.Context(), ask("w/1", "w"))
		require.ErrorIs(t, err, permits.ErrUnanswered)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Equal(t, permits.AnswerWithin, time.Since(begun))

		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err = c.Submit(ctx, ask("w/2", "w"))
		require.ErrorIs(t, err, permits.ErrUnanswered)
		require.Equal(t, permits.AnswerWithin+time.Second, time.Since(begun))
		close(gate[0])
		close(gate[1])
		require.NoError(t, c.Close(t.Context()))
		require.Equal(t, []int{1, 1}, f.sizes())
	})
}

// A failing semaphore must not be asked in a tight loop, and what failed is said to
// whoever waits.
func TestCombinerBacksOff(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t, admission.Limits{})
		f.fault = func(int, permits.Batch) fault { return fault{before: errBroken} }
		c := combine(t, f, nil)
		_, err := c.Submit(t.Context(), ask("w/1", "w"))
		require.ErrorIs(t, err, permits.ErrUnanswered)
		require.ErrorIs(t, err, errBroken)
		require.NoError(t, c.Release(t.Context(), permits.Hold{ID: "w/1", Token: 1}))
		pass(time.Minute)
		n := len(f.batches())
		require.Greater(t, n, 30)
		require.Less(t, n, 90)
		require.ErrorContains(t, c.Close(t.Context()), "1 calls were not heard")
		require.Zero(t, f.out)
	})
}

// Limits that were not heard would leave the semaphore with those of nobody.
func TestCombinerSendsItsLimitsUntilTheyAreHeard(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t, admission.Limits{})
		f.fault = func(nth int, _ permits.Batch) fault {
			if nth == 1 {
				return fault{before: errBroken}
			}
			return fault{}
		}
		c := combine(t, f, map[string]admission.Limits{"": {Global: 3}})
		for i := range 2 {
			_, err := c.Submit(t.Context(), ask(fmt.Sprint("w/", i), "w"))
			require.NoError(t, err)
		}
		sent := f.batches()
		require.Len(t, sent, 3)
		require.Equal(t, 3, sent[0].Limits.Global)
		require.Equal(t, 3, sent[1].Limits.Global)
		require.Nil(t, sent[2].Limits)

		_, err := permits.NewCombiner(permits.CombinerOptions{Limits: map[string]admission.Limits{"x": {Global: -7}}})
		require.ErrorIs(t, err, admission.ErrInvalidLimits)
	})
}

// A worker that stops must give back what its attempts held.
func TestCombinerCloseFlushes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t, admission.Limits{})
		c := combine(t, f, nil)
		d, err := c.Submit(t.Context(), ask("w/1", "w"))
		require.NoError(t, err)
		gate := make(chan struct{})
		f.fault = func(nth int, _ permits.Batch) fault {
			switch nth {
			case 2:
				return fault{gate: gate}
			case 3:
				return fault{before: errBroken}
			default:
				return fault{}
			}
		}
		cancelAll(t, c, 0, 1)
		require.NoError(t, c.Release(t.Context(), permits.Hold{ID: "w/1", Token: d.Token}))
		waiting := make(chan error)
		go func() {
			_, err := c.Submit(t.Context(), ask("w/2", "w"))
			waiting <- err
		}()
		synctest.Wait()
		time.AfterFunc(100*time.Millisecond, func() { close(gate) })
		closed := make(chan error)
		go func() { closed <- c.Close(t.Context()) }()
		require.ErrorIs(t, <-waiting, permits.ErrClosed)
		require.NoError(t, <-closed)
		require.Zero(t, f.status().Permits)

		_, err = c.Submit(t.Context(), ask("w/3", "w"))
		require.ErrorIs(t, err, permits.ErrUnanswered)
		require.ErrorIs(t, c.Release(t.Context(), permits.Hold{ID: "w/1"}), permits.ErrClosed)
	})
}

// Repeated renewals, releases and cancels that wait are one: else an outage would
// end in a flood of them.
func TestCombinerJoinsRepetitions(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t, admission.Limits{})
		gate, script := gates(1)
		f.fault = script
		c := combine(t, f, nil)
		cancelAll(t, c, 0, 1)
		results := make(chan admission.Result, 3)
		for range 3 {
			cancelAll(t, c, 1, 2)
			require.NoError(t, c.Release(t.Context(), permits.Hold{ID: "p", Token: 7}))
			go func() {
				result, _ := c.Extend(t.Context(), permits.Hold{ID: "q", Token: 7})
				results <- result
			}()
		}
		synctest.Wait()
		close(gate[0])
		for range 3 {
			require.Equal(t, admission.ResultNotFound, <-results)
		}
		require.Equal(t, []int{1, 3}, f.sizes())
	})
}

// Owners whose permit was decided along with this process' batch must hear of it
// from this process, also when the first try fails.
func TestCombinerDeliversWhatComesWithItsBatches(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t, admission.Limits{Global: 1})
		town := admittertest.NewTown()
		c, err := permits.NewCombiner(permits.CombinerOptions{Semaphores: f, Owners: town})
		require.NoError(t, err)
		held, err := c.Submit(t.Context(), ask("w/1", "w"))
		require.NoError(t, err)
		o := town.Begin(t)
		waits := ask("o/1", "")
		waits.Request.Owner = o.Owner()
		_, err = c.Submit(t.Context(), waits)
		require.NoError(t, err)
		town.Fail(2)
		require.NoError(t, c.Release(t.Context(), permits.Hold{ID: "w/1", Token: held.Token}))
		require.NoError(t, c.Close(t.Context()), "what is to be delivered is flushed too")
		require.Len(t, o.Told(), 1)
		require.Equal(t, "o/1", o.Told()[0].ID)
		require.True(t, f.batches()[0].Delivers)
	})
}

// A submit whose owner has gone on must not be sent a second time.
func TestCombinerDoesNotRepeatASubmitThatWasGivenUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t, admission.Limits{})
		gate := make(chan struct{})
		f.fault = func(int, permits.Batch) fault { return fault{gate: gate, before: errBroken} }
		c := combine(t, f, nil)
		_, err := c.Submit(t.Context(), ask("w/1", "w"))
		require.ErrorIs(t, err, permits.ErrUnanswered)
		close(gate)
		pass(time.Minute)
		require.Equal(t, []int{1}, f.sizes())
	})
}

// A belief that is refused must not take a release with it.
func TestCombinerSaysWithoutItsBeliefWhatIsRefusedWithIt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t, admission.Limits{})
		f.fault = func(_ int, b permits.Batch) fault {
			if b.Calls[0].Confirm != nil {
				return fault{before: permits.ErrRefused}
			}
			return fault{}
		}
		c := combine(t, f, nil)
		belief := &admission.Confirmation{Owner: admission.Owner{Workflow: "w", FirstRun: "run"}}
		require.NoError(t, c.Cancel(t.Context(), permits.Hold{ID: "w/1", Belief: belief}))
		require.NoError(t, c.Flush(t.Context(), "", "w/1"))
		require.Equal(t, []int{2, 2, 1}, f.sizes())
	})
}
