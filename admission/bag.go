package admission

// slotted is an element of a bag: it keeps its own place.
type slotted interface {
	comparable
	slot() *int
}

// bag is a set that can be gone through, in an order that means nothing but is
// the same in every replay.
type bag[T slotted] []T

func (b *bag[T]) add(v T) {
	*v.slot() = len(*b)
	*b = append(*b, v)
}

func (b *bag[T]) remove(v T) {
	var none T
	i, last := *v.slot(), len(*b)-1
	(*b)[i] = (*b)[last]
	*(*b)[i].slot() = i
	(*b)[last] = none
	*b = (*b)[:last]
}

// hope is a flow among those that have a candidate for a claim.
type hope struct{ *flow }

func (h hope) slot() *int { return &h.hoping }

func (e *entry) slot() *int { return &e.nth }
func (l *lane) slot() *int  { return &l.nth }
func (f *flow) slot() *int  { return &f.nth }
func (h *hold) slot() *int  { return &h.nth }
