package admission

import (
	"slices"
	"time"
)

// Renew is a sign of life for one request. A permit is named with its token, a
// request that waits with 0.
func (b *Book) Renew(now time.Time, id string, token uint64) Result {
	t := b.tick(now)
	e := b.entries[id]
	switch {
	case e == nil:
		return ResultNotFound
	case e.token != token:
		return ResultStale
	}
	b.renew(t, e)
	return ResultOK
}

// renew starts a new lease, and the owner has named the entry.
func (b *Book) renew(t int64, e *entry) {
	e.lease, e.suspect = after(t, b.rules.Lease), 0
	b.arrange(e)
}

// Confirmation is what an owner believes: all the requests it holds, waits for
// or has asked for and heard nothing of. It goes with every message of an
// owner.
type Confirmation struct {
	Owner Owner `json:"owner"`
	// Upto is the number of the owner's latest acquisition when it wrote this.
	// Requests with a greater number are younger than the message, which says
	// nothing about them. Zero means that the owner does not count: the
	// message says something about every request in the book.
	Upto uint64   `json:"upto,omitempty"`
	IDs  []string `json:"ids,omitempty"`
}

// Confirm renews the requests that their owner names. One that it does not
// name any more ends after a grace of one lease, unless it is named again: the
// owner gave it up, and the cancel was lost. The ids that the book does not
// know, or knows of another owner, are returned.
func (b *Book) Confirm(now time.Time, c Confirmation) (unknown []string) {
	t := b.tick(now)
	named := make(map[string]bool, len(c.IDs))
	for _, id := range c.IDs {
		named[id] = true
		if e := b.entries[id]; e != nil && e.owner == c.Owner {
			b.renew(t, e)
		} else {
			unknown = append(unknown, id)
		}
	}
	for _, e := range b.of(c.Owner) {
		if named[e.id] || e.suspect > 0 || c.Upto > 0 && e.number > c.Upto {
			continue
		}
		e.suspect = after(t, b.rules.Lease)
		b.arrange(e)
	}
	return unknown
}

// Alive says that an owner named in [Turn.Ask] still runs.
func (b *Book) Alive(now time.Time, o Owner) {
	t := b.tick(now)
	for _, e := range b.of(o) {
		e.lease = after(t, b.rules.Lease)
		b.arrange(e)
	}
}

// Gone says that an owner has ended: all it holds is given back, all it waits
// for ends [AnswerOwnerGone]. It gives the number of requests that ended.
func (b *Book) Gone(now time.Time, o Owner) int {
	t := b.tick(now)
	all := b.of(o)
	for _, e := range all {
		b.resolve(t, e, AnswerOwnerGone)
	}
	return len(all)
}

// arrange sets the alarm of an entry.
func (b *Book) arrange(e *entry) {
	at := e.due()
	switch {
	case at == e.alarm:
		return
	case e.bell < 0:
		e.alarm = at
		b.alarms.push(bell{e})
	case at == never:
		e.alarm = at
		b.alarms.remove(bell{e})
	default:
		e.alarm = at
		b.alarms.fix(e.bell)
	}
}

// ring does what is due by the clock.
func (b *Book) ring(t int64) {
	for len(b.alarms) > 0 && b.alarms[0].alarm <= t {
		e := b.alarms[0].entry
		if answer := e.overdue(t); answer != "" {
			b.resolve(t, e, answer)
			continue
		}
		if e.lease <= t && e.answered() {
			if !slices.Contains(b.asked, e.owner) {
				b.asked = append(b.asked, e.owner)
			}
			e.lease = after(t, b.rules.Lease)
		}
		if e.phase == phaseAsleep && e.visible <= t {
			e.phase = phaseWaiting
			b.join(t, e)
		}
		b.arrange(e)
	}
}

// overdue is how the clock ends the entry; empty if it does not.
func (e *entry) overdue(t int64) Answer {
	switch {
	case !e.answered():
		return ""
	case e.suspect > 0 && e.suspect <= t:
		return AnswerCancelled
	case e.lease <= t && !e.owner.asked():
		return AnswerOwnerGone
	case e.phase == phaseHeld && e.hold <= t:
		return AnswerHoldExceeded
	case e.phase != phaseHeld && e.deadline <= t:
		return AnswerDeadlineExceeded
	}
	return ""
}

// answered tells whether a turn has said what became of the entry. Before that
// the clock does not end it.
func (e *entry) answered() bool { return e.seated || e.phase == phaseHeld }

// next is when the clock alone has something to do.
func (b *Book) next(t int64) int64 {
	at := int64(never)
	if len(b.alarms) > 0 {
		at = b.alarms[0].alarm
	}
	if b.halted {
		return at
	}
	// The least cost may be that of a lane that has gone since. That wakes the
	// book too early, once: whoever is tried and fails is counted anew.
	for _, g := range b.gates.meter {
		if !g.parked.empty() && g.usable() {
			at = min(at, g.meter.ready(t, g.least))
		}
	}
	for _, e := range b.claims {
		at = min(at, e.wakeAt(t))
	}
	return at
}

// wakeAt is when a rate becomes ready for a claim; never if none is awaited.
func (e *entry) wakeAt(t int64) int64 {
	switch {
	case !e.feasible():
		return never
	case e.armed && e.readyAt > t:
		return e.readyAt
	case e.armed:
		return never
	}
	at := int64(never)
	for _, u := range e.costs {
		if ready := u.gate.meter.ready(t, u.units); ready > t {
			at = min(at, ready)
		}
	}
	return at
}
