package graph

import (
	"strconv"
	"strings"

	"github.com/tidemill/tidemill/graph/source"
)

// pointer is a JSON pointer (RFC 6901) into the document as it was written.
// Everything the compiler reports carries one; positions are found from it
// when the report is made.
type pointer string

// key is the pointer of a member of the object at p.
func (p pointer) key(name string) pointer {
	if strings.ContainsAny(name, "~/") {
		name = strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
	}
	return p + "/" + pointer(name)
}

// item is the pointer of an item of the list at p, counted from 0.
func (p pointer) item(i int) pointer { return p + "/" + pointer(strconv.Itoa(i)) }

// tokens are the unescaped parts of the pointer.
func (p pointer) tokens() []string {
	if p == "" {
		return nil
	}
	parts := strings.Split(string(p[1:]), "/")
	for i, part := range parts {
		if strings.Contains(part, "~") {
			parts[i] = strings.NewReplacer("~1", "/", "~0", "~").Replace(part)
		}
	}
	return parts
}

// place is what a pointer leads to: the value, and where its key is written.
type place struct {
	value *source.Node
	key   source.Position // of the value itself when it is no member of an object
}

// find follows the pointer as far as the document goes, so that a report about
// something missing shows what it is missing from.
func (p pointer) find(root *source.Node) place {
	at := place{value: root, key: root.Pos}
	for _, token := range p.tokens() {
		next, ok := step(at.value, token)
		if !ok {
			return at
		}
		at = next
	}
	return at
}

func step(from *source.Node, token string) (place, bool) {
	for _, member := range from.Members {
		if member.Key == token {
			return place{value: member.Value, key: member.KeyPos}, true
		}
	}
	i, err := strconv.Atoi(token)
	if err != nil || i < 0 || i >= len(from.Items) {
		return place{}, false
	}
	return place{value: from.Items[i], key: from.Items[i].Pos}, true
}
