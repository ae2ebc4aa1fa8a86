package graph

import (
	"fmt"
	"strings"
)

// Mermaid draws a document as a Mermaid flowchart. With a run, it draws how far
// the run has come: the status and the visits of each node, attempts, and open
// pauses. Equal arguments give equal text. Run may be nil.
func Mermaid(doc *Document, run *RunView) string {
	m := &mermaid{picture: newPicture(doc, run)}
	m.WriteString("flowchart TD\n")
	for i := range m.vertices {
		m.vertex(&m.vertices[i])
	}
	for _, e := range m.edges {
		m.edge(e)
	}
	m.statuses()
	return m.String()
}

// mermaid writes a flowchart.
type mermaid struct {
	strings.Builder
	*picture
}

func (m *mermaid) line(format string, args ...any) {
	m.WriteString("    " + fmt.Sprintf(format, args...) + "\n")
}

func (m *mermaid) vertex(v *vertex) {
	before, after := mermaidOutline(v.outline)
	lines := make([]string, len(v.lines))
	for i, line := range v.lines {
		lines[i] = mermaidText(line)
	}
	m.line(`%s%s"%s"%s`, v.name, before, strings.Join(lines, "<br/>"), after)
}

func mermaidOutline(o outline) (before, after string) {
	switch o {
	case outlineStart, outlineCircle:
		return "((", "))"
	case outlineEnd:
		return "(((", ")))"
	case outlineStadium:
		return "([", "])"
	case outlineDiamond:
		return "{", "}"
	case outlineHexagon:
		return "{{", "}}"
	case outlineBars:
		return "[[", "]]"
	case outlineParallelogram:
		return "[/", "/]"
	case outlineTrapezoid:
		return `[\`, "/]"
	case outlineStack: // flowcharts of every version know this one, and no stack
		return "[/", `\]`
	case outlineBox:
	}
	return "[", "]"
}

func (m *mermaid) edge(e pictureEdge) {
	arrow := "-->"
	if e.dashed {
		arrow = "-.->"
	}
	from, to := m.vertices[e.from].name, m.vertices[e.to].name
	if e.label == "" {
		m.line("%s %s %s", from, arrow, to)
	} else {
		m.line(`%s %s|"%s"| %s`, from, arrow, mermaidText(e.label), to)
	}
}

// statuses colours the nodes that a run has visited.
func (m *mermaid) statuses() {
	for _, l := range looks() {
		var members []string
		for i := range m.vertices {
			if m.vertices[i].status == l.status {
				members = append(members, m.vertices[i].name)
			}
		}
		if len(members) == 0 {
			continue
		}
		width := ""
		if l.strokeWidth > 1 {
			width = fmt.Sprintf(",stroke-width:%dpx", l.strokeWidth)
		}
		m.line("classDef %s fill:%s,stroke:%s%s,color:%s", l.status, l.fill, l.stroke, width, inkColour)
		m.line("class %s %s", strings.Join(members, ","), l.status)
	}
}

// mermaidText makes any text safe inside a quoted Mermaid label, where it could
// otherwise end the label or be read as markup.
func mermaidText(text string) string {
	return strings.NewReplacer(
		"#", "#35;", `"`, "#quot;", "&", "#amp;", "<", "#lt;", ">", "#gt;", "`", "#96;", `\`, "#92;", ";", "#59;",
	).Replace(pictureText(text))
}
