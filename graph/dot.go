package graph

import (
	"fmt"
	"strings"
)

// DOT draws a document in the language of Graphviz, as [Mermaid] does in its
// own: the same shapes, labels and statuses. Equal arguments give equal text.
// Run may be nil.
func DOT(doc *Document, run *RunView) string {
	d := &dot{picture: newPicture(doc, run)}
	d.WriteString("digraph " + dotText(doc.ID) + " {\n")
	d.line(`graph [rankdir=TB]`)
	d.line(`node [fontname="Helvetica", fontsize=11, fontcolor=%q, style=filled, fillcolor=%q, color=%q]`, inkColour, plainFill, plainStroke)
	d.line(`edge [fontname="Helvetica", fontsize=10, fontcolor=%q, color=%q]`, inkColour, plainStroke)
	for i := range d.vertices {
		d.vertex(&d.vertices[i])
	}
	for _, e := range d.edges {
		d.edge(e)
	}
	d.WriteString("}\n")
	return d.String()
}

// dot writes a digraph.
type dot struct {
	strings.Builder
	*picture
}

func (d *dot) line(format string, args ...any) {
	d.WriteString("    " + fmt.Sprintf(format, args...) + "\n")
}

func (d *dot) vertex(v *vertex) {
	attributes := fmt.Sprintf("label=%s, %s", dotText(v.lines...), dotOutline(v.outline))
	if v.status != "" {
		l := v.look()
		attributes += fmt.Sprintf(", class=%q, fillcolor=%q, color=%q, penwidth=%d", v.status, l.fill, l.stroke, l.strokeWidth)
	}
	d.line("%s [%s]", v.name, attributes)
}

func dotOutline(o outline) string {
	switch o {
	case outlineStart, outlineCircle:
		return "shape=circle"
	case outlineEnd:
		return "shape=doublecircle"
	case outlineStadium:
		return `shape=box, style="filled,rounded"`
	case outlineDiamond:
		return "shape=diamond"
	case outlineHexagon:
		return "shape=hexagon"
	case outlineBars:
		return "shape=box, peripheries=2"
	case outlineParallelogram:
		return "shape=parallelogram"
	case outlineTrapezoid:
		return "shape=invtrapezium"
	case outlineStack:
		return "shape=box3d"
	case outlineBox:
	}
	return "shape=box"
}

func (d *dot) edge(e pictureEdge) {
	var attributes []string
	if e.label != "" {
		attributes = append(attributes, "label="+dotText(e.label))
	}
	if e.dashed {
		attributes = append(attributes, "style=dashed")
	}
	list := ""
	if len(attributes) > 0 {
		list = " [" + strings.Join(attributes, ", ") + "]"
	}
	d.line("%s -> %s%s", d.vertices[e.from].name, d.vertices[e.to].name, list)
}

// dotText is a quoted text of lines. Graphviz reads backslashes and HTML
// entities in it.
func dotText(lines ...string) string {
	replacer := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "&", "&amp;", "\x00", "\uFFFD")
	escaped := make([]string, len(lines))
	for i, line := range lines {
		escaped[i] = replacer.Replace(pictureText(line))
	}
	return `"` + strings.Join(escaped, `\n`) + `"`
}
