package admission

// unit is what one unit of cost moves the tag of a flow of weight 1.
const unit = 1 << 20

// flow is one fairness key. Its tag is the virtual time at which its next
// grant would start; V, in the book, is the start of the latest grant.
type flow struct {
	name   string
	weight int
	tag    int64
	queued int // requests with a place in the queue
	lanes  int
	nth    int // in Book.flows

	claimed    int64 // when its last claim was granted; 0: never, or long ago
	candidates heap[*candidate]
	hoping     int // in Book.hopeful
}

// charge moves the tag on for a grant of some cost, and gives its start.
func (f *flow) charge(v, cost int64) int64 {
	start := max(f.tag, v)
	f.tag = start + unit*cost/int64(f.weight)
	return start
}

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
// ones. It keeps one row per flow, since tags move all lanes of a flow at once.
type spot struct {
	rows  []*row
	index map[*flow]*row
}

type row struct {
	spot  *spot
	flow  *flow
	at    int // in spot.rows
	lanes heap[*lane]
}

func (s *spot) empty() bool { return len(s.rows) == 0 }

// put adds a lane that is in hand.
func (s *spot) put(l *lane) {
	r := s.index[l.flow]
	if r == nil {
		r = &row{spot: s, flow: l.flow, at: len(s.rows)}
		if s.index == nil {
			s.index = map[*flow]*row{}
		}
		s.index[l.flow] = r
		s.rows = append(s.rows, r)
	}
	head := l.queue[0]
	l.eff, l.seq, l.row = head.eff, head.seq, r
	r.lanes.push(l)
}

// take removes the lane from wherever it is, so that it is in hand.
func (l *lane) take() {
	r := l.row
	if r == nil {
		return
	}
	r.lanes.remove(l)
	l.row = nil
	if len(r.lanes) > 0 {
		return
	}
	s, last := r.spot, len(r.spot.rows)-1
	s.rows[r.at] = s.rows[last]
	s.rows[r.at].at = r.at
	s.rows[last] = nil
	s.rows = s.rows[:last]
	delete(s.index, r.flow)
}

// best is the lane of the spot with the smallest rank under the virtual time v,
// if it is smaller than that of the best so far.
func (s *spot) best(v int64, best *lane, of rank) (*lane, rank) {
	for _, r := range s.rows {
		head := r.lanes[0]
		if k := (rank{max(r.flow.tag, v), head.eff, head.seq}); best == nil || k.less(of) {
			best, of = head, k
		}
	}
	return best, of
}
