package admission

import "time"

// Explanation tells an operator where a request stands and why.
type Explanation struct {
	ID     string `json:"id"`
	Answer Answer `json:"answer"` // queued, granted, or how it ended
	Agent  string `json:"agent,omitempty"`
	Flow   string `json:"flow,omitempty"`

	// Of a request that waits.
	Reason   Reason    `json:"reason,omitempty"`
	Key      string    `json:"key,omitempty"`      // where it is stuck
	Used     int       `json:"used,omitempty"`     // units in use on the key
	Reserved int       `json:"reserved,omitempty"` // units kept for claims on the key
	Limit    int       `json:"limit,omitempty"`    // of the key: units, or units of a rate per its period
	Wants    int       `json:"wants,omitempty"`    // units that the request asks of the key
	Place    int       `json:"place,omitempty"`    // in its lane, from 1; 0 while it is in none
	Claim    int       `json:"claim,omitempty"`    // place among the claims, from 1; 0: no claim
	Keeps    bool      `json:"keeps,omitempty"`    // its claim keeps room free
	Since    time.Time `json:"since,omitzero"`     // begin of the wait, or of the hold
	Deadline time.Time `json:"deadline,omitzero"`
	Next     time.Time `json:"next_check,omitzero"` // when its state can change by the clock, or is worth a look

	// Of a permit.
	Token uint64    `json:"token,omitempty"`
	Lease time.Time `json:"lease,omitzero"`
	Until time.Time `json:"until,omitzero"` // end of the longest hold
}

// Explain tells where a request stands, as of the latest turn; not ok if the
// book has never heard of it, or has forgotten.
func (b *Book) Explain(now time.Time, id string) (Explanation, bool) {
	t := max(b.clock, nanos(now))
	e := b.entries[id]
	if e == nil {
		end, ok := b.memory.recall(t, id)
		return Explanation{ID: id, Answer: end.Answer, Token: end.Token}, ok
	}
	x := Explanation{ID: id, Answer: AnswerGranted, Agent: e.agent}
	if e.phase == phaseHeld {
		x.Token, x.Lease, x.Until, x.Since = e.token, moment(e.lease), moment(e.hold), moment(e.granted)
		return x, true
	}
	x.Answer, x.Flow, x.Since, x.Deadline = AnswerQueued, e.lane.flow.name, moment(e.since), moment(e.deadline)
	why := b.why(t, e)
	x.Reason, x.Key, x.Next, x.Keeps = why.reason, why.key, moment(why.next), e.armed
	if g := why.gate; g != nil {
		x.Used, x.Reserved, x.Limit, x.Wants = g.used, g.reserved, g.limit, e.units(g)
	}
	x.Place = e.lane.placeOf(e)
	for i, c := range b.claims {
		if c == e {
			x.Claim = i + 1
		}
	}
	return x, true
}

// placeOf counts the entries of the lane up to one; a claim goes before all.
func (l *lane) placeOf(e *entry) int {
	if e.phase != phaseWaiting {
		return 0
	}
	if l.held == e {
		return 1
	}
	n := 1
	if l.held != nil && e.less(l.held) {
		n++ // the claim goes first although it stands behind
	}
	for _, o := range l.queue {
		if o.less(e) {
			n++
		}
	}
	return n
}

// why is the reason of a wait.
type why struct {
	reason Reason
	key    string
	gate   *gate
	next   int64
}

// why finds what an entry waits for: for one that is not the head, what the
// head of its lane waits for.
func (b *Book) why(t int64, e *entry) why {
	w := why{next: after(t, b.rules.Recheck)}
	head := e
	if e.phase == phaseWaiting {
		if head = e.lane.held; head == nil {
			head = e.lane.queue[0]
		}
	}
	switch g := b.stuck(t, e, head); {
	case b.halted:
		w.reason = ReasonPaused
	case e.phase == phaseAsleep:
		w.reason, w.next = ReasonNotVisible, e.visible
	case g == nil:
		w.reason = ReasonNext
	default:
		w.gate, w.key, w.reason = g, g.name, b.reason(t, g, head)
		if w.reason == ReasonRate {
			w.next = b.rateReady(t, g, head)
		}
	}
	w.next = min(w.next, e.deadline)
	return w
}

// stuck is the gate that holds up the head of a lane, or an entry that stands
// aside. One that lets nobody pass says more than one that is full.
func (b *Book) stuck(t int64, e, head *entry) *gate {
	for _, list := range [][]use{head.uses, head.costs} {
		for _, u := range list {
			if !u.gate.usable() || e.phase == phaseAside && !u.gate.fits(u.units) {
				return u.gate
			}
		}
	}
	return b.obstacle(t, head)
}

func (b *Book) reason(t int64, g *gate, head *entry) Reason {
	if head.armed && g.meter != nil && g.usable() {
		return ReasonRate
	}
	return g.reason(t, head.units(g))
}

func (b *Book) rateReady(t int64, g *gate, head *entry) int64 {
	if head.armed {
		return head.readyAt
	}
	return g.meter.ready(t, head.units(g))
}
