package expr

import (
	"encoding/json"
	"strings"

	"github.com/tidemill/tidemill/graph/value"
)

// append writes the node's value, in canonical form, after dst.
func (n node) append(dst []byte, v *Vars) (json.RawMessage, error) {
	switch {
	case n.whole != nil:
		raw, err := n.whole.Eval(v)
		return append(dst, raw...), err
	case n.parts != nil:
		s, err := n.text(v)
		return value.AppendString(dst, s), err
	case n.members != nil:
		return n.appendObject(dst, v)
	case n.items != nil:
		return n.appendArray(dst, v)
	}
	return append(dst, n.raw...), nil
}

func (n node) appendObject(dst []byte, v *Vars) (json.RawMessage, error) {
	dst = append(dst, '{')
	for i, m := range n.members {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(value.AppendString(dst, m.key), ':')
		var err error
		if dst, err = m.value.append(dst, v); err != nil {
			return nil, err
		}
	}
	return append(dst, '}'), nil
}

func (n node) appendArray(dst []byte, v *Vars) (json.RawMessage, error) {
	dst = append(dst, '[')
	for i, item := range n.items {
		if i > 0 {
			dst = append(dst, ',')
		}
		var err error
		if dst, err = item.append(dst, v); err != nil {
			return nil, err
		}
	}
	return append(dst, ']'), nil
}

func (n node) text(v *Vars) (string, error) {
	var s strings.Builder
	for _, p := range n.parts {
		if p.expr == nil {
			s.WriteString(p.literal)
			continue
		}
		raw, err := p.expr.Eval(v)
		if err != nil {
			return "", err
		}
		inText, err := text(raw)
		if err != nil {
			return "", err
		}
		s.WriteString(inText)
	}
	return s.String(), nil
}
