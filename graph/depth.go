package graph

import (
	"encoding/json"

	"github.com/tidemill/tidemill/graph/value"
)

// tooDeep reports whether a canonical value is nested deeper than values may
// be. Expressions can build such a value, a turn of a loop at a time; nothing
// could read it again.
func tooDeep(raw json.RawMessage) bool {
	depth, text, escaped := 0, false, false
	for _, b := range raw {
		switch {
		case escaped:
			escaped = false
		case text:
			escaped, text = b == '\\', b != '"'
		case b == '"':
			text = true
		case b == '[' || b == '{':
			if depth++; depth > value.MaxDepth {
				return true
			}
		case b == ']' || b == '}':
			depth--
		}
	}
	return false
}
