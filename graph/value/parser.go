package value

import (
	"bytes"
	"slices"
	"strconv"
)

// parser reads JSON from in and writes its canonical form to out, in one pass.
type parser struct {
	in         []byte
	pos        int
	out        []byte
	depth      int
	strictFFFD bool
	members    []span // the members of all open objects, innermost last
	scratch    []byte // room to reorder the members of one object
}

// span is one member of an open object: out[start:end] holds `"key":value`.
type span struct {
	key        []byte // its content, which may share memory with the input
	offset     int    // of the key in the input
	start, end int
}

func (p *parser) fail(r Reason) *Error { return &Error{Offset: p.pos, Reason: r} }

func (p *parser) space() {
	for p.pos < len(p.in) {
		switch p.in[p.pos] {
		case ' ', '\t', '\n', '\r':
			p.pos++
		default:
			return
		}
	}
}

// take consumes c if it is next.
func (p *parser) take(c byte) bool {
	if p.pos < len(p.in) && p.in[p.pos] == c {
		p.pos++
		return true
	}
	return false
}

// value reads one value that begins at pos.
func (p *parser) value() *Error {
	if p.pos >= len(p.in) {
		return p.fail(ReasonSyntax)
	}
	switch c := p.in[p.pos]; {
	case c == '"':
		_, err := p.text()
		return err
	case c == '{':
		return p.nested((*parser).object)
	case c == '[':
		return p.nested((*parser).array)
	case c == '-', isDigit(c):
		return p.number()
	case c == 't':
		return p.word("true")
	case c == 'f':
		return p.word("false")
	case c == 'n':
		return p.word("null")
	default:
		return p.fail(ReasonSyntax)
	}
}

func (p *parser) word(w string) *Error {
	if !bytes.HasPrefix(p.in[p.pos:], []byte(w)) {
		return p.fail(ReasonSyntax)
	}
	p.out = append(p.out, w...)
	p.pos += len(w)
	return nil
}

// nested reads an array or object, whose first byte it consumes.
func (p *parser) nested(read func(*parser) *Error) *Error {
	if p.depth == MaxDepth {
		return p.fail(ReasonTooDeep)
	}
	p.depth++
	p.out = append(p.out, p.in[p.pos])
	p.pos++
	err := read(p)
	p.depth--
	return err
}

func (p *parser) array() *Error {
	p.space()
	if p.take(']') {
		p.out = append(p.out, ']')
		return nil
	}
	for i := 0; ; i++ {
		p.space()
		if err := p.value(); err != nil {
			return err.under(strconv.Itoa(i))
		}
		p.space()
		if p.take(']') {
			p.out = append(p.out, ']')
			return nil
		}
		if !p.take(',') {
			return p.fail(ReasonSyntax)
		}
		p.out = append(p.out, ',')
	}
}

func (p *parser) object() *Error {
	base, body := len(p.members), len(p.out)
	p.space()
	if p.take('}') {
		p.out = append(p.out, '}')
		return nil
	}
	for {
		p.space()
		if err := p.member(); err != nil {
			return err
		}
		p.space()
		if p.take('}') {
			break
		}
		if !p.take(',') {
			return p.fail(ReasonSyntax)
		}
		p.out = append(p.out, ',')
	}
	err := p.order(p.members[base:], body)
	p.members = p.members[:base]
	p.out = append(p.out, '}')
	return err
}

// member reads `"key": value` and records where it was written.
func (p *parser) member() *Error {
	m := span{offset: p.pos, start: len(p.out)}
	if p.pos >= len(p.in) || p.in[p.pos] != '"' {
		return p.fail(ReasonSyntax)
	}
	key, err := p.text()
	if err != nil {
		return err
	}
	m.key = key
	p.space()
	if !p.take(':') {
		return p.fail(ReasonSyntax).under(string(m.key))
	}
	p.out = append(p.out, ':')
	p.space()
	if err := p.value(); err != nil {
		return err.under(string(m.key))
	}
	m.end = len(p.out)
	p.members = append(p.members, m)
	return nil
}

// order sorts the members that were written from out[body] on.
func (p *parser) order(members []span, body int) *Error {
	sorted := true
	for i := 1; i < len(members) && sorted; i++ {
		sorted = bytes.Compare(members[i-1].key, members[i].key) < 0
	}
	if sorted {
		return nil
	}
	slices.SortStableFunc(members, func(a, b span) int { return bytes.Compare(a.key, b.key) })
	if err := firstDuplicate(members); err != nil {
		return err
	}
	p.scratch = p.scratch[:0]
	for i, m := range members {
		if i > 0 {
			p.scratch = append(p.scratch, ',')
		}
		p.scratch = append(p.scratch, p.out[m.start:m.end]...)
	}
	p.out = append(p.out[:body], p.scratch...)
	return nil
}

// firstDuplicate finds the repeated key that comes first in the input.
func firstDuplicate(sorted []span) *Error {
	var found *Error
	for i := 1; i < len(sorted); i++ {
		m := sorted[i]
		if bytes.Equal(m.key, sorted[i-1].key) && (found == nil || m.offset < found.Offset) {
			found = (&Error{Offset: m.offset, Reason: ReasonDuplicateKey}).under(string(m.key))
		}
	}
	return found
}
