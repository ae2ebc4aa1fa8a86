package admission

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Overrides are limits changed live. They stand above the configuration until
// they are taken back, so that a worker that starts with its file changes
// nothing that an operator has set.
type Overrides struct {
	Limits []KeyLimit `json:"limits,omitempty"` // by key; `global`, `agent:NAME` or a named key
	Rates  []KeyRate  `json:"rates,omitempty"`  // by key
}

// SetLimits puts another configuration in force, unless its version is lower
// than that of the one in force: then it is ignored, and taken is false. Work
// that runs is left alone; a limit below what is in use only keeps others out.
// The error matches [ErrInvalidLimits].
func (b *Book) SetLimits(now time.Time, l Limits) (taken bool, err error) {
	if err := l.Validate(); err != nil {
		return false, err
	}
	t := b.tick(now)
	if l.Version < b.limits.Version {
		return false, nil
	}
	b.limits = l
	b.reconsider(t)
	return true, nil
}

// SetLimit changes the limit of one key live; None takes the change back, 0
// stands for a pause. The error matches [ErrInvalidLimits].
func (b *Book) SetLimit(now time.Time, key string, limit int) error {
	f := &faults{kind: ErrInvalidLimits}
	checkName(f, "key", key)
	within(f, "limit", limit, None, MaxUnits)
	if err := f.err(); err != nil {
		return err
	}
	list := slices.DeleteFunc(slices.Clone(b.over.Limits), func(k KeyLimit) bool { return k.Key == key })
	if limit != None {
		list = append(list, KeyLimit{Key: strings.Clone(key), Limit: limit})
		slices.SortFunc(list, func(x, y KeyLimit) int { return strings.Compare(x.Key, y.Key) })
	}
	if len(list) > maxList {
		return tooMany("limits")
	}
	b.over.Limits = list
	b.reconsider(b.tick(now))
	return nil
}

// SetRate changes one rate live; the zero Rate takes the change back. What was
// used stays used, up to the new burst: a window with one change in it holds at
// most the greater Limit + Burst. The error matches [ErrInvalidLimits].
func (b *Book) SetRate(now time.Time, key string, rate Rate) error {
	f := &faults{kind: ErrInvalidLimits}
	checkName(f, "key", key)
	if rate != (Rate{}) {
		rate.check(f, "rate")
	}
	if err := f.err(); err != nil {
		return err
	}
	list := slices.DeleteFunc(slices.Clone(b.over.Rates), func(k KeyRate) bool { return k.Key == key })
	if rate != (Rate{}) {
		list = append(list, KeyRate{Key: strings.Clone(key), Rate: rate})
		slices.SortFunc(list, func(x, y KeyRate) int { return strings.Compare(x.Key, y.Key) })
	}
	if len(list) > maxList {
		return tooMany("rates")
	}
	b.over.Rates = list
	b.reconsider(b.tick(now))
	return nil
}

func tooMany(list string) error {
	return &FieldError{Kind: ErrInvalidLimits, Field: list, Fault: fmt.Sprintf("more than %d live changes; take some back", maxList)}
}

// Overrides are the limits that were changed live.
func (b *Book) Overrides() Overrides {
	return Overrides{Limits: slices.Clone(b.over.Limits), Rates: slices.Clone(b.over.Rates)}
}

// Pause lets nothing more pass a key, or, with an empty key, nothing at all.
// Work that runs is left alone, and requests go on to be taken.
func (b *Book) Pause(now time.Time, key string) {
	t := b.tick(now)
	if key == "" {
		b.halted = true
		return
	}
	if i, found := slices.BinarySearch(b.paused, key); !found {
		b.paused = slices.Insert(b.paused, i, strings.Clone(key))
		b.reconsider(t)
	}
}

// Resume ends the pause of a key; with an empty key, that of the whole book,
// and a drain. Keys that are paused by themselves stay so.
func (b *Book) Resume(now time.Time, key string) {
	t := b.tick(now)
	if key == "" {
		b.halted, b.drain = false, false
		return
	}
	if i, found := slices.BinarySearch(b.paused, key); found {
		b.paused = slices.Delete(b.paused, i, i+1)
		b.reconsider(t)
	}
}

// Drain ends what waits, and answers what comes, with [AnswerDraining]; permits
// go on to their end. A request that only inherits is part of such a permit and
// is still granted. Draining twice is draining once.
func (b *Book) Drain(now time.Time) {
	t := b.tick(now)
	b.drain = true
	for _, e := range b.inOrder() {
		if e.phase != phaseHeld {
			b.resolve(t, e, AnswerDraining)
		}
	}
}

// reconsider brings every gate, flow and waiting request in line with the
// limits and pauses of now. It is rare, so it goes through all of them, and
// has every lane tried again.
func (b *Book) reconsider(t int64) {
	b.rules = compile(b.limits, b.over)
	b.revokeChangedRates()
	for _, g := range b.gates.list {
		b.refresh(t, g)
	}
	for _, f := range b.flows {
		f.weight = b.rules.weight(f.name)
	}
	for _, e := range b.inOrder() {
		b.refit(t, e)
	}
	for _, l := range b.lanes {
		b.settle(l)
	}
}

// revokeChangedRates has claims give back what they booked under a rate that
// is no more. They book anew in the next turn.
func (b *Book) revokeChangedRates() {
	changed := func(u use) bool {
		rate, known := b.rules.rates.find(u.gate.name)
		return known && rate != u.gate.meter.rate
	}
	for _, e := range b.claims {
		if e.armed && slices.ContainsFunc(e.costs, changed) {
			b.giveBack(e)
		}
	}
}

// refresh brings a gate in line. A key that the limits no longer name keeps the
// last limit that is known: permits on it can still be given back.
func (b *Book) refresh(t int64, g *gate) {
	_, g.paused = slices.BinarySearch(b.paused, g.name)
	bound, bounded := b.rules.queues.find(g.name)
	g.bound = None
	if bounded {
		g.bound = bound
	}
	if g.meter == nil {
		limit, known := b.rules.keys.find(g.name)
		if g.known = known; known {
			g.limit = limit
		}
		return
	}
	rate, known := b.rules.rates.find(g.name)
	if g.known = known; known && rate != g.meter.rate {
		g.meter.change(t, rate)
		g.limit = rate.Limit
	}
}

// refit moves an entry out of its lane when a limit fell below what it asks
// for, and back when it rose.
func (b *Book) refit(t int64, e *entry) {
	fits := e.phase == phaseAside || e.phase == phaseWaiting
	if !fits || e.fitting() == (e.phase == phaseWaiting) {
		return
	}
	if e.phase == phaseAside {
		b.join(t, e)
		return
	}
	l := e.lane
	l.take() // before the order of its row changes
	l.queue.remove(e)
	e.phase = phaseAside
	if l.held == e {
		l.held = nil
	}
	b.settle(l)
}

// keyGate finds or makes the gate of a concurrency key.
func (b *Book) keyGate(name string) *gate {
	g := b.gates.keys[name]
	if g == nil {
		g = &gate{name: strings.Clone(name)}
		b.refresh(b.clock, g)
		b.gates.add(g)
	}
	return g
}

// rateGate finds or makes the gate of a rate key.
func (b *Book) rateGate(name string) *gate {
	g := b.gates.rates[name]
	if g == nil {
		g = &gate{name: strings.Clone(name), meter: &meter{}}
		b.refresh(b.clock, g)
		b.gates.add(g)
	}
	return g
}

// sweepAt is the least number of gates and flows at which idle ones are looked
// for.
const sweepAt = 256

// tidy forgets idle gates and flows when there are many.
func (b *Book) tidy(t int64) {
	if len(b.gates.list)+len(b.flows) >= b.sweep {
		b.forgetIdle(t)
		b.sweep = sweepAt + 2*(len(b.gates.list)+len(b.flows))
	}
}

// forgetIdle forgets gates and flows that would be the same made anew.
func (b *Book) forgetIdle(t int64) {
	b.gates.sweep(t)
	for _, f := range slices.Clone(b.flows) {
		resting := f.claimed > 0 && b.rules.Patience != None && f.claimed+int64(b.rules.Patience) > t
		if f.lanes == 0 && f.tag <= b.v && !resting {
			delete(b.names, f.name)
			b.flows.remove(f)
		}
	}
}
