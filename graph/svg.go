package graph

import (
	"fmt"
	"strings"

	"github.com/tidemill/tidemill/graph/internal/layered"
)

// SVG draws a document as a picture that needs nothing else: no script, no font
// file, no program. It shows what [Mermaid] shows. Every node is a group of
// class node with its id as its title, every way between nodes a group of class
// edge. Equal arguments give equal text. Run may be nil.
func SVG(doc *Document, run *RunView) string {
	s := &svg{picture: newPicture(doc, run)}
	s.mergeLoops()
	boxes := make([]layered.Box, len(s.vertices))
	for i := range s.vertices {
		s.texts = append(s.texts, s.vertices[i].wrapped())
		boxes[i] = s.vertices[i].box(s.texts[i])
	}
	edges := make([]layered.Edge, len(s.edges))
	for i, e := range s.edges {
		edges[i] = layered.Edge{From: e.from, To: e.to, Label: labelSize(s.labels[i])}
	}
	drawing := layered.Place(boxes, edges)
	s.open(doc, drawing)
	for i := range s.edges {
		s.edge(i, drawing, boxes)
	}
	for i := range s.vertices {
		s.vertex(i, drawing.Boxes[i], boxes[i])
	}
	s.WriteString("</svg>\n")
	return s.String()
}

// svg writes a picture.
type svg struct {
	strings.Builder
	*picture

	texts  [][]string // of each vertex
	labels [][]string // of each edge
}

func (s *svg) line(format string, args ...any) {
	_, _ = fmt.Fprintf(&s.Builder, format+"\n", args...)
}

// mergeLoops draws the ways from a node to itself as one, which says them all.
func (s *svg) mergeLoops() {
	loops := map[int]int{} // edge by vertex
	var edges []pictureEdge
	for _, e := range s.edges {
		label := wrap(e.label, labelColumns)
		if at, again := loops[e.from]; again && e.from == e.to {
			s.labels[at] = append(s.labels[at], label...)
			edges[at].label += "; " + e.label
			edges[at].dashed = edges[at].dashed && e.dashed
			continue
		}
		if e.from == e.to {
			loops[e.from] = len(edges)
		}
		edges, s.labels = append(edges, e), append(s.labels, label)
	}
	s.edges = edges
}

// open writes what comes before the drawing.
func (s *svg) open(doc *Document, d layered.Drawing) {
	s.line(`<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" role="img" font-family="%s" text-anchor="middle" fill="%s">`,
		d.W, d.H, d.W, d.H, svgFont, inkColour)
	s.line(`<title>%s</title>`, xmlText(doc.ID))
	s.line(`<defs><marker id="tip" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="8" markerHeight="8" markerUnits="userSpaceOnUse" orient="auto">`+
		`<path d="M0,1 L10,5 L0,9 z" fill="%s"/></marker></defs>`, plainStroke)
	s.line(`<rect width="%d" height="%d" fill="#ffffff"/>`, d.W, d.H)
}

// edge draws a way, with its label upon it.
func (s *svg) edge(i int, d layered.Drawing, boxes []layered.Box) {
	e, route := s.edges[i], d.Routes[i]
	from, to := &s.vertices[e.from], &s.vertices[e.to]
	title := s.named(e.from) + " → " + s.named(e.to)
	if e.label != "" {
		title += ": " + e.label
	}
	s.line(`<g class="edge" data-from="%s" data-to="%s"><title>%s</title>`, from.name, to.name, xmlText(title))
	last := len(route.Points) - 1
	from.meet(&route.Points[0], d.Boxes[e.from], boxes[e.from])
	to.meet(&route.Points[last], d.Boxes[e.to], boxes[e.to])
	dash := ""
	if e.dashed {
		dash = ` stroke-dasharray="5 4"`
	}
	s.line(`<path d="%s" fill="none" stroke="%s" stroke-width="1.3"%s marker-end="url(#tip)"/>`, svgPath(route), plainStroke, dash)
	if lines := s.labels[i]; len(lines) > 0 {
		size := labelSize(lines)
		s.line(`<rect x="%d" y="%d" width="%d" height="%d" rx="3" fill="#ffffff"/>`,
			route.Label.X-size.W/2, route.Label.Y-size.H/2, size.W, size.H)
		s.text(lines, 0, route.Label, svgLabelLine, fmt.Sprintf(`font-size="%v" fill="#374151"`, svgLabelSize))
	}
	s.line(`</g>`)
}

// named is the first line of a vertex, which for a node is its id.
func (s *svg) named(i int) string { return s.vertices[i].lines[0] }

// svgPath is the way of an arrow: straight down the layers, curved between them.
func svgPath(r layered.Route) string {
	var b strings.Builder
	last := r.Points[0]
	fmt.Fprintf(&b, "M%d,%d", last.X, last.Y)
	for _, p := range r.Points[1:] {
		if r.Loop || p.X == last.X {
			fmt.Fprintf(&b, " L%d,%d", p.X, p.Y)
		} else {
			middle := (last.Y + p.Y) / 2
			fmt.Fprintf(&b, " C%d,%d %d,%d %d,%d", last.X, middle, p.X, middle, p.X, p.Y)
		}
		last = p
	}
	return b.String()
}

// labelSize is the room of a label.
func labelSize(lines []string) layered.Size {
	if len(lines) == 0 {
		return layered.Size{}
	}
	return layered.Size{W: int(float64(widest(lines))*svgLabelChar) + 8, H: len(lines)*svgLabelLine + 6}
}

// vertex draws a node, or one of the other things that edges connect.
func (s *svg) vertex(i int, at layered.Point, box layered.Box) {
	v := &s.vertices[i]
	class, l := "node", v.look()
	if v.status != "" {
		class += " " + string(v.status)
	}
	s.line(`<g id="%s" class="%s"><title>%s</title>`, v.name, class, xmlText(strings.Join(v.lines, "\n")))
	s.line(`<g fill="%s" stroke="%s" stroke-width="%d">%s</g>`, l.fill, l.stroke, l.strokeWidth, v.outline.svg(at, box))
	middle := layered.Point{X: at.X + box.W/2, Y: at.Y + box.H/2}
	if v.outline == outlineStack { // the box in front stands at the lower left
		middle.X, middle.Y = middle.X-stacked, middle.Y+stacked
	}
	bold := len(wrap(v.lines[0], nodeColumns))
	s.text(s.texts[i], bold, middle, svgLine, fmt.Sprintf(`font-size="%v"`, svgFontSize))
	s.line(`</g>`)
}

// text writes lines around a middle, the first of them bold.
func (s *svg) text(lines []string, bold int, middle layered.Point, high int, attributes string) {
	s.WriteString("<text " + attributes + ">")
	top := middle.Y - high*len(lines)/2
	for i, line := range lines {
		weight := ""
		if i < bold {
			weight = ` font-weight="600"`
		}
		s.span(middle.X, top+high*i+high*3/4, weight, line)
	}
	s.line("</text>")
}

func (s *svg) span(x, y int, weight, line string) {
	_, _ = fmt.Fprintf(&s.Builder, `<tspan x="%d" y="%d"%s>%s</tspan>`, x, y, weight, xmlText(line))
}
