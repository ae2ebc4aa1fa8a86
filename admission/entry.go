package admission

// phase is where an entry stands.
type phase uint8

const (
	phaseAsleep  phase = iota // not visible yet
	phaseWaiting              // in its lane
	phaseAside                // too wide for the limits of today: out of its lane
	phaseHeld                 // it has a permit
)

// entry is a request from its submit to its end.
type entry struct {
	id     string
	owner  Owner
	number uint64
	agent  string
	seq    uint64 // of the submit: the last word in every order

	lane      *lane
	uses      []use // concurrency keys that it takes itself, by name
	costs     []use // rate keys, by name
	inherited []*hold
	wide      bool // it may claim: several keys or several units

	eff       int64 // arrival moved by the priority
	submitted int64
	since     int64 // begin of the wait: submit or visibility
	visible   int64 // 0: at once
	deadline  int64 // never, if it has none
	overflow  Overflow

	phase  phase
	seated bool // it has a place in the queue, which was said to its owner
	pos    int  // in lane.queue

	claiming bool  // it is in Book.claims
	armed    bool  // its claim keeps room
	readyAt  int64 // when the rates booked ahead for the claim are due

	token   uint64
	own     *hold
	granted int64
	lease   int64 // end of the lease
	hold    int64 // end of the longest hold
	suspect int64 // end of the grace of one that its owner did not name; 0: named

	alarm int64 // when something is due; never, while it is in no heap
	bell  int   // in Book.alarms
	nth   int   // in Book.all
	among int   // in the bag of its owner
	ended bool
}

func (e *entry) less(o *entry) bool { return e.eff < o.eff || e.eff == o.eff && e.seq < o.seq }

func (e *entry) place() *int { return &e.pos }

// bell is an entry in the heap of alarms.
type bell struct{ *entry }

func (b bell) less(o bell) bool { return b.alarm < o.alarm || b.alarm == o.alarm && b.seq < o.seq }

func (b bell) place() *int { return &b.bell }

// due is when something must be done about the entry.
func (e *entry) due() int64 {
	at := e.lease
	if e.suspect > 0 {
		at = min(at, e.suspect)
	}
	switch {
	case e.phase == phaseHeld:
		return min(at, e.hold)
	case !e.seated && e.phase == phaseAsleep:
		return e.visible
	case !e.seated:
		return never // its answer of this turn comes first
	case e.phase == phaseAsleep:
		at = min(at, e.visible)
	}
	return min(at, e.deadline)
}

// cost is what a grant is charged to the flow: its widest use.
func (e *entry) cost() int64 {
	widest := 1
	for _, u := range e.uses {
		widest = max(widest, u.units)
	}
	return int64(widest)
}

// several tells whether the entry waits for several things at once, so that it
// may meet each of them without ever meeting all. `global` does not count:
// whoever leaves an agent leaves it too, so room in both comes together.
func (e *entry) several() bool {
	n := 0
	for _, u := range e.uses {
		if u.gate.name != KeyGlobal {
			n += u.units
		}
	}
	for _, u := range e.costs {
		n += u.units
	}
	return n > 1
}

// feasible tells whether the entry could be granted without a change of
// limits, if only everybody else left.
func (e *entry) feasible() bool {
	for _, u := range e.uses {
		if !u.gate.usable() || !u.gate.fits(u.units) {
			return false
		}
	}
	for _, u := range e.costs {
		if !u.gate.usable() || !u.gate.fits(u.units) {
			return false
		}
	}
	return true
}

// fitting tells whether no limit of today is below what is asked for.
func (e *entry) fitting() bool {
	for _, u := range e.uses {
		if !u.gate.fits(u.units) {
			return false
		}
	}
	for _, u := range e.costs {
		if !u.gate.fits(u.units) {
			return false
		}
	}
	return true
}

// hold is units in use. The permit they were granted to refers to them, and so
// does every permit that inherits from it: they are free when the last is gone.
type hold struct {
	token uint64 // of the permit they were granted to
	uses  []use
	refs  int
	nth   int // in Book.holds
}

// units are the units of a key in the hold; 0 if it does not hold it.
func (h *hold) units(key string) int {
	for _, u := range h.uses {
		if u.gate.name == key {
			return u.units
		}
	}
	return 0
}
