package schema_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tidemill/tidemill/graph/schema"
)

// form is the form of schemas, ready to hold schemas against.
func form(tb testing.TB) *jsonschema.Schema {
	tb.Helper()
	raw, err := json.Marshal(schema.Form("#"))
	require.NoError(tb, err)
	parsed, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	require.NoError(tb, err)
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	require.NoError(tb, c.AddResource("tidemill:///form", parsed))
	compiled, err := c.Compile("tidemill:///form")
	require.NoError(tb, err)
	return compiled
}

// An editor that marks a schema the compiler takes, or the other way round,
// misleads; only patterns are beyond it.
func TestFormAgreesWithCompile(t *testing.T) {
	t.Parallel()
	f := form(t)
	properties, _ := schema.Form("#")["properties"].(map[string]any)
	words := append(slices.Sorted(maps.Keys(properties)), "requird")
	values := []any{
		nil, true, 1, 1.5, -1, 1 << 40, "string", "strng",
		[]any{},
		[]any{true},
		[]any{1, 2},
		[]any{1, 1.0},
		[]any{"a", "a"},
		[]any{"string", "null"},
		map[string]any{},
		map[string]any{"a": true},
		map[string]any{"type": "object"},
		map[string]any{"a": 3},
		[]any{map[string]any{"a": 3}},
	}
	rapid.Check(t, func(t *rapid.T) {
		word, value := rapid.SampledFrom(words).Draw(t, "word"), rapid.SampledFrom(values).Draw(t, "value")
		raw, err := json.Marshal(map[string]any{word: value})
		require.NoError(t, err)
		_, found := schema.Compile(raw)
		parsed, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
		require.NoError(t, err)
		require.Equal(t, len(found) == 0, f.Validate(parsed) == nil, "%s %v", raw, found)
	})
	require.NoError(t, f.Validate(map[string]any{"pattern": "("}))
}
