package value

import "encoding/json"

// Decode returns raw as nil, bool, string, [json.Number], []any or map[string]any.
// Numbers keep every digit of their canonical form. Errors are [*Error].
func Decode(raw json.RawMessage) (any, error) {
	canon, err := Canonical(raw)
	if err != nil {
		return nil, err
	}
	d := decoder{raw: canon}
	return d.value(), nil
}

// decoder reads canonical text, in which there can be no error.
type decoder struct {
	raw []byte
	pos int
}

func (d *decoder) value() any {
	switch d.raw[d.pos] {
	case '{':
		return d.object()
	case '[':
		return d.array()
	case '"':
		return d.text()
	case 'n':
		d.pos += len("null")
		return nil
	case 't':
		d.pos += len("true")
		return true
	case 'f':
		d.pos += len("false")
		return false
	default:
		n := numberLen(d.raw[d.pos:])
		d.pos += n
		return json.Number(d.raw[d.pos-n : d.pos])
	}
}

// more steps over the bracket or comma before an item; after the last item it
// steps over the end and is false.
func (d *decoder) more(end byte) bool {
	d.pos++
	if d.raw[d.pos-1] == end {
		return false
	}
	if d.raw[d.pos] == end { // right after the opening bracket
		d.pos++
		return false
	}
	return true
}

func (d *decoder) array() any {
	list := []any{}
	for d.more(']') {
		list = append(list, d.value())
	}
	return list
}

func (d *decoder) object() any {
	m := map[string]any{}
	for d.more('}') {
		key := d.text()
		d.pos++ // the colon
		m[key] = d.value()
	}
	return m
}

func (d *decoder) text() string {
	start := d.pos
	d.pos = stringEnd(d.raw, start)
	return unquote(d.raw[start:d.pos])
}
