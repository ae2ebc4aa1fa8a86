package layered

import "math"

// straighten takes the last small bows out of long arrows and out of chains of
// boxes, where there is room for it.
func (s *sheet) straighten() {
	for range 3 {
		for i := range s.arrows {
			s.straightenArrow(s.arrows[i].bends)
		}
		for _, layer := range s.layers {
			for _, v := range layer {
				s.alignBox(v)
			}
		}
	}
	for i := range s.arrows {
		s.straightenArrow(s.arrows[i].bends)
	}
}

// room is how far a vertex may move between those beside it.
func (s *sheet) room(v int) (from, to float64) {
	from, to = math.Inf(-1), math.Inf(1)
	layer, place := s.layers[s.vertices[v].layer], s.vertices[v].place
	if place > 0 {
		from = s.vertices[layer[place-1]].x + s.apart(layer[place-1], v)
	}
	if place+1 < len(layer) {
		to = s.vertices[layer[place+1]].x - s.apart(v, layer[place+1])
	}
	return from, to
}

// straightenArrow puts as many bends in a row as fit on one line.
func (s *sheet) straightenArrow(bends []int) {
	for len(bends) > 0 {
		from, to := s.room(bends[0])
		sum, n := s.vertices[bends[0]].x, 1
		for n < len(bends) {
			nextFrom, nextTo := s.room(bends[n])
			nextFrom, nextTo = max(from, nextFrom), min(to, nextTo)
			if nextFrom > nextTo {
				break
			}
			from, to = nextFrom, nextTo
			sum += s.vertices[bends[n]].x
			n++
		}
		at := min(max(sum/float64(n), from), to)
		for _, v := range bends[:n] {
			s.vertices[v].x = at
		}
		bends = bends[n:]
	}
}

// alignBox puts a box that one arrow enters and at most one leaves below where
// that arrow comes from.
func (s *sheet) alignBox(v int) {
	box := &s.vertices[v]
	if box.bend || len(box.up) != 1 || len(box.down) > 1 {
		return
	}
	from, to := s.room(v)
	box.x = min(max(s.vertices[box.up[0]].x, from), to)
}
