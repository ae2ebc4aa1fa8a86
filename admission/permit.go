package admission

import "time"

// permit makes the entry a holder.
func (b *Book) permit(t int64, e *entry) {
	b.token++
	e.phase, e.token, e.granted = phaseHeld, b.token, t
	e.lease, e.hold, e.suspect = after(t, b.rules.Lease), after(t, b.rules.MaxHold), 0
	e.own = &hold{token: e.token, uses: e.uses, refs: 1}
	e.costs = nil
	for _, u := range e.uses {
		u.gate.used += u.units
		u.gate.refs++
	}
	b.holds.add(e.own)
	b.arrange(e)
	b.out = append(b.out, b.granted(t, e))
}

func (b *Book) granted(t int64, e *entry) Decision {
	return Decision{
		ID: e.id, Owner: e.owner, Agent: e.agent, Answer: AnswerGranted, Token: e.token,
		Lease: moment(e.lease), Waited: time.Duration(t - e.submitted),
	}
}

// resolve ends an entry, whatever ended it. Nothing else gives back what an
// entry holds, waits with, or counts for.
func (b *Book) resolve(t int64, e *entry, answer Answer) {
	d := Decision{ID: e.id, Owner: e.owner, Agent: e.agent, Answer: answer, Token: e.token, Waited: time.Duration(t - e.submitted)}
	if e.phase == phaseHeld {
		d.Waited = time.Duration(t - e.granted)
		b.drop(e.own)
	} else {
		b.leave(e)
	}
	for _, h := range e.inherited {
		b.drop(h)
	}
	if e.bell >= 0 {
		b.alarms.remove(bell{e})
	}
	b.strike(e)
	e.ended = true
	if answer == AnswerDraining || answer == AnswerQueueFull || answer == AnswerLimitReached {
		d.NextCheck = moment(after(t, b.rules.Recheck))
	}
	b.memory.remember(Ending{ID: e.id, Answer: answer, Token: e.token, At: t})
	b.out = append(b.out, d)
}

// drop lets go of a hold. Its units are free when nobody rests on it any more.
func (b *Book) drop(h *hold) {
	if h.refs--; h.refs > 0 {
		return
	}
	for _, u := range h.uses {
		u.gate.used -= u.units
		u.gate.refs--
		b.touch(u.gate)
	}
	b.holds.remove(h)
}

// Result is what became of a call about one request.
type Result string

// The results.
const (
	ResultOK        Result = "ok"
	ResultCancelled Result = "cancelled" // it waited, and waits no more
	ResultReleased  Result = "released"  // its permit was given back
	ResultNotFound  Result = "not_found" // the book has no such request, or no more
	ResultStale     Result = "stale"     // the token is not that of the permit; nothing changed
)

// Release gives a permit back. The room it leaves is used in the next turn.
func (b *Book) Release(now time.Time, id string, token uint64) Result {
	t := b.tick(now)
	e := b.entries[id]
	switch {
	case e == nil || e.phase != phaseHeld:
		return ResultNotFound
	case e.token != token:
		return ResultStale
	}
	b.resolve(t, e, AnswerReleased)
	return ResultReleased
}

// Cancel ends a request in whatever state it is, with [AnswerCancelled]; a
// permit is given back. For as long as the lease of a message lasts the id is
// refused, even if it has not been seen yet: the request may still be on its
// way.
func (b *Book) Cancel(now time.Time, id string) Result {
	t := b.tick(now)
	b.memory.bury(id, after(t, b.rules.Lease))
	e := b.entries[id]
	switch {
	case e == nil:
		return ResultNotFound
	case e.phase == phaseHeld:
		b.resolve(t, e, AnswerCancelled)
		return ResultReleased
	default:
		b.resolve(t, e, AnswerCancelled)
		return ResultCancelled
	}
}
