package admission

import "slices"

// nest is what the asker of a request holds already.
type nest struct {
	parent []*hold // what the request may use as its own
	held   []*hold // all of it, the parent's included
}

// nest finds the permits that a request names as its parent and as held beside
// it. One that has ended holds nothing.
func (b *Book) nest(r *Request) nest {
	var n nest
	if r.Parent != "" {
		n.parent = b.holding(r.Parent)
	}
	n.held = slices.Clone(n.parent)
	for _, id := range r.Within {
		n.held = append(n.held, b.holding(id)...)
	}
	return n
}

// holding lists the holds that a permit rests on.
func (b *Book) holding(id string) []*hold {
	e := b.entries[id]
	if e == nil || e.phase != phaseHeld {
		return nil
	}
	return append(slices.Clone(e.inherited), e.own)
}

// covers finds the hold of the parent that has enough of a key.
func (n nest) covers(k Units) *hold {
	for _, h := range n.parent {
		if h.units(k.Key) >= k.amount() {
			return h
		}
	}
	return nil
}

// last is the held key that comes last in the declared order; not ok if none
// is held.
func (n nest) last(r *rules) (key string, ok bool) {
	for _, h := range n.held {
		for _, u := range h.uses {
			if !ok || r.before(key, u.gate.name) {
				key, ok = u.gate.name, true
			}
		}
	}
	return key, ok
}
