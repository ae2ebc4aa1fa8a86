package firetest_test

import (
	"cmp"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill"
	"github.com/tidemill/tidemill/activities/permits"
	"github.com/tidemill/tidemill/admission"
	"github.com/tidemill/tidemill/internal/temporaltest"
)

// Issue: rates, at most limit + burst in any window, over continue-as-new and live
// changes. The times are the book's own: those of its turns.
func TestRateInAnyWindow(t *testing.T) {
	t.Parallel()
	const per = 2 * time.Second
	limits := long(tidemill.AdmissionLimits{Rates: []admission.KeyRate{{Key: "r", Rate: admission.Rate{Limit: 8, Per: per, Burst: 4}}}})
	c := open(t, hallParts{limits: limits, events: 40}).clerk()
	var crowd []admission.Request
	for range 40 {
		crowd = append(crowd, c.asks("x", func(r *admission.Request) { r.Rates = []admission.Units{{Key: "r"}} }))
	}
	c.all(crowd...)
	var changed time.Time
	temporaltest.Wait(t, patience, "all to be granted", func() bool {
		view := c.look()
		c.release(every)
		if changed.IsZero() && len(c.granted) >= 16 {
			changed = view.Checked // or later: the answer to the change may take its time
			c.steer(tidemill.AdmissionSteer{Action: tidemill.SteerRate, Key: "r", Rate: admission.Rate{Limit: 20, Per: per, Burst: 6}})
		}
		return view.Status.Queued == 0 && view.Status.Permits == 0
	})
	at := make([]time.Time, 0, len(c.granted))
	for _, holder := range c.granted {
		at = append(at, holder.Lease.Add(-limits.Lease))
	}
	slices.SortFunc(at, func(x, y time.Time) int { return cmp.Compare(x.UnixNano(), y.UnixNano()) })
	require.Len(t, at, 40)
	for i, from := range at {
		most := 8 + 4
		if !from.Add(per).Before(changed) {
			most = 20 + 6
		}
		in := 0
		for _, other := range at[i:] {
			if other.Before(from.Add(per)) {
				in++
			}
		}
		require.LessOrEqual(t, in, most, "in the window from %v; changed at %v; %v", from, changed, at)
	}
	require.Greater(t, at[len(at)-1].Sub(at[0]), per, "the rate held nothing back")
	require.Greater(t, len(chain(t, c.client, c.book())), 2)
}

// Issue: cancel while queued and while held.
func TestCancelQueuedAndHeld(t *testing.T) {
	t.Parallel()
	limits := long(tidemill.AdmissionLimits{
		Agents: []admission.KeyLimit{{Key: "a", Limit: 1}},
		Rates:  []admission.KeyRate{{Key: "r", Rate: admission.Rate{Limit: 1, Per: time.Hour}}},
	})
	c := open(t, hallParts{limits: limits}).clerk()
	both := func(r *admission.Request) { r.Agent, r.Rates = "a", []admission.Units{{Key: "r"}} }
	held, queued, next := c.asks("x", both), c.asks("x", both), c.asks("x", flowing("a", ""))
	require.Equal(t, admission.AnswerGranted, c.all(held)[0].Answer)
	d := c.all(queued)[0]
	require.Equal(t, admission.AnswerQueued, d.Answer)
	require.Equal(t, admission.AnswerQueued, c.all(next)[0].Answer)
	for _, r := range []admission.Request{queued, held} {
		require.NoError(t, c.combiner.Cancel(t.Context(), permits.Hold{Domain: c.domain, ID: r.ID}))
		require.NoError(t, c.combiner.Flush(t.Context(), c.domain, r.ID))
	}
	require.Equal(t, admission.AnswerGranted, c.gets(next).Answer)
	for _, d := range c.all(queued, held) {
		require.Equal(t, admission.AnswerCancelled, d.Answer, "asked for again, it stays ended")
	}
	c.holds(1, 0)
}
