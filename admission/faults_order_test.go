package admission_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill/admission"
)

// Faults of public systems about wake-ups, head-of-line blocking, starvation
// and fairness, by their number.

// 24: of requests of one moment, the first to be submitted goes first.
func TestSameMomentKeepsOrder(t *testing.T) {
	t.Parallel()
	d := setup(t, admission.Limits{Global: 10, DefaultAgent: 1})
	for i := range 100 {
		d.submit(request(fmt.Sprint("r", i), fmt.Sprint("agent", i%4)))
	}
	require.Equal(t, []string{"r0", "r1", "r2", "r3"}, granted(d.turn()))
	require.Equal(t, []string{"r5"}, d.free("r1"))
	require.Equal(t, []string{"r4", "r7"}, d.free("r0", "r3"))
}

// 26, 44: with a backlog every unit that is given back is used in the same
// turn.
func TestEveryReleaseWakesOne(t *testing.T) {
	t.Parallel()
	d := setup(t, admission.Limits{Keys: keys("A=3")})
	for i := range 40 {
		d.ask(request(fmt.Sprint("r", i), "A=1"))
	}
	for i := range 37 {
		require.Equal(t, []string{fmt.Sprint("r", i+3)}, d.free(fmt.Sprint("r", i)))
		require.Equal(t, 3, d.active("A"))
	}
}

// A head that is turned away does not hold up who stood behind it.
func TestRefusedHeadFreesItsLane(t *testing.T) {
	t.Parallel()
	d := setup(t, admission.Limits{Keys: keys("A=2")})
	d.ask(request("h", "A=1"))
	d.submit(rejecting(request("wide", "A=2")), request("narrow", "A=1"))
	require.Equal(t, []string{"narrow"}, granted(d.turn()))
	require.Equal(t, limited, d.told["wide"].Answer)
}

// 34, 55: what can never be granted is refused once, at submit, and tried no
// more.
func TestInfeasibleAtSubmit(t *testing.T) {
	t.Parallel()
	rate := admission.KeyRate{Key: "R", Rate: admission.Rate{Limit: 5, Per: time.Second, Burst: 2}}
	d := setup(t, admission.Limits{Keys: keys("A=2"), Rates: []admission.KeyRate{rate}})
	for what, key := range map[string]string{"A=3": "A", "A=1,none=1": "none", "rate:R=3": "R", "rate:none=1": "none"} {
		require.Equal(t, admission.AnswerInfeasible, d.ask(request("x "+what, what))[0], what)
		require.Equal(t, key, d.told["x "+what].Key)
	}
	require.Zero(t, d.Status(d.now).Queued)
}

// 55: a limit that is lowered below what somebody asked for is reported, and
// blocks nobody, not even in the same lane; raised again, the order is as
// before.
func TestLoweredBelowARequest(t *testing.T) {
	t.Parallel()
	d := setup(t, admission.Limits{Keys: keys("A=4")})
	d.ask(request("h", "A=4"), request("wide", "A=3"), request("n1", "A=1"), request("n2", "A=2"))
	require.NoError(t, d.SetLimit(d.now, "A", 2))
	d.turn()
	require.Equal(t, "infeasible A", d.why("wide"))
	require.Equal(t, 4, d.active("A"), "nobody is thrown out")
	require.Equal(t, []string{"n1"}, d.free("h"))
	require.NoError(t, d.SetLimit(d.now, "A", admission.None))
	require.Equal(t, []string{"wide"}, granted(d.turn()))
	require.Equal(t, "limit A", d.why("n2"))
}

// A claim that is too wide for the limit of now leaves its place at the head to
// the next of its lane, which claims in its stead.
func TestLoweredBelowAClaim(t *testing.T) {
	t.Parallel()
	d := setup(t, admission.Limits{Keys: keys("A=4"), Patience: time.Second})
	d.ask(request("h", "A=2"), request("claim", "A=3"), request("next", "A=2"))
	d.pass(2 * time.Second)
	require.NoError(t, d.SetLimit(d.now, "A", 2))
	d.turn()
	x, _ := d.Explain(d.now, "next")
	require.True(t, x.Keeps)
	require.Equal(t, 2, x.Claim)
	require.Equal(t, []string{"next"}, d.free("h"))
	require.NoError(t, d.SetLimit(d.now, "A", 5))
	require.Equal(t, []string{"claim"}, granted(d.turn()))
}

// 35, 41: a thousand who wait for a full key, of whatever priority, do not hold
// up the one who waits for a free one.
func TestFullKeyBlocksNobodyElse(t *testing.T) {
	t.Parallel()
	d := setup(t, admission.Limits{Keys: keys("A=1,B=1"), MaxQueue: 2000})
	d.ask(request("h", "A=1"))
	for i := range 1000 {
		r := request(fmt.Sprint("a", i), "A=1")
		r.Priority = new(100)
		d.submit(r)
	}
	d.submit(request("b", "B=1"))
	require.Equal(t, []string{"b"}, granted(d.turn()))
}

// Of one agent all pass in order, and an agent at its limit holds up nobody: no
// claim is made for one agent, however long it waits.
func TestOldestEligibleFirstInFirstOutPerAgent(t *testing.T) {
	t.Parallel()
	d := setup(t, admission.Limits{Global: 3, DefaultAgent: 2, Agents: agents("a", 1)})
	d.ask(request("a1", "a"), request("a2", "a"), request("a3", "a"), request("b1", "b"))
	d.pass(time.Hour)
	require.Equal(t, admitted, d.ask(request("b2", "b"))[0])
	require.Equal(t, []admission.Answer{queued, queued}, d.ask(request("b3", "b"), request("c1", "c")))
	require.Equal(t, []string{"b3"}, d.free("b1"))
	require.Equal(t, []string{"a2"}, d.free("a1"))
	require.Equal(t, []string{"a3"}, d.free("a2"))
	require.Equal(t, []string{"c1"}, d.free("b2"))
}

// stream keeps a key full with narrow requests, one of which ends every step.
// It gives how long the request waited after it was submitted, or stops after
// an hour.
func stream(d *desk, id string, step time.Duration, running []string, next func(i int) admission.Request) time.Duration {
	d.t.Helper()
	start := d.now
	for i := 0; d.now.Sub(start) < time.Hour; i++ {
		d.submit(next(i))
		d.now = d.now.Add(step)
		first := running[0]
		got := d.free(first)
		running = append(running[1:], got...)
		if d.told[id].Answer == admission.AnswerGranted {
			return d.now.Sub(start)
		}
		require.NotEmpty(d.t, running)
	}
	return time.Hour
}

// 36, 38: a wide request under a stream of narrow ones is granted within its
// patience and one hold: nobody takes what was freed for it.
func TestWideUnderNarrowStream(t *testing.T) {
	t.Parallel()
	const step = time.Second // so a hold is four seconds
	wait := func(patience time.Duration) time.Duration {
		d := setup(t, admission.Limits{Keys: keys("A=4"), Patience: patience, MaxHold: admission.None, Lease: 2 * time.Hour})
		var running []string
		for i := range 4 {
			id := fmt.Sprint("s", i)
			d.ask(request(id, "A=1"))
			running = append(running, id)
		}
		wide := request("wide", "A=3")
		wide.Flow = "wide"
		d.submit(wide)
		return stream(d, "wide", step, running, func(i int) admission.Request { return request(fmt.Sprint("n", i), "A=1") })
	}
	require.LessOrEqual(t, wait(10*time.Second), 10*time.Second+4*step+step)
	require.Equal(t, time.Hour, wait(admission.None), "without claims the stream starves it")
}

// 37: two keys that are never free at the same moment: the claim gets both,
// and before its patience is over it blocks nobody.
func TestStaggeredKeys(t *testing.T) {
	t.Parallel()
	d := setup(t, admission.Limits{Keys: keys("A=4,B=4"), Patience: 30 * time.Second, Lease: 2 * time.Hour})
	var running []string
	for i := range 8 {
		id := fmt.Sprint("s", i)
		d.ask(request(id, []string{"A=1", "B=1"}[i%2]))
		running = append(running, id)
	}
	d.submit(request("wide", "A=2,B=2"))
	wait := stream(d, "wide", time.Second, running, func(i int) admission.Request {
		return request(fmt.Sprint("n", i), []string{"A=1", "B=1"}[i%2])
	})
	require.Greater(t, wait, 29*time.Second)
	require.LessOrEqual(t, wait, 30*time.Second+9*time.Second)
}

// Two claims on common keys take turns; the second keeps nothing while the
// first waits, and is next.
func TestClaimsTakeTurns(t *testing.T) {
	t.Parallel()
	d := setup(t, admission.Limits{Keys: keys("A=2,B=2,C=2"), Patience: time.Second})
	d.ask(request("h1", "A=1"), request("h2", "A=1"), request("h3", "B=2"), request("h4", "C=1"))
	for flow, what := range []string{"A=2,B=1", "B=2,C=1", "C=2"} {
		r := request(fmt.Sprint("c", flow), what)
		r.Flow = fmt.Sprint(flow)
		d.ask(r)
	}
	d.pass(time.Second)
	for i, keeps := range []bool{true, false, false} { // B is common, then C
		x, _ := d.Explain(d.now, fmt.Sprint("c", i))
		require.Equal(t, i+1, x.Claim)
		require.Equal(t, keeps, x.Keeps, i)
	}
	require.Empty(t, d.free("h3", "h1"))
	require.Equal(t, "reserved B", d.why("c1"))
	require.Equal(t, []string{"c0"}, d.free("h2"))
	require.Equal(t, []string{"c1"}, d.free("c0"))
	require.Empty(t, d.free("h4"))
	require.Equal(t, []string{"c2"}, d.free("c1"))
}

// A claim whose key is paused gives its room back, and keeps its place.
func TestPausedClaimGivesRoomBack(t *testing.T) {
	t.Parallel()
	d := setup(t, admission.Limits{Keys: keys("A=2,B=1"), Patience: time.Second})
	d.ask(request("h", "B=1"), request("claim", "A=2,B=1"))
	d.pass(time.Second)
	require.Equal(t, queued, d.ask(request("n1", "A=1"))[0])
	require.Equal(t, "reserved A", d.why("n1"))
	require.Equal(t, "limit B", d.why("claim"))
	d.Pause(d.now, "B")
	require.Equal(t, []string{"n1"}, granted(d.turn()))
	x, _ := d.Explain(d.now, "claim")
	require.Equal(t, 1, x.Claim)
	require.False(t, x.Keeps)
	require.Equal(t, "paused B", d.why("claim"))
	d.Resume(d.now, "B")
	d.turn()
	x, _ = d.Explain(d.now, "claim")
	require.True(t, x.Keeps)
	require.Empty(t, d.free("h"))
	require.Equal(t, []string{"claim"}, d.free("n1"))
}

// 39: who waits for a rate is parked there; others pass.
func TestRateBlocksNobodyElse(t *testing.T) {
	t.Parallel()
	d := setup(t, admission.Limits{Keys: keys("A=9"), Rates: []admission.KeyRate{{Key: "R", Rate: admission.Rate{Limit: 1, Per: time.Minute}}}})
	require.Equal(t, []admission.Answer{admitted, queued, admitted},
		d.ask(request("r1", "A=1,rate:R=1"), request("r2", "A=1,rate:R=1"), request("n", "A=1")))
	require.Equal(t, "rate R", d.why("r2"))
	require.Equal(t, noon.Add(time.Minute), d.told["r2"].NextCheck)
	require.Empty(t, d.pass(59*time.Second))
	require.Equal(t, []string{"r2"}, d.pass(time.Second))
}

// 46: two free keys are one decision.
func TestTwoKeysAtOnce(t *testing.T) {
	t.Parallel()
	d := setup(t, admission.Limits{Keys: keys("A=1,B=1")})
	require.Equal(t, admitted, d.ask(request("h", "B=1,A=1"))[0])
	require.Equal(t, queued, d.ask(request("w", "A=1,B=1"))[0])
	require.Zero(t, d.Status(d.now).Keys[0].Reserved)
}

// 56: one that comes back after a sleep has the rank of its run, and what
// sleeps holds up nobody of its own lane.
func TestComingBackKeepsRank(t *testing.T) {
	t.Parallel()
	d := setup(t, admission.Limits{Keys: keys("A=1")})
	d.ask(request("h", "A=1"))
	d.pass(time.Minute)
	sleeper := request("old/2", "A=1")
	sleeper.Arrival, sleeper.VisibleAt = noon.Add(-time.Hour), d.now.Add(time.Minute)
	d.ask(sleeper, request("new", "A=1"), request("newer", "A=1"))
	require.Equal(t, "not_visible", d.why("old/2"))
	require.Equal(t, sleeper.VisibleAt, d.told["old/2"].NextCheck)
	require.Equal(t, []string{"new"}, d.free("h"), "it sleeps yet")
	require.Empty(t, d.pass(time.Minute))
	require.Equal(t, []string{"old/2"}, d.free("new"))
}

// A priority does not beat visibility.
func TestPriorityBeforeVisibility(t *testing.T) {
	t.Parallel()
	d := setup(t, admission.Limits{Keys: keys("A=1")})
	r := request("urgent", "A=1")
	r.Priority, r.VisibleAt = new(100), noon.Add(time.Second)
	require.Equal(t, queued, d.ask(r)[0])
	require.Equal(t, []string{"urgent"}, d.pass(time.Second))
}
