package graph

import (
	"fmt"
	"strings"
)

// Mermaid draws a document as a Mermaid flowchart. With a run, it draws how far
// the run has come: the status and the visits of each node. Equal arguments
// give equal text. Run may be nil.
func Mermaid(doc *Document, run *RunView) string {
	m := &mermaid{doc: doc, names: make(map[string]string, len(doc.Nodes)), records: map[string]NodeRecord{}}
	for i := range doc.Nodes {
		m.names[doc.Nodes[i].ID] = fmt.Sprintf("n%d", i+1)
	}
	if run != nil {
		for _, record := range run.Nodes {
			m.records[record.Node] = record
		}
	}
	return m.draw()
}

// mermaid writes a flowchart. Nodes get names of its own, for an id may be a
// word of the Mermaid language.
type mermaid struct {
	strings.Builder
	doc      *Document
	names    map[string]string
	records  map[string]NodeRecord
	anywhere bool // some callback may lead anywhere
}

func (m *mermaid) line(format string, args ...any) {
	m.WriteString("    " + fmt.Sprintf(format, args...) + "\n")
}

func (m *mermaid) draw() string {
	m.WriteString("flowchart TD\n")
	m.line(`start(("start"))`)
	for i := range m.doc.Nodes {
		m.node(&m.doc.Nodes[i])
	}
	m.line(`finish((("end")))`)
	m.line("start --> %s", m.names[m.doc.Entry])
	for i := range m.doc.Nodes {
		m.edges(&m.doc.Nodes[i])
	}
	if m.anywhere {
		m.line(`anywhere(["any node"])`)
	}
	m.statuses()
	return m.String()
}

func (m *mermaid) node(n *Node) {
	before, after := mermaidShape(n.Type)
	label := mermaidText(n.ID) + "<br/>" + mermaidText(n.caption())
	if record, ok := m.records[n.ID]; ok {
		label += "<br/>" + string(record.Status)
		if record.Visits > 1 {
			label += fmt.Sprintf(" ×%d", record.Visits)
		}
	}
	m.line(`%s%s"%s"%s`, m.names[n.ID], before, label, after)
}

// caption says what a node is, or what it runs.
func (n *Node) caption() string {
	switch {
	case n.Run != nil && n.Run.Activity != "":
		return n.Run.Activity
	case n.Run != nil:
		return n.Run.Name
	case n.Type == TypePause:
		return "pause: " + n.Reason
	case n.Type == TypeFork:
		return "fork: " + n.JoinPolicy.String()
	}
	return string(n.Type)
}

func mermaidShape(t NodeType) (before, after string) {
	switch t {
	case TypeBranch, TypeDynamic:
		return "{", "}"
	case TypeLoop, TypeFork:
		return "{{", "}}"
	case TypePause:
		return "[[", "]]"
	case TypeWait:
		return "([", "])"
	case TypeSet:
		return "[/", "/]"
	case TypeJoin:
		return "((", "))"
	case TypeAction, TypeAgent, TypeTool, TypeWorkflow, TypeMap:
	}
	return "[", "]"
}

func (m *mermaid) edges(n *Node) {
	for _, e := range n.exits() {
		arrow := "-->"
		if e.Failure || e.Callback {
			arrow = "-.->"
		}
		to := m.names[e.To]
		switch e.To {
		case End:
			to = "finish"
		case "":
			to, m.anywhere = "anywhere", true
		}
		if e.Label == "" {
			m.line("%s %s %s", m.names[n.ID], arrow, to)
		} else {
			m.line(`%s %s|"%s"| %s`, m.names[n.ID], arrow, mermaidText(e.Label), to)
		}
	}
}

// statuses colours the nodes that a run has visited.
func (m *mermaid) statuses() {
	if len(m.records) == 0 {
		return
	}
	for _, style := range [][2]string{
		{string(NodeActive), "fill:#dbeafe,stroke:#1d4ed8,stroke-width:3px"},
		{string(NodePaused), "fill:#fef3c7,stroke:#b45309,stroke-width:3px"},
		{string(NodeWaiting), "fill:#f3f4f6,stroke:#6b7280,stroke-width:3px"},
		{string(NodeCompleted), "fill:#dcfce7,stroke:#15803d"},
		{string(NodeFailed), "fill:#fee2e2,stroke:#b91c1c"},
		{string(NodeCancelled), "fill:#e5e7eb,stroke:#6b7280"},
	} {
		var members []string
		for i := range m.doc.Nodes {
			if id := m.doc.Nodes[i].ID; string(m.records[id].Status) == style[0] {
				members = append(members, m.names[id])
			}
		}
		if len(members) > 0 {
			m.line("classDef %s %s,color:#111827", style[0], style[1])
			m.line("class %s %s", strings.Join(members, ","), style[0])
		}
	}
}

// maxMermaidText bounds a label, in characters.
const maxMermaidText = 80

// mermaidText makes any text safe inside a quoted Mermaid label, where it could
// otherwise end the label or be read as markup.
func mermaidText(text string) string {
	runes := []rune(strings.Join(strings.Fields(text), " "))
	if len(runes) > maxMermaidText {
		runes = append(runes[:maxMermaidText-1], '…')
	}
	return strings.NewReplacer(
		"#", "#35;", `"`, "#quot;", "&", "#amp;", "<", "#lt;", ">", "#gt;", "`", "#96;", `\`, "#92;", ";", "#59;",
	).Replace(string(runes))
}
