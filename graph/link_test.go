package graph_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill/graph"
)

// shelf is documents by name, each in a file of its own.
type shelf map[string]string

// catalogue compiles the documents, sorted by name.
func (s shelf) compile(t *testing.T) map[string]*graph.Compiled {
	t.Helper()
	all := map[string]*graph.Compiled{}
	for name, doc := range s {
		c, found := graph.Compile(name+".yaml", []byte(doc), graph.CompileOptions{})
		require.NoError(t, found.Err())
		all[c.Document.ID] = c
	}
	return all
}

// link links one of the documents against the others.
func (s shelf) link(t *testing.T, id string) (*graph.Compiled, graph.Diagnostics) {
	t.Helper()
	all := s.compile(t)
	var known []string
	for name := range all {
		known = append(known, name)
	}
	return graph.Link(all[id], func(id string) *graph.Compiled { return all[id] }, known...)
}

// leaf is a document of one node.
func leaf(id string) string {
	return "id: " + id + "\nentry: a\nnodes:\n  - {id: a, type: set, next: end}\n"
}

// calls is a document that runs the graphs in turn; the first name stands at
// 4:40.
func calls(id string, graphs ...string) string {
	nodes := make([]string, len(graphs))
	for i, name := range graphs {
		nodes[i] = fmt.Sprintf("  - {id: n%d, type: workflow, workflow: %s, next: n%d}\n", i, name, i+1)
	}
	return "id: " + id + "\nentry: n0\nnodes:\n" + strings.Join(nodes, "") + fmt.Sprintf("  - {id: n%d, type: set, next: end}\n", len(graphs))
}

// everywhere is every diagnostic with its file.
func everywhere(found graph.Diagnostics) []string {
	var all []string
	for _, d := range found {
		all = append(all, fmt.Sprintf("%s:%d:%d %s %s", d.File, d.Line, d.Column, d.Pointer, d.Code))
	}
	return all
}

// brokenShelves are catalogues in which the graph a cannot be linked, and what is
// said about it.
func brokenShelves() []struct {
	shelf shelf
	want  []string
} {
	return []struct {
		shelf shelf
		want  []string
	}{
		{shelf{"a": calls("a", "b")}, []string{"a.yaml:4:40 /nodes/0/workflow unknown_graph"}},
		{shelf{"a": calls("a", "b", "c"), "b": leaf("b")}, []string{"a.yaml:5:40 /nodes/1/workflow unknown_graph"}},
		{shelf{"a": calls("a", "b"), "b": calls("b", "c", "d")}, []string{
			"b.yaml:4:40 /nodes/0/workflow unknown_graph", "b.yaml:5:40 /nodes/1/workflow unknown_graph",
		}},
		// A23: a graph that contains itself through others would start runs without end.
		{shelf{"a": calls("a", "b"), "b": calls("b", "a")}, []string{"a.yaml:4:40 /nodes/0/workflow graph_contains_itself"}},
		{shelf{"a": calls("a", "b"), "b": calls("b", "c"), "c": calls("c", "d", "a"), "d": leaf("d")}, []string{"a.yaml:4:40 /nodes/0/workflow graph_contains_itself"}},
		{shelf{"a": calls("a", "b"), "b": calls("b", "c"), "c": calls("c", "b")}, []string{"b.yaml:4:40 /nodes/0/workflow graph_contains_itself"}},
		{shelf{"a": calls("a", "{id: i, entry: x, nodes: [{id: x, type: workflow, workflow: b, next: end}]}"), "b": calls("b", "a")}, []string{
			"a.yaml:4:100 /nodes/0/workflow/nodes/0/workflow graph_contains_itself",
		}},
		{shelf{"a": "id: a\nentry: a\nnodes:\n  - {id: a, type: map, items: [1], item: {type: workflow, workflow: x}, next: end}\n"}, []string{
			"a.yaml:4:69 /nodes/0/item/workflow unknown_graph",
		}},
		{shelf{
			"a": "id: a\nentry: x\nnodes:\n  - {id: x, type: workflow, workflow: b, input: {order: 7}, next: end}\n",
			"b": "input_schema: {type: object, properties: {order: {type: string}}}\n" + leaf("b"),
		}, []string{"a.yaml:4:57 /nodes/0/input/order input_schema_validation_failed"}},
		{shelf{
			"a": "id: a\nentry: x\nnodes:\n  - {id: x, type: workflow, workflow: b, input: {}, next: end}\n",
			"b": "input_schema: {type: object, required: [order]}\n" + leaf("b"),
		}, []string{"a.yaml:4:49 /nodes/0/input input_schema_validation_failed"}},
	}
}

// What a graph names is looked for where it is named, in whatever file that is,
// before anything runs.
func TestBrokenLinks(t *testing.T) {
	t.Parallel()
	for _, b := range brokenShelves() {
		t.Run(strings.Join(b.want, ", "), func(t *testing.T) {
			t.Parallel()
			linked, found := b.shelf.link(t, "a")
			require.Nil(t, linked)
			require.Equal(t, b.want, everywhere(found), found.Error())
			for _, d := range found {
				require.NotEmpty(t, d.Fix)
			}
		})
	}
}

func TestLinkSaysWhatIsMeant(t *testing.T) {
	t.Parallel()
	_, found := shelf{"a": calls("a", "chek-order"), "b": leaf("check-order")}.link(t, "a")
	require.Equal(t, `a.yaml:4:40: error[unknown_graph]: there is no graph "chek-order" (did you mean check-order?)`, found.Error())
	_, found = shelf{"a": calls("a", "b"), "b": calls("b", "c"), "c": calls("c", "a")}.link(t, "a")
	require.Contains(t, found.Error(), `the graph "a" contains itself: a → b → c → a`)
}

// A run pins every graph it can come to: each once, in an order that does not
// depend on how they were found, and not the graph itself.
func TestClosure(t *testing.T) {
	t.Parallel()
	s := shelf{
		"a": calls("a", "d", "c", "d", "{id: i, entry: x, nodes: [{id: x, type: workflow, workflow: b, next: end}]}"),
		"b": calls("b", "e"), "c": calls("c", "b"), "d": leaf("d"), "e": leaf("e"), "f": leaf("f"),
	}
	linked, found := s.link(t, "a")
	require.Empty(t, found)
	var ids []string
	prints := map[string]string{}
	for _, d := range linked.Closure {
		ids = append(ids, d.ID)
		print, err := d.Fingerprint()
		require.NoError(t, err)
		prints[d.ID] = print
	}
	require.Equal(t, []string{"b", "c", "d", "e"}, ids)
	require.Equal(t, []graph.GraphRef{{ID: "c", Fingerprint: prints["c"]}, {ID: "d", Fingerprint: prints["d"]}}, linked.Document.Graphs)
	inline := linked.Document.Nodes[3].Workflow.Document
	require.Equal(t, []graph.GraphRef{{ID: "b", Fingerprint: prints["b"]}}, inline.Graphs)
	require.True(t, linked.Linked())

	own, found := s.link(t, "c")
	require.Empty(t, found)
	require.Equal(t, own.Fingerprint, prints["c"], "a graph is the same wherever it is linked from")
	lone, found := s.link(t, "f")
	require.Empty(t, found)
	require.Equal(t, s.compile(t)["f"].Fingerprint, lone.Fingerprint, "what names no graph is linked by nature")
	require.True(t, lone.Linked())
}

// Any change of a graph is a change of all that run it; otherwise a run would be
// replayed with another child than it began with.
func TestClosureIsPartOfTheFingerprint(t *testing.T) {
	t.Parallel()
	s := shelf{"a": calls("a", "b"), "b": calls("b", "c"), "c": leaf("c")}
	before, found := s.link(t, "a")
	require.Empty(t, found)
	unlinked := s.compile(t)["a"]
	require.False(t, unlinked.Linked())
	require.NotEqual(t, unlinked.Fingerprint, before.Fingerprint)

	s["c"] = "revision: 2\n" + s["c"]
	after, found := s.link(t, "a")
	require.Empty(t, found)
	require.NotEqual(t, before.Fingerprint, after.Fingerprint)

	again, found := graph.Link(before, func(id string) *graph.Compiled { return s.compile(t)[id] })
	require.Empty(t, found)
	require.Equal(t, after.Fingerprint, again.Fingerprint, "what is linked can be linked anew")
	require.Equal(t, unlinked.Fingerprint, s.compile(t)["a"].Fingerprint)
	require.Empty(t, unlinked.Document.Graphs, "linking changes no document that it was given")
}

// YAML, JSON and Go make the same graph of the same words, linked as unlinked.
func TestLinkedRoundTrip(t *testing.T) {
	t.Parallel()
	for _, doc := range append(soundChildren(), calls("g", "b", "x")) {
		c := compiled(t, doc)
		all := shelf{"b": leaf("b"), "x": leaf("x")}.compile(t)
		find := func(id string) *graph.Compiled { return all[id] }
		linked, found := graph.Link(c, find)
		require.NoError(t, found.Err())
		for _, form := range []*graph.Compiled{c, linked} {
			again, refound := graph.CompileDocument(form.Document, graph.CompileOptions{})
			require.NoError(t, refound.Err(), doc)
			require.Equal(t, c.Fingerprint, again.Fingerprint, doc)
			relinked, refound := graph.Link(again, find)
			require.NoError(t, refound.Err())
			require.Equal(t, linked.Fingerprint, relinked.Fingerprint, doc)
		}
		require.Equal(t, c.Fingerprint, compiled(t, asJSON(t, doc)).Fingerprint)
		parsed, err := graph.ParseDocument(linked.Canonical)
		require.NoError(t, err)
		require.Equal(t, linked.Document, parsed)
	}
}

// A document made in Go has no lines to speak of.
func TestLinksOfGoDocuments(t *testing.T) {
	t.Parallel()
	b := graph.NewBuilder("g")
	b.Add(graph.Node{ID: "a", Type: graph.TypeWorkflow, Workflow: &graph.Child{Graph: "b"}, Next: graph.To(graph.End)})
	c, found := b.Compile(graph.CompileOptions{})
	require.Empty(t, found)
	_, found = graph.Link(c, func(string) *graph.Compiled { return nil })
	require.Equal(t, []string{":0:0 /nodes/0/workflow unknown_graph"}, everywhere(found))
	linked, found := graph.Link(c, func(string) *graph.Compiled { return compiled(t, leaf("b")) })
	require.Empty(t, found)
	require.Equal(t, "b", linked.Closure[0].ID)
}

// warnedShelves are catalogues that link, with every warning of linking a.
func warnedShelves() []struct {
	shelf shelf
	want  []string
} {
	reduced := "state_reducers: {log: append, total: sum, last: reject_conflict}\n"
	node := func(fields string) string {
		return reduced + "id: a\nentry: x\nnodes:\n  - {id: x, type: workflow, workflow: b, " + fields + "next: end}\n"
	}
	nested := []string{"a.yaml:5:39 /nodes/0/workflow nested_state_reducer_incompatible"}
	return []struct {
		shelf shelf
		want  []string
	}{
		{shelf{"a": node(""), "b": "state_reducers: {log: append, total: reject_conflict}\n" + leaf("b")}, nested},
		{shelf{"a": node(""), "b": strings.Replace(leaf("b"), "type: set", "type: set, delta: {log: [1], total: 2, last: 3, other: 4}", 1)}, append(nested, nested...)},
		{shelf{"a": node(""), "b": leaf("b")}, nil},
		{shelf{"a": node(""), "b": reduced + leaf("b")}, nil},
		{shelf{"a": node("input: {}, "), "b": "state_reducers: {log: sum}\n" + leaf("b")}, nil},
		{shelf{"a": node("delta: {}, "), "b": "state_reducers: {log: sum}\n" + leaf("b")}, nil},
		{
			shelf{"a": strings.Replace(node(""), "workflow: b", "workflow: {id: i, entry: z, nodes: [{id: z, type: workflow, workflow: b, next: end}], state_reducers: {total: sum}}", 1), "b": "state_reducers: {total: append}\n" + leaf("b")},
			[]string{"a.yaml:5:99 /nodes/0/workflow/nodes/0/workflow nested_state_reducer_incompatible"},
		},
	}
}

func TestLinkWarnings(t *testing.T) {
	t.Parallel()
	for _, w := range warnedShelves() {
		linked, found := w.shelf.link(t, "a")
		require.NotNil(t, linked)
		require.Equal(t, w.want, everywhere(found), found.Error())
		require.Subset(t, linked.Warnings, found)
	}
}

// Whoever loads a catalogue is told each fault once, also when many graphs depend
// on it.
func TestLinkAll(t *testing.T) {
	t.Parallel()
	all := shelf{
		"a": calls("a", "c"), "b": calls("b", "c", "d"), "c": calls("c", "missing"), "d": leaf("d"),
		"e": calls("e", "f"), "f": calls("f", "e"), "g": calls("g", "e"), "h": calls("h", "d"),
	}.compile(t)
	var list []*graph.Compiled
	for _, id := range "abcdefgh" {
		list = append(list, all[string(id)])
	}
	linked, found := graph.LinkAll(list)
	require.ElementsMatch(t, []string{
		"c.yaml:4:40 /nodes/0/workflow unknown_graph", "e.yaml:4:40 /nodes/0/workflow graph_contains_itself",
	}, everywhere(found))
	for i, c := range linked {
		require.Equal(t, i == 3 || i == 7, c != nil, i)
	}
	require.Equal(t, "d", linked[7].Closure[0].ID)
}

// A graph that stands in a catalogue is not linked again for each run that brings
// a document of its own, unless the document takes the place of one of them.
func TestLinkTrustsWhatIsLinked(t *testing.T) {
	t.Parallel()
	s := shelf{"b": calls("b", "c"), "c": leaf("c"), "a": calls("a", "b")}
	b, found := s.link(t, "b")
	require.Empty(t, found)
	linked, found := graph.Link(s.compile(t)["a"], func(string) *graph.Compiled { return b })
	require.Empty(t, found)
	require.Same(t, b.Document, linked.Closure[0])

	spec := compiled(t, calls("c", "b")) // the catalogue's b runs the catalogue's c
	_, found = graph.Link(spec, func(id string) *graph.Compiled { return map[string]*graph.Compiled{"b": b}[id] })
	require.Contains(t, found.Error(), "the graph \"c\" contains itself: c → b → c")
}
