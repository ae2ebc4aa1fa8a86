package schema_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill/graph/schema"
)

func compile(tb testing.TB, text string) *schema.Schema {
	tb.Helper()
	s, errs := schema.Compile(json.RawMessage(text))
	require.Empty(tb, errs, text)
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

// Of several faults the first of the fixed order is reported, although the
// library below reports them in an order of its own (partly that of a map).
func TestViolationOrder(t *testing.T) {
	t.Parallel()
	full := `{"const":{"k":0},"enum":[{"k":0}],"allOf":[false],"anyOf":[false],"oneOf":[false],"type":"string"}`
	for _, c := range []struct{ schema, value, pointer, reason string }{
		{full, `1`, "", schema.ConstMismatch},
		{`{"type":"string","oneOf":[false],"anyOf":[false],"allOf":[false],"enum":[0]}`, `1`, "", schema.EnumMismatch},
		{`{"type":"string","oneOf":[false],"anyOf":[false],"allOf":[false]}`, `1`, "", schema.AllOfMismatch},
		{`{"type":"string","oneOf":[false],"anyOf":[false]}`, `1`, "", schema.AnyOfMismatch},
		{`{"type":"string","oneOf":[false]}`, `1`, "", schema.OneOfMismatch},
		{`{"type":"string","minimum":5}`, `1`, "", schema.ExpectedType},
		{`{"minProperties":9,"additionalProperties":false,"properties":{"b":false,"a":false},"required":["z","y"]}`, `{"a":1,"b":1,"x":1}`, "", schema.RequiredProperty},
		{`{"minProperties":9,"additionalProperties":false,"properties":{"b":false,"a":false}}`, `{"a":1,"b":1,"x":1}`, "/a", schema.SchemaFalse},
		{`{"minProperties":9,"additionalProperties":false}`, `{"c":1,"b":1,"x":1}`, "/b", schema.AdditionalProperty},
		{`{"maxItems":1,"items":false}`, `[1,2]`, "", schema.SizeBound},
		{`{"items":false}`, `[1,2,3,4,5,6,7,8,9,10,11]`, "/0", schema.SchemaFalse},
		{`{"additionalProperties":false}`, `{"9":1,"10":1}`, "/10", schema.AdditionalProperty},
		{`{"additionalProperties":{"type":"string"}}`, `{"9":1,"10":1}`, "/10", schema.ExpectedType},
		{`{"maxLength":1,"pattern":"a"}`, `"bb"`, "", schema.SizeBound},
	} {
		s := compile(t, c.schema)
		for range 20 {
			v := s.Validate(json.RawMessage(c.value))
			require.NotNil(t, v, "%s accepts %s", c.schema, c.value)
			require.Equal(t, c.reason, v.Reason, "%s on %s", c.schema, c.value)
			require.Equal(t, c.pointer, v.Pointer, "%s on %s", c.schema, c.value)
		}
	}
}

func TestAccepted(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ schema, value string }{
		{``, `{"a":1}`},
		{`true`, `null`},
		{`{}`, `[1]`},
		{`{"type":"integer"}`, `1.0`},
		{`{"type":"integer"}`, `123456789012345678901234567890`},
		{`{"type":"number"}`, `1`},
		{`{"type":"string","nullable":true}`, `null`},
		{`{"type":["string"],"nullable":true}`, `null`},
		{`{"type":["string","null"],"nullable":true}`, `null`},
		{`{"nullable":true}`, `1`},
		{`{"minimum":5,"minLength":5,"minItems":5,"minProperties":5}`, `null`},
		{`{"const":1.0}`, `1`},
		{`{"enum":[9007199254740993]}`, `9007199254740993`},
		{`{"format":"email","title":"t","description":"d","default":1,"examples":[],"$id":"https://example.test/s","$schema":"https://json-schema.org/draft/2020-12/schema"}`, `"no mail"`},
		{`{"properties":{"$ref":{"type":"string"},"not":true}}`, `{"$ref":"x","not":1}`},
		{`{"maxLength":2}`, `"éé"`},
		{`{"pattern":"b"}`, `"abc"`},
		{`{"oneOf":[{"type":"string"},{"type":"number"}]}`, `1`},
		{`{"items":true}`, `[1,"a"]`},
		{`{"required":[]}`, `{}`},
		{`{"maximum":0.30000000000000004}`, `0.3`},
	} {
		require.Nil(t, compile(t, c.schema).Validate(json.RawMessage(c.value)), "%s refuses %s", c.schema, c.value)
	}
}

// A violation is shown to operators and kept in histories, the value is not.
func TestViolationHidesTheValue(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`{"const":"x"}`, `{"enum":["x"]}`, `{"type":"number"}`, `{"maxLength":1}`, `{"pattern":"^x$"}`,
		`{"anyOf":[{"const":"x"}]}`, `false`,
	} {
		v := compile(t, text).Validate(json.RawMessage(`"canary-5712"`))
		require.NotNil(t, v, text)
		require.NotContains(t, v.String(), "canary", text)
	}
}
