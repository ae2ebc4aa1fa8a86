package graph

import (
	"fmt"
	"strings"
	"time"
)

// picture is what every drawing of a graph shows, whatever its language: the
// start, the nodes, the end, and the ways between them.
type picture struct {
	vertices []vertex
	edges    []pictureEdge
}

// vertex is something that edges connect.
type vertex struct {
	name    string // a word of every drawing language; an id may be one that means something
	outline outline
	lines   []string // what it says
	status  NodeStatus
}

// pictureEdge leads from one vertex to another, by their indexes.
type pictureEdge struct {
	from, to int
	label    string
	dashed   bool // taken by a failure or a callback
}

// outline is the outline of a vertex.
type outline string

const (
	outlineStart         outline = "start"
	outlineEnd           outline = "end"
	outlineStadium       outline = "stadium"
	outlineBox           outline = "box"
	outlineDiamond       outline = "diamond"
	outlineHexagon       outline = "hexagon"
	outlineBars          outline = "bars"   // a box with a bar at either side: work described elsewhere
	outlineStack         outline = "stack"  // boxes behind each other: the same work many times
	outlineTrapezoid     outline = "manual" // wide at its top: work of a person
	outlineParallelogram outline = "parallelogram"
	outlineCircle        outline = "circle"
)

// outline is what a node of the type looks like.
func (t NodeType) outline() outline {
	switch t {
	case TypeBranch, TypeDynamic:
		return outlineDiamond
	case TypeLoop, TypeFork:
		return outlineHexagon
	case TypePause:
		return outlineTrapezoid
	case TypeWorkflow:
		return outlineBars
	case TypeMap:
		return outlineStack
	case TypeWait:
		return outlineStadium
	case TypeSet:
		return outlineParallelogram
	case TypeJoin:
		return outlineCircle
	case TypeAction, TypeAgent, TypeTool:
	}
	return outlineBox
}

// newPicture is the picture of a document, with a run drawn in unless it is nil.
func newPicture(doc *Document, run *RunView) *picture {
	p := &picture{vertices: []vertex{{name: "start", outline: outlineStart, lines: []string{"start"}}}}
	index := make(map[string]int, len(doc.Nodes)+2)
	for i := range doc.Nodes {
		index[doc.Nodes[i].ID] = i + 1
		p.vertices = append(p.vertices, nodeVertex(fmt.Sprintf("n%d", i+1), &doc.Nodes[i], run))
	}
	index[End] = len(p.vertices)
	p.vertices = append(p.vertices, vertex{name: "finish", outline: outlineEnd, lines: []string{"end"}})
	p.edges = append(p.edges, pictureEdge{to: index[doc.Entry]})
	for i := range doc.Nodes {
		for _, e := range doc.Nodes[i].exits() {
			if _, known := index[e.To]; !known { // a callback may lead anywhere
				index[e.To] = len(p.vertices)
				p.vertices = append(p.vertices, vertex{name: "anywhere", outline: outlineStadium, lines: []string{"any node"}})
			}
			p.edges = append(p.edges, pictureEdge{from: i + 1, to: index[e.To], label: e.Label, dashed: e.Failure || e.Callback})
		}
	}
	return p
}

// nodeVertex is a node, with what the run has to say about it.
func nodeVertex(name string, n *Node, run *RunView) vertex {
	v := vertex{name: name, outline: n.Type.outline(), lines: []string{n.ID, n.caption()}}
	if run == nil {
		return v
	}
	for _, record := range run.Nodes {
		if record.Node != n.ID {
			continue
		}
		v.status = record.Status
		line := string(record.Status)
		if record.Visits > 1 {
			line += fmt.Sprintf(" ×%d", record.Visits)
		}
		v.lines = append(v.lines, line)
	}
	for _, c := range run.Current {
		if line := c.line(n); c.Node == n.ID && line != "" {
			v.lines = append(v.lines, line)
		}
	}
	v.lines = append(v.lines, n.openItems(run)...)
	return v
}

// maxOpenItems is how many open pauses of a map's items are listed.
const maxOpenItems = 3

// openItems are the pauses that are open in the items of a map.
func (n *Node) openItems(run *RunView) []string {
	if n.Item == nil {
		return nil
	}
	var lines []string
	for _, c := range run.Current {
		if c.Node == n.Item.ID && c.Phase == PhasePaused {
			lines = append(lines, c.line(n.Item))
		}
	}
	if more := len(lines) - maxOpenItems; more > 0 {
		lines = append(lines[:maxOpenItems], fmt.Sprintf("and %d more", more))
	}
	return lines
}

// caption says what a node is, or what it runs.
func (n *Node) caption() string {
	switch {
	case n.Run != nil && n.Run.Activity != "":
		return n.Run.Activity
	case n.Run != nil:
		return n.Run.Name
	case n.Workflow != nil:
		return "graph: " + n.Workflow.Graph
	case n.Item != nil:
		return "map of " + n.Item.caption()
	case n.Type == TypePause:
		return "pause: " + n.Reason
	case n.Type == TypeFork:
		return "fork: " + n.JoinPolicy.String()
	}
	return string(n.Type)
}

// line says what is going on in a node: the attempt that is under way, what it
// waits for, or the pause that is open. Empty when its status says it all.
func (c Current) line(n *Node) string {
	if c.Phase == PhasePaused {
		line := "open: " + string(c.Address)
		if c.Expires != nil {
			line += ", until " + c.Expires.UTC().Format(time.RFC3339)
		}
		return line
	}
	var parts []string
	trying := c.Phase == PhaseAdmission || c.Phase == PhaseRunning || c.Phase == PhaseBackoff || c.Phase == PhaseInterrupted
	if trying && c.Attempt > 1 && n.Retry != nil {
		parts = append(parts, fmt.Sprintf("attempt %d of %d", c.Attempt, n.Retry.MaxAttempts))
	}
	if c.Waiting != "" {
		parts = append(parts, c.Waiting)
	}
	return strings.Join(parts, ", ")
}

// look is how a status colours a node.
type look struct {
	status       NodeStatus
	fill, stroke string
	strokeWidth  int // in pixels
}

// The colours of nodes without a status, and of all text.
const (
	plainFill   = "#ffffff"
	plainStroke = "#6b7280"
	inkColour   = "#111827"
)

// looks are the looks of the statuses, in the order in which they are listed.
func looks() []look {
	return []look{
		{NodeActive, "#dbeafe", "#1d4ed8", 3},
		{NodePaused, "#fef3c7", "#b45309", 3},
		{NodeWaiting, "#f3f4f6", "#6b7280", 3},
		{NodeCompleted, "#dcfce7", "#15803d", 1},
		{NodeFailed, "#fee2e2", "#b91c1c", 1},
		{NodeCancelled, "#e5e7eb", "#6b7280", 1},
	}
}

// look is the look of the vertex.
func (v *vertex) look() look {
	for _, l := range looks() {
		if l.status == v.status {
			return l
		}
	}
	return look{fill: plainFill, stroke: plainStroke, strokeWidth: 1}
}

// maxPictureText bounds a line or a label, in characters.
const maxPictureText = 80

// pictureText is a text on one line, cut where it is too long.
func pictureText(text string) string {
	runes := []rune(strings.Join(strings.Fields(text), " "))
	if len(runes) > maxPictureText {
		runes = append(runes[:maxPictureText-1], '…')
	}
	return string(runes)
}
