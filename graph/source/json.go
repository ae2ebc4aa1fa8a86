package source

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"

	"github.com/tidemill/tidemill/graph/value"
)

// jsonReader reads one JSON document. After a syntax error or too much depth it
// is stopped: what follows cannot be told apart.
type jsonReader struct {
	reader
	data    []byte
	pos     int
	where   *locator
	stopped bool
}

func parseJSON(data []byte) (*Node, []Problem) {
	r := &jsonReader{data: data, where: newLocator(data)}
	r.space()
	if r.pos == len(data) {
		r.report(Position{1, 1}, emptyDocument())
		return nil, r.problems
	}
	n := r.value()
	r.space()
	if !r.stopped && r.pos < len(data) {
		r.trailing()
	}
	return n, r.problems
}

func emptyDocument() flaw {
	return flaw{CodeEmptyDocument, "the document is empty", "write one value, such as {}"}
}

func multipleDocuments() flaw {
	return flaw{CodeMultipleDocuments, "a second document begins here", "keep one document in a file"}
}

func (r *jsonReader) trailing() {
	f := multipleDocuments()
	if bytes.IndexByte([]byte(",:]}"), r.data[r.pos]) >= 0 {
		f = flaw{CodeInvalidSyntax, fmt.Sprintf("%q after the end of the document", r.data[r.pos]), "remove it"}
	}
	r.report(r.here(), f)
}

func (r *jsonReader) here() Position { return r.where.at(r.pos) }

func (r *jsonReader) space() {
	for r.pos < len(r.data) && bytes.IndexByte([]byte(" \t\r\n"), r.data[r.pos]) >= 0 {
		r.pos++
	}
}

func (r *jsonReader) take(c byte) bool {
	if r.pos < len(r.data) && r.data[r.pos] == c {
		r.pos++
		return true
	}
	return false
}

// stop reports a syntax error at pos and ends the reading.
func (r *jsonReader) stop(message, fix string) {
	r.report(r.here(), flaw{CodeInvalidSyntax, message, fix})
	r.stopped = true
}

// expected stops because what is next is not what must be.
func (r *jsonReader) expected(what string) {
	found := "the end of the document"
	if r.pos < len(r.data) {
		found = fmt.Sprintf("%q", []rune(string(r.data[r.pos:min(len(r.data), r.pos+4)]))[0])
	}
	r.stop(fmt.Sprintf("expected %s, found %s", what, found), "correct the JSON here")
}

// value reads one value. It returns what it has when it stops.
func (r *jsonReader) value() *Node {
	r.space()
	pos := r.here()
	if r.pos >= len(r.data) {
		r.expected("a value")
		return nil
	}
	switch c := r.data[r.pos]; c {
	case '{', '[':
		if !r.fits(pos) {
			r.stopped = true
			return nil
		}
		r.pos++
		if c == '{' {
			return r.object(&Node{Kind: Object, Pos: pos})
		}
		return r.array(&Node{Kind: Array, Pos: pos})
	case '"':
		return &Node{Kind: String, Pos: pos, Text: r.text()}
	default:
		return r.bare(pos)
	}
}

func (r *jsonReader) array(n *Node) *Node {
	r.space()
	if r.take(']') {
		return n
	}
	for {
		r.enter(strconv.Itoa(len(n.Items)))
		item := r.value()
		r.leave()
		if item != nil {
			n.Items = append(n.Items, item)
		}
		if r.stopped || r.closes(']') {
			return n
		}
	}
}

func (r *jsonReader) object(n *Node) *Node {
	r.space()
	if r.take('}') {
		return n
	}
	for seen := (keys{}); ; {
		r.member(n, seen)
		if r.stopped || r.closes('}') {
			return n
		}
	}
}

// closes reads what follows an item: a comma, or the end of the array or object.
func (r *jsonReader) closes(end byte) bool {
	r.space()
	if r.take(end) {
		return true
	}
	if !r.take(',') {
		r.expected(fmt.Sprintf("',' or %q", end))
	}
	return r.stopped
}

func (r *jsonReader) member(n *Node, seen keys) {
	r.space()
	if r.pos >= len(r.data) || r.data[r.pos] != '"' {
		r.expected("a key in double quotes")
		return
	}
	m := Member{KeyPos: r.here()}
	m.Key = r.text()
	if r.stopped {
		return
	}
	r.enter(m.Key)
	defer r.leave()
	fresh := r.fresh(seen, m.Key, m.KeyPos)
	r.space()
	if !r.take(':') {
		r.expected("':' after the key")
		return
	}
	m.Value = r.value()
	if fresh && m.Value != nil {
		n.Members = append(n.Members, m)
	}
}

// text reads a string in quotes. A lone surrogate is reported and left out.
func (r *jsonReader) text() string {
	start := r.pos
	for r.pos++; ; r.pos++ {
		if r.pos >= len(r.data) {
			r.stop("the text that begins with a quote is not closed", `add a closing "`)
			return ""
		}
		if r.data[r.pos] == '"' {
			break
		}
		if r.data[r.pos] == '\\' {
			r.pos++
		}
	}
	r.pos++
	decoded, err := value.Decode(r.data[start:r.pos])
	if err == nil {
		text, _ := decoded.(string)
		return text
	}
	r.badText(start, err)
	return ""
}

func (r *jsonReader) badText(start int, err error) {
	at, fault := start, new(value.Error)
	if errors.As(err, &fault) {
		at += fault.Offset
	}
	if fault.Reason == value.ReasonInvalidUTF8 {
		r.report(r.where.at(at), flaw{
			CodeInvalidUTF8, "this escape is half of a surrogate pair and no character", `write both halves, as in \ud83d\ude00, or the character itself`,
		})
		return
	}
	r.pos = at
	if r.data[at] == '\\' {
		r.stop("this escape is unknown to JSON", `use \" \\ \/ \b \f \n \r \t or \u and four hex digits`)
		return
	}
	r.stop(fmt.Sprintf("control character 0x%02X inside text", r.data[at]), fmt.Sprintf(`write it as \u%04x`, r.data[at]))
}

// bare reads a value without quotes: a number, true, false or null.
func (r *jsonReader) bare(pos Position) *Node {
	n := bytes.IndexAny(r.data[r.pos:], ",:[]{}\" \t\r\n")
	if n < 0 {
		n = len(r.data) - r.pos
	}
	text := string(r.data[r.pos : r.pos+n])
	kind, f := classify(text)
	if text == "" || text == "~" || kind == String && f == nil {
		r.expected("a value")
		return nil
	}
	r.pos += n
	return r.plain(text, pos)
}
