package admission

// Restore makes the book that wrote a State. The error matches
// [ErrInvalidState].
func Restore(s State) (*Book, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	b := newBook(s.Limits, s.Overrides)
	b.paused, b.halted, b.drain = append(b.paused, s.Paused...), s.Halted, s.Draining
	b.base = s.Base
	b.clock, b.token, b.seq, b.v, b.ahead = s.Clock, s.Token, s.Seq, s.Virtual, s.Virtual
	b.out = append(b.out, s.Pending...)
	for _, w := range s.Flows {
		f := b.flow(w.Flow)
		f.tag, f.claimed = w.Tag, w.Claimed
		b.ahead = max(b.ahead, f.tag)
	}
	b.readGates(&s)
	holds := map[uint64]*hold{}
	for _, h := range s.Holds {
		holds[h.Token] = b.readHold(h)
	}
	for i := range s.Requests {
		b.readEntry(&s.Requests[i], holds)
	}
	for _, c := range s.Claims {
		b.readClaim(c)
	}
	for _, id := range s.Again {
		b.again = append(b.again, b.entries[id])
	}
	for _, e := range s.Endings {
		b.memory.remember(e)
	}
	for _, t := range s.Tombstones {
		b.memory.bury(t.ID, t.Until)
	}
	return b, nil
}

// readGates makes the rates that owe, and the keys of which only the State
// knows a limit.
func (b *Book) readGates(s *State) {
	for _, m := range s.Meters {
		g := b.rateGate(m.Key)
		g.meter.tat = m.TAT
		if g.meter.step == 0 || !g.known {
			g.meter.step = m.Step
		}
		if m.Rate != nil && !g.known {
			g.meter.rate, g.limit = *m.Rate, m.Rate.Limit
		}
	}
	for _, k := range s.Lost {
		if g := b.keyGate(k.Key); !g.known {
			g.limit = k.Limit
		}
	}
}

func (b *Book) readHold(s HoldState) *hold {
	h := &hold{token: s.Token, uses: b.readUses(s.Keys)}
	for _, u := range h.uses {
		u.gate.used += u.units
		u.gate.refs++
	}
	b.holds.add(h)
	return h
}

func (b *Book) readUses(list []Units) []use {
	var uses []use
	for _, u := range list {
		uses = append(uses, use{gate: b.keyGate(u.Key), units: u.Units})
	}
	return uses
}

func (b *Book) readEntry(s *EntryState, holds map[uint64]*hold) {
	e := &entry{
		id: s.ID, owner: s.Owner, number: s.Number, agent: s.Agent, seq: s.Seq,
		submitted: s.Submitted, since: max(s.Submitted, s.Visible), lease: s.Lease, suspect: s.Suspect,
		eff: s.Rank, visible: s.Visible, deadline: endless(s.Deadline), overflow: s.Overflow,
		pos: -1, bell: -1, alarm: never, phase: phaseWaiting,
	}
	for _, token := range s.Inherits {
		holds[token].refs++
		e.inherited = append(e.inherited, holds[token])
	}
	b.enroll(e)
	if s.Token > 0 {
		e.phase, e.token, e.granted, e.hold = phaseHeld, s.Token, s.Granted, endless(s.Until)
		e.own = holds[s.Token]
		e.own.refs++
		b.arrange(e)
		return
	}
	e.uses = b.readUses(s.Keys)
	for _, u := range s.Rates {
		e.costs = append(e.costs, use{gate: b.rateGate(u.Key), units: u.Units})
	}
	e.wide = e.several()
	if e.visible > b.clock || len(e.uses)+len(e.costs) == 0 {
		e.phase = phaseAsleep
	}
	b.queue(b.clock, e, b.flow(s.Flow))
	if s.Seated {
		b.seat(e)
	} else {
		b.newcomers = append(b.newcomers, e)
	}
	b.arrange(e)
}

// readClaim puts a claim back. Which claims are active is found out in the next
// turn.
func (b *Book) readClaim(s ClaimState) {
	e := b.entries[s.ID]
	e.claiming, e.armed, e.readyAt = true, s.Armed, s.Ready
	if s.Armed {
		for _, u := range e.uses {
			u.gate.reserved += u.units
		}
		for i := range e.costs {
			e.costs[i].paid = s.Paid[i]
		}
	}
	b.claims = append(b.claims, e)
	b.offer(e.lane)
}
