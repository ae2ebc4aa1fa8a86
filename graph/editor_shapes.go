package graph

import (
	"math"

	"github.com/tidemill/tidemill/graph/schema"
)

// The patterns of texts, in the syntax that Go and editors share.
const (
	idPattern         = `^[A-Za-z_][A-Za-z0-9_-]{0,63}$`
	targetPattern     = `^([A-Za-z_][A-Za-z0-9_-]{0,63}|\$end)$`
	expressionPattern = `\$\{`
)

// What editors say of texts that a pattern refuses.
const (
	idHint         = "Write letters, digits, _ and -, beginning with a letter or _, at most 64 characters."
	targetHint     = "Write a node id, or end."
	expressionHint = "Write it out, or one ${…} that gives it."
)

// wordShapes are the schemas of literal text.
func wordShapes() object {
	return object{
		"text":     object{"type": "string"},
		"name":     nonempty(),
		"names":    object{"type": "array", "items": refer("name")},
		"id":       object{"type": "string", "pattern": idPattern, "not": object{"const": End}}.hint(idHint),
		"graph_id": refer("id").with(object{"not": object{"type": "string", "pattern": "^" + reservedPrefix}}),
		"callback": nonempty().with(object{"not": object{"type": "string", "pattern": expressionPattern}}),
		"truth":    object{"type": "boolean"},
		"revision": object{"type": []string{"string", "integer"}, "minLength": 1, "minimum": 0},
		"version":  object{"const": DocumentVersion},
		"mode":     object{"enum": []Mode{ModeLocal}},
		"overflow": object{"enum": overflows()},
		"reducers": object{
			"type": "object", "propertyNames": object{"minLength": 1},
			"additionalProperties": object{"enum": reducerKinds()},
		},
		"json_schema": schema.Form(definitionPrefix + "json_schema"),
	}
}

func nonempty() object { return object{"type": "string", "minLength": 1} }

// numberShapes are the schemas of numbers.
func numberShapes() object {
	whole := func(least, most int) object { return object{"type": "integer", "minimum": least, "maximum": most} }
	return object{
		"count":           whole(1, math.MaxInt32),
		"count_from_zero": whole(0, math.MaxInt32),
		"window":          whole(1, maxOpen),
		"coefficient":     object{"type": "number", "minimum": 1},
		"percent":         object{"type": "number", "minimum": 0, "maximum": 100},
	}
}
