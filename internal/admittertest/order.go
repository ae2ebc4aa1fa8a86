package admittertest

import (
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill/activities/permits"
	"github.com/tidemill/tidemill/admission"
	"github.com/tidemill/tidemill/internal/temporaltest"
)

// order is who goes first, and how many go at a time.
func order() map[string]test {
	weights := []admission.FlowWeight{{Flow: "light", Weight: 1}, {Flow: "heavy", Weight: 3}}
	rates := []admission.KeyRate{{Key: "calls", Rate: admission.Rate{Limit: 2, Per: 2 * time.Second, Burst: 1}}}
	return map[string]test{
		"priority":                      {one(), priority},
		"flows by weight":               {admission.Limits{Global: 1, Flows: weights, FlowShare: admission.None}, flows},
		"rates":                         {admission.Limits{Rates: rates}, rate},
		"never more than the limit":     {admission.Limits{Global: 3, QueueTimeout: admission.None}, atOnce},
		"limits that are changed live":  {one(), live},
		"nothing passes a key on pause": {one(), paused},
	}
}

// sequence releases permit after permit, and gives the ids in the order of the grants.
func (t *trial) sequence(held admission.Decision, ids []string) (granted []string) {
	t.Helper()
	left := slices.Clone(ids)
	for len(left) > 0 {
		t.release(held)
		temporaltest.Wait(t, soon, "the next grant", func() bool {
			at := slices.IndexFunc(left, func(id string) bool {
				x := t.where(id)
				held.ID, held.Token = id, x.Token
				return x.Answer == admission.AnswerGranted
			})
			if at < 0 {
				return false
			}
			granted = append(granted, left[at])
			left = slices.Delete(left, at, at+1)
			return true
		})
	}
	return granted
}

func priority(t *trial) {
	held := t.granted(t.agent("a"))
	var ids []string
	for _, p := range []int{10, 50, 90} {
		r := t.agent("a")
		r.Priority = &p
		ids = append(ids, t.answer(admission.AnswerQueued, r).ID)
	}
	want := slices.Clone(ids)
	slices.Reverse(want)
	require.Equal(t, want, t.sequence(held, ids))
}

func flows(t *trial) {
	held := t.granted(t.agent("a"))
	of := map[string]string{}
	var ids []string
	for _, flow := range []string{"light", "heavy"} {
		for range 6 {
			r := t.agent("a")
			r.Flow = flow
			of[r.ID] = flow
			ids = append(ids, t.answer(admission.AnswerQueued, r).ID)
		}
	}
	heavy := 0
	for _, id := range t.sequence(held, ids)[:8] {
		if of[id] == "heavy" {
			heavy++
		}
	}
	require.InDelta(t, 6, heavy, 1)
}

func rate(t *trial) {
	o := t.Begin(t.T)
	begun := time.Now()
	var ids []string
	for i := range uint64(4) {
		r := t.of(o, i+1, t.agent(""))
		r.Rates = units("calls")
		d := t.submit(r)
		if i == 0 {
			require.Equal(t, admission.AnswerGranted, d.Answer)
		}
		ids = append(ids, d.ID)
	}
	t.becomes(admission.AnswerGranted, ids[3])
	require.Greater(t, time.Since(begun), 2900*time.Millisecond, "one a second after the first")
}

// atOnce is counted by the work itself.
func atOnce(t *trial) {
	const limit, workers = 3, 50
	var crowd crowd
	failures := make(chan error, workers)
	for range workers {
		r := t.agent("a")
		go func() { failures <- t.work(r, crowd.work) }()
	}
	for range workers {
		require.NoError(t, <-failures)
	}
	require.Equal(t, int64(workers), crowd.done.Load())
	require.LessOrEqual(t, crowd.peak.Load(), int64(limit))
}

// crowd counts who works at the same time.
type crowd struct{ now, peak, done atomic.Int64 }

func (c *crowd) work() {
	n := c.now.Add(1)
	for p := c.peak.Load(); n > p && !c.peak.CompareAndSwap(p, n); {
		p = c.peak.Load()
	}
	<-time.After(5 * time.Millisecond)
	c.now.Add(-1)
	c.done.Add(1)
}

// work does work under a permit, for which it asks until it has it. A busy server
// may not answer in time.
func (t *trial) work(r admission.Request, do func()) error {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		d, err := t.Admitter.Submit(t.Context(), t.ask(r))
		switch {
		case err != nil && !errors.Is(err, permits.ErrUnanswered):
			return err
		case d.Answer == admission.AnswerGranted:
			do()
			return t.Admitter.Release(t.Context(), t.hold(r.ID, d.Token))
		case d.Final():
			return fmt.Errorf("%s: %s", r.ID, d.Answer)
		}
		select {
		case <-tick.C:
		case <-t.Context().Done():
			return t.Context().Err()
		}
	}
}

func live(t *trial) {
	t.granted(t.agent("a"))
	waits := t.answer(admission.AnswerQueued, t.agent("a"))
	t.Steer(t.T, permits.Steer{Action: permits.SteerLimit, Key: admission.KeyGlobal, Limit: 2})
	t.Steer(t.T, permits.Steer{Action: permits.SteerLimit, Key: admission.KeyAgentPrefix + "a", Limit: 2})
	t.becomes(admission.AnswerGranted, waits.ID)
}

func paused(t *trial) {
	t.release(t.granted(t.agent("a"))) // before that there may be nothing to steer
	t.Steer(t.T, permits.Steer{Action: permits.SteerPause, Key: admission.KeyAgentPrefix + "a"})
	waits := t.answer(admission.AnswerQueued, t.agent("a"))
	require.Equal(t, admission.ReasonPaused, waits.Reason)
	b := t.granted(t.agent("b"))
	t.release(b)
	t.settled(b.ID)
	t.Steer(t.T, permits.Steer{Action: permits.SteerResume, Key: admission.KeyAgentPrefix + "a"})
	t.becomes(admission.AnswerGranted, waits.ID)
}
