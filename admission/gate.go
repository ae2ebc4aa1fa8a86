package admission

// gate is one key that requests must pass: a concurrency key with its units,
// or a rate key with its meter. The two kinds have names of their own.
type gate struct {
	name  string
	meter *meter // of a rate key; nil for a concurrency key

	known  bool // the limits name it; else limit is the last one known
	paused bool
	limit  int
	bound  int // requests that may wait for it; None: any number

	used     int // units of permits
	reserved int // units kept for claims
	queued   int // requests that wait for it

	refs    int  // lanes and holds that point here
	parked  spot // lanes whose head failed here
	least   int  // no cost of a parked lane is less; of a rate key
	touched bool // in Book.touched: it may have room for a parked lane
}

// use is an amount of one gate.
type use struct {
	gate  *gate
	units int
	paid  int64 // booked ahead for a claim; of a rate key
}

// open tells whether units can pass now, taking what is kept for claims as
// used.
func (g *gate) open(now int64, units int) bool {
	if !g.usable() {
		return false
	}
	if g.meter != nil {
		return g.meter.ready(now, units) <= now
	}
	return g.used+g.reserved+units <= g.limit
}

// usable tells whether anything may pass at all.
func (g *gate) usable() bool { return g.known && !g.paused && g.limit > 0 }

// fits tells whether the units can ever pass under the limit of today. A limit
// of 0 is a pause, which ends.
func (g *gate) fits(units int) bool {
	if g.meter != nil {
		return g.limit == 0 || units <= g.meter.rate.burst()
	}
	return g.limit == 0 || units <= g.limit
}

// reason says why units cannot pass.
func (g *gate) reason(now int64, units int) Reason {
	switch {
	case !g.known:
		return ReasonUnknownKey
	case g.paused || g.limit == 0:
		return ReasonPaused
	case !g.fits(units):
		return ReasonInfeasible
	case g.open(now, units):
		return ReasonNext
	case g.meter != nil:
		return ReasonRate
	case g.used+units <= g.limit:
		return ReasonReserved
	default:
		return ReasonLimit
	}
}

// gates finds gates by kind and name.
type gates struct {
	keys  map[string]*gate
	rates map[string]*gate
	list  []*gate // both, in no order that means anything
	meter []*gate // the rate keys of list
}

func (s *gates) add(g *gate) {
	if g.meter != nil {
		s.rates[g.name] = g
		s.meter = append(s.meter, g)
	} else {
		s.keys[g.name] = g
	}
	s.list = append(s.list, g)
}

// sweep forgets the gates about which there is nothing to remember: made anew
// they would be the same. A rate is remembered while it owes.
func (s *gates) sweep(now int64) {
	keep := func(g *gate) bool {
		return g.refs > 0 || g.touched || g.meter != nil && g.meter.tat > now
	}
	list := s.list
	s.list, s.meter = nil, nil
	for _, g := range list {
		switch {
		case keep(g) && g.meter != nil:
			s.meter = append(s.meter, g)
			s.list = append(s.list, g)
		case keep(g):
			s.list = append(s.list, g)
		case g.meter != nil:
			delete(s.rates, g.name)
		default:
			delete(s.keys, g.name)
		}
	}
}
