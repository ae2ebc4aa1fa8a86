package admission

import (
	"errors"
	"fmt"
	"slices"
)

// Check looks for a structure that contradicts itself: an element that does not
// know its place, a heap out of order, a lane that is nowhere or in two places.
func (b *Book) Check() error {
	for i, e := range b.all {
		if e.nth != i || b.entries[e.id] != e || e.ended {
			return fmt.Errorf("entry %s is not where it thinks", e.id)
		}
		if !slices.Contains(b.of(e.owner), e) {
			return fmt.Errorf("entry %s is not with its owner", e.id)
		}
		if e.due() != e.alarm || (e.bell >= 0) != (e.alarm != never) {
			return fmt.Errorf("entry %s rings at %d, due %d", e.id, e.alarm, e.due())
		}
		if waiting := e.phase == phaseWaiting; waiting != (e.pos >= 0) || (e.lane == nil) != (e.phase == phaseHeld) {
			return fmt.Errorf("entry %s of phase %d has place %d", e.id, e.phase, e.pos)
		}
	}
	if len(b.entries) != len(b.all) {
		return fmt.Errorf("%d entries, %d by id", len(b.all), len(b.entries))
	}
	if err := sound(b.alarms); err != nil {
		return err
	}
	for _, f := range b.flows {
		if hopes := len(f.candidates) > 0; hopes != slices.Contains(b.hopeful, hope{f}) {
			return fmt.Errorf("flow %q hopes: %v", f.name, hopes)
		}
	}
	for _, l := range b.lanes {
		if err := b.checkLane(l); err != nil {
			return err
		}
	}
	for _, h := range b.holds {
		if h.refs <= 0 {
			return fmt.Errorf("hold %d has %d references", h.token, h.refs)
		}
	}
	return nil
}

func (b *Book) checkLane(l *lane) error {
	if err := sound(l.queue); err != nil {
		return err
	}
	if free := l.held == nil && len(l.queue) > 0; free != (l.row != nil) {
		return fmt.Errorf("lane %q: free %v, but placed %v", l.sign, free, l.row != nil)
	}
	if l.row != nil && (l.row.lanes[l.pos] != l || l.row.spot.index[l.flow] != l.row) {
		return fmt.Errorf("lane %q is not where it thinks", l.sign)
	}
	if l.row != nil && l.row.spot != &b.fresh && l.row.spot != &l.blocked.parked {
		return fmt.Errorf("lane %q is parked elsewhere than where it failed", l.sign)
	}
	if l.row != nil {
		if err := errors.Join(sound(l.row.lanes), sound(l.row.spot.behind), sound(l.row.spot.ahead)); err != nil {
			return err
		}
	}
	if l.members < len(l.queue) || l.members == 0 {
		return fmt.Errorf("lane %q counts %d members of %d", l.sign, l.members, len(l.queue))
	}
	return sound(l.flow.candidates)
}

func sound[T ordered[T]](h heap[T]) error {
	for i, v := range h {
		if *v.place() != i || i > 0 && v.less(h[(i-1)/2]) {
			return fmt.Errorf("heap is out of order at %d of %d", i, len(h))
		}
	}
	return nil
}

// Plants are faults that are put into a book from outside, between its calls:
// each undoes what one line of the rules did. The argument names the call that
// was just made; `before` and `decide` stand around a turn.
func Plants() map[string]func(b *Book, after string) {
	return map[string]func(b *Book, after string){
		"a release wakes nobody":            on("release", deafen),
		"an owner's end wakes nobody":       on("gone", deafen),
		"a cancel wakes nobody":             on("cancel", deafen),
		"a raised limit wakes nobody":       on("limit", deafen),
		"a resume wakes nobody":             on("resume", deafen),
		"a ready rate wakes nobody":         on("before", neverReady),
		"visibility wakes nobody":           on("submit", sleepOn),
		"deadlines and leases never ring":   on("submit", mute),
		"the flow's tag stays":              tagStays(),
		"virtual time stays":                virtualStays(),
		"the newest goes first":             on("submit", lastInFirstOut),
		"the priority is lost":              on("submit", flatten),
		"nobody claims":                     on("submit", meek),
		"a flow's claims follow each other": on("decide", restless),
		"a claim keeps no room":             on("before", careless),
		"a rate counts one too few":         undercharge(),
		"what an owner held is freed twice": on("gone", freeTwice),
		"a tombstone is forgotten":          on("cancel", forgetful),
		"a token is given twice":            on("decide", func(b *Book) { b.token -= min(b.token, 1) }),
		"a lowered limit goes unnoticed":    on("limit", roomy),
	}
}

func on(call string, do func(*Book)) func(*Book, string) {
	return func(b *Book, after string) {
		if after == call {
			do(b)
		}
	}
}

// deafen parks what was to be tried, and forgets which gates gained room.
func deafen(b *Book) {
	for !b.fresh.empty() {
		l := b.fresh.first(b.v).lanes[0]
		l.take()
		b.park(l, l.gates[0])
	}
	for _, g := range b.touched {
		g.touched = false
	}
	b.touched = nil
}

func neverReady(b *Book) {
	for _, g := range b.gates.meter {
		g.least = MaxUnits
	}
}

func sleepOn(b *Book) {
	for _, e := range b.all {
		if e.phase == phaseAsleep {
			e.visible = never
		}
	}
}

func mute(b *Book) {
	for _, e := range b.all {
		e.alarm, e.bell = never, -1
	}
	b.alarms = nil
}

func tagStays() func(*Book, string) {
	tags := map[string]int64{}
	return func(b *Book, after string) {
		for _, f := range b.flows {
			switch after {
			case "before":
				tags[f.name] = f.tag
			case "decide":
				f.tag = tags[f.name]
			}
		}
	}
}

func virtualStays() func(*Book, string) { return on("decide", func(b *Book) { b.v = 0 }) }

// reorder changes the order of an entry that waits.
func reorder(b *Book, e *entry, eff int64) {
	if e.phase != phaseWaiting {
		e.eff = eff
		return
	}
	e.lane.take()
	e.lane.queue.remove(e)
	e.eff = eff
	e.lane.queue.push(e)
	b.settle(e.lane)
}

func lastInFirstOut(b *Book) {
	for _, e := range b.inOrder() {
		if e.seq == b.seq {
			reorder(b, e, -int64(e.seq))
		}
	}
}

func flatten(b *Book) {
	for _, e := range b.inOrder() {
		reorder(b, e, e.submitted)
	}
}

func meek(b *Book) {
	for _, e := range b.all {
		e.wide = false
		if e.lane != nil {
			b.offer(e.lane)
		}
	}
}

func restless(b *Book) {
	for _, f := range b.flows {
		f.claimed = 0
	}
}

func careless(b *Book) {
	for _, e := range b.claims {
		if e.armed {
			b.giveBack(e)
		}
		e.armed = true // so that it is not armed again
	}
}

func undercharge() func(*Book, string) {
	tats := map[string]int64{}
	return func(b *Book, after string) {
		for _, g := range b.gates.meter {
			if after == "decide" && g.meter.tat > tats[g.name] {
				g.meter.tat -= g.meter.step
			}
			if after == "before" {
				tats[g.name] = g.meter.tat
			}
		}
	}
}

func freeTwice(b *Book) {
	for _, g := range b.touched {
		g.used = max(0, g.used-1)
	}
}

func forgetful(b *Book) { b.memory = newMemory() }

func roomy(b *Book) {
	for _, g := range b.gates.list {
		if g.meter == nil {
			g.limit++
		}
	}
}

// Miscount makes a counter of a key wrong.
func (b *Book) Miscount(key string, by int) { b.gates.keys[key].used += by }

// Known counts the gates and flows that the book remembers.
func (b *Book) Known() int { return len(b.gates.list) + len(b.flows) }
