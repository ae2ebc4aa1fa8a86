package workflows

import (
	"encoding/json"
	"strings"

	"github.com/tidemill/tidemill/graph/value"
)

// placeholder is an example answer for a schema: its required properties, each
// with a value of its type. It is a help to fill in, not an answer.
func placeholder(schema json.RawMessage) string {
	if schema == nil {
		return "{}"
	}
	text := string(exampleOf(schema, 0))
	return strings.ReplaceAll(text, "'", `'\''`)
}

// schemaShape is the part of a schema that an example is made of.
type schemaShape struct {
	Type       json.RawMessage   `json:"type"`
	Enum       []json.RawMessage `json:"enum"`
	Const      json.RawMessage   `json:"const"`
	Properties value.Object      `json:"properties"`
	Required   []string          `json:"required"`
}

func exampleOf(schema json.RawMessage, depth int) json.RawMessage {
	var shape schemaShape
	if depth > 3 || json.Unmarshal(schema, &shape) != nil {
		return json.RawMessage("null")
	}
	if shape.Const != nil {
		return shape.Const
	}
	if len(shape.Enum) > 0 {
		return shape.Enum[0]
	}
	var name string
	if json.Unmarshal(shape.Type, &name) != nil && len(shape.Properties) > 0 {
		name = "object"
	}
	switch name {
	case "object":
		return exampleObject(shape, depth)
	case "boolean":
		return json.RawMessage("true")
	case "integer", "number":
		return json.RawMessage("0")
	case "string":
		return json.RawMessage(`"…"`)
	case "array":
		return json.RawMessage("[]")
	default:
		return json.RawMessage("null")
	}
}

func exampleObject(shape schemaShape, depth int) json.RawMessage {
	var object value.Object
	for _, key := range shape.Required {
		property, ok := shape.Properties.Get(key)
		if !ok {
			property = json.RawMessage("{}")
		}
		object.Set(key, exampleOf(property, depth+1))
	}
	return object.Raw()
}
