package admission

import (
	"slices"
	"time"
)

// Decide carries out one turn: what is due by the clock, then every grant that
// is possible, then an answer to everything asked since the last turn. After
// it no head of a lane is eligible, unless the turn says More.
func (b *Book) Decide(now time.Time) Turn {
	t := b.tick(now)
	b.ring(t)
	if !b.halted {
		b.wakeRates(t)
		b.promote(t)
		b.arm(t)
	}
	left := GrantsPerTurn
	more := b.grantAll(t, &left) || b.answer(t, &left)
	if b.queued == 0 && !more {
		b.v = b.ahead // nobody waits: the round is over, and all flows are even
	}
	b.memory.forget(t)
	b.tidy(t)
	turn := Turn{Decisions: b.out, Ask: b.asked, More: more}
	b.out, b.asked = nil, nil
	turn.Next = moment(b.next(t))
	if more {
		turn.Next = moment(t)
	}
	return turn
}

// wakeRates marks the rate keys that have become ready for somebody.
func (b *Book) wakeRates(t int64) {
	for _, g := range b.gates.meter {
		if !g.parked.empty() && g.open(t, g.least) {
			b.touch(g)
		}
	}
}

// grantAll grants the claims that fit, then heads by rank, until nothing is
// eligible. It reports whether it stopped instead, because no more are left for
// this turn.
func (b *Book) grantAll(t int64, left *int) (more bool) {
	if b.halted {
		return false
	}
	for _, e := range slices.Clone(b.claims) {
		if e.lane.held != e || b.obstacle(t, e) != nil {
			continue
		}
		if *left == 0 {
			return true
		}
		*left--
		b.grant(t, e)
	}
	var aside []*lane // failed at a gate that is still being gone through
	for {
		l := b.best(t)
		if l == nil {
			break
		}
		g := b.obstacle(t, l.queue[0])
		if g == nil && *left == 0 {
			more = true // the lane stays where it is
			break
		}
		l.take()
		switch {
		case g == nil:
			*left--
			b.grant(t, l.queue[0])
		case g.touched:
			l.blocked = g
			aside = append(aside, l)
		default:
			b.park(l, g)
		}
	}
	for _, l := range aside {
		b.park(l, l.blocked)
	}
	return more
}

// best is the lane with the smallest rank among those that may be eligible:
// the fresh ones, and those parked at a gate that gained room and has some
// left. Room only shrinks during a turn, so a lane is tried once.
func (b *Book) best(t int64) *lane {
	best, of := b.fresh.best(b.v, nil, rank{})
	kept := b.touched[:0]
	for _, g := range b.touched {
		if g.parked.empty() || !g.open(t, 1) {
			g.touched = false
			continue
		}
		kept = append(kept, g)
		best, of = g.parked.best(b.v, best, of)
	}
	clear(b.touched[len(kept):])
	b.touched = kept
	return best
}

// obstacle is the first gate that the entry cannot pass; nil if it is eligible.
// Room that is kept for the entry itself is free for it.
func (b *Book) obstacle(t int64, e *entry) *gate {
	for _, u := range e.uses {
		kept := 0
		if e.armed {
			kept = u.units
		}
		if !u.gate.open(t, u.units-kept) {
			return u.gate
		}
	}
	for _, u := range e.costs {
		if e.armed && u.gate.usable() && e.readyAt <= t {
			continue
		}
		if e.armed || !u.gate.open(t, u.units) {
			return u.gate
		}
	}
	return nil
}

// grant gives a permit to an entry that is eligible.
func (b *Book) grant(t int64, e *entry) {
	f, claim := e.lane.flow, e.lane.held == e
	if e.armed {
		b.unreserve(e)
	} else {
		for _, u := range e.costs {
			u.gate.meter.charge(t, u.units)
		}
	}
	start := f.charge(b.v, e.cost())
	b.ahead = max(b.ahead, f.tag)
	if claim {
		f.claimed = t
	} else {
		b.v = start
	}
	b.leave(e)
	b.permit(t, e)
}
