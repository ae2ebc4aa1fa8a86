package admission_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill/admission"
)

// Faults of public systems in which capacity leaks or a permit is counted
// twice. The numbers are those of the list of faults, section "Admission".

// 1, 10: the end of an owner frees its permit and its place in the queue.
func TestOwnerGoneFreesBoth(t *testing.T) {
	t.Parallel()
	d := setup(t, admission.Limits{Keys: keys("A=1")})
	d.ask(request("h0", "A=1"), request("h1", "A=1"), request("h2", "A=1"))
	d.Gone(d.now, ownerOf("h1"))
	require.Equal(t, []string{"h2"}, d.free("h0"))
	require.Equal(t, admission.AnswerOwnerGone, d.told["h1"].Answer)
	require.Equal(t, 1, d.active("A"))
}

// 2, 11, 12: whatever ends first, nothing is freed twice and nothing stays.
func TestFiftyHoldersEndAtRandom(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(1, 2))
	d := setup(t, admission.Limits{DefaultAgent: 20, Lease: time.Minute})
	for i := range 50 {
		d.ask(request(fmt.Sprint("h", i), "a"))
	}
	for i := range 50 {
		id := fmt.Sprint("h", i)
		switch rnd.IntN(3) {
		case 0:
			d.Gone(d.now, ownerOf(id))
		case 1:
			d.Cancel(d.now, id)
			d.Gone(d.now, ownerOf(id))
		}
		d.pass(time.Duration(rnd.IntN(3000)) * time.Millisecond)
	}
	for _, o := range d.Holders(100) {
		d.Gone(d.now, o.Owner)
		d.turn()
	}
	for len(d.Holders(100)) > 0 {
		d.Gone(d.now, d.Holders(1)[0].Owner)
		d.turn()
	}
	require.Zero(t, d.active("a"))
	require.Zero(t, d.Status(d.now).Permits+d.Status(d.now).Queued)
}

// 4: a limit that can no longer be found keeps nothing from being released, and
// admits nothing.
func TestReleaseUnderUnknownLimit(t *testing.T) {
	t.Parallel()
	d := setup(t, admission.Limits{Keys: keys("A=1")})
	d.ask(request("h", "A=1"), request("w", "A=1"))
	_, err := d.SetLimits(d.now, admission.Limits{})
	require.NoError(t, err)
	require.Equal(t, admission.AnswerInfeasible, d.ask(request("late", "A=1"))[0])
	require.Empty(t, d.free("h"))
	require.Zero(t, d.active("A"))
	require.Equal(t, "unknown_key A", d.why("w"))
	_, err = d.SetLimits(d.now, admission.Limits{Keys: keys("A=1")})
	require.NoError(t, err)
	require.Equal(t, []string{"w"}, granted(d.turn()))
}

// 5, 8, 60: an answer that was lost is given again, from the permit that is
// there, also by the book that the state makes.
func TestSameRequestAgainIsSamePermit(t *testing.T) {
	t.Parallel()
	d := setup(t, admission.Limits{Keys: keys("A=1")})
	d.ask(request("h", "A=1"))
	first := d.told["h"]
	d.Book = reborn(t, d.Book)
	d.submit(request("h", "A=1"), request("h", "A=1"))
	for _, again := range d.turn().Decisions {
		require.Equal(t, admission.AnswerGranted, again.Answer)
		require.Equal(t, first.Token, again.Token)
		require.True(t, again.Repeated)
	}
	require.Equal(t, 1, d.active("A"))
	d.ask(request("w", "A=1"))
	d.submit(request("w", "A=1"))
	require.Equal(t, queued, d.turn().Decisions[0].Answer)
	require.Equal(t, 1, d.Status(d.now).Queued, "one request has one place")
}

// 7, 8: a request that ended is not begun again by its own late copy.
func TestLateCopyOfAnEndedRequest(t *testing.T) {
	t.Parallel()
	d := setup(t, admission.Limits{Keys: keys("A=1")})
	d.ask(request("h", "A=1"))
	d.free("h")
	require.Equal(t, admission.AnswerReleased, d.ask(request("h", "A=1"))[0])
	d.ask(request("other", "A=1"), rejecting(request("r", "A=1")))
	d.free("other")
	require.Equal(t, limited, d.ask(request("r", "A=1"))[0], "a refusal stands, for its asker has gone on")
	require.Zero(t, d.active("A"))
}

// A cancel that comes before its request refuses it, for one lease.
func TestCancelBeforeAcquire(t *testing.T) {
	t.Parallel()
	d := setup(t, admission.Limits{Keys: keys("A=1"), Lease: time.Minute})
	require.Equal(t, admission.ResultNotFound, d.Cancel(d.now, "h"))
	d.pass(59 * time.Second)
	d.Book = reborn(t, d.Book)
	require.Equal(t, admission.AnswerCancelled, d.ask(request("h", "A=1"))[0])
	require.Zero(t, d.active("A"))
	d.pass(time.Second)
	require.Equal(t, admitted, d.ask(request("h", "A=1"))[0], "the lease of the message is over")
}

// 13: an operator sees who holds what, and for how long.
func TestHoldersAreNamed(t *testing.T) {
	t.Parallel()
	d := setup(t, admission.Limits{Keys: keys("A=2")})
	d.ask(request("old/1", "A=1"))
	d.pass(time.Minute)
	d.ask(request("new/1", "A=1"))
	d.pass(time.Second)
	list := d.Holders(10)
	require.Len(t, list, 2)
	require.Equal(t, "old/1", list[0].ID)
	require.Equal(t, ownerOf("old/1"), list[0].Owner)
	require.Equal(t, 61*time.Second, d.now.Sub(list[0].Since))
	require.Equal(t, []admission.Units{{Key: "A", Units: 1}}, list[0].Keys)
	require.Len(t, d.Holders(1), 1)
}

// 15, 19, 57: when a lease runs out the book asks after the owner. Until it
// hears, the permit stays; a long job loses nothing, a dead one holds nothing.
func TestLeaseAsksAndLivingOwnersKeep(t *testing.T) {
	t.Parallel()
	d := setup(t, admission.Limits{Keys: keys("A=1"), Lease: time.Minute})
	d.ask(request("h", "A=1"), request("w", "A=1"))
	for range 30 {
		d.now = d.now.Add(time.Minute)
		turn := d.turn()
		require.ElementsMatch(t, []admission.Owner{ownerOf("h"), ownerOf("w")}, turn.Ask)
		require.Empty(t, turn.Decisions)
		d.Alive(d.now, ownerOf("h"))
	}
	d.Gone(d.now, ownerOf("h"))
	require.Equal(t, []string{"w"}, granted(d.turn()))
	require.Equal(t, admission.ResultNotFound, d.Renew(d.now, "h", d.told["h"].Token), "a late renewal does nothing")
}

// 18, 21: a process that does not renew loses its permit, and what it sends
// later under the old token changes nothing.
func TestSilentProcessIsFenced(t *testing.T) {
	t.Parallel()
	d := setup(t, admission.Limits{Keys: keys("A=1"), Lease: time.Minute})
	r := request("p", "A=1")
	r.Owner = admission.Owner{Process: "cron"}
	d.ask(r, request("w", "A=1"))
	old := d.told["p"]
	require.Equal(t, noon.Add(time.Minute), old.Lease)
	d.pass(50 * time.Second)
	require.Equal(t, admission.ResultOK, d.Renew(d.now, "p", old.Token))
	require.Equal(t, admission.ResultStale, d.Renew(d.now, "p", old.Token+1))
	require.Empty(t, d.pass(59*time.Second))
	require.Equal(t, []string{"w"}, d.pass(time.Second))
	require.Equal(t, admission.AnswerOwnerGone, d.told["p"].Answer)
	require.Greater(t, d.told["w"].Token, old.Token)
	require.Equal(t, admission.ResultNotFound, d.Release(d.now, "p", old.Token))
	require.Equal(t, admission.ResultStale, d.Release(d.now, "w", old.Token))
	require.Equal(t, 1, d.active("A"))
}

// A permit that its owner does not name any more ends after one lease, while
// the owner lives on; one that is younger than the message does not.
func TestForgottenPermitEndsAfterGrace(t *testing.T) {
	t.Parallel()
	d := setup(t, admission.Limits{Keys: keys("A=4"), Lease: time.Minute})
	for i, id := range []string{"run/kept", "run/lost", "run/young"} {
		r := request(id, "A=1")
		r.Number = uint64(i + 1)
		d.ask(r)
	}
	say := func() {
		unknown := d.Confirm(d.now, admission.Confirmation{Owner: ownerOf("run/x"), Upto: 2, IDs: []string{"run/kept", "run/odd"}})
		require.Equal(t, []string{"run/odd"}, unknown)
		d.Alive(d.now, ownerOf("run/x"))
	}
	say()
	d.pass(40 * time.Second)
	say() // saying it again does not prolong the grace
	require.Equal(t, 3, d.active("A"))
	d.pass(20 * time.Second)
	require.Equal(t, admission.AnswerCancelled, d.told["run/lost"].Answer)
	require.Equal(t, 2, d.active("A"))
}

// One that is named again in time was not lost.
func TestNamedAgainIsKept(t *testing.T) {
	t.Parallel()
	d := setup(t, admission.Limits{Keys: keys("A=4"), Lease: time.Minute})
	d.ask(request("run/a", "A=1"))
	d.Confirm(d.now, admission.Confirmation{Owner: ownerOf("run/a")})
	d.pass(59 * time.Second)
	d.Confirm(d.now, admission.Confirmation{Owner: ownerOf("run/a"), IDs: []string{"run/a"}})
	d.pass(time.Minute)
	require.Equal(t, 1, d.active("A"))
}

// The longest hold bounds how long a permit can stay, whatever its owner says.
func TestMaxHold(t *testing.T) {
	t.Parallel()
	d := setup(t, admission.Limits{Keys: keys("A=1"), MaxHold: 2 * time.Minute, Lease: time.Hour})
	d.ask(request("h", "A=1"), request("w", "A=1"))
	require.Equal(t, []string{"w"}, d.pass(2*time.Minute))
	require.Equal(t, admission.AnswerHoldExceeded, d.told["h"].Answer)
	require.Equal(t, 2*time.Minute, d.told["h"].Waited)
}

// 17, 29: many acquires and a release in one batch: as many grants as there is
// room, whatever the order of the calls.
func TestBatchGrantsExactlyTheRoom(t *testing.T) {
	t.Parallel()
	for _, releaseFirst := range []bool{true, false} {
		d := setup(t, admission.Limits{Keys: keys("A=1")})
		d.ask(request("h", "A=1"))
		token := d.told["h"].Token
		if releaseFirst {
			d.Release(d.now, "h", token)
		}
		for i := range 20 {
			d.submit(request(fmt.Sprint("w", i), "A=1"))
		}
		if !releaseFirst {
			d.Release(d.now, "h", token)
		}
		require.Equal(t, []string{"w0"}, granted(d.turn()))
	}
}

// 20, 22: permits come back before anything is granted, and a key that was
// forgotten while idle does not begin with more room than it has.
func TestRestoredPermitsCount(t *testing.T) {
	t.Parallel()
	d := setup(t, admission.Limits{Keys: keys("p:*=1")})
	for i := range 300 { // far more keys than are kept while idle
		id := fmt.Sprint("h", i)
		d.ask(request(id, fmt.Sprintf("p:%d=1", i)))
		if i != 7 {
			d.free(id)
		}
	}
	d.submit(request("w", "p:7=1"))
	d.Book = reborn(t, d.Book)
	require.Empty(t, granted(d.turn()))
	require.Equal(t, []string{"w"}, d.free("h7"))
}

// 25: a run that is restarted asks under a new id, and waits like everybody.
func TestRestartedHolderWaits(t *testing.T) {
	t.Parallel()
	d := setup(t, admission.Limits{Keys: keys("A=1")})
	d.ask(request("run/1", "A=1"))
	again := request("run/2", "A=1")
	again.Owner.FirstRun = "run after reset"
	require.Equal(t, queued, d.ask(again)[0])
}

// An id belongs to the owner that came first.
func TestForeignID(t *testing.T) {
	t.Parallel()
	d := setup(t, admission.Limits{Keys: keys("A=1")})
	d.ask(request("h", "A=1"))
	r := request("h", "A=1")
	r.Owner = admission.Owner{Process: "thief"}
	require.ErrorIs(t, d.Submit(d.now, r), admission.ErrForeignRequest)
	require.Equal(t, []string{"h"}, d.Confirm(d.now, admission.Confirmation{Owner: r.Owner, IDs: []string{"h"}}))
}
