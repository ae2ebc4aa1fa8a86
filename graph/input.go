package graph

import (
	"encoding/json"

	"github.com/tidemill/tidemill/graph/value"
)

// CheckInput makes the input of a run canonical and holds it against the
// document's input schema. Absent and null input is {}. The failure's type is
// [ErrTypeInputSchema].
func CheckInput(doc *Document, input json.RawMessage) (json.RawMessage, *Failure) {
	if len(input) == 0 {
		input = json.RawMessage("{}")
	}
	canonical, err := value.Canonical(input)
	if err != nil {
		return nil, Failf(ErrTypeInputSchema, "the input is not JSON: %v", err)
	}
	if kind := value.KindOf(canonical); kind == value.KindNull {
		canonical = json.RawMessage("{}")
	} else if kind != value.KindObject {
		return nil, Failf(ErrTypeInputSchema, "the input must be an object, and this is %s", kindWord(kind))
	}
	if failure := CheckSchema(doc.InputSchema, canonical, ErrTypeInputSchema); failure != nil {
		return nil, failure
	}
	return canonical, nil
}

// CheckOutput holds the output of a run against the document's output schema.
// The failure's type is [ErrTypeOutputSchema].
func CheckOutput(doc *Document, output json.RawMessage) *Failure {
	return CheckSchema(doc.OutputSchema, orNull(output), ErrTypeOutputSchema)
}

// CheckSchema holds a value against a schema. Without a schema everything
// fits. The failure has the given type.
func CheckSchema(raw, subject json.RawMessage, errorType string) *Failure {
	compiled, err := compileSchema(raw)
	if err != nil {
		return Failf(errorType, "the schema is not valid: %v", err)
	}
	return checkValue(compiled, orNull(subject), errorType)
}
