package admission

// rank is the place of a lane's head among all heads.
type rank struct {
	tag int64
	eff int64
	seq uint64
}

func (r rank) less(o rank) bool {
	if r.tag != o.tag {
		return r.tag < o.tag
	}
	return r.eff < o.eff || r.eff == o.eff && r.seq < o.seq
}

// spot is a place where lanes wait to be tried: at a gate, or among the fresh
// ones. It keeps one row per flow, since a tag moves all lanes of its flow at
// once. The rank of a row is not kept, for virtual time moves all of them:
// behind it, flows differ by their heads alone; ahead of it, by their tags
// first. So the rows stand in two heaps, and change between them when they are
// at the top of one and belong into the other.
type spot struct {
	index  map[*flow]*row
	behind heap[*row] // tag not after virtual time, when it was last looked at
	ahead  heap[*row] // tag after it
}

type row struct {
	spot  *spot
	flow  *flow
	lanes heap[*lane]

	ahead bool
	tag   int64 // the flow's tag as the heap ahead knows it: it may have grown
	at    int   // in its heap
}

func (r *row) less(o *row) bool {
	if r.ahead && r.tag != o.tag {
		return r.tag < o.tag
	}
	return r.lanes[0].less(o.lanes[0])
}

func (r *row) place() *int { return &r.at }

// heap is the heap in which the row stands.
func (r *row) heap() *heap[*row] {
	if r.ahead {
		return &r.spot.ahead
	}
	return &r.spot.behind
}

// change moves the row to the other heap.
func (r *row) change() {
	r.heap().remove(r)
	r.ahead, r.tag = !r.ahead, r.flow.tag
	r.heap().push(r)
}

func (s *spot) empty() bool { return len(s.behind)+len(s.ahead) == 0 }

// put adds a lane that is in hand.
func (s *spot) put(l *lane) {
	head := l.queue[0]
	l.eff, l.seq = head.eff, head.seq
	r := s.index[l.flow]
	if r != nil {
		l.row = r
		if r.lanes.push(l); l.pos == 0 {
			r.heap().fix(r.at)
		}
		return
	}
	r = &row{spot: s, flow: l.flow}
	if s.index == nil {
		s.index = map[*flow]*row{}
	}
	s.index[l.flow], l.row = r, r
	r.lanes.push(l)
	s.behind.push(r)
}

// take removes the lane from wherever it is, so that it is in hand.
func (l *lane) take() {
	r := l.row
	if r == nil {
		return
	}
	first := l.pos == 0
	r.lanes.remove(l)
	l.row = nil
	switch {
	case len(r.lanes) == 0:
		r.heap().remove(r)
		delete(r.spot.index, r.flow)
	case first:
		r.heap().fix(r.at)
	}
}

// first is the row with the smallest rank under the virtual time v; nil if the
// spot is empty.
func (s *spot) first(v int64) *row {
	for len(s.ahead) > 0 {
		r := s.ahead[0]
		if r.tag == r.flow.tag && r.tag > v {
			break
		}
		if r.flow.tag <= v {
			r.change()
			continue
		}
		r.tag = r.flow.tag
		s.ahead.fix(0)
	}
	for len(s.behind) > 0 && s.behind[0].flow.tag > v {
		s.behind[0].change()
	}
	switch {
	case len(s.behind) > 0:
		return s.behind[0]
	case len(s.ahead) > 0:
		return s.ahead[0]
	}
	return nil
}

// best is the lane of the spot with the smallest rank under the virtual time v,
// if it is smaller than that of the best so far.
func (s *spot) best(v int64, best *lane, of rank) (*lane, rank) {
	r := s.first(v)
	if r == nil {
		return best, of
	}
	head := r.lanes[0]
	if k := (rank{max(r.flow.tag, v), head.eff, head.seq}); best == nil || k.less(of) {
		return head, k
	}
	return best, of
}
