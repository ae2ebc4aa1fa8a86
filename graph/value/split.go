package value

import (
	"bytes"
	"encoding/json"
)

// split cuts a canonical object into its members. The values share the memory
// of raw; their capacity ends where they end, so an append cannot reach a
// neighbour.
func split(raw json.RawMessage) Object {
	var o Object
	for i := 1; raw[i] != '}'; {
		if raw[i] == ',' {
			i++
		}
		end := stringEnd(raw, i)
		key := unquote(raw[i:end])
		start := end + 1
		i = valueEnd(raw, start)
		o = append(o, Member{Key: key, Value: raw[start:i:i]})
	}
	return o
}

// stringEnd is the index after the string that begins at i.
func stringEnd(raw []byte, i int) int {
	for i++; raw[i] != '"'; i++ {
		if raw[i] == '\\' {
			i++
		}
	}
	return i + 1
}

// valueEnd is the index after the member's value that begins at i.
func valueEnd(raw []byte, i int) int {
	depth := 0
	for {
		switch raw[i] {
		case '"':
			i = stringEnd(raw, i)
			continue
		case '{', '[':
			depth++
		case ',':
			if depth == 0 {
				return i
			}
		case '}', ']':
			if depth == 0 {
				return i
			}
			depth--
		}
		i++
	}
}

// unquote reads a canonical string, in which there can be no error.
func unquote(raw []byte) string {
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw[1 : len(raw)-1])
	}
	p := parser{in: raw}
	content, _ := p.text()
	return string(content)
}
