package expr

import (
	"encoding/json"
	"errors"
	"strconv"
	"strings"

	"github.com/tidemill/tidemill/graph/value"
)

// Template is a compiled value of the document: JSON in which every ${…}
// inside a string is an expression. A string that is one expression and
// nothing else keeps the type of the expression's value; elsewhere objects,
// lists, numbers, booleans and null appear as JSON. Keys are never templates.
// Like an [Expression], it may be evaluated by several goroutines at once.
type Template struct {
	root    node
	reads   Reads
	secrets []string
	uses    Names
	literal bool
}

// TemplateError is an error in one string of a template. The offset counts
// characters from the start of that string.
type TemplateError struct {
	Pointer string // JSON pointer from the root of the value to the string
	Error
}

// node is one value of a template. Exactly one of its fields is set.
type node struct {
	raw     json.RawMessage // a part without expressions
	whole   *Expression
	parts   []part
	members []member
	items   []node
}

type member struct {
	key   string
	value node
}

// part is a stretch of a text: literal, or an expression.
type part struct {
	literal string
	expr    *Expression
}

// CompileTemplate compiles a value in which the given names are in scope. It
// gives all errors, in the order of the canonical value.
func (c *Compiler) CompileTemplate(raw json.RawMessage, names Names) (*Template, []TemplateError) {
	canonical, err := value.Canonical(raw)
	if err != nil {
		return nil, []TemplateError{{Error: Error{Code: InvalidExpression, Message: "the value is not JSON: " + err.Error()}}}
	}
	b := &templateBuilder{compiler: c, names: names, out: &Template{literal: true}}
	b.out.root = b.value("", canonical)
	if len(b.errors) > 0 {
		return nil, b.errors
	}
	b.out.secrets = sortedSet(b.out.secrets)
	return b.out, nil
}

// Literal reports whether the template holds no expression.
func (t *Template) Literal() bool { return t.literal }

// Reads says which keys of the state the template reads.
func (t *Template) Reads() Reads { return MergeReads(t.reads, Reads{}) }

// Secrets names the secrets that the template uses, sorted.
func (t *Template) Secrets() []string { return sortedSet(t.secrets) }

// Uses reports whether the template uses any of the names.
func (t *Template) Uses(names Names) bool { return t.uses&names != 0 }

// Eval gives the value as canonical JSON. The error is an [EvalError].
func (t *Template) Eval(v *Vars) (json.RawMessage, error) {
	return t.root.append(nil, v)
}

type templateBuilder struct {
	compiler *Compiler
	names    Names
	out      *Template
	errors   []TemplateError
}

func (b *templateBuilder) value(pointer string, raw json.RawMessage) node {
	if !hasExpression(string(raw)) {
		return node{raw: raw}
	}
	switch value.KindOf(raw) {
	case value.KindObject:
		return b.object(pointer, raw)
	case value.KindArray:
		return b.array(pointer, raw)
	case value.KindString:
		return b.text(pointer, raw)
	case value.KindNull, value.KindBool, value.KindNumber, value.KindInvalid:
	}
	return node{raw: raw}
}

func (b *templateBuilder) object(pointer string, raw json.RawMessage) node {
	o, err := value.ParseObject(raw)
	if err != nil {
		b.fail(pointer, err)
		return node{}
	}
	n := node{members: make([]member, len(o))}
	for i, m := range o {
		n.members[i] = member{key: m.Key, value: b.value(pointer+"/"+escapePointer(m.Key), m.Value)}
	}
	return n
}

func (b *templateBuilder) array(pointer string, raw json.RawMessage) node {
	var items []json.RawMessage
	if err := json.Unmarshal(raw, &items); err != nil {
		b.fail(pointer, err)
		return node{}
	}
	n := node{items: make([]node, len(items))}
	for i, item := range items {
		n.items[i] = b.value(pointer+"/"+strconv.Itoa(i), item)
	}
	return n
}

func (b *templateBuilder) text(pointer string, raw json.RawMessage) node {
	s, err := text(raw)
	if err != nil {
		b.fail(pointer, err)
		return node{}
	}
	cut, bad := pieces(s)
	if bad != nil {
		b.errors = append(b.errors, TemplateError{Pointer: pointer, Error: *bad})
		return node{}
	}
	if len(cut) == 1 && cut[0].isExpr {
		return node{whole: b.expression(pointer, cut[0])}
	}
	parts := make([]part, len(cut))
	for i, p := range cut {
		parts[i] = part{literal: p.text}
		if p.isExpr {
			parts[i] = part{expr: b.expression(pointer, p)}
		}
	}
	return node{parts: parts}
}

func (b *templateBuilder) expression(pointer string, p piece) *Expression {
	b.out.literal = false
	trimmed := strings.TrimLeft(p.text, " \t\r\n")
	lead := len(p.text) - len(trimmed) // white space is one byte a character
	e, err := b.compiler.Compile(strings.TrimRight(trimmed, " \t\r\n"), b.names)
	if err != nil {
		var found Errors
		errors.As(err, &found)
		for _, one := range found {
			one.Offset += p.offset + lead
			b.errors = append(b.errors, TemplateError{Pointer: pointer, Error: one})
		}
		return nil
	}
	b.out.reads = MergeReads(b.out.reads, e.reads)
	b.out.secrets = append(b.out.secrets, e.secrets...)
	b.out.uses |= e.uses
	return e
}

func (b *templateBuilder) fail(pointer string, err error) {
	b.errors = append(b.errors, TemplateError{Pointer: pointer, Error: Error{Code: InvalidExpression, Message: err.Error()}})
}

func escapePointer(token string) string {
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(token)
}
