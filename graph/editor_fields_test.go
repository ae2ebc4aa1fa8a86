package graph_test

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tidemill/tidemill/graph"
	"github.com/tidemill/tidemill/graph/value"
)

// Tools compare and cache the schema by its bytes, so two calls must agree.
func TestEditorSchemaIsCanonical(t *testing.T) {
	t.Parallel()
	raw := graph.EditorSchema()
	canonical, err := value.Canonical(raw)
	require.NoError(t, err)
	require.Equal(t, string(canonical), string(raw))
	require.Equal(t, string(raw), string(graph.EditorSchema()))
}

// What an editor shows over a field is all that some authors ever read.
func TestEditorSchemaExplainsEveryField(t *testing.T) {
	t.Parallel()
	count := 0
	eachShape(t, func(name string, shape map[string]any) {
		if name == "json_schema" || shape["additionalProperties"] != false {
			return
		}
		properties, _ := shape["properties"].(map[string]any)
		for field, property := range properties {
			about, _ := property.(map[string]any)["description"].(string)
			require.Regexp(t, `^[A-Z].*\.$`, about, "%s of %s", field, name)
			count++
		}
	})
	require.Greater(t, count, 100)
}

// The schema must not speak of node types that every worker refuses, and of all
// the others it must.
func TestEditorSchemaHasTheTypesThatRun(t *testing.T) {
	t.Parallel()
	var known []string
	eachShape(t, func(name string, shape map[string]any) {
		if kind, ok := strings.CutPrefix(name, "node_"); ok && kind != "type" {
			require.NotEmpty(t, shape["description"], name)
			known = append(known, kind)
		}
	})
	for _, kind := range known {
		_, found := graph.Compile("", []byte(one("{id: a, type: "+kind+"}")), graph.CompileOptions{})
		require.False(t, slices.ContainsFunc(found, func(d graph.Diagnostic) bool { return d.Code == "unsupported_graph_node_type" }), kind)
	}
	for _, kind := range []graph.NodeType{graph.TypeAgent, graph.TypeTool} {
		require.NotContains(t, known, string(kind))
		require.NotContains(t, string(graph.EditorSchema()), `"`+string(kind)+`"`)
	}
}

// A definition that nothing leads to is dead weight in every editor.
func TestEditorSchemaUsesItsDefinitions(t *testing.T) {
	t.Parallel()
	text := string(graph.EditorSchema())
	eachShape(t, func(name string, shape map[string]any) {
		require.NotNil(t, shape, "%s is referred to and not defined", name)
		if name != "" {
			require.Contains(t, text, `"#/$defs/`+name+`"`)
		}
	})
}

// frames are documents with one place left open, by the definition that the
// place has in the schema. Each compiles when nothing is put there.
func frames() map[string]string {
	alone := func(fields string) string { return "{id: g, entry: a, nodes: [{id: a, " + fields + "}]}" }
	pair := func(fields, others string) string {
		return "{id: g, entry: a, nodes: [{id: a, " + fields + "}, " + others + "]}"
	}
	return map[string]string{
		"":              "{id: g, entry: a, nodes: [" + set + "]%s}",
		"node_action":   alone("run: x, next: end%s"),
		"node_set":      alone("type: set, next: end%s"),
		"node_join":     alone("type: join, run: x, next: end%s"),
		"node_pause":    alone("type: pause, next: end%s"),
		"node_wait":     alone("type: wait, for: 1s, next: end%s"),
		"node_branch":   alone("type: branch, cases: [{when: state.x, to: end}]%s"),
		"node_dynamic":  alone("type: dynamic, cases: [{when: state.x, to: end}]%s"),
		"node_loop":     pair("type: loop, while: state.x, body: b, max_iterations: 1%s", "{id: b, type: set, next: a}"),
		"node_fork":     pair("type: fork, branches: [b], join: j%s", "{id: b, type: set, next: j}, {id: j, type: join, next: end}"),
		"node_workflow": alone("type: workflow, workflow: h, next: end%s"),
		"node_map":      alone("type: map, items: [1], item: {run: x}, next: end%s"),
		"item_action":   alone("type: map, items: [1], item: {run: x%s}, next: end"),
		"item_workflow": alone("type: map, items: [1], item: {type: workflow, workflow: h%s}, next: end"),
		"item_pause":    alone("type: map, items: [1], item: {type: pause%s}, next: end"),
		"retry":         alone("run: x, next: end, retry: {non_retryable: []%s}"),
	}
}

// A default that the editor shows and the compiler does not have is believed
// until a run shows otherwise.
func TestEditorSchemaDefaults(t *testing.T) {
	t.Parallel()
	places, tried := frames(), 0
	eachShape(t, func(name string, shape map[string]any) {
		properties, _ := shape["properties"].(map[string]any)
		for _, field := range slices.Sorted(maps.Keys(properties)) {
			about, _ := properties[field].(map[string]any)
			usual, given := about["default"]
			if !given {
				continue
			}
			require.Contains(t, places, name, "no document to try %s in", field)
			want, found := graph.Compile("", fmt.Appendf(nil, places[name], ""), graph.CompileOptions{})
			require.NoError(t, found.Err(), name)
			got, found := graph.Compile("", fmt.Appendf(nil, places[name], fmt.Sprintf(", %s: %v", field, usual)), graph.CompileOptions{})
			require.NoError(t, found.Err(), "%s of %s", field, name)
			require.Equal(t, want.Fingerprint, got.Fingerprint, "%s of %s", field, name)
			tried++
		}
	})
	require.Greater(t, tried, 15)
}

// definition is a part of the schema, standing alone.
func definition(tb testing.TB, name string) *jsonschema.Schema {
	tb.Helper()
	parsed, err := jsonschema.UnmarshalJSON(bytes.NewReader(graph.EditorSchema()))
	require.NoError(tb, err)
	c := jsonschema.NewCompiler()
	require.NoError(tb, c.AddResource("tidemill:///editor", parsed))
	s, err := c.Compile("tidemill:///editor#/$defs/" + name)
	require.NoError(tb, err)
	return s
}

// A pattern says of lengths of time what a program decides; where they differ
// the editor may be the milder one, never the stricter.
func TestEditorSchemaKnowsDurations(t *testing.T) {
	t.Parallel()
	limit, length, orZero := definition(t, "limit"), definition(t, "length"), definition(t, "length_or_zero")
	for _, text := range []string{"", "5", "5 s", "5x", "s", "-5s", "-1d", "5s5", "1h 5m", "PT5S", "forever", "1.5", "d", "5S"} {
		_, err := graph.ParseDuration(text)
		require.Error(t, err, text)
		for _, s := range []*jsonschema.Schema{limit, length, orZero} {
			require.Error(t, s.Validate(text), text)
		}
	}
	for _, text := range []string{"0s", "0", "0h0m", "none"} {
		require.Error(t, length.Validate(text), text)
		require.Equal(t, text == "none", limit.Validate(text) == nil, text)
		require.NoError(t, orZero.Validate(text), text)
	}
	alphabet := rapid.SampledFrom(strings.Split("0 1 5 9 . _ + - d h m s ms us µs μs ns none", " "))
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(alphabet, 0, 8).Draw(t, "parts"), "")
		d, err := graph.ParseDuration(text)
		if err != nil {
			return
		}
		require.NoError(t, orZero.Validate(text), text)
		if d != 0 {
			require.NoError(t, limit.Validate(text), text)
		}
		if d > 0 {
			require.NoError(t, length.Validate(text), text)
		}
	})
}
