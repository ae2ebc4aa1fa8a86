package source

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/tidemill/tidemill/graph/value"
)

// Position is a place in a document. Line and Column start at 1; columns count
// characters, not bytes. The zero Position is no place.
type Position struct {
	Line, Column int
}

// String gives line:column.
func (p Position) String() string { return fmt.Sprintf("%d:%d", p.Line, p.Column) }

// Kind is the JSON type of a node.
type Kind = value.Kind

// The kinds of nodes.
const (
	Null   = value.KindNull
	Bool   = value.KindBool
	Number = value.KindNumber
	String = value.KindString
	Array  = value.KindArray
	Object = value.KindObject
)

// Node is one value of a document.
type Node struct {
	Kind    Kind
	Pos     Position // where the value begins; for an alias, where the alias stands
	Text    string   // the text of a String, the digits of a Number as written
	Bool    bool     // the value of a Bool
	Items   []*Node  // the items of an Array
	Members []Member // the members of an Object, in the order written, no key twice
}

// Member is one key of an object, and its value.
type Member struct {
	Key    string
	KeyPos Position
	Value  *Node
}

// JSON returns the node in canonical form. A node that [Parse] returned without
// problems has one; a tree made by hand may fail with a [*value.Error].
func (n *Node) JSON() (json.RawMessage, error) {
	return value.Canonical(n.append(nil))
}

func (n *Node) append(dst []byte) []byte {
	if n == nil {
		return append(dst, "null"...)
	}
	switch n.Kind {
	case Bool:
		return fmt.Appendf(dst, "%t", n.Bool)
	case Number:
		return append(dst, n.Text...)
	case String:
		return value.AppendString(dst, n.Text)
	case Array:
		return n.appendItems(dst)
	case Object:
		return n.appendMembers(dst)
	case Null, value.KindInvalid:
	}
	return append(dst, "null"...)
}

func (n *Node) appendItems(dst []byte) []byte {
	dst = append(dst, '[')
	for i, item := range n.Items {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = item.append(dst)
	}
	return append(dst, ']')
}

func (n *Node) appendMembers(dst []byte) []byte {
	dst = append(dst, '{')
	for i, m := range n.Members {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(value.AppendString(dst, m.Key), ':')
		dst = m.Value.append(dst)
	}
	return append(dst, '}')
}

// Get returns the value of key, or nil if n is nil, no object, or has no such key.
func (n *Node) Get(key string) *Node {
	if m := n.Member(key); m != nil {
		return m.Value
	}
	return nil
}

// Member returns the member with that key, or nil as [Node.Get] does.
func (n *Node) Member(key string) *Member {
	if n == nil {
		return nil
	}
	i := slices.IndexFunc(n.Members, func(m Member) bool { return m.Key == key })
	if i < 0 {
		return nil
	}
	return &n.Members[i]
}

// Copy returns a tree that shares nothing with n.
func (n *Node) Copy() *Node {
	if n == nil {
		return nil
	}
	c := *n
	c.Items = slices.Clone(n.Items)
	for i, item := range c.Items {
		c.Items[i] = item.Copy()
	}
	c.Members = slices.Clone(n.Members)
	for i, m := range c.Members {
		c.Members[i].Value = m.Value.Copy()
	}
	return &c
}
