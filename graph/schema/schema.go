package schema

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/tidemill/tidemill/graph/value"
)

// location names the schema inside the library. It is absolute, for a relative
// one would be resolved against the working directory.
const location = "tidemill:///schema"

// Schema is a compiled schema. It is immutable and safe for concurrent use.
type Schema struct {
	library *jsonschema.Schema
	rules   map[string]string // place in the translated schema → keyword
}

// Compile checks a schema and makes it ready to validate. Absent input accepts
// every value. The errors are all there are, in the order of their pointers.
func Compile(raw json.RawMessage) (*Schema, []Error) {
	if len(raw) == 0 {
		raw = json.RawMessage("true")
	}
	canonical, err := value.Canonical(raw)
	if err != nil {
		return nil, []Error{notSafe(err)}
	}
	decoded, err := value.Decode(canonical)
	if err != nil {
		return nil, []Error{notSafe(err)}
	}
	c := &check{known: keywords()}
	c.schema("", decoded)
	if len(c.errors) > 0 {
		return nil, c.errors
	}
	t := &translation{rules: map[string]string{}}
	s := &Schema{rules: t.rules}
	if s.library, err = build(t.schema("", decoded)); err != nil {
		return nil, []Error{{Reason: ExpectedSchema, Message: "the schema cannot be compiled: " + err.Error(), Fix: "simplify it"}}
	}
	return s, nil
}

func notSafe(err error) Error {
	return Error{Reason: NotJSONSafe, Message: "the schema is not JSON: " + err.Error(), Fix: "write a JSON object, true or false"}
}

func build(translated any) (*jsonschema.Schema, error) {
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.UseLoader(noLoader{})
	if err := c.AddResource(location, translated); err != nil {
		return nil, err
	}
	return c.Compile(location)
}

// noLoader refuses every address: a schema stands alone.
type noLoader struct{}

// Load implements the library's loader.
func (noLoader) Load(url string) (any, error) {
	return nil, fmt.Errorf("schema: %s is not loaded: schemas are never fetched", url)
}

// Validate checks a value. It returns nil when the value fits, else the first
// violation in the package's order.
func (s *Schema) Validate(raw json.RawMessage) *Violation {
	canonical, err := value.Canonical(raw)
	if err != nil {
		return &Violation{Reason: InvalidJSONValue, Message: "the value is not JSON"}
	}
	decoded, err := value.Decode(canonical)
	if err != nil {
		return &Violation{Reason: InvalidJSONValue, Message: "the value is not JSON"}
	}
	err = s.library.Validate(decoded)
	if err == nil {
		return nil
	}
	var found *jsonschema.ValidationError
	if !errors.As(err, &found) {
		return &Violation{Reason: InvalidJSONValue, Message: "the value cannot be checked"}
	}
	return s.first(found)
}
