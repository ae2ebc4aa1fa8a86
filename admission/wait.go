package admission

// queue gives an entry its lane, and puts it there if its time has come.
func (b *Book) queue(t int64, e *entry, f *flow) {
	key := sign(f, e.uses, e.costs)
	l := b.signs[key]
	if l == nil {
		l = &lane{sign: key, flow: f, pos: -1}
		l.candidate = candidate{lane: l, at: -1}
		for _, list := range [][]use{e.uses, e.costs} {
			for _, u := range list {
				l.gates = append(l.gates, u.gate)
				u.gate.refs++
			}
		}
		b.signs[key] = l
		b.lanes.add(l)
		f.lanes++
	}
	e.lane = l
	l.members++
	if e.phase != phaseAsleep {
		b.join(t, e)
	}
}

// join puts an entry whose time has come into its lane; aside, if it is too
// wide for the limits of today. One that inherits all its keys has nothing to
// wait for.
func (b *Book) join(t int64, e *entry) {
	switch {
	case len(e.uses) == 0 && len(e.costs) == 0:
		e.phase = phaseAside
		b.leave(e)
		b.permit(t, e)
	case !e.fitting():
		e.phase = phaseAside
	default:
		e.phase = phaseWaiting
		e.lane.queue.push(e)
		if e.lane.queue[0] == e {
			b.settle(e.lane)
		}
	}
}

// leave takes a waiting entry out of its lane and its place in the queue.
func (b *Book) leave(e *entry) {
	l := e.lane
	if e.claiming {
		b.unclaim(e)
	}
	if e.phase == phaseWaiting {
		head := l.queue[0] == e
		l.queue.remove(e)
		if head {
			b.settle(l)
		}
	}
	b.unseat(e)
	e.lane = nil
	if l.members--; l.members > 0 {
		return
	}
	delete(b.signs, l.sign)
	b.lanes.remove(l)
	l.flow.lanes--
	for _, g := range l.gates {
		g.refs--
	}
}

// settle has the lane tried again, because its head or its claim changed.
func (b *Book) settle(l *lane) {
	l.take()
	l.blocked = nil
	b.offer(l)
	if l.held == nil && len(l.queue) > 0 {
		b.fresh.put(l)
	}
}

// offer keeps the list of possible claims: the lane stands there while its
// head may become one.
func (b *Book) offer(l *lane) {
	c, f := &l.candidate, l.flow
	if c.at >= 0 {
		if f.candidates.remove(c); len(f.candidates) == 0 {
			b.hopeful.remove(hope{f})
		}
	}
	if l.held != nil || len(l.queue) == 0 || b.rules.Patience == None {
		return
	}
	if head := l.queue[0]; head.wide && !head.claiming && head.feasible() {
		if len(f.candidates) == 0 {
			b.hopeful.add(hope{f})
		}
		c.since, c.seq = head.since, head.seq
		f.candidates.push(c)
	}
}

// seat gives an entry its place in the queue.
func (b *Book) seat(e *entry) {
	e.seated = true
	b.count(e, 1)
}

func (b *Book) unseat(e *entry) {
	if e.seated {
		e.seated = false
		b.count(e, -1)
	}
}

func (b *Book) count(e *entry, n int) {
	b.queued += n
	e.lane.flow.queued += n
	for _, g := range e.lane.gates {
		g.queued += n
	}
}

// touch marks a gate that gained room.
func (b *Book) touch(g *gate) {
	if !g.touched {
		g.touched = true
		b.touched = append(b.touched, g)
	}
}

// park puts a lane where its head failed.
func (b *Book) park(l *lane, g *gate) {
	l.blocked = g
	if g.meter != nil {
		cost := l.queue[0].units(g)
		if g.parked.empty() || cost < g.least {
			g.least = cost
		}
	}
	g.parked.put(l)
}

// units is what the entry wants of a gate.
func (e *entry) units(g *gate) int {
	for _, list := range [][]use{e.uses, e.costs} {
		for _, u := range list {
			if u.gate == g {
				return u.units
			}
		}
	}
	return 0
}
