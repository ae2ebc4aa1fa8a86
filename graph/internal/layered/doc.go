// Package layered places the boxes and arrows of a directed graph.
//
// It is a small form of the layered drawing of Sugiyama: arrows that close a
// cycle are turned round, every box goes to the layer that its longest path from
// the top demands, an arrow that spans layers gets a bend in each of them,
// layers are ordered by the mean place of their neighbours, and then every box
// moves as near to its neighbours as the ones beside it allow. The label of an
// arrow is a bend with a size, so it has a place of its own.
//
//	drawing := layered.Place(boxes, edges)
//
// Equal arguments give equal drawings on every machine: the order of boxes and
// edges decides every tie, and no sum is fused with a product.
package layered

// Box is what an arrow leaves or enters. All lengths are in pixels.
type Box struct {
	W, H  int
	Ports int // width, around the middle, on which arrows may end. Zero means the middle alone.
}

// Size is the room that a label takes.
type Size struct{ W, H int }

// Edge is an arrow from one box to another, each by its index. Box and edge may
// be the same: an arrow from a box to itself is drawn at its right side.
type Edge struct {
	From, To int
	Label    Size // zero: none
}

// Point is a place in the drawing; y grows downwards.
type Point struct{ X, Y int }

// Route is the way of an arrow.
type Route struct {
	// Points lead from the box the arrow leaves to the one it enters. A leg
	// between two of them is vertical, or it crosses the gap between two layers,
	// where it meets no box and no label.
	Points []Point
	Label  Point // the middle of the label
	// Loop marks an arrow from a box to itself; its legs are straight.
	Loop bool
}

// Drawing is where everything goes.
type Drawing struct {
	Size

	Boxes  []Point // top left corner of each box
	Routes []Route // of each edge
}

// Distances.
const (
	margin   = 16 // around the drawing
	between  = 22 // boxes and labels of one layer
	beside   = 14 // bends of one layer
	gapLeast = 22 // between layers
	gapMost  = 64 // between layers
	portStep = 18 // arrows that end at the same side of a box
	loopOut  = 20 // how far a loop leaves its box
	loopHalf = 6  // half the height of a loop
)

// Place draws a graph. Indexes in edges must be those of boxes.
func Place(boxes []Box, edges []Edge) Drawing {
	s := newSheet(boxes, edges)
	s.direct()
	s.rank()
	s.bend()
	s.arrange()
	s.settle()
	s.straighten()
	return s.drawing()
}
