package admittertest

import (
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill/activities/permits"
	"github.com/tidemill/tidemill/admission"
)

// one is a single permit for all.
func one() admission.Limits { return admission.Limits{Global: 1, DefaultAgent: 1} }

// answers are what may become of a request.
func answers() map[string]test {
	return map[string]test{
		"granted, queued, and delivered when its time comes": {one(), grantQueueDeliver},
		"rejected without room":                              {one(), reject},
		"the queue is full":                                  {admission.Limits{Global: 1, MaxQueue: 1}, queueFull},
		"deadline":                                           {one(), deadline},
		"infeasible":                                         {admission.Limits{Keys: limits("A", 2)}, infeasible},
		"draining":                                           {one(), draining},
		"held for too long":                                  {admission.Limits{Global: 1, MaxHold: time.Second}, holdExceeded},
		"several keys together or none":                      {admission.Limits{Keys: append(limits("A", 1), limits("B", 1)...)}, together},
		"nested":                                             {admission.Limits{Keys: append(limits("A", 1), limits("B", 1)...)}, nested},
	}
}

func limits(key string, limit int) []admission.KeyLimit {
	return []admission.KeyLimit{{Key: key, Limit: limit}}
}

func units(keys ...string) (list []admission.Units) {
	for _, k := range keys {
		list = append(list, admission.Units{Key: k, Units: 1})
	}
	return list
}

func grantQueueDeliver(t *trial) {
	first, second := t.Begin(t.T), t.Begin(t.T)
	held := t.granted(t.of(first, 1, t.agent("a")))
	require.True(t, held.Lease.After(time.Now()))

	waits := t.answer(admission.AnswerQueued, t.of(second, 1, t.agent("a")))
	require.Equal(t, admission.ReasonLimit, waits.Reason)
	require.NotEmpty(t, waits.Key)
	require.False(t, waits.NextCheck.IsZero())
	require.Zero(t, waits.Token)

	t.release(held)
	got := t.told(second, admission.AnswerGranted, waits.ID)
	require.Greater(t, got.Token, held.Token, "tokens fence off earlier holders")
	require.Equal(t, got.Token, t.where(waits.ID).Token)
	require.Empty(t, first.Told(), "what an owner did itself is not told")
	require.Len(t, second.Told(), 1)
}

func reject(t *trial) {
	o := t.Begin(t.T)
	held := t.granted(t.agent("a"))
	r := t.of(o, 1, t.agent("a"))
	r.Overflow = admission.OverflowReject
	d := t.answer(admission.AnswerLimitReached, r)
	require.True(t, d.Final())
	require.False(t, d.NextCheck.IsZero())

	t.release(held)
	t.settled(held.ID)
	r = t.of(o, 2, t.agent("a"))
	r.Overflow = admission.OverflowReject
	t.granted(r)
	require.Empty(t, o.Told())
}

func queueFull(t *trial) {
	t.granted(t.agent("a"))
	t.answer(admission.AnswerQueued, t.agent("a"))
	require.True(t, t.answer(admission.AnswerQueueFull, t.agent("a")).Final())
}

func deadline(t *trial) {
	o := t.Begin(t.T)
	held := t.granted(t.agent("a"))
	past := t.agent("a")
	past.Deadline = time.Now().Add(-time.Minute)
	t.answer(admission.AnswerDeadlineExceeded, past)

	r := t.of(o, 1, t.agent("a"))
	r.QueueTimeout = 500 * time.Millisecond
	waits := t.answer(admission.AnswerQueued, r)
	t.told(o, admission.AnswerDeadlineExceeded, waits.ID)
	t.release(held)
	t.granted(t.agent("a"))
}

func infeasible(t *trial) {
	require.Equal(t, "B", t.answer(admission.AnswerInfeasible, t.keys(units("B")...)).Key)
	require.Equal(t, "A", t.answer(admission.AnswerInfeasible, t.keys(admission.Units{Key: "A", Units: 3})).Key)
	t.granted(t.keys(admission.Units{Key: "A", Units: 2}))
}

func draining(t *trial) {
	o := t.Begin(t.T)
	held := t.granted(t.agent("a"))
	waits := t.answer(admission.AnswerQueued, t.of(o, 1, t.agent("a")))
	t.Steer(t.T, permits.Steer{Action: permits.SteerDrain})
	t.told(o, admission.AnswerDraining, waits.ID)
	t.answer(admission.AnswerDraining, t.agent("a"))
	require.Equal(t, admission.AnswerGranted, t.where(held.ID).Answer)
	t.Steer(t.T, permits.Steer{Action: permits.SteerResume})
	t.answer(admission.AnswerQueued, t.agent("a"))
}

func holdExceeded(t *trial) {
	o := t.Begin(t.T)
	held := t.granted(t.of(o, 1, t.agent("a")))
	require.Equal(t, held.Token, t.told(o, admission.AnswerHoldExceeded, held.ID).Token)
	t.granted(t.agent("a"))
}

func together(t *trial) {
	b := t.granted(t.keys(units("B")...))
	both := t.answer(admission.AnswerQueued, t.keys(units("A", "B")...))
	require.Equal(t, "B", both.Key)
	a := t.granted(t.keys(units("A")...))
	t.release(b)
	t.settled(b.ID)
	require.Equal(t, "A", t.where(both.ID).Key)
	t.release(a)
	t.becomes(admission.AnswerGranted, both.ID)
}

func nested(t *trial) {
	parent := t.granted(t.keys(units("B")...))
	child := t.keys(units("B")...)
	child.Parent = parent.ID
	t.granted(child)

	sideways := t.keys(units("A")...)
	sideways.Within = []string{parent.ID}
	require.Equal(t, "A", t.answer(admission.AnswerWouldDeadlock, sideways).Key)

	t.release(parent)
	t.settled(parent.ID)
	t.answer(admission.AnswerQueued, t.keys(units("B")...)) // the child rests on it
	t.cancel(child.ID)
	t.settled(child.ID)
}
