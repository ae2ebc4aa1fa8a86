package admittertest

import (
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill/admission"
)

// messages are what may happen to calls on their way.
func messages() map[string]test {
	return map[string]test{
		"the same request twice is one":          {admission.Limits{Global: 2}, twice},
		"a request that has ended stays ended":   {one(), ended},
		"cancelled before it came":               {one(), cancelFirst},
		"cancelled while it waits, and held":     {one(), cancelled},
		"released twice, and by another's token": {one(), released},
		"the id of another owner":                {one(), foreign},
		"invalid requests":                       {one(), invalid},
		"signs of life":                          {one(), extended},
		"explained":                              {one(), explained},
		"first come, first served":               {one(), row},
	}
}

func twice(t *trial) {
	r := t.agent("a")
	first := t.granted(r)
	again := t.granted(r)
	require.Equal(t, first.Token, again.Token)
	require.True(t, again.Repeated)
	t.granted(t.agent("a"))
	waits := t.agent("a")
	t.answer(admission.AnswerQueued, waits)
	t.answer(admission.AnswerQueued, waits)
	t.release(first)
	require.Equal(t, t.becomes(admission.AnswerGranted, waits.ID).Token, t.granted(waits).Token)
	t.answer(admission.AnswerQueued, t.agent("a"))
}

func ended(t *trial) {
	r := t.agent("a")
	held := t.granted(r)
	t.release(held)
	t.settled(r.ID)
	late := t.answer(admission.AnswerReleased, r)
	require.True(t, late.Repeated)
	require.Equal(t, held.Token, late.Token)
	t.granted(t.agent("a"))
}

func cancelFirst(t *trial) {
	r := t.agent("a")
	t.cancel(r.ID)
	t.settled(r.ID)
	require.True(t, t.answer(admission.AnswerCancelled, r).Final())
	t.granted(t.agent("a"))
}

func cancelled(t *trial) {
	o := t.Begin(t.T)
	held := t.granted(t.agent("a"))
	waits := t.answer(admission.AnswerQueued, t.of(o, 1, t.agent("a")))
	next := t.answer(admission.AnswerQueued, t.agent("a"))
	t.cancel(waits.ID)
	t.cancel(waits.ID)
	t.becomes(admission.AnswerCancelled, waits.ID)
	t.cancel(held.ID)
	t.becomes(admission.AnswerGranted, next.ID)
	require.Equal(t, admission.AnswerCancelled, t.where(held.ID).Answer)
	require.Empty(t, o.Told())
}

func released(t *trial) {
	held := t.granted(t.agent("a"))
	waits := t.answer(admission.AnswerQueued, t.agent("a"))
	require.NoError(t, t.Admitter.Release(t.Context(), t.hold(held.ID, held.Token+7)))
	require.NoError(t, t.Admitter.Release(t.Context(), t.hold(waits.ID, held.Token)))
	require.NoError(t, t.Admitter.Release(t.Context(), t.hold("nobody", 1)))
	t.settled(held.ID)
	t.settled(waits.ID)
	require.Equal(t, admission.AnswerGranted, t.where(held.ID).Answer)
	require.Equal(t, admission.AnswerQueued, t.where(waits.ID).Answer)

	third := t.answer(admission.AnswerQueued, t.agent("a"))
	t.release(held)
	t.release(held)
	t.becomes(admission.AnswerGranted, waits.ID)
	t.settled(held.ID)
	require.Equal(t, admission.AnswerQueued, t.where(third.ID).Answer, "the second release freed another's permit")
}

func foreign(t *trial) {
	held := t.granted(t.agent("a"))
	r := t.agent("a")
	r.ID, r.Owner.Process = held.ID, "somebody else"
	_, err := t.Admitter.Submit(t.Context(), t.ask(r))
	require.ErrorIs(t, err, admission.ErrForeignRequest)
	require.Equal(t, held.Token, t.where(held.ID).Token)
}

func invalid(t *trial) {
	for _, spoil := range []func(*admission.Request){
		func(r *admission.Request) { r.ID = "" },
		func(r *admission.Request) { r.ID = strings.Repeat("x", admission.MaxIDBytes+1) },
		func(r *admission.Request) { r.Owner = admission.Owner{} },
		func(r *admission.Request) { r.Agent = "" },
		func(r *admission.Request) { r.Agent = "\xff" },
		func(r *admission.Request) { r.Overflow = "perhaps" },
		func(r *admission.Request) { r.Keys = units("global") },
	} {
		r := t.agent("a")
		spoil(&r)
		_, err := t.Admitter.Submit(t.Context(), t.ask(r))
		require.ErrorIs(t, err, admission.ErrInvalidRequest)
	}
	require.ErrorIs(t, t.Admitter.Release(t.Context(), t.hold("", 1)), admission.ErrInvalidRequest)
	require.ErrorIs(t, t.Admitter.Cancel(t.Context(), t.hold("", 1)), admission.ErrInvalidRequest)
	t.granted(t.agent("a"))
}

func extended(t *trial) {
	held := t.granted(t.agent("a"))
	waits := t.answer(admission.AnswerQueued, t.agent("a"))
	before := t.where(held.ID).Lease
	require.Equal(t, admission.ResultOK, t.extend(held.ID, held.Token))
	require.True(t, t.where(held.ID).Lease.After(before))
	require.Equal(t, admission.ResultOK, t.extend(waits.ID, 0))
	require.Equal(t, admission.ResultStale, t.extend(held.ID, held.Token+1))
	require.Equal(t, admission.ResultNotFound, t.extend("nobody", 1))
	t.release(held)
	require.Equal(t, admission.ResultNotFound, t.extend(held.ID, held.Token), "in the order of the calls")
}

func explained(t *trial) {
	require.Empty(t, t.where("nobody").Answer)
	begun := time.Now()
	held := t.granted(t.agent("a"))
	waits := t.answer(admission.AnswerQueued, t.agent("a"))
	x := t.where(waits.ID)
	require.Equal(t, waits.ID, x.ID)
	require.Equal(t, admission.ReasonLimit, x.Reason)
	require.Equal(t, []int{1, 1, 1, 1}, []int{x.Used, x.Limit, x.Wants, x.Place})
	require.WithinDuration(t, begun, x.Since, soon)
	require.Equal(t, held.Token, t.where(held.ID).Token)
	t.cancel(waits.ID)
	t.becomes(admission.AnswerCancelled, waits.ID)
}

func row(t *trial) {
	held := t.granted(t.agent("a"))
	var ids []string
	for range 5 {
		ids = append(ids, t.answer(admission.AnswerQueued, t.agent("a")).ID)
	}
	for i, id := range ids {
		t.release(held)
		x := t.becomes(admission.AnswerGranted, id)
		held.ID, held.Token = id, x.Token
		for _, later := range ids[i+1:] {
			require.Equal(t, admission.AnswerQueued, t.where(later).Answer)
		}
	}
}
