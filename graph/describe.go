package graph

import (
	"fmt"
	"strings"
	"text/tabwriter"
)

// Description is the structure of a compiled document for people and tools. It
// shows how nodes lead to each other and what bounds them, and none of the
// values that the document holds: no arguments, outputs, deltas or schemas.
type Description struct {
	ID          string            `json:"id"`
	Revision    string            `json:"revision,omitempty"`
	Description string            `json:"description,omitempty"`
	Fingerprint string            `json:"fingerprint"` // empty: it depends on graphs that are not known here
	Entry       string            `json:"entry"`
	MaxSteps    int               `json:"max_steps"`
	Deadline    Duration          `json:"deadline,omitzero"`
	Reducers    []Reducer         `json:"state_reducers,omitempty"`
	Callbacks   []Callback        `json:"callbacks,omitempty"`
	Graphs      []GraphRef        `json:"graphs,omitempty"`
	Nodes       []NodeDescription `json:"nodes"`
	Warnings    Diagnostics       `json:"warnings"`
}

// Describe describes a compiled document.
func Describe(c *Compiled) Description {
	out := describer{secrets: c.secrets}.document(c.Document)
	out.Warnings = c.Warnings
	if c.Linked() {
		out.Fingerprint = c.Fingerprint
	}
	return out
}

// describer describes a document, and those that stand in it.
type describer struct {
	secrets map[string][]string
	path    string // of the nodes that a document stands in, as secrets are found by
}

func (r describer) document(d *Document) Description {
	out := Description{
		ID: d.ID, Revision: d.Revision, Description: d.Description,
		Entry: d.Entry, MaxSteps: d.MaxSteps, Deadline: d.Deadline, Reducers: d.Reducers,
		Callbacks: d.Callbacks, Graphs: d.Graphs, Nodes: make([]NodeDescription, len(d.Nodes)),
	}
	for i := range d.Nodes {
		out.Nodes[i] = r.node(&d.Nodes[i])
	}
	return out
}

// String renders the description as text for a terminal.
func (d Description) String() string {
	var b strings.Builder
	// Writing to a strings.Builder cannot fail.
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	line := func(format string, args ...any) { _, _ = fmt.Fprintf(w, format+"\n", args...) }
	line("graph\t%s", d.ID)
	if d.Revision != "" {
		line("revision\t%s", d.Revision)
	}
	if d.Description != "" {
		line("description\t%s", d.Description)
	}
	if d.Fingerprint != "" {
		line("fingerprint\t%s", d.Fingerprint)
	} else {
		line("fingerprint\tdepends on the graphs that are named")
	}
	line("entry\t%s", d.Entry)
	line("bounds\t%s", d.boundsText())
	for _, r := range d.Reducers {
		line("reducer\t%s: %s", r.Key, r.Kind)
	}
	for _, c := range d.Callbacks {
		line("callback\t%s, version %d", c.Name, c.Version)
	}
	for _, g := range d.Graphs {
		line("runs\t%s, fingerprint %s", g.ID, g.Fingerprint)
	}
	_ = w.Flush()
	for _, n := range d.Nodes {
		b.WriteString("\n" + n.String())
	}
	for i, warning := range d.Warnings {
		if i == 0 {
			b.WriteString("\n")
		}
		b.WriteString(warning.String() + "\n")
	}
	return b.String()
}

func (d Description) boundsText() string {
	if d.Deadline == 0 {
		return fmt.Sprintf("%d steps, no deadline", d.MaxSteps)
	}
	return fmt.Sprintf("%d steps, deadline %s", d.MaxSteps, d.Deadline)
}
