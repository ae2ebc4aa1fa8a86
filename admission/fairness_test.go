package admission_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill/admission"
)

// source is one flow of a simulated load: it always has so many requests in the
// queue, each for one thing, and holds what it gets for a second.
type source struct {
	flow  string
	what  string
	depth int

	sent    int
	waiting int
	grants  int
	longest time.Duration
}

// load is what runs and waits in a simulation.
type load struct {
	of    map[string]*source
	ends  map[string]time.Time
	order []string // of ends
}

// simulate runs sources against a book for so many grants.
func (d *desk) simulate(l *load, grants int, sources ...*source) {
	d.t.Helper()
	d.every = 100
	if l.of == nil {
		l.of, l.ends = map[string]*source{}, map[string]time.Time{}
	}
	for range 100 * grants {
		for _, s := range sources {
			for ; s.waiting < s.depth; s.waiting++ {
				r := request(fmt.Sprintf("%s/%d", s.flow, s.sent), s.what)
				r.Flow = s.flow
				s.sent++
				l.of[r.ID] = s
				d.submit(r)
			}
		}
		for len(l.order) > 0 && !l.ends[l.order[0]].After(d.now) {
			d.Release(d.now, l.order[0], d.told[l.order[0]].Token)
			l.order = l.order[1:]
		}
		for _, decision := range d.turn().Decisions {
			if decision.Answer != admission.AnswerGranted {
				continue
			}
			s := l.of[decision.ID]
			s.grants++
			s.waiting--
			s.longest = max(s.longest, decision.Waited)
			l.ends[decision.ID] = d.now.Add(time.Second)
			l.order = append(l.order, decision.ID)
			if grants--; grants == 0 {
				return
			}
		}
		d.now = d.now.Add(250 * time.Millisecond)
	}
	require.Fail(d.t, "the load does not move")
}

// 42: grants go by weight, however much one flow floods.
func TestFlowsShareByWeight(t *testing.T) {
	t.Parallel()
	d := setup(t, admission.Limits{Keys: keys("A=4"), Flows: []admission.FlowWeight{{Flow: "b", Weight: 3}}, MaxQueue: 1000, FlowShare: admission.None})
	hog := &source{flow: "a", what: "A=1", depth: 500}
	heavy := &source{flow: "b", what: "A=1", depth: 10}
	light := &source{flow: "c", what: "A=1", depth: 2}
	d.simulate(&load{}, 2000, hog, heavy, light)
	require.InEpsilon(t, 400, hog.grants, 0.05)
	require.InEpsilon(t, 1200, heavy.grants, 0.05)
	require.InEpsilon(t, 400, light.grants, 0.05)
}

// A flow that was idle saves up nothing, and one that floods owes nothing: from
// the moment it comes the newcomer gets its share.
func TestIdleFlowSavesNothing(t *testing.T) {
	t.Parallel()
	d := setup(t, admission.Limits{Keys: keys("A=4"), MaxQueue: 1000})
	early, late := &source{flow: "a", what: "A=1", depth: 20}, &source{flow: "b", what: "A=1", depth: 20}
	l := &load{}
	d.simulate(l, 1000, early)
	early.grants = 0
	d.simulate(l, 1000, early, late)
	require.InDelta(t, 500, early.grants, 10)
	require.InDelta(t, 500, late.grants, 10)
}

// Claims are no way round fairness: a flow that floods with wide requests gets
// its share of the units, and no more.
func TestWideHogGetsItsShareOfUnits(t *testing.T) {
	t.Parallel()
	d := setup(t, admission.Limits{Keys: keys("A=4"), Patience: 5 * time.Second, Lease: time.Hour, MaxQueue: 1000})
	hog := &source{flow: "a", what: "A=3", depth: 30}
	one, two := &source{flow: "b", what: "A=1", depth: 10}, &source{flow: "c", what: "A=1", depth: 10}
	d.simulate(&load{}, 3000, hog, one, two)
	units := float64(3*hog.grants + one.grants + two.grants)
	t.Logf("units %.3f %.3f %.3f", float64(3*hog.grants)/units, float64(one.grants)/units, float64(two.grants)/units)
	require.InDelta(t, 1.0/3, float64(3*hog.grants)/units, 0.05)
	require.InDelta(t, 1.0/3, float64(one.grants)/units, 0.05)
}

// A priority is a bounded offset: under an endless load of the highest, the
// lowest waits for twice the boost and no longer; and the highest is served
// first until then.
func TestLowPriorityWaitsABoundedTime(t *testing.T) {
	t.Parallel()
	const boost = time.Minute
	d := setup(t, admission.Limits{Keys: keys("A=1"), Boost: boost, MaxQueue: 4000, Lease: time.Hour})
	d.every = 100
	d.ask(request("seed", "A=1"))
	running := "seed"
	low := request("low", "A=1")
	low.Priority = new(0)
	d.submit(low)
	for i := 0; running != "low"; i++ {
		require.Less(t, i, 500)
		for j := range 3 { // three times as many as can run
			high := request(fmt.Sprint("high/", i, "/", j), "A=1")
			high.Priority = new(100)
			d.submit(high)
		}
		d.now = d.now.Add(time.Second)
		running = d.free(running)[0]
	}
	waited := d.now.Sub(noon)
	require.Greater(t, waited, boost, "the priority counts")
	// What came within twice the boost goes first: 120 s of 3 each.
	require.LessOrEqual(t, waited, 3*2*boost+2*time.Second)
}

// Within one flow and one lane the priority orders; across keys it does not
// hold anybody up.
func TestPriorityOrdersByOffset(t *testing.T) {
	t.Parallel()
	d := setup(t, admission.Limits{Keys: keys("A=1"), Boost: 50 * time.Second}) // one second per point
	d.ask(request("h", "A=1"))
	for id, priority := range map[string]int{"p40": 40, "p50": 50, "p70": 70} {
		r := request(id, "A=1")
		r.Priority = new(priority)
		d.submit(r)
	}
	d.turn()
	d.pass(15 * time.Second)
	late := request("late65", "A=1") // 15 s later, 15 s better than p50: a tie, and later
	late.Priority = new(65)
	d.ask(late)
	require.Equal(t, []string{"p70"}, d.free("h"))
	require.Equal(t, []string{"p50"}, d.free("p70"))
	require.Equal(t, []string{"late65"}, d.free("p50"))
	require.Equal(t, []string{"p40"}, d.free("late65"))
}
