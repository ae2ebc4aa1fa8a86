package schema_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill/graph/schema"
)

func compile(t testing.TB, text string) *schema.Schema {
	t.Helper()
	s, errs := schema.Compile(json.RawMessage(text))
	require.Empty(t, errs, text)
	return s
}

// Each reason has a smallest value that yields it, at its exact place.
func TestViolations(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ schema, value, pointer, reason string }{
		{`{"const":1}`, `2`, "", schema.ConstMismatch},
		{`{"const":{"a":[1]}}`, `{"a":[2]}`, "", schema.ConstMismatch},
		{`{"enum":["a",1]}`, `"b"`, "", schema.EnumMismatch},
		{`{"allOf":[{"type":"string"},true]}`, `1`, "", schema.AllOfMismatch},
		{`{"anyOf":[{"type":"string"},{"minimum":5}]}`, `1`, "", schema.AnyOfMismatch},
		{`{"oneOf":[{"type":"integer"},{"minimum":0}]}`, `1`, "", schema.OneOfMismatch},
		{`{"oneOf":[{"type":"string"},false]}`, `1`, "", schema.OneOfMismatch},
		{`{"type":"string"}`, `1`, "", schema.ExpectedType},
		{`{"type":"integer"}`, `1.5`, "", schema.ExpectedType},
		{`{"type":"boolean"}`, `"true"`, "", schema.ExpectedType},
		{`{"type":["string","null"]}`, `1`, "", schema.ExpectedOneOfTypes},
		{`{"type":"string","nullable":true}`, `1`, "", schema.ExpectedOneOfTypes},
		{`{"type":"string","nullable":false}`, `null`, "", schema.ExpectedType},
		{`{"required":["b","a"]}`, `{}`, "", schema.RequiredProperty},
		{`{"properties":{"a":{"type":"string"}}}`, `{"a":1}`, "/a", schema.ExpectedType},
		{`{"properties":{"a":false}}`, `{"a":1}`, "/a", schema.SchemaFalse},
		{`{"properties":{"a/b c%~":{"properties":{"é":{"maxLength":1}}}}}`, `{"a/b c%~":{"é":"xx"}}`, "/a~1b c%~0/é", schema.SizeBound},
		{`{"properties":{"a":true},"additionalProperties":false}`, `{"a":1,"z":1,"b":1}`, "/b", schema.AdditionalProperty},
		{`{"additionalProperties":{"type":"string"}}`, `{"z":1,"b":1,"a":""}`, "/b", schema.ExpectedType},
		{`{"minProperties":1}`, `{}`, "", schema.SizeBound},
		{`{"maxProperties":1}`, `{"a":1,"b":2}`, "", schema.SizeBound},
		{`{"minItems":1}`, `[]`, "", schema.SizeBound},
		{`{"maxItems":1}`, `[1,2]`, "", schema.SizeBound},
		{`{"items":{"type":"string"}}`, `["a",1,2]`, "/1", schema.ExpectedType},
		{`{"items":{"items":{"maximum":3}}}`, `[[1],[2,3,4,5],[9]]`, "/1/2", schema.NumericBound},
		{`{"minLength":3}`, `"éé"`, "", schema.SizeBound},
		{`{"maxLength":1}`, `"éé"`, "", schema.SizeBound},
		{`{"pattern":"^a+$"}`, `"ab"`, "", schema.PatternMismatch},
		{`{"minimum":1}`, `0`, "", schema.NumericBound},
		{`{"maximum":1}`, `1.1`, "", schema.NumericBound},
		{`{"exclusiveMinimum":1}`, `1`, "", schema.NumericBound},
		{`{"exclusiveMaximum":1}`, `1`, "", schema.NumericBound},
		{`{"maximum":9007199254740992}`, `9007199254740993`, "", schema.NumericBound},
		{`{"minimum":123456789012345678901234567891}`, `123456789012345678901234567890`, "", schema.NumericBound},
		{`false`, `1`, "", schema.SchemaFalse},
		{`true`, `{"a":1,"a":2}`, "", schema.InvalidJSONValue},
		{`true`, ``, "", schema.InvalidJSONValue},
	} {
		v := compile(t, c.schema).Validate(json.RawMessage(c.value))
		require.NotNil(t, v, "%s accepts %s", c.schema, c.value)
		require.Equal(t, c.reason, v.Reason, "%s on %s: %v", c.schema, c.value, v)
		require.Equal(t, c.pointer, v.Pointer, "%s on %s: %v", c.schema, c.value, v)
		require.NotEmpty(t, v.Message)
	}
}
