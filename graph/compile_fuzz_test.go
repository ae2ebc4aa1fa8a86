package graph_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill/graph"
	"github.com/tidemill/tidemill/graph/value"
)

// Whatever is compiled, the compiler answers: with a document that compiles
// again to the same fingerprint and that an evaluator accepts, or with errors
// that have a place and a listed code.
func FuzzCompile(f *testing.F) {
	for _, b := range brokenDocuments() {
		if len(b.doc) < 4096 {
			f.Add([]byte(b.doc))
		}
	}
	for _, doc := range []string{
		everything, nothing, "{}", "version: 1\nid: g\n" + everyPart, "version: 1\nid: g\n" + mapOver(", tolerate: {percent: 50}"),
		"version: 1\nid: g\n" + parent(", input: {k: 1}, deadline: 5s", asking), `{"id":"g","entry":"a","nodes":[{"id":"a","type":"set","next":"end"}]}`,
	} {
		f.Add([]byte(doc))
	}
	for _, doc := range append(soundChildren(), calls("g", "b"), calls("g", "{id: i, entry: n0, nodes: [{id: n0, type: map, items: [1], item: {type: workflow, workflow: b}, next: end}]}")) {
		f.Add([]byte(doc))
	}
	other, _ := graph.Compile("", []byte(calls("b", "c")), graph.CompileOptions{})
	leaf, _ := graph.Compile("", []byte(leaf("c")), graph.CompileOptions{})
	find := func(id string) *graph.Compiled { return map[string]*graph.Compiled{"b": other, "c": leaf}[id] }
	listed := map[string]bool{}
	for _, c := range graph.Codes() {
		listed[c.Code] = true
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c, found := graph.Compile("fuzz", data, graph.CompileOptions{})
		require.Equal(t, c == nil, found.HasErrors())
		for i, d := range found {
			require.True(t, listed[d.Code], d.String())
			require.Positive(t, d.Line, d.String())
			require.Positive(t, d.Column, d.String())
			if i > 0 {
				require.GreaterOrEqual(t, d.Line, found[i-1].Line, "in document order")
			}
		}
		if c == nil {
			return
		}
		canonical, err := value.Canonical(c.Canonical)
		require.NoError(t, err)
		require.Equal(t, string(canonical), string(c.Canonical))
		again, refound := graph.CompileDocument(c.Document, graph.CompileOptions{})
		require.NoError(t, refound.Err())
		require.Equal(t, c.Fingerprint, again.Fingerprint)
		_, err = graph.NewEvaluator(c.Document, nil)
		require.NoError(t, err)
		linked, found := graph.Link(c, find)
		require.Equal(t, linked == nil, found.HasErrors())
		if linked != nil {
			require.True(t, linked.Linked())
			relinked, found := graph.Link(again, find)
			require.NoError(t, found.Err())
			require.Equal(t, linked.Fingerprint, relinked.Fingerprint)
		}
		require.NotEmpty(t, graph.Describe(c).String()+graph.Mermaid(c.Document, nil))
	})
}
