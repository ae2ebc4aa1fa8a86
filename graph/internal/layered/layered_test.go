package layered_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tidemill/tidemill/graph/internal/layered"
)

// rectangle is a room that nothing else may enter.
type rectangle struct{ left, top, right, bottom int }

func (a rectangle) overlaps(b rectangle) bool {
	return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom
}

// rooms are the rooms of boxes and labels.
func rooms(boxes []layered.Box, edges []layered.Edge, d layered.Drawing) []rectangle {
	var all []rectangle
	for i, at := range d.Boxes {
		all = append(all, rectangle{at.X, at.Y, at.X + boxes[i].W, at.Y + boxes[i].H})
	}
	for i, e := range edges {
		if at := d.Routes[i].Label; e.Label != (layered.Size{}) {
			left, top := at.X-e.Label.W/2, at.Y-e.Label.H/2
			all = append(all, rectangle{left, top, left + e.Label.W, top + e.Label.H})
		}
	}
	return all
}

// randomGraph is any graph, but with one arrow at most from a box to itself.
func randomGraph(t *rapid.T) ([]layered.Box, []layered.Edge) {
	n := rapid.IntRange(1, 20).Draw(t, "boxes")
	boxes := make([]layered.Box, n)
	for i := range boxes {
		w := rapid.IntRange(10, 200).Draw(t, "width")
		boxes[i] = layered.Box{W: w, H: rapid.IntRange(20, 90).Draw(t, "height"), Ports: w / 2}
	}
	var edges []layered.Edge
	looped := map[int]bool{}
	for range rapid.IntRange(0, 2*n).Draw(t, "edges") {
		e := layered.Edge{From: rapid.IntRange(0, n-1).Draw(t, "from"), To: rapid.IntRange(0, n-1).Draw(t, "to")}
		if e.From == e.To && looped[e.From] {
			continue
		}
		looped[e.From] = looped[e.From] || e.From == e.To
		if rapid.Bool().Draw(t, "labelled") {
			e.Label = layered.Size{W: rapid.IntRange(10, 150).Draw(t, "label"), H: rapid.IntRange(10, 60).Draw(t, "label")}
		}
		edges = append(edges, e)
	}
	return boxes, edges
}

// Nothing lies on anything else or outside the drawing, every arrow leads from
// its box to its box, and arrows pass boxes and labels by.
func TestNothingOverlaps(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		boxes, edges := randomGraph(t)
		d := layered.Place(boxes, edges)
		require.Equal(t, d, layered.Place(boxes, edges), "equal arguments give equal drawings")
		all := rooms(boxes, edges, d)
		for i, a := range all {
			require.True(t, a.left >= 0 && a.top >= 0 && a.right <= d.W && a.bottom <= d.H, "%v is outside", a)
			for _, b := range all[:i] {
				require.False(t, a.overlaps(b), "%v overlaps %v", a, b)
			}
		}
		for i, e := range edges {
			require.NotEmpty(t, d.Routes[i].Points)
			requireEnds(t, d, boxes, e, d.Routes[i])
			requireClear(t, all[:len(boxes)], e, d.Routes[i])
		}
	})
}

// requireEnds checks that an arrow begins and ends at the rims of its boxes.
func requireEnds(t *rapid.T, d layered.Drawing, boxes []layered.Box, e layered.Edge, r layered.Route) {
	t.Helper()
	for _, end := range []struct {
		box int
		at  layered.Point
	}{{e.From, r.Points[0]}, {e.To, r.Points[len(r.Points)-1]}} {
		at, box := d.Boxes[end.box], boxes[end.box]
		require.True(t, end.at.X >= at.X && end.at.X <= at.X+box.W, "%v of %v is beside its box", end.at, e)
		if !r.Loop {
			require.True(t, end.at.Y == at.Y || end.at.Y == at.Y+box.H, "%v of %v is off its box", end.at, e)
		}
	}
}

// requireClear checks that no leg of an arrow touches a box but at its ends. A
// leg to the side stays in the rectangle of its two points.
func requireClear(t *rapid.T, boxes []rectangle, e layered.Edge, r layered.Route) {
	t.Helper()
	if r.Loop {
		return
	}
	for i := 1; i < len(r.Points); i++ {
		a, b := r.Points[i-1], r.Points[i]
		leg := rectangle{min(a.X, b.X), min(a.Y, b.Y), max(a.X, b.X) + 1, max(a.Y, b.Y)}
		for n, box := range boxes {
			require.False(t, leg.overlaps(box), "leg %v of %v crosses box %d at %v", leg, e, n, box)
		}
	}
}

// The least graphs, and those whose boxes hang together in no way.
func TestSmallGraphs(t *testing.T) {
	t.Parallel()
	require.Empty(t, layered.Place(nil, nil).Boxes)
	one := layered.Box{W: 40, H: 20}
	d := layered.Place([]layered.Box{one, one}, nil)
	require.Equal(t, d.Boxes[0].Y, d.Boxes[1].Y, "side by side")

	d = layered.Place([]layered.Box{one, one}, []layered.Edge{{From: 0, To: 1}, {From: 1, To: 0}})
	down, up := d.Routes[0].Points, d.Routes[1].Points
	require.Less(t, down[0].Y, down[len(down)-1].Y)
	require.Greater(t, up[0].Y, up[len(up)-1].Y, "an arrow back points up")
}

// A chain is a straight line, and so is a long arrow beside it.
func TestStraightLines(t *testing.T) {
	t.Parallel()
	boxes := make([]layered.Box, 8)
	var edges []layered.Edge
	for i := range boxes {
		boxes[i] = layered.Box{W: 40 + 10*i, H: 20, Ports: 20}
		if i > 0 {
			edges = append(edges, layered.Edge{From: i - 1, To: i})
		}
	}
	edges = append(edges, layered.Edge{From: 0, To: 7, Label: layered.Size{W: 90, H: 20}})
	d := layered.Place(boxes, edges)
	for _, r := range d.Routes[1:6] {
		require.Equal(t, r.Points[0].X, r.Points[len(r.Points)-1].X)
	}
	long := d.Routes[7].Points
	for _, p := range long[2 : len(long)-2] {
		require.Equal(t, long[2].X, p.X)
	}
}

// Arrows that need not cross do not.
func TestNoNeedlessCrossing(t *testing.T) {
	t.Parallel()
	box := layered.Box{W: 40, H: 20, Ports: 20}
	boxes := []layered.Box{box, box, box, box, box, box, box}
	edges := []layered.Edge{{From: 0, To: 1}, {From: 0, To: 2}, {From: 0, To: 3}}
	edges = append(edges, layered.Edge{From: 3, To: 4}, layered.Edge{From: 2, To: 5}, layered.Edge{From: 1, To: 6})
	d := layered.Place(boxes, edges)
	require.Equal(t, d.Boxes[1].X < d.Boxes[2].X, d.Boxes[6].X < d.Boxes[5].X)
	require.Equal(t, d.Boxes[2].X < d.Boxes[3].X, d.Boxes[5].X < d.Boxes[4].X)
}
