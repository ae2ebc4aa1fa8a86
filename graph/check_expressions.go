package graph

import (
	"errors"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tidemill/tidemill/graph/expr"
)

// expressions compiles the expressions of a node, reports what is wrong with
// them, and notes the state keys that the node reads. It gives all that the node
// and its edge read.
func (c *checker) expressions(node *Node, from *origin) expr.Reads {
	reads := expr.Reads{Keys: node.Reads, All: node.readsUnseen()}
	if node.Item != nil {
		reads = expr.MergeReads(reads, c.expressions(node.Item, from.item))
	}
	all := reads
	for _, s := range node.slots() {
		if s.literal() || !c.ready() {
			continue
		}
		var read expr.Reads
		if s.raw != nil {
			read = c.value(node, from, s)
		} else {
			read = c.condition(from, s)
		}
		all = expr.MergeReads(all, read)
		if s.own {
			reads = expr.MergeReads(reads, read)
		}
	}
	slices.Sort(reads.Keys)
	node.Reads, node.ReadsAll = slices.Compact(reads.Keys), reads.All
	if len(node.Reads) == 0 || reads.All {
		node.Reads = nil
	}
	return all
}

// readsUnseen reports whether a node needs all of the state though no expression
// says so: it is the input of a graph that is given no other, and what a callback
// reads cannot be seen, unless the author says what it needs.
func (n *Node) readsUnseen() bool {
	return n.Type == TypeWorkflow && n.Input == nil || n.ArgsCall != "" && len(n.Reads) == 0
}

// ready builds the language when it is first needed: a document without
// expressions does not pay for it.
func (c *checker) ready() bool {
	if c.language == nil && c.broken == nil {
		c.language, c.broken = expr.NewCompiler()
	}
	return c.broken == nil
}

func (c *checker) condition(from *origin, s slot) expr.Reads {
	compiled, err := c.language.Compile(s.text, s.names)
	if err == nil {
		return compiled.Reads()
	}
	at := from.place(s.path)
	written := at.find(c.root).value.Text
	indent := utf8.RuneCountInString(written) - utf8.RuneCountInString(strings.TrimLeft(written, " \t\r\n"))
	var found expr.Errors
	if errors.As(err, &found) {
		for _, e := range found {
			e.Offset += indent
			c.expressionError(at, e)
		}
	}
	return expr.Reads{}
}

func (c *checker) value(node *Node, from *origin, s slot) expr.Reads {
	compiled, found := c.language.CompileTemplate(s.raw, s.names)
	for _, e := range found {
		c.expressionError(from.place(s.path)+pointer(e.Pointer), reword(e.Error, node, s))
	}
	if compiled == nil {
		return expr.Reads{}
	}
	if names := compiled.Secrets(); len(names) > 0 {
		c.secretNames[node.ID] = names
	}
	return compiled.Reads()
}

// reword explains what is special about a node where the language only knows
// the field.
func reword(e expr.Error, node *Node, s slot) expr.Error {
	switch {
	case e.Code == expr.WrongScope && (s.field == "output" || s.field == "delta") && strings.HasPrefix(e.Message, "result "):
		e.Message, e.Fix = "a node of type "+string(node.Type)+" has no result", "use input, which its predecessor passed on"
	case e.Code == expr.SecretNotAllowed && s.field == "args" && node.Foreign():
		e.Message, e.Fix = "the arguments of an activity that is not an action are in the history, where no secret may be",
			"let the activity get the secret itself, or make it an action"
	}
	return e
}

func (c *checker) expressionError(at pointer, e expr.Error) {
	c.fail(at, e.Code, e.Fix, "%s", e.Message)
	c.found[len(c.found)-1].offset = e.Offset
}
