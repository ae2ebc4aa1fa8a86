package admission_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill/admission"
)

// Faults of public systems about nested acquires and live limits, by their
// number.

// nested is a request of code that holds a permit already.
func nested(id, what, parent string) admission.Request {
	r := request(id, what)
	r.Parent = parent
	return r
}

// 47, 50: a child asks for a key that its parent holds, under the parent's
// permit: it is part of that permit.
func TestChildInherits(t *testing.T) {
	t.Parallel()
	d := setup(t, admission.Limits{Keys: keys("A=1,B=1")})
	require.Equal(t, []admission.Answer{admitted, admitted, admitted},
		d.ask(request("parent", "A=1"), nested("child", "A=1", "parent"), nested("grandchild", "A=1,B=1", "child")))
	require.Equal(t, 1, d.active("A"))
	require.Equal(t, 1, d.active("B"))
	require.NotEqual(t, d.told["parent"].Token, d.told["child"].Token)

	// The unit stays in use until the last of them is gone.
	require.Equal(t, queued, d.ask(request("w", "A=1"))[0])
	require.Empty(t, d.free("parent"))
	d.Book = reborn(t, d.Book)
	require.Empty(t, d.free("child"))
	require.Equal(t, 1, d.active("A"))
	require.Equal(t, []string{"w"}, d.free("grandchild"))
}

// 49: asking again for a key that one holds, without its permit, would wait for
// oneself. So would asking for more of it than the permit has.
func TestWaitingForOneselfIsRefused(t *testing.T) {
	t.Parallel()
	d := setup(t, admission.Limits{Keys: keys("A=2")})
	d.ask(request("parent", "A=1"))
	within := request("child", "A=1")
	within.Within = []string{"parent"}
	require.Equal(t, admission.AnswerWouldDeadlock, d.ask(within)[0])
	require.Equal(t, "A", d.told["child"].Key)
	require.Equal(t, admission.AnswerWouldDeadlock, d.ask(nested("greedy", "A=2", "parent"))[0])
	d.free("parent")
	require.Equal(t, admitted, d.ask(nested("late", "A=2", "parent"))[0], "nothing is held any more")
}

// 51: keys of one request are taken together, so their order does not matter;
// one after the other they may only be taken in the declared order.
func TestNestedAcquiresKeepOrder(t *testing.T) {
	t.Parallel()
	d := setup(t, admission.Limits{Keys: keys("A=1,B=1,trigger:t=1,lane:l=1")})
	require.Equal(t, []admission.Answer{admitted, admitted}, d.ask(request("h1", "A=1"), request("h2", "B=1")))
	require.Equal(t, []admission.Answer{queued, admission.AnswerWouldDeadlock},
		d.ask(nested("h1/b", "B=1", "h1"), nested("h2/a", "A=1", "h2")))
	require.Equal(t, []string{"h1/b"}, d.free("h2"))
	d.free("h1", "h1/b")

	// trigger, lane turn, agent, resource
	require.Equal(t, []admission.Answer{admitted, admitted, admitted, admitted},
		d.ask(request("e", "trigger:t=1"), nested("e/lane", "lane:l=1", "e"), nested("e/agent", "z", "e/lane"), nested("e/a", "A=1", "e/agent")))
	require.Equal(t, admission.AnswerWouldDeadlock, d.ask(nested("e/back", "y", "e/a"))[0])
}

// The declared order can be changed.
func TestDeclaredOrder(t *testing.T) {
	t.Parallel()
	d := setup(t, admission.Limits{Keys: keys("A=1,B=1"), Order: []string{"B", "A"}})
	d.ask(request("b", "B=1"))
	require.Equal(t, admitted, d.ask(nested("b/a", "A=1", "b"))[0])
	d.free("b", "b/a")
	d.ask(request("a", "A=1"))
	require.Equal(t, admission.AnswerWouldDeadlock, d.ask(nested("a/b", "B=1", "a"))[0])
}

// 48: many children on one key, one of which fails: the rest runs.
func TestChildrenOnOneKey(t *testing.T) {
	t.Parallel()
	d := setup(t, admission.Limits{Keys: keys("A=1")})
	for i := range 25 {
		d.ask(request(fmt.Sprint("run/", i), "A=1"))
	}
	d.Cancel(d.now, "run/7")
	ran, running := 0, granted(d.turn())
	for running = append(running, "run/0"); len(running) > 0; ran++ {
		running = d.free(running[0])
	}
	require.Equal(t, 24, ran)
}

// 53: the newest configuration counts, and what was changed live stays until it
// is taken back, whatever configurations come.
func TestNewestLimitsCount(t *testing.T) {
	t.Parallel()
	d := setup(t, admission.Limits{Version: 2, Keys: keys("A=1,B=1")})
	taken, err := d.SetLimits(d.now, admission.Limits{Version: 1, Keys: keys("A=9")})
	require.NoError(t, err)
	require.False(t, taken)
	require.NoError(t, d.SetLimit(d.now, "A", 2))
	taken, err = d.SetLimits(d.now, admission.Limits{Version: 3, Keys: keys("A=1,B=2")})
	require.NoError(t, err)
	require.True(t, taken)
	d.Book = reborn(t, d.Book)
	d.ask(request("1", "A=2"), request("2", "B=2"))
	limits := func() (list []int) {
		for _, k := range d.Status(d.now).Keys {
			list = append(list, k.Limit)
		}
		return list
	}
	require.Equal(t, []int{2, 2}, limits())
	require.Equal(t, admission.Overrides{Limits: keys("A=2")}, d.Overrides())
	require.NoError(t, d.SetLimit(d.now, "A", admission.None))
	require.Equal(t, []int{1, 2}, limits())
}

// Live changes are checked as configurations are.
func TestLiveChangesAreChecked(t *testing.T) {
	t.Parallel()
	d := setup(t, admission.Limits{})
	before := d.State()
	require.ErrorIs(t, d.SetLimit(d.now, "", 1), admission.ErrInvalidLimits)
	require.ErrorIs(t, d.SetLimit(d.now, "A", admission.MaxUnits+1), admission.ErrInvalidLimits)
	require.ErrorIs(t, d.SetRate(d.now, "", admission.Rate{}), admission.ErrInvalidLimits)
	require.ErrorIs(t, d.SetRate(d.now, "R", admission.Rate{Limit: 1}), admission.ErrInvalidLimits)
	require.Equal(t, before, d.State())
}

// A raised limit is used at once; a lowered one keeps others out, and throws
// nobody out.
func TestLimitsChangeLive(t *testing.T) {
	t.Parallel()
	d := setup(t, admission.Limits{Global: 1})
	for i := range 5 {
		d.ask(request(fmt.Sprint("r", i), "a"))
	}
	require.NoError(t, d.SetLimit(d.now, admission.KeyGlobal, 3))
	require.Equal(t, []string{"r1", "r2"}, granted(d.turn()))
	require.NoError(t, d.SetLimit(d.now, "agent:a", 2))
	require.Empty(t, d.free("r0"))
	require.Equal(t, []string{"r3"}, d.free("r1"))
}

// A limit of 0 is a pause: what comes waits, and goes on when it is raised.
func TestLimitZeroPauses(t *testing.T) {
	t.Parallel()
	d := setup(t, admission.Limits{Keys: keys("A=0")})
	require.Equal(t, queued, d.ask(request("w", "A=2"))[0])
	require.Equal(t, "paused A", d.why("w"))
	require.NoError(t, d.SetLimit(d.now, "A", 2))
	require.Equal(t, []string{"w"}, granted(d.turn()))
}

// Pausing a key, or everything, lets work run on and requests come in.
func TestPauseAndResume(t *testing.T) {
	t.Parallel()
	for _, key := range []string{"", "A"} {
		d := setup(t, admission.Limits{Keys: keys("A=1,B=1")})
		d.ask(request("h", "A=1"), request("w", "A=1"))
		d.Pause(d.now, key)
		d.Pause(d.now, key)
		require.Empty(t, d.free("h"))
		d.Book = reborn(t, d.Book)
		require.Empty(t, granted(d.turn()))
		require.Equal(t, "paused", d.why("w")[:6])
		require.Equal(t, limited, d.ask(rejecting(request("r", "A=1")))[0])
		if key != "" {
			require.Equal(t, admitted, d.ask(request("b", "B=1"))[0])
			require.Equal(t, []string{"A"}, d.Status(d.now).PausedKeys)
		}
		d.Resume(d.now, key)
		require.Equal(t, []string{"w"}, granted(d.turn()))
	}
}

// Draining answers what waits and what comes; what runs goes on, with its own
// children.
func TestDrain(t *testing.T) {
	t.Parallel()
	d := setup(t, admission.Limits{Keys: keys("A=1")})
	d.ask(request("h", "A=1"), request("w", "A=1"))
	d.Drain(d.now)
	d.Drain(d.now)
	d.turn()
	require.Equal(t, admission.AnswerDraining, d.told["w"].Answer)
	require.Equal(t, []admission.Answer{admission.AnswerDraining, admitted}, d.ask(request("late", "A=1"), nested("child", "A=1", "h")))
	require.False(t, d.told["late"].NextCheck.IsZero(), "asking later makes sense")
	require.True(t, d.Status(d.now).Draining)
	d.free("h", "child")
	d.Resume(d.now, "")
	require.Equal(t, admitted, d.ask(request("new", "A=1"))[0])
}

// A key may bound its own queue; others are not touched by that.
func TestQueueBoundOfAKey(t *testing.T) {
	t.Parallel()
	d := setup(t, admission.Limits{Keys: keys("A=1,B=1"), Queues: append(keys("A=1"), agents("agent:*", 0)...), Global: 1})
	require.Equal(t, []admission.Answer{admitted, queued, full, admitted, queued},
		d.ask(request("a1", "A=1"), request("a2", "A=1"), request("a3", "A=1"), request("b1", "B=1"), request("b2", "B=1")))
	require.Equal(t, []admission.Answer{admitted, full}, d.ask(request("c1", "c"), request("c2", "c")))
}

// A flow may fill the queue alone, but only its share while another waits.
func TestShareOfTheQueue(t *testing.T) {
	t.Parallel()
	d := setup(t, admission.Limits{Keys: keys("A=1"), MaxQueue: 100, FlowShare: 30})
	ask := func(flow string, i int) admission.Answer {
		r := request(fmt.Sprint(flow, i), "A=1")
		r.Flow = flow
		return d.ask(r)[0]
	}
	ask("hog", 0)
	for i := range 60 {
		require.Equal(t, queued, ask("hog", i+1))
	}
	require.Equal(t, queued, ask("guest", 1))
	require.Equal(t, full, ask("hog", 100))
	for i := range 29 {
		require.Equal(t, queued, ask("guest", i+2))
	}
	require.Equal(t, full, ask("guest", 31))
}

// A queue of none turns everybody away who cannot run.
func TestNoQueue(t *testing.T) {
	t.Parallel()
	d := setup(t, admission.Limits{Global: 1, MaxQueue: admission.None})
	require.Equal(t, []admission.Answer{admitted, full}, d.ask(request("1", "a"), request("2", "a")))
	require.Zero(t, d.Status(d.now).MaxQueue)
}

// The limits of whole families of keys.
func TestPatterns(t *testing.T) {
	t.Parallel()
	limits := append(keys("p:*=1,p:big=2"), agents("p:l*", 3)...)
	d := setup(t, admission.Limits{Keys: limits})
	for what, most := range map[string]int{"p:x": 1, "p:big": 2, "p:large": 3} {
		require.Equal(t, admitted, d.ask(request(what, fmt.Sprintf("%s=%d", what, most)))[0], what)
		require.Equal(t, admission.AnswerInfeasible, d.ask(request(what+"+", fmt.Sprintf("%s=%d", what, most+1)))[0], what)
	}
	require.NoError(t, d.SetLimit(d.now, "p:*", 5))
	require.Equal(t, admitted, d.ask(request("y", "p:y=5"))[0])
}

// The answers of the defaults: reject, and 30 s for what queues.
func TestDefaults(t *testing.T) {
	t.Parallel()
	d := setup(t, admission.Limits{Global: 1})
	plain := admission.Request{ID: "1", Owner: ownerOf("1"), Agent: "a"}
	require.Equal(t, admitted, d.ask(plain)[0])
	plain.ID = "2"
	require.Equal(t, limited, d.ask(plain)[0])
	plain.ID, plain.Overflow = "3", admission.OverflowQueue
	require.Equal(t, queued, d.ask(plain)[0])
	d.pass(30 * time.Second)
	require.Equal(t, admission.AnswerDeadlineExceeded, d.told["3"].Answer)
	l := admission.Limits{}.WithDefaults()
	require.Equal(t, []int{1024, 64, 1024, 25}, []int{l.Global, l.DefaultAgent, l.MaxQueue, l.FlowShare})
	require.NoError(t, l.Validate())
}
