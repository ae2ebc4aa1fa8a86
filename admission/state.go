package admission

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"time"
)

// StateVersion is the version of the [State] that this package writes.
const StateVersion = 1

// State is a whole book, to be carried elsewhere: through continue-as-new, or
// into a file. [Restore] makes of it a book that decides exactly as this one
// would. Times are nanoseconds since 1970; 0 stands for none. Counters are not
// in it: they follow from the permits.
type State struct {
	Version   int       `json:"version"`
	Limits    Limits    `json:"limits"`
	Overrides Overrides `json:"overrides"`
	Paused    []string  `json:"paused,omitempty"` // keys, by name
	Halted    bool      `json:"halted,omitempty"` // all is paused
	Draining  bool      `json:"draining,omitempty"`

	Clock   int64  `json:"clock"`             // latest time that was heard of
	Token   uint64 `json:"token"`             // of the latest grant
	Base    uint64 `json:"base,omitempty"`    // the tokens began after it
	Seq     uint64 `json:"seq"`               // of the latest submit
	Virtual int64  `json:"virtual,omitempty"` // virtual time of the fair queueing

	Flows      []FlowState  `json:"flows,omitempty"`  // by name
	Meters     []MeterState `json:"meters,omitempty"` // by key
	Lost       []KeyLimit   `json:"lost,omitempty"`   // last limits of keys in use that Limits no longer names, by key
	Holds      []HoldState  `json:"holds,omitempty"`  // by token
	Requests   []EntryState `json:"requests,omitempty"`
	Claims     []ClaimState `json:"claims,omitempty"` // in the order of promotion
	Endings    []Ending     `json:"endings,omitempty"`
	Tombstones []Tombstone  `json:"tombstones,omitempty"`

	// What the next turn has yet to say.
	Pending []Decision `json:"pending,omitempty"`
	Again   []string   `json:"again,omitempty"` // ids that were asked for again
}

// FlowState is what must be known of a flow besides its requests.
type FlowState struct {
	Flow    string `json:"flow"`
	Tag     int64  `json:"tag,omitempty"`
	Claimed int64  `json:"claimed,omitempty"` // time of its last claim's grant
}

// MeterState is what a rate key owes, and its rate if Limits no longer names
// it.
type MeterState struct {
	Key  string `json:"key"`
	TAT  int64  `json:"tat,omitempty"`
	Step int64  `json:"step,omitempty"` // nanoseconds per unit
	Rate *Rate  `json:"rate,omitempty"`
}

// HoldState are units in use, under the token they were granted with. The
// permit may be gone while others inherit from it.
type HoldState struct {
	Token uint64  `json:"token"`
	Keys  []Units `json:"keys,omitempty"`
}

// EntryState is one request, in the order of submits. A token makes it a
// permit.
type EntryState struct {
	ID        string `json:"id"`
	Owner     Owner  `json:"owner"`
	Number    uint64 `json:"number,omitempty"`
	Agent     string `json:"agent,omitempty"`
	Seq       uint64 `json:"seq"`
	Submitted int64  `json:"submitted"`
	Lease     int64  `json:"lease"`
	Suspect   int64  `json:"suspect,omitempty"`

	Inherits []uint64 `json:"inherits,omitempty"` // tokens of holds

	// Of a permit.
	Token   uint64 `json:"token,omitempty"`
	Granted int64  `json:"granted,omitempty"`
	Until   int64  `json:"until,omitempty"`

	// Of one that waits.
	Flow     string   `json:"flow,omitempty"`
	Keys     []Units  `json:"keys,omitempty"`
	Rates    []Units  `json:"rates,omitempty"`
	Rank     int64    `json:"rank,omitempty"` // arrival, moved by the priority
	Visible  int64    `json:"visible,omitempty"`
	Deadline int64    `json:"deadline,omitempty"`
	Overflow Overflow `json:"overflow,omitempty"`
	Seated   bool     `json:"seated,omitempty"` // it has a place in the queue
}

// ClaimState is a claim. Paid is what was booked ahead, per rate of the request
// in order of the keys.
type ClaimState struct {
	ID    string  `json:"id"`
	Armed bool    `json:"armed,omitempty"`
	Ready int64   `json:"ready,omitempty"`
	Paid  []int64 `json:"paid,omitempty"`
}

// State is the whole book at this moment.
func (b *Book) State() State {
	s := State{
		Version: StateVersion, Limits: b.limits, Overrides: b.Overrides(),
		Paused: slices.Clone(b.paused), Halted: b.halted, Draining: b.drain,
		Clock: b.clock, Token: b.token, Base: b.base, Seq: b.seq, Virtual: b.v,
		Endings: slices.Clone(b.memory.endings), Tombstones: slices.Clone(b.memory.tombs), Pending: slices.Clone(b.out),
	}
	for _, f := range b.flows {
		if f.tag > b.v || f.claimed > 0 {
			s.Flows = append(s.Flows, FlowState{f.name, max(f.tag, b.v), f.claimed})
		}
	}
	slices.SortFunc(s.Flows, func(x, y FlowState) int { return strings.Compare(x.Flow, y.Flow) })
	b.writeGates(&s)
	for _, h := range b.holds {
		s.Holds = append(s.Holds, HoldState{h.token, amounts(h.uses)})
	}
	slices.SortFunc(s.Holds, func(x, y HoldState) int { return cmp.Compare(x.Token, y.Token) })
	for _, e := range b.inOrder() {
		s.Requests = append(s.Requests, e.state())
	}
	for _, e := range b.claims {
		c := ClaimState{ID: e.id, Armed: e.armed}
		if e.armed {
			c.Ready = e.readyAt
			for _, u := range e.costs {
				c.Paid = append(c.Paid, u.paid)
			}
		}
		s.Claims = append(s.Claims, c)
	}
	for _, e := range b.again {
		if !e.ended {
			s.Again = append(s.Again, e.id)
		}
	}
	return s
}

func (b *Book) writeGates(s *State) {
	for _, g := range b.gates.list {
		lost := !g.known && g.refs > 0
		switch m := g.meter; {
		case m == nil && lost:
			s.Lost = append(s.Lost, KeyLimit{g.name, g.limit})
		case m != nil && (m.tat > b.clock || lost):
			state := MeterState{Key: g.name, TAT: m.tat, Step: m.step}
			if !g.known && m.rate.Per > 0 {
				rate := m.rate
				state.Rate = &rate
			}
			s.Meters = append(s.Meters, state)
		}
	}
	slices.SortFunc(s.Lost, func(x, y KeyLimit) int { return strings.Compare(x.Key, y.Key) })
	slices.SortFunc(s.Meters, func(x, y MeterState) int { return strings.Compare(x.Key, y.Key) })
}

func (e *entry) state() EntryState {
	s := EntryState{
		ID: e.id, Owner: e.owner, Number: e.number, Agent: e.agent, Seq: e.seq,
		Submitted: e.submitted, Lease: e.lease, Suspect: e.suspect,
	}
	for _, h := range e.inherited {
		s.Inherits = append(s.Inherits, h.token)
	}
	if e.phase == phaseHeld {
		s.Token, s.Granted, s.Until = e.token, e.granted, finite(e.hold)
		return s
	}
	s.Flow, s.Keys, s.Rates, s.Rank = e.lane.flow.name, amounts(e.uses), amounts(e.costs), e.eff
	s.Visible, s.Deadline, s.Overflow, s.Seated = e.visible, finite(e.deadline), e.overflow, e.seated
	return s
}

// finite writes never as 0.
func finite(at int64) int64 {
	if at == never {
		return 0
	}
	return at
}

// endless is the inverse of finite.
func endless(at int64) int64 {
	if at == 0 {
		return never
	}
	return at
}

// Size is the number of bytes of the JSON form.
func (s State) Size() int {
	raw, err := json.Marshal(s)
	if err != nil {
		return 0 // no field of a State can fail to be written
	}
	return len(raw)
}

// Shed makes the book small enough for a State of at most so many bytes: it
// forgets the oldest endings, then turns away the newest waiting requests with
// [AnswerQueueFull]. Permits and tombstones stay, whatever their size. It gives
// the size that was reached once a turn has taken the answers.
func (b *Book) Shed(now time.Time, most int) int {
	t := b.tick(now)
	for {
		s := b.State()
		s.Pending = nil
		size := s.Size()
		if size <= most || !b.shedSome(t, size-most) {
			return size
		}
	}
}

// shedSome gives up endings of so many bytes, or all; else so many bytes of those
// that wait. It is not ok if there is nothing left to give. The whole is costly to
// write, so what is given up is measured by itself.
func (b *Book) shedSome(t int64, excess int) bool {
	if len(b.memory.endings) > 0 {
		for len(b.memory.endings) > 0 && excess > 0 {
			excess -= sizeOf(b.memory.endings[0])
			b.memory.dropEnding()
		}
		return true
	}
	waiting := slices.DeleteFunc(b.inOrder(), func(e *entry) bool { return e.phase == phaseHeld })
	for i := len(waiting) - 1; i >= 0 && excess > 0; i-- {
		excess -= sizeOf(waiting[i].state())
		b.resolve(t, waiting[i], AnswerQueueFull)
	}
	return len(waiting) > 0
}

// sizeOf is the number of bytes of an element of a list in JSON.
func sizeOf(element any) int {
	raw, err := json.Marshal(element)
	if err != nil {
		return 1 // no field of a State can fail to be written
	}
	return len(raw) + len(",")
}
