package layered

// sheet is a drawing in the making.
type sheet struct {
	boxes    []Box
	edges    []Edge
	arrows   []arrow // of each edge
	vertices []vertex
	layers   [][]int // vertices from left to right, the topmost layer first
}

// arrow is an edge, pointing down.
type arrow struct {
	top, bottom int  // boxes
	turned      bool // it points up in the drawing
	loop        bool
	span        int   // least number of layers it goes down
	bends       []int // vertices from top to bottom
	label       int   // which of the bends carries the label; -1: none
}

// vertex is a box, or a bend of an arrow. The first are the boxes.
type vertex struct {
	layer, place      int
	left, right, high int // extent around the line that arrows end on
	bend              bool
	x                 float64
	up, down          []int // neighbours in the layers beside
}

func newSheet(boxes []Box, edges []Edge) *sheet {
	s := &sheet{boxes: boxes, edges: edges, arrows: make([]arrow, len(edges)), vertices: make([]vertex, len(boxes))}
	for i, b := range boxes {
		s.vertices[i] = vertex{left: b.W / 2, right: b.W - b.W/2, high: b.H}
	}
	for i, e := range edges {
		s.arrows[i] = arrow{top: e.From, bottom: e.To, loop: e.From == e.To, span: 1, label: -1}
		if s.arrows[i].loop {
			s.vertices[e.From].right += loopOut + e.Label.W
			s.vertices[e.From].high = max(s.vertices[e.From].high, e.Label.H)
		} else if e.Label != (Size{}) {
			s.arrows[i].span = 2
		}
	}
	return s
}

// leaving lists the arrows that leave each box downwards, in their order.
func (s *sheet) leaving() [][]int {
	all := make([][]int, len(s.boxes))
	for i, a := range s.arrows {
		if !a.loop {
			all[a.top] = append(all[a.top], i)
		}
	}
	return all
}

// direct turns the arrows that close a cycle, as a walk in the order of boxes
// and edges finds them.
func (s *sheet) direct() {
	const unseen, open, done = 0, 1, 2
	state := make([]int, len(s.boxes))
	leaving := s.leaving()
	var turned []int
	var walk func(box int)
	walk = func(box int) {
		state[box] = open
		for _, i := range leaving[box] {
			switch state[s.arrows[i].bottom] {
			case unseen:
				walk(s.arrows[i].bottom)
			case open:
				turned = append(turned, i)
			}
		}
		state[box] = done
	}
	for box := range s.boxes {
		if state[box] == unseen {
			walk(box)
		}
	}
	for _, i := range turned {
		a := &s.arrows[i]
		a.top, a.bottom, a.turned = a.bottom, a.top, true
	}
}

// rank gives each box the layer that its longest path from the top demands.
func (s *sheet) rank() {
	leaving := s.leaving()
	missing := make([]int, len(s.boxes)) // arrows from above that are not counted yet
	for _, a := range s.arrows {
		if !a.loop {
			missing[a.bottom]++
		}
	}
	var ready []int
	for box, n := range missing {
		if n == 0 {
			ready = append(ready, box)
		}
	}
	for len(ready) > 0 {
		box := ready[0]
		ready = ready[1:]
		for _, i := range leaving[box] {
			a := s.arrows[i]
			below := &s.vertices[a.bottom]
			below.layer = max(below.layer, s.vertices[box].layer+a.span)
			if missing[a.bottom]--; missing[a.bottom] == 0 {
				ready = append(ready, a.bottom)
			}
		}
	}
}

// bend gives the arrows that span layers a vertex in each, and lists the
// layers.
func (s *sheet) bend() {
	for i := range s.arrows {
		a := &s.arrows[i]
		if a.loop {
			continue
		}
		from, to := s.vertices[a.top].layer, s.vertices[a.bottom].layer
		if a.span > 1 {
			a.label = 0 // beside the box that the arrow leaves
			if a.turned {
				a.label = to - from - 2
			}
		}
		last := a.top
		for layer := from + 1; layer < to; layer++ {
			v := vertex{layer: layer, bend: true}
			if len(a.bends) == a.label {
				label := s.edges[i].Label
				v.left, v.right, v.high = label.W/2, label.W-label.W/2, label.H
			}
			s.vertices = append(s.vertices, v)
			a.bends = append(a.bends, len(s.vertices)-1)
			s.join(last, len(s.vertices)-1)
			last = len(s.vertices) - 1
		}
		s.join(last, a.bottom)
	}
}

func (s *sheet) join(above, below int) {
	s.vertices[above].down = append(s.vertices[above].down, below)
	s.vertices[below].up = append(s.vertices[below].up, above)
}
