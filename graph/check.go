package graph

import (
	"slices"
	"strings"

	"github.com/tidemill/tidemill/graph/expr"
	"github.com/tidemill/tidemill/graph/source"
)

// checker looks at a decoded document as a whole: targets, expressions,
// schemas, secrets, callbacks, and the shape of the graph. It completes the
// normal form with what only expressions tell: the state keys a node reads.
type checker struct {
	*findings
	*decoded
	root     *source.Node
	language *expr.Compiler // built when the first expression is met
	options  CompileOptions
	partial  bool     // the text had errors, so conclusions from what is missing would be wrong
	above    []string // the ids of the documents that this one stands in
	// secretNames are the secrets that the args of each node use; the nodes of an
	// inline document are found as NODE/INNER.
	secretNames map[string][]string
	broken      error // the expression language could not be built
}

func (c *checker) check() {
	c.targets()
	c.forks()
	for i := range c.document.Nodes {
		if node, from := c.node(i); !from.skipped {
			c.expressions(node, from)
		}
	}
	for _, w := range c.all() {
		if !w.from.skipped {
			c.secrets(w.from)
			c.child(w.node, w.from)
		}
	}
	c.schemas()
	c.callbacks()
	if !c.failed() {
		c.shape()
	}
}

// node gives a node and where it was written.
func (c *checker) node(i int) (*Node, *origin) { return &c.document.Nodes[i], &c.origins[i] }

// place is the pointer of a path below a node. What hangs below next is found
// where the edge was written, be that the node or the map of edges.
func (o *origin) place(path string) pointer {
	if rest, ok := strings.CutPrefix(path, "next"); ok {
		return o.edge + pointer(rest)
	}
	return o.at + "/" + pointer(path)
}

// schemas checks every JSON Schema of the document.
func (c *checker) schemas() {
	c.schemaAt("/input_schema", c.document.InputSchema)
	c.schemaAt("/output_schema", c.document.OutputSchema)
	for _, w := range c.all() {
		c.schemaAt(w.from.at.key("input_schema"), w.node.InputSchema)
		c.schemaAt(w.from.at.key("output_schema"), w.node.OutputSchema)
		c.schemaAt(w.from.at.key("resume_schema"), w.node.ResumeSchema)
	}
}

// callbacks lists the callbacks that the document names, each with the version
// it has here, and reports those that are not known here.
func (c *checker) callbacks() {
	for _, w := range c.all() {
		for _, use := range w.node.callbacks() {
			c.callback(use.name, w.from.place(use.path))
		}
	}
	slices.SortFunc(c.document.Callbacks, func(a, b Callback) int { return strings.Compare(a.Name, b.Name) })
	c.document.Callbacks = slices.Compact(c.document.Callbacks)
}

func (c *checker) callback(name string, at pointer) {
	version, known := c.options.Callbacks[name]
	if !known {
		version = 1
		report := c.warn
		if c.options.CallbacksAreErrors {
			report = c.fail
		}
		report(at, codeUnknownCallback, "register it in the worker", "the callback %q is not registered here", name)
	}
	c.document.Callbacks = append(c.document.Callbacks, Callback{Name: name, Version: version})
}

// callbackUse is one callback that a node names and where.
type callbackUse struct {
	name, path string
}

func (n *Node) callbacks() []callbackUse {
	all := []callbackUse{{n.ArgsCall, "args"}, {n.Choose, "choose"}, {n.WhileCall, "while"}, {n.MergeCall, "merge"}}
	if n.Next != nil {
		all = append(all, callbackUse{n.Next.Call, "next/route"})
	}
	return slices.DeleteFunc(all, func(use callbackUse) bool { return use.name == "" })
}
