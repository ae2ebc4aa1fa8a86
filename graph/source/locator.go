package source

import "unicode/utf8"

// locator turns byte offsets into positions. Asking in rising order costs one
// pass over the document in all.
type locator struct {
	data   []byte
	offset int
	pos    Position
}

func newLocator(data []byte) *locator {
	return &locator{data: data, pos: Position{Line: 1, Column: 1}}
}

func (l *locator) at(offset int) Position {
	if offset < l.offset {
		*l = *newLocator(l.data)
	}
	for l.offset < offset && l.offset < len(l.data) {
		l.step()
	}
	return l.pos
}

// step goes one character on. A line ends with \n, \r\n or \r.
func (l *locator) step() {
	c := l.data[l.offset]
	_, size := utf8.DecodeRune(l.data[l.offset:])
	l.offset += size
	beforeNewline := l.offset < len(l.data) && l.data[l.offset] == '\n'
	if c == '\n' || c == '\r' && !beforeNewline {
		l.pos = Position{Line: l.pos.Line + 1, Column: 1}
		return
	}
	l.pos.Column++
}
