package admission

import (
	"cmp"
	"slices"
)

// promote makes claims of the heads that have waited long enough: at most one
// of each flow, the one that has waited longest. No timer is needed for it. A
// claim only keeps others out, and whatever lets others in runs this first.
func (b *Book) promote(t int64) {
	var next []*entry
	for _, h := range b.hopeful {
		if e := b.ripe(t, h.flow); e != nil {
			next = append(next, e)
		}
	}
	slices.SortFunc(next, func(x, y *entry) int { return cmp.Or(cmp.Compare(x.since, y.since), cmp.Compare(x.seq, y.seq)) })
	for _, e := range next {
		e.claiming = true
		b.claims = append(b.claims, e)
		b.offer(e.lane)
	}
}

// ripe is the head of the flow that becomes its claim now, if one does.
func (b *Book) ripe(t int64, f *flow) *entry {
	if f.candidates[0].since+int64(b.rules.Patience) > t {
		return nil
	}
	// After a claim the flow's turn comes when its share allows it, when
	// nobody else waits, or after another patience: claims are no way round
	// fairness.
	resting := f.claimed > 0 && f.claimed+int64(b.rules.Patience) > t
	if resting && f.tag > b.v && b.queued > f.queued || b.claimOf(f) != nil {
		return nil
	}
	return f.candidates[0].lane.queue[0]
}

// claimOf is the claim that the flow has: the first that is feasible.
func (b *Book) claimOf(f *flow) *entry {
	for _, e := range b.claims {
		if e.lane.flow == f && e.feasible() {
			return e
		}
	}
	return nil
}

// arm settles which claims keep room: in the order of promotion, each that is
// feasible, the first of its flow, and shares no key with an earlier one. One
// that is not feasible, or not the first of its flow, is an ordinary request
// that keeps its place among the claims.
func (b *Book) arm(t int64) {
	var seen []*flow
	var taken []*gate
	var free []*entry
	for _, e := range b.claims {
		l := e.lane
		active := e.feasible() && !slices.Contains(seen, l.flow)
		alone := active && !slices.ContainsFunc(l.gates, func(g *gate) bool { return slices.Contains(taken, g) })
		if active {
			seen = append(seen, l.flow)
			taken = append(taken, l.gates...)
		}
		if alone {
			free = append(free, e)
		} else if e.armed {
			b.giveBack(e)
		}
		b.hold(e, active)
	}
	for _, e := range free {
		if !e.armed {
			b.reserve(t, e)
		}
	}
}

// hold keeps the rest of the lane from being granted before the claim.
func (b *Book) hold(e *entry, held bool) {
	l := e.lane
	if held == (l.held == e) {
		return
	}
	l.held = nil
	if held {
		l.held = e
	}
	b.settle(l)
}

// reserve keeps room for a claim on all its keys, and books its rates ahead.
func (b *Book) reserve(t int64, e *entry) {
	e.armed, e.readyAt = true, t
	for _, u := range e.uses {
		u.gate.reserved += u.units
	}
	for i := range e.costs {
		u := &e.costs[i]
		m := u.gate.meter
		e.readyAt = max(e.readyAt, m.ready(t, u.units))
		u.paid = m.charge(t, u.units)
	}
}

// giveBack undoes reserve.
func (b *Book) giveBack(e *entry) {
	b.unreserve(e)
	for i := range e.costs {
		u := &e.costs[i]
		u.gate.meter.refund(u.paid)
		u.paid = 0
		b.touch(u.gate)
	}
}

func (b *Book) unreserve(e *entry) {
	e.armed = false
	for _, u := range e.uses {
		u.gate.reserved -= u.units
		b.touch(u.gate)
	}
}

// unclaim takes an entry that leaves out of the claims.
func (b *Book) unclaim(e *entry) {
	if e.armed {
		b.giveBack(e)
	}
	e.claiming = false
	b.claims = slices.Delete(b.claims, slices.Index(b.claims, e), slices.Index(b.claims, e)+1)
	if e.lane.held == e {
		e.lane.held = nil
		b.settle(e.lane)
	}
}
