package graph_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tidemill/tidemill/graph"
	"github.com/tidemill/tidemill/graph/source"
)

// tree is a document as JSON decodes it.
func parsedTree(tb testing.TB, text string) any {
	tb.Helper()
	root, problems := source.ParseNamed("", []byte(text))
	require.Empty(tb, problems)
	raw, err := root.JSON()
	require.NoError(tb, err)
	return decoded(tb, raw)
}

func decoded(tb testing.TB, raw json.RawMessage) any {
	tb.Helper()
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var v any
	require.NoError(tb, decoder.Decode(&v))
	return v
}

// mutant draws mistakes into documents.
type mutant struct {
	t      *rapid.T
	fields []string // names that are fields somewhere
}

// strangers are values of every kind, some of which fit somewhere.
func strangers() []any {
	return []any{
		nil, true, false, 0, 1, -1, 1.5, 2, 1 << 40, "", "x", "a", "end", "$end", "a b", "none", "30s", "0s", "-5s", "1d", "soon",
		"${ state.x }", "2030-01-31T09:00:00Z", "all", "action", "wait", "agent",
		[]any{},
		[]any{"a"},
		[]any{"a", "a"},
		[]any{1},
		[]any{map[string]any{}},
		map[string]any{},
		map[string]any{"call": "f"},
		map[string]any{"route": map[string]any{"call": "f"}},
		map[string]any{"default": "end"},
		map[string]any{"cases": []any{}},
		map[string]any{"output": 1},
		map[string]any{"quorum": 1},
		map[string]any{"count": 1},
		map[string]any{"x": 1},
	}
}

// spot is one value of a document, and how it is replaced.
type spot struct {
	value any
	set   func(any)
}

// spots are the value itself and all that is in it.
func spots(value any, set func(any)) []spot {
	all := []spot{{value, set}}
	switch v := value.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			all = append(all, spots(v[key], func(to any) { v[key] = to })...)
		}
	case []any:
		for i := range v {
			all = append(all, spots(v[i], func(to any) { v[i] = to })...)
		}
	}
	return all
}

// change makes one mistake, or none, somewhere in a document.
func (m *mutant) change(document any) any {
	all := spots(document, func(to any) { document = to })
	at := all[rapid.IntRange(0, len(all)-1).Draw(m.t, "spot")]
	object, ok := at.value.(map[string]any)
	way := "replace"
	if ok {
		way = rapid.SampledFrom([]string{"replace", "add", "rename", "misspell", "remove"}).Draw(m.t, "way")
	}
	switch {
	case way == "replace":
		at.set(m.stranger())
	case way == "add" || len(object) == 0:
		object[m.field()] = m.stranger()
	default:
		m.changeKey(object, way)
	}
	return document
}

func (m *mutant) changeKey(object map[string]any, way string) {
	key := rapid.SampledFrom(slices.Sorted(maps.Keys(object))).Draw(m.t, "key")
	old := object[key]
	delete(object, key)
	switch way {
	case "rename":
		object[m.field()] = old
	case "misspell":
		object[key+"s"] = old
	}
}

func (m *mutant) field() string { return rapid.SampledFrom(m.fields).Draw(m.t, "field") }

func (m *mutant) stranger() any { return rapid.SampledFrom(strangers()).Draw(m.t, "value") }

// fieldNames are all names that are fields somewhere in a document.
func fieldNames(tb testing.TB) []string {
	tb.Helper()
	unique := map[string]bool{}
	eachShape(tb, func(_ string, shape map[string]any) {
		properties, _ := shape["properties"].(map[string]any)
		for name := range properties {
			unique[name] = true
		}
	})
	return slices.Sorted(maps.Keys(unique))
}

// eachShape visits the schema of the document, as "", and each definition.
func eachShape(tb testing.TB, visit func(name string, shape map[string]any)) {
	tb.Helper()
	whole, _ := decoded(tb, graph.EditorSchema()).(map[string]any)
	require.NotEmpty(tb, whole)
	visit("", whole)
	definitions, _ := whole["$defs"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(definitions)) {
		shape, _ := definitions[name].(map[string]any)
		visit(name, shape)
	}
}

// Whatever is done to a document, the schema marks it when its structure is
// wrong, and leaves it alone when the compiler does.
func TestEditorSchemaAgreesWithTheCompiler(t *testing.T) {
	t.Parallel()
	s, names := editor(t), fieldNames(t)
	corpus := accepted(t)
	rapid.Check(t, func(rt *rapid.T) {
		m := &mutant{rt, names}
		v := parsedTree(t, rapid.SampledFrom(corpus).Draw(rt, "document"))
		for range rapid.IntRange(1, 2).Draw(rt, "mistakes") {
			v = m.change(v)
		}
		agree(rt, s, v)
	})
}

func agree(t *rapid.T, s *jsonschema.Schema, v any) {
	raw, err := json.Marshal(v)
	require.NoError(t, err)
	_, found := graph.Compile("mutant.json", raw, graph.CompileOptions{})
	parsed, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	require.NoError(t, err)
	mistake := s.Validate(parsed)
	if mistake != nil {
		require.Error(t, found.Err(), "the compiler takes what the schema refuses: %v\n%s", mistake, raw)
	}
	if structural(found) {
		require.Error(t, mistake, "%s\n%s", found.Error(), raw)
	}
}
