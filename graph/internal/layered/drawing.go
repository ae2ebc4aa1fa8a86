package layered

import (
	"cmp"
	"math"
	"slices"
)

// band is the room of a layer, from top to bottom.
type band struct{ top, bottom int }

// drawing measures what has been placed.
func (s *sheet) drawing() Drawing {
	lines := s.lines()
	bands := s.bands(lines)
	d := Drawing{Boxes: make([]Point, len(s.boxes)), Routes: make([]Route, len(s.edges))}
	for i := range s.vertices {
		d.W = max(d.W, lines[i]+s.vertices[i].right+margin)
	}
	if len(bands) > 0 {
		d.H = bands[len(bands)-1].bottom + margin
	}
	for i, b := range s.boxes {
		room := bands[s.vertices[i].layer]
		d.Boxes[i] = Point{X: lines[i] - s.vertices[i].left, Y: (room.top + room.bottom - b.H) / 2}
	}
	ports := s.ports(lines)
	for i := range s.arrows {
		if s.arrows[i].loop {
			d.Routes[i] = s.loop(i, d.Boxes[s.arrows[i].top])
		} else {
			d.Routes[i] = s.route(i, d, lines, bands, ports[i])
		}
	}
	return d
}

// lines are the lines of the vertices in whole pixels, from the left margin.
func (s *sheet) lines() []int {
	leftmost := math.Inf(1)
	for i := range s.vertices {
		leftmost = min(leftmost, s.vertices[i].x-float64(s.vertices[i].left))
	}
	lines := make([]int, len(s.vertices))
	for i := range s.vertices {
		lines[i] = int(math.Round(s.vertices[i].x-leftmost)) + margin
	}
	return lines
}

// bands are the rooms of the layers. The farther an arrow goes to the side in a
// gap, the higher is the gap, or it would lie flat.
func (s *sheet) bands(lines []int) []band {
	bands := make([]band, len(s.layers))
	y := margin
	for i, layer := range s.layers {
		high, aside := 0, 0
		for _, v := range layer {
			high = max(high, s.vertices[v].high)
			for _, below := range s.vertices[v].down {
				aside = max(aside, lines[v]-lines[below], lines[below]-lines[v])
			}
		}
		bands[i] = band{top: y, bottom: y + high}
		y += high + min(max(gapLeast, gapLeast+(aside-60)/6), gapMost)
	}
	return bands
}

// port is how far beside the middles of its boxes an arrow ends.
type port struct{ top, bottom int }

// ports spreads the arrows that end at the same side of a box, in the order of
// where they come from or go to, so that they do not cross there.
func (s *sheet) ports(lines []int) []port {
	out, in := make([][]int, len(s.boxes)), make([][]int, len(s.boxes))
	for i, a := range s.arrows {
		if !a.loop {
			out[a.top] = append(out[a.top], i)
			in[a.bottom] = append(in[a.bottom], i)
		}
	}
	ports := make([]port, len(s.arrows))
	for box := range s.boxes {
		for i, at := range s.spread(out[box], box, func(arrow int) int { return lines[s.next(arrow)] }) {
			ports[out[box][i]].top = at
		}
		for i, at := range s.spread(in[box], box, func(arrow int) int { return lines[s.previous(arrow)] }) {
			ports[in[box][i]].bottom = at
		}
	}
	return ports
}

// next is the vertex that an arrow goes to first, from its top.
func (s *sheet) next(arrow int) int {
	if a := s.arrows[arrow]; len(a.bends) > 0 {
		return a.bends[0]
	}
	return s.arrows[arrow].bottom
}

// previous is the vertex that an arrow comes from last, to its bottom.
func (s *sheet) previous(arrow int) int {
	if a := s.arrows[arrow]; len(a.bends) > 0 {
		return a.bends[len(a.bends)-1]
	}
	return s.arrows[arrow].top
}

// spread sorts arrows by where they lead and gives each its distance from the
// middle of the box.
func (s *sheet) spread(arrows []int, box int, far func(arrow int) int) []int {
	slices.SortStableFunc(arrows, func(a, b int) int { return cmp.Compare(far(a), far(b)) })
	at := make([]int, len(arrows))
	if len(arrows) < 2 {
		return at
	}
	width := min(s.boxes[box].Ports, portStep*(len(arrows)-1))
	for i := range at {
		at[i] = width*i/(len(arrows)-1) - width/2
	}
	return at
}

// route is the way of an arrow, from where it leaves to where it enters.
func (s *sheet) route(i int, d Drawing, lines []int, bands []band, ends port) Route {
	a := s.arrows[i]
	var r Route
	x := lines[a.top] + ends.top
	r.Points = append(r.Points, Point{x, d.Boxes[a.top].Y + s.boxes[a.top].H}, Point{x, bands[s.vertices[a.top].layer].bottom})
	for n, bend := range a.bends {
		room := bands[s.vertices[bend].layer]
		r.Points = append(r.Points, Point{lines[bend], room.top}, Point{lines[bend], room.bottom})
		if n == a.label {
			r.Label = Point{lines[bend], (room.top + room.bottom) / 2}
		}
	}
	x = lines[a.bottom] + ends.bottom
	r.Points = append(r.Points, Point{x, bands[s.vertices[a.bottom].layer].top}, Point{x, d.Boxes[a.bottom].Y})
	if a.turned {
		slices.Reverse(r.Points)
	}
	r.Points = slices.Compact(r.Points)
	return r
}

// loop is the way of an arrow from a box to itself.
func (s *sheet) loop(i int, at Point) Route {
	box := s.boxes[s.arrows[i].top]
	right, middle := at.X+box.W, at.Y+box.H/2
	return Route{
		Points: []Point{
			{right, middle - loopHalf},
			{right + loopOut - 6, middle - loopHalf},
			{right + loopOut - 6, middle + loopHalf},
			{right, middle + loopHalf},
		},
		Label: Point{right + loopOut + s.edges[i].Label.W/2, middle},
		Loop:  true,
	}
}
