package admittertest

import (
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill/activities/permits"
	"github.com/tidemill/tidemill/admission"
	"github.com/tidemill/tidemill/internal/temporaltest"
)

// short is a single permit for all, with short leases.
func short() admission.Limits { return admission.Limits{Global: 1, Lease: lease} }

// owners are what an admitter learns of owners.
func owners() map[string]test {
	roomy := admission.Limits{Global: 8, Lease: lease}
	return map[string]test{
		"an owner that ends frees what it holds":          {short(), holderEnds},
		"an owner that ends leaves the queue":             {short(), waiterEnds},
		"an owner that runs keeps what it holds":          {short(), holderRuns},
		"a process that does not renew loses its permit":  {short(), processSilent},
		"a process that renews keeps its permit":          {short(), processRenews},
		"a permit that its owner does not name ends":      {roomy, notNamed},
		"a permit that its owner does not answer for":     {roomy, notAnsweredFor},
		"a grant that was not heard of is told again":     {short(), toldAgain},
		"an ending that was not heard of is told again":   {admission.Limits{Global: 1, Lease: lease, MaxHold: 5 * lease / 2}, endingToldAgain},
		"leases of owners that are only waiting go on":    {short(), waiterRuns},
		"an owner of the same workflow id is another one": {roomy, sameID},
	}
}

func holderEnds(t *trial) {
	o := t.Begin(t.T)
	held := t.granted(t.of(o, 1, t.agent("a")))
	waits := t.answer(admission.AnswerQueued, t.of(t.Begin(t.T), 1, t.agent("a")))
	o.End()
	t.becomes(admission.AnswerGranted, waits.ID)
	require.Equal(t, admission.AnswerOwnerGone, t.where(held.ID).Answer)
	t.release(held) // late
	t.settled(held.ID)
	require.Equal(t, admission.AnswerGranted, t.where(waits.ID).Answer)
}

func waiterEnds(t *trial) {
	holder, o := t.Begin(t.T), t.Begin(t.T)
	held := t.granted(t.of(holder, 1, t.agent("a")))
	waits := t.answer(admission.AnswerQueued, t.of(o, 1, t.agent("a")))
	o.End()
	t.becomes(admission.AnswerOwnerGone, waits.ID)
	require.Equal(t, admission.AnswerGranted, t.where(held.ID).Answer)
}

// renewals waits until the lease of a request has begun anew so many times.
func (t *trial) renewals(n int, id string) {
	t.Helper()
	last := t.where(id).Lease
	temporaltest.Wait(t, soon, "leases to begin anew", func() bool {
		x := t.where(id)
		require.Equal(t, admission.AnswerGranted, x.Answer)
		if x.Lease.After(last) {
			last = x.Lease
			n--
		}
		return n <= 0
	})
}

func holderRuns(t *trial) {
	o := t.Begin(t.T)
	held := t.granted(t.of(o, 1, t.agent("a")))
	t.renewals(2, held.ID)
	o.Believe(permits.Belief{Upto: 1, Held: []string{held.ID}})
	t.renewals(3, held.ID)
	require.Empty(t, o.Told())
}

func processSilent(t *trial) {
	r := t.agent("a")
	t.granted(r)
	t.becomes(admission.AnswerOwnerGone, r.ID)
	t.granted(t.agent("a"))
}

func processRenews(t *trial) {
	held := t.granted(t.agent("a"))
	until := held.Lease.Add(2 * lease)
	temporaltest.Wait(t, soon, "three leases to pass", func() bool {
		require.Equal(t, admission.ResultOK, t.extend(held.ID, held.Token))
		return t.where(held.ID).Lease.After(until)
	})
}

func notNamed(t *trial) {
	o := t.Begin(t.T)
	lost := t.granted(t.of(o, 1, t.agent("a")))
	kept := t.granted(t.of(o, 2, t.agent("a")))
	younger := t.granted(t.of(o, 4, t.agent("a"))) // asked for after the message below was written
	o.Believe(permits.Belief{Upto: 4, Held: []string{lost.ID, kept.ID, younger.ID}})
	next := t.of(o, 3, t.agent("a"))
	t.granted(next, &admission.Confirmation{Owner: o.Owner(), Upto: 3, IDs: []string{kept.ID, next.ID}})
	require.Equal(t, admission.AnswerGranted, t.where(lost.ID).Answer, "there is a grace of one lease")
	o.Believe(permits.Belief{Upto: 4, Held: []string{kept.ID, next.ID, younger.ID}})
	require.Equal(t, lost.Token, t.told(o, admission.AnswerCancelled, lost.ID).Token)
	t.renewals(2, kept.ID)
	t.renewals(1, younger.ID)
}

func notAnsweredFor(t *trial) {
	o := t.Begin(t.T)
	o.Believe(permits.Belief{Upto: 1})
	lost := t.granted(t.of(o, 1, t.agent("a")))
	younger := t.granted(t.of(o, 2, t.agent("a")))
	t.told(o, admission.AnswerCancelled, lost.ID)
	t.renewals(2, younger.ID)
}

func toldAgain(t *trial) {
	o := t.Begin(t.T)
	held := t.granted(t.of(o, 1, t.agent("a")))
	o.Believe(permits.Belief{Upto: 1, Waited: []string{held.ID}}) // the answer was lost
	again := t.told(o, admission.AnswerGranted, held.ID)
	require.Equal(t, held.Token, again.Token)
	require.True(t, again.Lease.After(held.Lease))
	require.True(t, again.Repeated)
}

func endingToldAgain(t *trial) {
	o := t.Begin(t.T)
	first := t.granted(t.of(o, 1, t.agent("a")))
	told := func() (n int) {
		for _, d := range o.Told() {
			if d.ID == first.ID && d.Answer == admission.AnswerHoldExceeded {
				n++
			}
		}
		return n
	}
	o.Believe(permits.Belief{Upto: 2, Held: []string{first.ID}}) // it does not hear
	t.told(o, admission.AnswerHoldExceeded, first.ID)
	next := t.of(o, 2, t.agent("a"))
	t.submit(next)
	temporaltest.Wait(t, soon, "the ending to be told again", func() bool { return told() > 1 })
}

func waiterRuns(t *trial) {
	holder, o := t.Begin(t.T), t.Begin(t.T)
	held := t.granted(t.of(holder, 1, t.agent("a")))
	r := t.of(o, 1, t.agent("a"))
	waits := t.answer(admission.AnswerQueued, r)
	o.Believe(permits.Belief{Upto: 1, Waited: []string{waits.ID}})
	t.renewals(3, held.ID)
	require.Equal(t, admission.AnswerQueued, t.where(waits.ID).Answer)
	require.Empty(t, o.Told())
	t.release(held)
	t.told(o, admission.AnswerGranted, waits.ID)
}

func sameID(t *trial) {
	o := t.Begin(t.T)
	r := t.of(o, 1, t.agent("a"))
	r.Owner.FirstRun = "an-earlier-chain"
	r.ID = permits.RequestID(r.Owner.FirstRun, "node", 1)
	t.granted(r)
	held := t.granted(t.of(o, 1, t.agent("a")))
	t.becomes(admission.AnswerOwnerGone, r.ID)
	t.renewals(1, held.ID)
	require.WithinDuration(t, time.Now(), t.where(held.ID).Lease, soon)
}
