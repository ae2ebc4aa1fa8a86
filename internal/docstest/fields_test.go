package docstest_test

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill/graph"
)

const referencePage = "docs/graph-reference.md"

// place is an object of a document: a document with the object left open, where
// a further field can be tried, and what the manual lists for it.
type place struct {
	name     string
	document string   // %s stands for a field to try
	pointer  string   // of the object
	marks    []string // of the lists in the manual
	refusal  string   // the code of an unknown field there, if it has one of its own
	except   string   // a name that is refused in another way
}

func places() []place {
	node := func(kind string, marks ...string) place {
		return place{
			name: kind, pointer: "/nodes/0", marks: append([]string{"fields: node"}, marks...),
			document: "{id: g, entry: a, nodes: [{type: " + kind + ", %s}]}",
		}
	}
	inside := func(mark, pointer, document string) place {
		return place{name: mark, document: document, pointer: pointer, marks: []string{"fields: " + mark}}
	}
	edge := inside("next", "/nodes/0/next", "{nodes: [{next: {%s}}]}")
	edge.refusal = "invalid_edge"
	onError := inside("on_error", "/nodes/0/on_error", "{nodes: [{on_error: {cases: [], %s}}]}")
	onError.refusal, onError.except = "invalid_on_error", "route" // the whole of it is refused for a route
	recovery := inside("recovery", "/nodes/0/on_error", "{nodes: [{on_error: {output: 1, %s}}]}")
	recovery.refusal, recovery.except = "invalid_on_error", "cases" // which make it another form
	retry := inside("retry", "/nodes/0/retry", "{nodes: [{retry: {%s}}]}")
	retry.refusal = "invalid_retry_option"
	return []place{
		inside("document", "", "{%s}"),
		node("action", "fields: edge", "fields: action"),
		node("set", "fields: edge"),
		node("fork", "fields: fork"),
		node("join", "fields: edge", "fields: join"),
		node("pause", "fields: edge", "fields: pause"),
		node("wait", "fields: edge", "fields: wait"),
		node("workflow", "fields: edge", "fields: workflow"),
		node("map", "fields: edge", "fields: map"),
		node("branch", "fields: branch"),
		node("dynamic", "fields: branch"),
		node("loop", "fields: loop"),
		inside("run", "/nodes/0/run", "{nodes: [{run: {%s}}]}"),
		inside("case", "/nodes/0/cases/0", "{nodes: [{type: branch, cases: [{%s}]}]}"),
		retry, edge, onError, recovery,
	}
}

// refused reports whether a diagnostic turns a field away by its name.
func (p place) refused(d graph.Diagnostic, name string) bool {
	if d.Pointer != p.pointer+"/"+name {
		return false
	}
	switch d.Code {
	case "unknown_field", "unsupported_kind", "every_node_requires_explicit_edge", p.refusal:
		return true
	default:
		return false
	}
}

// accepts asks the compiler which of the names are fields of a place.
func (p place) accepts(candidates []string) []string {
	var fields []string
	for _, name := range candidates {
		text := fmt.Sprintf(p.document, fmt.Sprintf("%q: [null]", name))
		_, found := graph.Compile("try.yaml", []byte(text), graph.CompileOptions{})
		if !slices.ContainsFunc(found, func(d graph.Diagnostic) bool { return p.refused(d, name) }) {
			fields = append(fields, name)
		}
	}
	return fields
}

// candidates are all words that the decoder is written with, so every field it
// can accept is among them.
func candidates(tb testing.TB) []string {
	tb.Helper()
	field := regexp.MustCompile(`^[a-z]+(_[a-z]+)*$`)
	unique := map[string]bool{"surely_unknown": true}
	for _, text := range literals(tb, "graph/decode*.go") {
		if field.MatchString(text) {
			unique[text] = true
		}
	}
	return slices.Sorted(maps.Keys(unique))
}

// A field that the manual forgets is never used; one that it invents is an
// error to whoever believes it.
func TestFields(t *testing.T) {
	t.Parallel()
	manual := read(t, referencePage)
	names := candidates(t)
	for _, p := range places() {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			var listed []string
			for _, mark := range p.marks {
				listed = append(listed, manual.firstSpans(t, mark)...)
			}
			accepted := slices.DeleteFunc(p.accepts(names), func(name string) bool { return name == p.except })
			require.NotContains(t, accepted, "surely_unknown")
			require.ElementsMatch(t, accepted, listed)
		})
	}
}

// Types that the manual has no section for could not be written by anybody.
func TestNodeTypes(t *testing.T) {
	t.Parallel()
	sections := strings.Join(read(t, referencePage).anchors(), " ")
	for _, name := range words(t, "graph/document.go", "Type") {
		_, found := graph.Compile("try.yaml", []byte("{id: g, entry: a, nodes: [{id: a, type: "+name+"}]}"), graph.CompileOptions{})
		runs := !slices.ContainsFunc(found, func(d graph.Diagnostic) bool { return d.Code == "unsupported_graph_node_type" })
		require.Equal(t, runs, regexp.MustCompile(`\b`+name+`\b`).MatchString(sections), "type %s", name)
	}
}

// The arguments of the built-in actions are read as strictly as a document.
func TestBuiltinArguments(t *testing.T) {
	t.Parallel()
	manual := read(t, referencePage)
	require.ElementsMatch(t, tags(t, "activities/http.go", "httpArgs"), manual.firstSpans(t, "fields: http"))
	require.ElementsMatch(t, tags(t, "activities/http_node.go", "nodeAnswer"), manual.firstSpans(t, "fields: node_result"))
	require.ElementsMatch(t, tags(t, "activities/fail.go", "failArgs"), manual.firstSpans(t, "fields: fail"))
}
