package value

import "encoding/json"

// Kind is the JSON type of a value.
type Kind int

// The kinds of JSON values. KindInvalid is no JSON value at all.
const (
	KindInvalid Kind = iota
	KindNull
	KindBool
	KindNumber
	KindString
	KindArray
	KindObject
)

// String gives the type's name as JSON Schema writes it.
func (k Kind) String() string {
	switch k {
	case KindNull:
		return "null"
	case KindBool:
		return "boolean"
	case KindNumber:
		return "number"
	case KindString:
		return "string"
	case KindArray:
		return "array"
	case KindObject:
		return "object"
	case KindInvalid:
		return "invalid"
	}
	return "invalid"
}

// KindOf reads the kind from the first byte of a canonical value. It does not
// check the rest; empty input is [KindInvalid].
func KindOf(raw json.RawMessage) Kind {
	if len(raw) == 0 {
		return KindInvalid
	}
	switch c := raw[0]; {
	case c == '{':
		return KindObject
	case c == '[':
		return KindArray
	case c == '"':
		return KindString
	case c == 'n':
		return KindNull
	case c == 't', c == 'f':
		return KindBool
	case c == '-', isDigit(c):
		return KindNumber
	default:
		return KindInvalid
	}
}

// Null returns the value null.
func Null() json.RawMessage { return json.RawMessage("null") }
