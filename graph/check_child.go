package graph

import (
	"slices"
	"strings"

	"github.com/tidemill/tidemill/graph/source"
)

// child checks the graph that a node runs, as far as the document shows it. One
// that is named is looked up by [Link].
func (c *checker) child(node *Node, from *origin) {
	if node.Workflow == nil {
		return
	}
	c.inline(node, from)
	at := from.at.key("workflow")
	if node.Workflow.Document != nil {
		at = at.key("id")
	}
	path := append(slices.Clone(c.above), c.document.ID)
	if i := slices.Index(path, node.Workflow.Graph); i >= 0 && node.Workflow.Graph != "" {
		c.containsItself(at, append(path[i:], node.Workflow.Graph))
	}
	if node.Workflow.Document != nil {
		c.literalInput(node, from.at.key("input"), node.Workflow.Document)
		c.nestedReducers(c.document, node, from.at.key("workflow"), node.Workflow.Document)
	}
}

// inline reads a document that stands in a node, with all checks of its own.
func (c *checker) inline(node *Node, from *origin) {
	f, ok := from.member("workflow")
	if !ok || f.kind() != source.Object {
		return
	}
	inner := &checker{
		options: c.options, partial: c.partial, language: c.language, broken: c.broken,
		above: append(slices.Clone(c.above), c.document.ID),
	}
	inner.read(f.node)
	c.language, c.broken = inner.language, inner.broken
	for _, one := range inner.found {
		one.at = f.at + one.at
		c.found = append(c.found, one)
	}
	for id, names := range inner.secretNames {
		c.secretNames[node.ID+"/"+id] = names
	}
	node.Workflow.Graph, node.Workflow.Document = inner.document.ID, inner.document
}

// containsItself reports a graph that leads back to itself by the path of ids.
func (r *findings) containsItself(at pointer, path []string) {
	r.fail(at, codeContainsItself, "run another graph, or lead an edge back to where the work begins again",
		"the graph %q contains itself: %s", path[0], strings.Join(path, " → "))
}

// literalInput holds an input that is written out against the schema of the
// graph that is given it.
func (r *findings) literalInput(node *Node, at pointer, child *Document) {
	if node.Input == nil || !literal(node.Input) || child.InputSchema == nil {
		return
	}
	compiled, err := compileSchema(child.InputSchema)
	if err != nil {
		return // the schema's own fault, which is reported where it stands
	}
	if v := compiled.Validate(node.Input); v != nil {
		r.fail(at+pointer(v.Pointer), codeChildInput, "write what the input_schema of the graph asks for",
			"the input does not fit the graph %q: %s (%s)", child.ID, v.Message, v.Reason)
	}
}

// nestedReducers warns about state keys that a graph sets, and combines in another
// way than the graph that hands it all of its state and takes back what changed:
// what the child made of the parent's value would be combined with that value
// again.
func (r *findings) nestedReducers(parent *Document, node *Node, at pointer, child *Document) {
	if node.Input != nil || node.Delta != nil || node.IsItem() {
		return
	}
	for _, reducer := range parent.Reducers {
		if inner := child.reducer(reducer.Key); reducer.Kind.combines() && inner != reducer.Kind && child.sets(reducer.Key) {
			r.warn(at, codeNestedReducer, "give the graph an input of its own, write a delta, or give the key the same reducer in both",
				"the state key %q has the reducer %s here and %s in the graph %q: what that graph makes of the value is combined with it once more",
				reducer.Key, reducer.Kind, inner, child.ID)
		}
	}
}

// sets reports whether the document has something to say about a state key, as far
// as it can be seen.
func (d *Document) sets(key string) bool {
	return slices.ContainsFunc(d.Reducers, func(r Reducer) bool { return r.Key == key }) ||
		slices.ContainsFunc(d.Nodes, func(n Node) bool {
			_, named := n.writes().Get(key)
			return named
		})
}

// reducer is how deltas of a key are combined.
func (d *Document) reducer(key string) ReducerKind {
	for _, r := range d.Reducers {
		if r.Key == key {
			return r.Kind
		}
	}
	return ReduceOverwrite
}
