package admission

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// Submit takes a request. The next [Book.Decide] answers it. An id that is
// known is answered from what is known: a permit it holds, its place in the
// queue, its end. The error matches [ErrInvalidRequest] or [ErrForeignRequest],
// and then nothing has changed.
func (b *Book) Submit(now time.Time, r Request) error {
	if err := r.Validate(); err != nil {
		return err
	}
	t := b.tick(now)
	if e := b.entries[r.ID]; e != nil {
		if e.owner != r.Owner {
			return ErrForeignRequest
		}
		b.renew(t, e)
		b.again = append(b.again, e)
		return nil
	}
	if end, ok := b.memory.recall(t, r.ID); ok {
		b.out = append(b.out, Decision{ID: r.ID, Owner: r.Owner, Agent: r.Agent, Answer: end.Answer, Token: end.Token, Repeated: true})
		return nil
	}
	b.seq++
	e := b.newEntry(t, &r)
	if answer, key := b.take(e, &r); answer != "" {
		b.refuse(t, e, answer, key)
		return nil
	}
	b.enter(t, e, b.flow(strings.Clone(r.Flow)))
	return nil
}

// newEntry is the entry of a request before its keys are looked at.
func (b *Book) newEntry(t int64, r *Request) *entry {
	e := &entry{
		id: strings.Clone(r.ID), owner: r.Owner, number: r.Number, agent: r.Agent, seq: b.seq,
		submitted: t, since: t, visible: nanos(r.VisibleAt),
		overflow: or(r.Overflow, b.rules.Overflow), pos: -1, bell: -1, alarm: never, phase: phaseWaiting,
	}
	arrival := nanos(r.Arrival)
	if arrival == 0 || arrival > t {
		arrival = t
	}
	e.eff = arrival - b.rules.boost(r.priority())
	if e.visible > t {
		e.phase, e.since = phaseAsleep, e.visible
	}
	e.lease = after(t, b.rules.Lease)
	switch {
	case !r.Deadline.IsZero():
		e.deadline = nanos(r.Deadline)
	default:
		e.deadline = after(t, or(r.QueueTimeout, b.rules.QueueTimeout))
	}
	return e
}

// take resolves the keys of a request: what it inherits, and what it takes
// itself. The answer is empty if nothing speaks against it.
func (b *Book) take(e *entry, r *Request) (Answer, string) {
	keys := wanted(r)
	nest := b.nest(r)
	own := keys[:0]
	for _, k := range keys {
		if h := nest.covers(k); h != nil {
			if !slices.Contains(e.inherited, h) {
				e.inherited = append(e.inherited, h)
			}
			continue
		}
		if last, ok := nest.last(&b.rules); ok && !b.rules.before(last, k.Key) {
			e.inherited = nil
			return AnswerWouldDeadlock, k.Key
		}
		own = append(own, k)
	}
	if b.drain && len(own)+len(r.Rates) > 0 {
		e.inherited = nil
		return AnswerDraining, ""
	}
	if key, ok := b.resolveKeys(e, own, r.Rates); !ok {
		e.inherited = nil
		return AnswerInfeasible, key
	}
	return "", ""
}

// wanted lists the concurrency keys of a request by name, those of its agent
// among them.
func wanted(r *Request) []Units {
	keys := slices.Clone(r.Keys)
	if r.Agent != "" {
		keys = append(keys, Units{Key: KeyGlobal, Units: 1}, Units{Key: KeyAgentPrefix + r.Agent, Units: 1})
	}
	slices.SortFunc(keys, func(a, b Units) int { return cmp.Compare(a.Key, b.Key) })
	return keys
}

// resolveKeys finds the gates of the keys. Not ok: the key is unknown, or
// allows less than is asked for.
func (b *Book) resolveKeys(e *entry, keys, rates []Units) (string, bool) {
	for _, k := range keys {
		g := b.keyGate(k.Key)
		if !g.known || !g.fits(k.amount()) {
			return k.Key, false
		}
		e.uses = append(e.uses, use{gate: g, units: k.amount()})
	}
	rates = slices.Clone(rates)
	slices.SortFunc(rates, func(a, b Units) int { return cmp.Compare(a.Key, b.Key) })
	for _, k := range rates {
		g := b.rateGate(k.Key)
		if !g.known || !g.fits(k.amount()) {
			return k.Key, false
		}
		e.costs = append(e.costs, use{gate: g, units: k.amount()})
	}
	e.wide = e.several()
	return "", true
}

// refuse ends a request that never was in the queue.
func (b *Book) refuse(t int64, e *entry, answer Answer, key string) {
	b.memory.remember(Ending{ID: e.id, Answer: answer, At: t})
	d := Decision{ID: e.id, Owner: e.owner, Agent: e.agent, Answer: answer, Key: key}
	if answer == AnswerDraining {
		d.NextCheck = moment(after(t, b.rules.Recheck))
	}
	b.out = append(b.out, d)
}

// enter puts an entry into the book.
func (b *Book) enter(t int64, e *entry, f *flow) {
	b.enroll(e)
	for _, h := range e.inherited {
		h.refs++
	}
	b.newcomers = append(b.newcomers, e)
	b.queue(t, e, f)
	b.arrange(e)
}
