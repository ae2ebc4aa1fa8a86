package graph

import (
	"slices"
	"strings"
)

// Link gives a compiled document the graphs that its workflow nodes name: their
// fingerprints, which become part of its own, and all their documents, in
// [Compiled.Closure]. Find gives a graph of the catalogue, linked or not, and nil
// when there is none of that id; known are the ids to suggest for a misspelt one.
//
// A name without a graph, a graph that contains itself, and literal input that
// does not fit are errors at the node's place, in whatever document that is. The
// result is then nil. A document that names no graph is returned as it is. The
// diagnostics are what linking found; warnings of the document itself join those
// in [Compiled.Warnings].
func Link(c *Compiled, find func(id string) *Compiled, known ...string) (*Compiled, Diagnostics) {
	l := &linker{find: find, known: known, done: map[string]*Compiled{}}
	linked := l.link(c)
	return linked, l.found
}

// LinkAll links the graphs of a catalogue against each other, as [Link] does,
// and gives them in the order in which they came. What is wrong is said once,
// where it stands; that graph and all that depend on it are then nil.
func LinkAll(all []*Compiled) ([]*Compiled, Diagnostics) {
	l := &linker{done: map[string]*Compiled{}, anew: true}
	index := make(map[string]*Compiled, len(all))
	for _, c := range all {
		index[c.Document.ID] = c
		l.known = append(l.known, c.Document.ID)
	}
	l.find = func(id string) *Compiled { return index[id] }
	linked := make([]*Compiled, len(all))
	for i, c := range all {
		linked[i] = l.graph(c)
	}
	return linked, l.found
}

// Linked reports whether the document knows every graph that it names. One that
// does not can be looked at, and runs only after [Link].
func (c *Compiled) Linked() bool { return c.Document.linked() }

func (d *Document) linked() bool {
	for _, node := range d.activated() {
		switch child := node.Workflow; {
		case child == nil:
		case child.Document != nil:
			if !child.Document.linked() {
				return false
			}
		case !slices.ContainsFunc(d.Graphs, func(g GraphRef) bool { return g.ID == child.Graph }):
			return false
		}
	}
	return true
}

// namesGraphs reports whether the document, or one inside it, depends on the
// catalogue.
func (d *Document) namesGraphs() bool {
	return slices.ContainsFunc(d.activated(), func(n *Node) bool {
		return n.Workflow != nil && (n.Workflow.Document == nil || n.Workflow.Document.namesGraphs())
	})
}

// linker links a graph after those that it names.
type linker struct {
	find  func(string) *Compiled
	known []string
	hints int                  // suggestions given so far
	done  map[string]*Compiled // nil: it cannot be linked, which has been said
	anew  bool                 // what was linked before is linked again
	open  []*linking           // outermost first; each is named by the one before it
	found Diagnostics
}

// graph links a graph of the catalogue, once.
func (l *linker) graph(c *Compiled) *Compiled {
	id := c.Document.ID
	linked, done := l.done[id]
	if !done {
		linked = l.link(c)
		l.done[id] = linked
	}
	return linked
}

func (l *linker) link(c *Compiled) *Compiled {
	if c.unlinked != nil {
		if !l.stale(c) {
			return c
		}
		c = c.unlinked
	}
	if !c.Document.namesGraphs() {
		return c
	}
	k := &linking{linker: l, id: c.Document.ID}
	l.open = append(l.open, k)
	document := k.document(c.Document, "")
	l.open = l.open[:len(l.open)-1]
	found := c.place(&k.findings)
	l.found = append(l.found, found...)
	if k.broken || found.HasErrors() {
		return nil
	}
	return k.finish(c, document, found)
}

// stale reports whether a linked graph was linked against others than it would
// be now.
func (l *linker) stale(c *Compiled) bool {
	if l.anew || len(l.open) == 0 {
		return true
	}
	return slices.ContainsFunc(c.Closure, func(d *Document) bool {
		return slices.ContainsFunc(l.open, func(k *linking) bool { return k.id == d.ID })
	})
}

// linking is one graph on its way. What is found is at places of its document.
type linking struct {
	findings
	*linker
	id      string
	at      pointer // of the name that is being followed
	closure []*Document
	broken  bool // a graph that it names cannot be linked
}

// document copies a document and those that stand in it, with their graphs.
func (k *linking) document(d *Document, at pointer) *Document {
	out := *d
	out.Nodes, out.Graphs = slices.Clone(d.Nodes), nil
	for i := range out.Nodes {
		node, place := &out.Nodes[i], at.key("nodes").item(i)
		k.node(&out, node, place)
		if node.Item != nil {
			item := *node.Item
			k.node(&out, &item, place.key("item"))
			node.Item = &item
		}
	}
	slices.SortFunc(out.Graphs, func(a, b GraphRef) int { return strings.Compare(a.ID, b.ID) })
	out.Graphs = slices.Compact(out.Graphs)
	return &out
}

// node links what a node of the parent runs.
func (k *linking) node(parent *Document, node *Node, at pointer) {
	switch child := node.Workflow; {
	case child == nil:
	case child.Document != nil:
		node.Workflow = &Child{Graph: child.Graph, Document: k.document(child.Document, at.key("workflow"))}
	default:
		k.at = at.key("workflow")
		named := k.named(child.Graph)
		if named == nil {
			return
		}
		parent.Graphs = append(parent.Graphs, GraphRef{ID: child.Graph, Fingerprint: named.Fingerprint})
		k.literalInput(node, at.key("input"), named.Document)
		k.nestedReducers(parent, node, at.key("workflow"), named.Document)
	}
}

// named gives the linked graph of a name; nil when there is none, which is then
// reported.
func (k *linking) named(id string) *Compiled {
	if i := slices.IndexFunc(k.open, func(open *linking) bool { return open.id == id }); i >= 0 {
		k.cycle(i)
		return nil
	}
	c := k.find(id)
	if c == nil {
		fix := "add it to the graphs of the worker, or write the document in place of the name"
		if near := k.nearest(id); near != "" {
			fix = near
		}
		k.fail(k.at, codeUnknownGraph, fix, "there is no graph %q", id)
		return nil
	}
	linked := k.graph(c)
	if linked == nil {
		k.broken = true
		return nil
	}
	k.include(append([]*Document{linked.Document}, linked.Closure...)...)
	return linked
}

// cycle reports that a name leads back to an open graph, at the place where that
// one begins to.
func (k *linking) cycle(i int) {
	var path []string
	for _, open := range k.open[i:] {
		path = append(path, open.id)
	}
	k.broken = true
	first := k.open[i]
	first.containsItself(first.at, append(path, first.id))
}

// nearest suggests a graph for a misspelt name.
func (l *linker) nearest(id string) string {
	if l.hints++; l.hints > maxHints {
		return ""
	}
	return didYouMean(id, slices.DeleteFunc(slices.Clone(l.known), func(id string) bool {
		return slices.ContainsFunc(l.open, func(k *linking) bool { return k.id == id })
	}))
}

// include adds documents to the closure, each once, in order.
func (k *linking) include(documents ...*Document) {
	for _, d := range documents {
		i, known := slices.BinarySearchFunc(k.closure, d.ID, func(in *Document, id string) int { return strings.Compare(in.ID, id) })
		if !known {
			k.closure = slices.Insert(k.closure, i, d)
		}
	}
}

// finish makes the linked document ready to run.
func (k *linking) finish(c *Compiled, document *Document, found Diagnostics) *Compiled {
	warnings := append(slices.Clone(c.Warnings), found...)
	warnings.sort()
	linked, _ := finish(document, warnings, k.closure...)
	if linked == nil { // what had a canonical form still has one
		return nil
	}
	linked.Closure, linked.unlinked = k.closure, c
	linked.secrets, linked.original = c.secrets, c.original
	return linked
}
