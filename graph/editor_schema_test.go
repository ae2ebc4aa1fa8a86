package graph_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill/graph"
	"github.com/tidemill/tidemill/graph/source"
)

// editor is the schema as an editor holds it. The library checks it against
// that of draft 2020-12 on the way.
func editor(tb testing.TB) *jsonschema.Schema {
	tb.Helper()
	parsed, err := jsonschema.UnmarshalJSON(bytes.NewReader(graph.EditorSchema()))
	require.NoError(tb, err)
	const location = "tidemill:///editor"
	c := jsonschema.NewCompiler()
	require.NoError(tb, c.AddResource(location, parsed))
	compiled, err := c.Compile(location)
	require.NoError(tb, err)
	return compiled
}

// fit holds a document against the schema. A text that is no document at all is
// not the schema's to judge, and judged is false.
func fit(tb testing.TB, s *jsonschema.Schema, text string) (judged bool, mistake error) {
	tb.Helper()
	root, problems := source.ParseNamed("", []byte(text))
	if root == nil || len(problems) > 0 {
		return false, nil
	}
	raw, err := root.JSON()
	require.NoError(tb, err)
	parsed, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	require.NoError(tb, err)
	return true, s.Validate(parsed)
}

// composed has graphs and maps in all their forms.
const composed = `
id: nested
entry: each
nodes:
  - id: each
    type: map
    items: "${ state.orders }"
    key: "${ item.id }"
    max_concurrency: 3
    tolerate: {percent: 12.5}
    item:
      run: orders.make
      args: {order: "${ item }"}
      mode: local
      idempotent: true
      timeout: 800ms
      retry: {max_attempts: 2, backoff: 0}
      reads: [owner]
      output: "${ result.id }"
      overflow: queue
      queue_timeout: 90s
      on_error: {output: null}
    timeout: none
    retry: {max_attempts: 2}
    delta: {made: "${ result.items }"}
    on_error: ask
    next: ask
  - id: ask
    type: map
    items: [1, two, {three: 3}]
    item: {type: pause, reason: opinion, summary: "${ item }", show: {at: "${ index }"}, expires: 1h, on_error: {output: none}}
    tolerate: {count: 1}
    next: inside
  - id: inside
    type: map
    items: ["${ state.a }"]
    item:
      type: workflow
      workflow: {id: small, entry: a, nodes: [{id: a, type: set, output: 1}], edges: {a: end}}
      input: {order: "${ item }"}
    next: below
  - {id: below, type: workflow, workflow: other, input: "${ state }", deadline: 1h, max_steps: 10, timeout: 2h, retry: {max_attempts: 2}, next: last}
  - id: last
    type: workflow
    workflow:
      version: 1
      id: inline
      entry: a
      nodes:
        - {id: a, type: join, run: orders.make, overflow: reject, queue_timeout: none, mode: local, idempotent: true, timeout: 1s, next: end}
    output: "${ result.changed }"
    next: end
`

// accepted are documents that compile.
func accepted(t *testing.T) []string {
	t.Helper()
	all := slices.Concat(soundForks(), soundChildren(), []string{everything, nothing, composed, readFile(t, "order-review.yaml")})
	for _, w := range warnedDocuments() {
		all = append(all, w.doc)
	}
	for _, folder := range []string{"testdata", "../examples", "../cmd", "../testdata"} {
		require.NoError(t, filepath.WalkDir(folder, func(path string, entry os.DirEntry, err error) error {
			if err != nil || entry.IsDir() || filepath.Ext(path) != ".yaml" {
				return err
			}
			text, err := os.ReadFile(path)
			if _, found := graph.Compile(path, text, graph.CompileOptions{}); found.Err() == nil {
				all = append(all, string(text))
			}
			return err
		}))
	}
	return all
}

// An editor that marks what the compiler takes teaches its user to look away.
func TestEditorSchemaAcceptsWhatCompiles(t *testing.T) {
	t.Parallel()
	s := editor(t)
	for _, text := range accepted(t) {
		_, found := graph.Compile("", []byte(text), graph.CompileOptions{})
		require.NoError(t, found.Err(), text)
		judged, mistake := fit(t, s, text)
		require.True(t, judged)
		require.NoError(t, mistake, text)
	}
}

// seen are the codes of mistakes that lie in the structure of a document. The
// schema marks all of them, but for those documents that blind lists.
func seen() []string {
	return []string{
		"expected_map", "expected_list", "expected_text", "expected_nonempty_utf8_binary", "expected_positive_integer",
		"expected_non_negative_integer", "expected_nonempty_binary_or_non_negative_integer", "empty",
		"unknown_field", "conflicting_fields", "unsupported_version", "unsupported_kind",
		"invalid_id", "reserved_id", "unsupported_graph_node_type",
		"invalid_action", "invalid_timeout", "invalid_deadline", "invalid_cancel_grace", "invalid_expires", "invalid_wait",
		"invalid_retry_policy", "invalid_retry_option", "invalid_retry_max_attempts", "invalid_retry_coefficient",
		"invalid_route", "invalid_predicate", "invalid_target", "invalid_edge", "invalid_join_policy", "invalid_merge_policy",
		"expected_binary_state_keys", "unsupported_state_reducer", "invalid_json_schema",
		"invalid_mode", "invalid_overflow", "invalid_queue_timeout", "invalid_nested_workflow_node", "invalid_map_item", "invalid_tolerance", "map_items_invalid",
	}
}

// structural reports whether one of the mistakes lies in the structure.
func structural(found graph.Diagnostics) bool {
	return slices.ContainsFunc(found.Errors(), func(d graph.Diagnostic) bool { return slices.Contains(seen(), d.Code) })
}

// blind are documents with a mistake of structure that a schema cannot see.
func blind() []string {
	return []string{
		act("timeout: 900000h"), act("timeout: 99999999999999999999h"), root("deadline: 40000d"), // over 100 years
		act("mode: local\n    idempotent: true\n    timeout: 1001ms"), // barely over a second
	}
}

// A misspelt field that an editor passes over is found only when the document
// is compiled.
func TestEditorSchemaRefusesMistakesOfStructure(t *testing.T) {
	t.Parallel()
	s := editor(t)
	marked := 0
	for _, b := range brokenDocuments() {
		_, found := graph.Compile("", []byte(b.doc), graph.CompileOptions{})
		judged, mistake := fit(t, s, b.doc)
		if !judged || !structural(found) {
			continue
		}
		if slices.Contains(blind(), b.doc) {
			require.NoError(t, mistake, "the schema sees it by now:\n%s", b.doc)
			continue
		}
		require.Error(t, mistake, "%s\n%s", b.doc, found.Error())
		marked++
	}
	require.Greater(t, marked, 100)
}
