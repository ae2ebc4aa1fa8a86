package admission

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// Status is a book in numbers. It names agents and keys, never requests,
// owners or tokens.
type Status struct {
	GlobalLimit int      `json:"global_limit"`
	Active      int      `json:"active"`    // permits of requests that name an agent
	Available   int      `json:"available"` // global_limit - active, at least 0
	Permits     int      `json:"permits"`   // all permits
	Queued      int      `json:"queue_length"`
	MaxQueue    int      `json:"max_queue"` // 0: nobody waits
	Claims      int      `json:"claims"`
	Overflow    Overflow `json:"overflow"`
	Paused      bool     `json:"paused"` // all of it
	Draining    bool     `json:"draining"`
	PausedKeys  []string `json:"paused_keys,omitempty"`
	Version     int64    `json:"version"` // of the limits

	Agents []KeyStatus  `json:"per_agent,omitempty"` // those with active or queued work, by name
	Keys   []KeyStatus  `json:"keys,omitempty"`      // as agents
	Rates  []RateStatus `json:"rates,omitempty"`     // those in use, by name
	Flows  []FlowStatus `json:"flows,omitempty"`     // those with queued work, by name
}

// KeyStatus is one agent or concurrency key in numbers.
type KeyStatus struct {
	Name     string `json:"name"`
	Active   int    `json:"active"` // units in use
	Queued   int    `json:"queued"` // requests that wait and name it
	Limit    int    `json:"limit"`
	Reserved int    `json:"reserved,omitempty"` // units kept for claims
	Paused   bool   `json:"paused,omitempty"`
}

// RateStatus is one rate key in numbers.
type RateStatus struct {
	Name   string        `json:"name"`
	Limit  int           `json:"limit"`
	Per    time.Duration `json:"per"`
	Burst  int           `json:"burst"`
	Ready  int           `json:"ready"` // units that may pass now
	Queued int           `json:"queued"`
	Paused bool          `json:"paused,omitempty"`
}

// FlowStatus is one flow in numbers.
type FlowStatus struct {
	Name   string `json:"name"`
	Weight int    `json:"weight"`
	Queued int    `json:"queued"`
}

// Status gives the book in numbers.
func (b *Book) Status(now time.Time) Status {
	t := max(b.clock, nanos(now))
	s := Status{
		GlobalLimit: b.globalLimit(), Queued: b.queued, MaxQueue: max(b.rules.MaxQueue, 0), Claims: len(b.claims),
		Overflow: b.rules.Overflow, Paused: b.halted, Draining: b.drain,
		PausedKeys: slices.Clone(b.paused), Version: b.limits.Version,
	}
	for _, e := range b.all {
		if e.phase == phaseHeld {
			s.Permits++
		}
	}
	for _, g := range b.gates.list {
		b.addGate(t, &s, g)
	}
	s.Available = max(s.GlobalLimit-s.Active, 0)
	for _, f := range b.flows {
		if f.queued > 0 {
			s.Flows = append(s.Flows, FlowStatus{f.name, f.weight, f.queued})
		}
	}
	byName := func(x, y KeyStatus) int { return strings.Compare(x.Name, y.Name) }
	slices.SortFunc(s.Agents, byName)
	slices.SortFunc(s.Keys, byName)
	slices.SortFunc(s.Rates, func(x, y RateStatus) int { return strings.Compare(x.Name, y.Name) })
	slices.SortFunc(s.Flows, func(x, y FlowStatus) int { return strings.Compare(x.Name, y.Name) })
	return s
}

func (b *Book) globalLimit() int {
	limit, _ := b.rules.keys.find(KeyGlobal)
	return limit
}

func (b *Book) addGate(t int64, s *Status, g *gate) {
	if g.meter != nil {
		b.addRate(t, s, g)
		return
	}
	if g.name == KeyGlobal {
		s.Active = g.used
		return
	}
	if g.used == 0 && g.queued == 0 {
		return
	}
	k := KeyStatus{Name: g.name, Active: g.used, Queued: g.queued, Limit: g.limit, Reserved: g.reserved, Paused: g.paused}
	if name, ok := strings.CutPrefix(g.name, KeyAgentPrefix); ok {
		k.Name = name
		s.Agents = append(s.Agents, k)
	} else {
		s.Keys = append(s.Keys, k)
	}
}

func (b *Book) addRate(t int64, s *Status, g *gate) {
	m := g.meter
	if g.queued == 0 && m.tat <= t {
		return
	}
	burst := m.rate.burst()
	r := RateStatus{Name: g.name, Limit: g.limit, Per: m.rate.Per, Burst: burst, Queued: g.queued, Paused: g.paused}
	if g.usable() && m.step > 0 {
		r.Ready = max(0, burst-int((max(m.tat-t, 0)+m.step-1)/m.step))
	}
	s.Rates = append(s.Rates, r)
}

// Holder is one permit, for an operator.
type Holder struct {
	ID    string    `json:"id"`
	Owner Owner     `json:"owner"`
	Agent string    `json:"agent,omitempty"`
	Keys  []Units   `json:"keys,omitempty"` // what it takes itself
	Token uint64    `json:"token"`
	Since time.Time `json:"since"` // the grant
	Lease time.Time `json:"lease"`
}

// Holders lists the permits, oldest first, at most so many. This is for an
// operator: it names owners and ids.
func (b *Book) Holders(most int) []Holder {
	var list []Holder
	for _, e := range b.all {
		if e.phase == phaseHeld {
			list = append(list, Holder{
				ID: e.id, Owner: e.owner, Agent: e.agent, Keys: amounts(e.own.uses), Token: e.token,
				Since: moment(e.granted), Lease: moment(e.lease),
			})
		}
	}
	slices.SortFunc(list, func(x, y Holder) int { return cmp.Compare(x.Token, y.Token) })
	return list[:min(len(list), max(most, 0))]
}

// amounts lists uses by the names of their gates.
func amounts(uses []use) []Units {
	var list []Units
	for _, u := range uses {
		list = append(list, Units{Key: u.gate.name, Units: u.units})
	}
	return list
}
