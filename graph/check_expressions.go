package graph

import (
	"errors"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tidemill/tidemill/graph/expr"
)

// expressions compiles the expressions of a node, reports what is wrong with
// them, and notes the state keys that the node reads.
func (c *checker) expressions(i int) {
	node, from := c.node(i)
	reads := expr.Reads{Keys: node.Reads}
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
		if s.own {
			reads = expr.MergeReads(reads, read)
		}
	}
	slices.Sort(reads.Keys)
	node.Reads, node.ReadsAll = slices.Compact(reads.Keys), reads.All
	if len(node.Reads) == 0 {
		node.Reads = nil
	}
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
		if e.Code == expr.WrongScope && strings.HasPrefix(e.Message, "result ") && s.names != ownNames|expr.Result && isResultSlot(s) {
			e.Message, e.Fix = "a node of type "+string(node.Type)+" has no result", "use input, which its predecessor passed on"
		}
		c.expressionError(from.place(s.path)+pointer(e.Pointer), e.Error)
	}
	if compiled == nil {
		return expr.Reads{}
	}
	if names := compiled.Secrets(); len(names) > 0 {
		c.secretNames[node.ID] = names
	}
	return compiled.Reads()
}

func isResultSlot(s slot) bool { return s.path == "output" || s.path == "delta" }

func (c *checker) expressionError(at pointer, e expr.Error) {
	c.fail(at, e.Code, e.Fix, "%s", e.Message)
	c.found[len(c.found)-1].offset = e.Offset
}
