package admission_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill/admission"
)

func rated(r admission.Rate) admission.Limits {
	return admission.Limits{Rates: []admission.KeyRate{{Key: "R", Rate: r}}, MaxQueue: 4000}
}

// mostIn is the greatest number of grants in any window.
func mostIn(grants []time.Time, window time.Duration) (most int) {
	first := 0
	for i, at := range grants {
		for at.Sub(grants[first]) >= window {
			first++
		}
		most = max(most, i-first+1)
	}
	return most
}

// In no window passes more than limit and burst, whatever the times of asking,
// across rebirths of the book; and a backlog uses the whole rate.
func TestRateHoldsInEveryWindow(t *testing.T) {
	t.Parallel()
	for _, r := range []admission.Rate{
		{Limit: 3, Per: time.Second},
		{Limit: 7, Per: time.Second, Burst: 1},
		{Limit: 100, Per: time.Minute, Burst: 20},
		{Limit: 1, Per: 3 * time.Second, Burst: 4},
	} {
		l := rated(r)
		l.MaxQueue = 100
		d := setup(t, l)
		d.every = 50
		rnd := rand.New(rand.NewPCG(7, uint64(r.Limit)))
		var grants []time.Time
		sent := 0
		for range 200 {
			for range rnd.IntN(r.Limit + 4) {
				d.submit(request(fmt.Sprint("r/", sent), "rate:R=1"))
				sent++
			}
			if rnd.IntN(20) == 0 {
				d.Book = reborn(t, d.Book)
			}
			turn := d.turn()
			for range granted(turn) {
				grants = append(grants, d.now)
			}
			d.now = d.now.Add(time.Duration(rnd.Int64N(int64(r.Per) / 4)))
			if turn.Next.After(noon) && turn.Next.Before(d.now) && rnd.IntN(2) == 0 && turn.Next.After(d.now.Add(-r.Per)) {
				d.now = turn.Next
			}
		}
		burst := r.Burst
		if burst == 0 {
			burst = r.Limit
		}
		for _, periods := range []int{1, 2, 5} {
			require.LessOrEqual(t, mostIn(grants, time.Duration(periods)*r.Per), periods*r.Limit+burst, "%+v", r)
		}
		span := float64(grants[len(grants)-1].Sub(grants[0])) / float64(r.Per)
		require.Greater(t, float64(len(grants)), 0.7*span*float64(r.Limit), "the rate is used")
	}
}

// A burst is what is said, not one.
func TestBurstIsExplicit(t *testing.T) {
	t.Parallel() // 59
	for burst, want := range map[int]int{0: 5, 1: 1, 3: 3, 8: 8} {
		d := setup(t, rated(admission.Rate{Limit: 5, Per: time.Minute, Burst: burst}))
		for i := range 10 {
			d.submit(request(fmt.Sprint(i), "rate:R=1"))
		}
		require.Len(t, granted(d.turn()), want)
		require.Empty(t, d.pass(12*time.Second-1))
		require.Len(t, d.pass(1), 1)
	}
}

// A rate that changes live does not forget what was used: no window with one
// change holds more than the greater limit and burst.
func TestRateChangesLive(t *testing.T) {
	t.Parallel()
	fast := admission.Rate{Limit: 100, Per: time.Second, Burst: 100}
	slow := admission.Rate{Limit: 1, Per: time.Second, Burst: 10}
	d := setup(t, rated(fast))
	d.every = 50
	var grants []time.Time
	for i := range 3000 {
		d.submit(request(fmt.Sprint(i), "rate:R=1"))
	}
	for i := range 200 {
		switch i % 50 {
		case 15:
			require.NoError(t, d.SetRate(d.now, "R", slow))
		case 35:
			require.NoError(t, d.SetRate(d.now, "R", admission.Rate{}))
		}
		for range granted(d.turn()) {
			grants = append(grants, d.now)
		}
		d.now = d.now.Add(50 * time.Millisecond)
	}
	require.LessOrEqual(t, mostIn(grants, time.Second), 200)

	// From fast to slow after all was used: the slow rate counts from here on.
	e := setup(t, rated(fast))
	for i := range 150 {
		e.submit(request(fmt.Sprint(i), "rate:R=1"))
	}
	require.Len(t, granted(e.turn()), 100)
	require.NoError(t, e.SetRate(e.now, "R", slow))
	require.Empty(t, granted(e.turn()))
	require.Empty(t, e.pass(time.Second-1))
	require.Len(t, e.pass(1), 1)
}

// A rate of 0 is a pause, and no division.
func TestRateZeroPauses(t *testing.T) {
	t.Parallel()
	d := setup(t, rated(admission.Rate{Per: time.Second}))
	require.Equal(t, queued, d.ask(request("w", "rate:R=3"))[0])
	require.Equal(t, "paused R", d.why("w"))
	require.Empty(t, d.pass(time.Hour))
	require.NoError(t, d.SetRate(d.now, "R", admission.Rate{Limit: 3, Per: time.Second}))
	require.Equal(t, []string{"w"}, granted(d.turn()))
}

// A denied rate is charged nothing: keys and rates are taken together.
func TestRateIsChargedOnGrantOnly(t *testing.T) {
	t.Parallel()
	l := rated(admission.Rate{Limit: 2, Per: time.Minute})
	l.Keys = keys("A=1")
	d := setup(t, l)
	d.ask(request("h", "A=1"))
	for range 20 {
		require.Equal(t, limited, d.ask(rejecting(request(fmt.Sprint("x", d.State().Seq), "A=1,rate:R=1")))[0])
	}
	require.Empty(t, d.free("h"))
	require.Equal(t, admitted, d.ask(request("1", "A=1,rate:R=1"))[0])
	s := d.Status(d.now).Rates
	require.Len(t, s, 1)
	require.Equal(t, 1, s[0].Ready)
}

// A claim books its rate ahead; when it ends without a permit the rate is given
// back.
func TestClaimBooksItsRate(t *testing.T) {
	t.Parallel()
	l := rated(admission.Rate{Limit: 2, Per: time.Minute})
	l.Keys, l.Patience = keys("A=1"), time.Second
	d := setup(t, l)
	d.ask(request("h", "A=1"), request("claim", "A=1,rate:R=2"))
	d.pass(time.Second)
	require.Equal(t, queued, d.ask(request("n", "rate:R=1"))[0])
	require.Equal(t, "limit A", d.why("claim"))
	require.Equal(t, "rate R", d.why("n"))
	d.Cancel(d.now, "claim")
	require.Equal(t, []string{"n"}, granted(d.turn()))

	// One whose rate is not ready yet is granted when it is.
	d.free("h")
	d.ask(request("late", "A=1,rate:R=2"))
	d.pass(time.Second)
	x, _ := d.Explain(d.now, "late")
	require.True(t, x.Keeps)
	require.Equal(t, noon.Add(31*time.Second), x.Next)
	require.Empty(t, d.pass(28*time.Second))
	require.Equal(t, noon.Add(31*time.Second), d.turn().Next)
	require.Equal(t, []string{"late"}, d.pass(time.Second))
}
