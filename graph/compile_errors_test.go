package graph_test

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill/graph"
)

// places writes diagnostics as the tables of broken documents do.
func places(ds graph.Diagnostics) []string {
	all := make([]string, len(ds))
	for i, d := range ds {
		all[i] = fmt.Sprintf("%d:%d %s %s", d.Line, d.Column, d.Pointer, d.Code)
	}
	return all
}

// Each fault is found once, where it is, under its own code, and nothing else
// is blamed for it.
func TestBrokenDocuments(t *testing.T) {
	t.Parallel()
	for _, b := range brokenDocuments() {
		t.Run(strings.Join(b.want, ", "), func(t *testing.T) {
			t.Parallel()
			compiled, found := graph.Compile("", []byte(b.doc), graph.CompileOptions{})
			require.Nil(t, compiled, b.doc)
			require.Equal(t, b.want, places(found.Errors()), "%s\n%s", b.doc, found.Error())
			for _, d := range found {
				require.NotEmpty(t, d.Message)
			}
		})
	}
}

// A code that no document yields is a promise nobody keeps; one that is not
// listed cannot be looked up.
func TestEveryCodeHasADocument(t *testing.T) {
	t.Parallel()
	seen := map[string]graph.Severity{}
	note := func(found graph.Diagnostics) {
		for _, d := range found {
			seen[d.Code] = d.Severity
		}
	}
	for _, b := range brokenDocuments() {
		_, found := graph.Compile("", []byte(b.doc), graph.CompileOptions{})
		note(found.Errors())
	}
	for _, w := range warnedDocuments() {
		_, found := graph.Compile("", []byte(w.doc), graph.CompileOptions{})
		note(found.Warnings())
	}
	for _, b := range brokenShelves() {
		_, found := b.shelf.link(t, "a")
		note(found)
	}
	for _, w := range warnedShelves() {
		_, found := w.shelf.link(t, "a")
		note(found)
	}
	b := graph.NewBuilder("g")
	b.Add(graph.Node{ID: "a", Type: graph.TypeSet, Output: b.Value(math.NaN()), Next: graph.To(graph.End)})
	_, found := b.Compile(graph.CompileOptions{})
	note(found)

	listed := map[string]graph.Severity{}
	for _, c := range graph.Codes() {
		require.NotContains(t, listed, c.Code)
		require.True(t, strings.HasSuffix(c.Meaning, "."), c.Meaning)
		listed[c.Code] = c.Severity
	}
	require.Equal(t, listed, seen)
}

// Five mistakes of different kinds are reported in one run, in document order,
// with warnings between them.
func TestAllMistakesAtOnce(t *testing.T) {
	t.Parallel()
	doc := `id: five
entry: first
max_step: 10
nodes:
  - id: first
    type: branch
    cases: [{when: state.x >, to: second}]
  - id: second
    run: http
    args: {token: abc, at: yes}
    timeout: 0
    next: thrid
  - {id: third, type: set, next: end}
`
	_, found := graph.Compile("five.yaml", []byte(doc), graph.CompileOptions{})
	require.Equal(t, []string{
		"3:1 /max_step unknown_field",
		"7:12 /nodes/0/cases no_default",
		"7:29 /nodes/0/cases/0/when invalid_expression",
		"10:19 /nodes/1/args/token secret_literal",
		"10:28 /nodes/1/args/at ambiguous_scalar",
		"11:14 /nodes/1/timeout invalid_timeout",
		"12:11 /nodes/1/next unknown_edge_target",
	}, places(found))
	require.Equal(t, "five.yaml:3:1: error[unknown_field]: a document has no field \"max_step\" (did you mean max_steps?)", found[0].String())
}

// JSON documents get the same diagnoses as YAML ones, at their own places.
func TestBrokenJSON(t *testing.T) {
	t.Parallel()
	doc := `{"id": "g", "entry": "a",
 "nodes": [
  {"id": "a", "run": "x", "args": {"a\u0062": "\u00e9 ${ stat }"}, "next": {"cases": [{"when": "\"\\u00e9\" == imput.x", "to": "b"}], "default": "end"}}
 ]}`
	_, found := graph.Compile("g.json", []byte(doc), graph.CompileOptions{})
	require.Equal(t, []string{
		"3:58 /nodes/0/args/ab unknown_name",
		"3:112 /nodes/0/next/cases/0/when unknown_name",
		"3:128 /nodes/0/next/cases/0/to unknown_edge_target",
	}, places(found.Errors()), found.Error())
}

// An expression in a block of several lines is shown at the start of the block,
// never at a place in some other line.
func TestExpressionInABlock(t *testing.T) {
	t.Parallel()
	doc := header + "  - id: a\n    type: set\n    output: |\n      one ${ state.x }\n      two ${ stat }\n    next: end\n"
	_, found := graph.Compile("", []byte(doc), graph.CompileOptions{})
	require.Equal(t, []string{"6:13 /nodes/0/output unknown_name"}, places(found))
}

// Edges in the map of edges are checked where they stand, not at the node.
func TestEdgesAreCheckedWhereTheyStand(t *testing.T) {
	t.Parallel()
	doc := "edges:\n  a: {cases: [{when: stat, to: x}], default: z}\n  b: {route: {call: pick}}\n" +
		header + "  - {id: a, type: set}\n  - {id: b, type: set}\n"
	_, found := graph.Compile("", []byte(doc), graph.CompileOptions{CallbacksAreErrors: true})
	require.Equal(t, []string{
		"2:22 /edges/a/cases/0/when unknown_name",
		"2:32 /edges/a/cases/0/to unknown_edge_target",
		"2:46 /edges/a/default unknown_edge_target",
		"3:14 /edges/b/route unknown_callback",
	}, places(found.Errors()))
}

// A document made in Go is checked as one in text is, without positions.
func TestBrokenGoDocument(t *testing.T) {
	t.Parallel()
	doc := &graph.Document{ID: "g", Entry: "b", Nodes: []graph.Node{{
		ID: "a", Run: &graph.Run{Name: "x"}, Timeout: -5, Args: json.RawMessage(`{"a": "${ stat }"}`), Next: graph.To("c"),
	}}}
	_, found := graph.CompileDocument(doc, graph.CompileOptions{})
	require.ElementsMatch(t, []string{
		"0:0 /entry unknown_graph_entry", "0:0 /nodes/0/args/a unknown_name",
		"0:0 /nodes/0/next unknown_edge_target", "0:0 /nodes/0/timeout invalid_timeout",
	}, places(found))

	doc.Nodes[0].Args = json.RawMessage(`{`)
	_, found = graph.CompileDocument(doc, graph.CompileOptions{})
	require.Equal(t, []string{"0:0  invalid_value"}, places(found))
}

// A document may hold thousands of misspelt targets and of nodes; comparing
// each with each took minutes.
func TestThousandsOfMistakes(t *testing.T) {
	t.Parallel()
	doc := strings.Builder{}
	doc.WriteString("id: g\nentry: n0\nnodes:\n")
	for i := range 3000 {
		fmt.Fprintf(&doc, "  - {id: n%d, type: set, next: m%d}\n", i, i)
	}
	_, found := graph.Compile("", []byte(doc.String()), graph.CompileOptions{})
	require.Len(t, found, 3000)
	require.NotEmpty(t, found[0].Fix)
	require.Empty(t, found[2999].Fix)
}
