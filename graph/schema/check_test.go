package schema_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill/graph/schema"
)

// Each reason has a smallest schema that yields it.
func TestCompileErrors(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ schema, pointer, reason, fix string }{
		{`1`, "", schema.ExpectedSchema, ""},
		{`null`, "", schema.ExpectedSchema, ""},
		{`{"items":[true]}`, "/items", schema.ExpectedSchema, ""},
		{`{"additionalProperties":"no"}`, "/additionalProperties", schema.ExpectedSchema, ""},
		{`{"properties":{"a/b":3}}`, "/properties/a~1b", schema.ExpectedSchema, ""},
		{`{"requird":[]}`, "/requird", schema.UnsupportedKeyword, "did you mean required?"},
		{`{"minlength":1}`, "/minlength", schema.UnsupportedKeyword, "did you mean minLength?"},
		{`{"$ref":"#"}`, "/$ref", schema.UnsupportedKeyword, "write the referenced schema out in its place"},
		{`{"not":true}`, "/not", schema.UnsupportedKeyword, "remove it; this rule is not supported"},
		{`{"uniqueItems":true}`, "/uniqueItems", schema.UnsupportedKeyword, ""},
		{`{"multipleOf":2}`, "/multipleOf", schema.UnsupportedKeyword, ""},
		{`{"type":"strng"}`, "/type", schema.UnknownType, "did you mean string?"},
		{`{"type":["string","float"]}`, "/type/1", schema.UnknownType, ""},
		{`{"type":1}`, "/type", schema.InvalidType, ""},
		{`{"type":[]}`, "/type", schema.InvalidTypeUnion, ""},
		{`{"type":["string","string"]}`, "/type", schema.InvalidTypeUnion, ""},
		{`{"type":[1]}`, "/type", schema.InvalidTypeUnion, ""},
		{`{"properties":[]}`, "/properties", schema.ExpectedMap, ""},
		{`{"allOf":{}}`, "/allOf", schema.ExpectedList, ""},
		{`{"enum":1}`, "/enum", schema.ExpectedList, ""},
		{`{"examples":1}`, "/examples", schema.ExpectedList, ""},
		{`{"required":"a"}`, "/required", schema.InvalidRequired, ""},
		{`{"required":["a","a"]}`, "/required", schema.InvalidRequired, ""},
		{`{"required":[1]}`, "/required", schema.InvalidRequired, ""},
		{`{"enum":[]}`, "/enum", schema.ExpectedNonemptyList, ""},
		{`{"oneOf":[]}`, "/oneOf", schema.ExpectedNonemptyList, ""},
		{`{"enum":[1,"a",1.0]}`, "/enum/2", schema.DuplicateValues, ""},
		{`{"enum":[{"a":1,"b":2},{"b":2,"a":1}]}`, "/enum/1", schema.DuplicateValues, ""},
		{`{"nullable":"true"}`, "/nullable", schema.ExpectedBoolean, ""},
		{`{"minLength":-1}`, "/minLength", schema.ExpectedNonNegativeInteger, ""},
		{`{"maxItems":1.5}`, "/maxItems", schema.ExpectedNonNegativeInteger, ""},
		{`{"maxItems":"1"}`, "/maxItems", schema.ExpectedNonNegativeInteger, ""},
		{`{"maxItems":99999999999}`, "/maxItems", schema.ExpectedNonNegativeInteger, ""},
		{`{"minimum":"1"}`, "/minimum", schema.ExpectedNumber, ""},
		{`{"exclusiveMaximum":true}`, "/exclusiveMaximum", schema.ExpectedNumber, ""},
		{`{"pattern":"("}`, "/pattern", schema.InvalidPattern, ""},
		{`{"pattern":"(?=a)"}`, "/pattern", schema.InvalidPattern, ""},
		{`{"pattern":1}`, "/pattern", schema.ExpectedString, ""},
		{`{"format":1}`, "/format", schema.ExpectedString, ""},
		{`{"a":1,"a":2}`, "", schema.NotJSONSafe, ""},
		{`{`, "", schema.NotJSONSafe, ""},
	} {
		s, errs := schema.Compile(json.RawMessage(c.schema))
		require.Nil(t, s, c.schema)
		require.Len(t, errs, 1, c.schema)
		require.Equal(t, c.reason, errs[0].Reason, c.schema)
		require.Equal(t, c.pointer, errs[0].Pointer, c.schema)
		require.NotEmpty(t, errs[0].Message, c.schema)
		require.NotEmpty(t, errs[0].Fix, c.schema)
		if c.fix != "" {
			require.Equal(t, c.fix, errs[0].Fix, c.schema)
		}
	}
}

// All errors are reported at once, in the order of their places.
func TestCompileReportsEverything(t *testing.T) {
	t.Parallel()
	_, errs := schema.Compile(json.RawMessage(`{"type":"objct","properties":{"b":{"if":true},"a":{"type":"nul","minLength":-1}},"items":7}`))
	var pointers []string
	for _, e := range errs {
		pointers = append(pointers, e.Pointer)
	}
	require.Equal(t, []string{"/items", "/properties/a/minLength", "/properties/a/type", "/properties/b/if", "/type"}, pointers)
}

// A schema must never reach out: an $id is a comment here, and no reference
// exists that could make the library load something.
func TestNothingIsLoaded(t *testing.T) {
	t.Parallel()
	s := compile(t, `{"$schema":"https://example.test/draft","properties":{"a":{"$id":"https://example.test/a","type":"string"}}}`)
	require.Nil(t, s.Validate(json.RawMessage(`{"a":"x"}`)))
	require.NotNil(t, s.Validate(json.RawMessage(`{"a":1}`)))
}
