package docstest_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill/graph"
	"github.com/tidemill/tidemill/graph/source"
)

// editorFields are the fields of a definition of the schema for editors, "" for
// the document itself.
func editorFields(tb testing.TB, definition string) []string {
	tb.Helper()
	type shape struct{ Properties map[string]any }
	var editor struct {
		shape
		Definitions map[string]shape `json:"$defs"`
	}
	require.NoError(tb, json.Unmarshal(graph.EditorSchema(), &editor))
	editor.Definitions[""] = editor.shape
	return slices.Sorted(maps.Keys(editor.Definitions[definition].Properties))
}

// definitions are those of a place in the schema for editors. Both forms of
// on_error stand in one.
func (p place) definitions() []string {
	switch {
	case p.pointer == "":
		return []string{""}
	case p.pointer == "/nodes/0":
		return []string{"node_" + p.name}
	case p.name == "next":
		return []string{"edge"}
	case p.name == "recovery":
		return []string{"recovery", "on_error"}
	}
	return []string{p.name}
}

// A field that the editor does not offer is one that the author looks for
// elsewhere; one that only the editor has is an error in the end.
func TestFieldsOfTheEditor(t *testing.T) {
	t.Parallel()
	names, wanted := candidates(t), map[string][]string{}
	for _, p := range places() {
		accepted := slices.DeleteFunc(p.accepts(names), func(name string) bool { return name == p.except })
		for _, name := range p.definitions() {
			wanted[name] = append(wanted[name], accepted...)
		}
	}
	for name, fields := range wanted {
		require.ElementsMatch(t, fields, editorFields(t, name), name)
	}
	require.ElementsMatch(t, read(t, referencePage).firstSpans(t, "fields: tolerate"), editorFields(t, "tolerance"))
}

// An editor that marks the manual's own graphs is switched off.
func TestGraphsFitTheEditor(t *testing.T) {
	t.Parallel()
	parsed, err := jsonschema.UnmarshalJSON(bytes.NewReader(graph.EditorSchema()))
	require.NoError(t, err)
	c := jsonschema.NewCompiler()
	require.NoError(t, c.AddResource("tidemill:///editor", parsed))
	editor, err := c.Compile("tidemill:///editor")
	require.NoError(t, err)
	count := 0
	for _, p := range pages(t) {
		for _, f := range p.fences() {
			text := f.text
			switch {
			case f.language != "yaml":
				continue
			case strings.HasPrefix(text, "- "):
				text = "id: example\nentry: example\nnodes:\n" + text
			case !strings.Contains(text, "\nnodes:"):
				continue
			}
			count++
			root, problems := source.ParseNamed("", []byte(text))
			require.Empty(t, problems)
			raw, err := root.JSON()
			require.NoError(t, err)
			document, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
			require.NoError(t, err)
			require.NoError(t, editor.Validate(document), "%s:%d", p.name, f.line)
		}
	}
	require.Greater(t, count, 10)
}
