package activities_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill/activities"
	"github.com/tidemill/tidemill/graph"
)

// small is a graph of one node.
func small(id string) string {
	return "{version: 1, id: " + id + ", entry: done, nodes: [{id: done, type: set, output: 1, next: end}]}"
}

func catalogue(t *testing.T, ids ...string) *activities.Catalogue {
	t.Helper()
	c := activities.NewCatalogue(activities.NewRegistry())
	for _, id := range ids {
		require.NoError(t, c.AddFile(id+".yaml", []byte(small(id))))
	}
	return c
}

func TestCatalogueOfADirectory(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string) {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	write("a.yaml", small("a"))
	write("deep/er/b.yml", small("b"))
	write("c.json", `{"version":1,"id":"c","entry":"x","nodes":[{"id":"x","type":"set","next":"end"}]}`)
	write("README.md", "not a graph")
	write(".a.yaml.swp.yaml", "left by an editor: [")

	c := activities.NewCatalogue(activities.NewRegistry())
	require.NoError(t, c.AddDir(dir))
	require.Equal(t, []string{"a", "b", "c"}, c.IDs())
	got, ok := c.Get("b")
	require.True(t, ok)
	require.Equal(t, "b", got.Document.ID)
	_, ok = c.Get("d")
	require.False(t, ok)
	require.Error(t, c.AddDir(filepath.Join(dir, "nowhere")))
}

// Whoever starts a worker must see all that is wrong with its graphs, not one
// fault per start.
func TestCatalogueReportsEverything(t *testing.T) {
	t.Parallel()
	r := activities.NewRegistry()
	activities.RegisterCallback(r, "known", 2, func(activities.Scope) (string, error) { return "end", nil })
	c := activities.NewCatalogue(r)
	err := c.AddFS(fstest.MapFS{
		"1.yaml": {Data: []byte(small("same"))},
		"2.yaml": {Data: []byte(small("same"))},
		"3.yaml": {Data: []byte("{version: 1, id: broken, entry: nowhere, nodes: [{id: x, type: sett, next: end}]}")},
		"4.yaml": {Data: []byte("{version: 1, id: calls, entry: x, nodes: [{id: x, type: set, next: {route: {call: unknown}}}]}")},
		"5.yaml": {Data: []byte("{version: 1, id: fine, entry: x, nodes: [{id: x, type: set, next: {route: {call: known}}}]}")},
	})
	require.ErrorIs(t, err, activities.ErrDuplicateGraph)
	for _, want := range []string{"1.yaml", "2.yaml", "3.yaml:1", "unknown_graph_entry", "unsupported_graph_node_type", "4.yaml:1", "unknown_callback"} {
		require.ErrorContains(t, err, want)
	}
	require.NotContains(t, err.Error(), "5.yaml")
	require.Equal(t, []string{"fine", "same"}, c.IDs())
}

func TestCatalogueOfCompiledGraphs(t *testing.T) {
	t.Parallel()
	text := []byte("{version: 1, id: calls, entry: x, nodes: [{id: x, type: set, next: {route: {call: pick}}}]}")
	compiled, found := graph.Compile("x.yaml", text, graph.CompileOptions{Callbacks: map[string]int{"pick": 2}})
	require.NoError(t, found.Err())
	r := activities.NewRegistry()
	require.ErrorIs(t, activities.NewCatalogue(r).Add(compiled), activities.ErrUnknownCallback)
	activities.RegisterCallback(r, "pick", 2, func(activities.Scope) (string, error) { return "end", nil })
	c := activities.NewCatalogue(r)
	require.NoError(t, c.Add(compiled))
	require.ErrorIs(t, c.Add(compiled), activities.ErrDuplicateGraph)

	// Another version answers otherwise, though the name is the same.
	newer := activities.NewRegistry()
	activities.RegisterCallback(newer, "pick", 3, func(activities.Scope) (string, error) { return "end", nil })
	require.ErrorIs(t, activities.NewCatalogue(newer).Add(compiled), activities.ErrUnknownCallback)
}

func TestCatalogueWarnsAndHelps(t *testing.T) {
	t.Parallel()
	c := catalogue(t, "order-review", "payroll")
	require.Equal(t, []string{"order-review"}, c.Near("order_review"))
	require.Empty(t, c.Warnings())
	require.NoError(t, c.AddFile("w.yaml", []byte(strings.Replace(small("w"), "next: end}", "next: end}, {id: lost, type: set, next: end}", 1))))
	require.Len(t, c.Warnings(), 1)
}

// calls is a graph that runs another one.
func calls(id, graph string) string {
	return "id: " + id + "\nentry: x\nnodes:\n  - {id: x, type: workflow, workflow: " + graph + ", next: end}\n"
}

// A worker must not start with a graph whose children it cannot find: each run
// would fail there. What is said names the file.
func TestCatalogueLinks(t *testing.T) {
	t.Parallel()
	c := catalogue(t, "leaf")
	require.NoError(t, c.AddFile("middle.yaml", []byte(calls("middle", "leaf"))))
	require.NoError(t, c.AddFile("top.yaml", []byte(calls("top", "middle"))))
	require.NoError(t, c.Link())
	top, _ := c.Get("top")
	require.True(t, top.Linked())
	require.Len(t, top.Closure, 2)
	middle, _ := c.Get("middle")
	require.Equal(t, []graph.GraphRef{{ID: "middle", Fingerprint: middle.Fingerprint}}, top.Document.Graphs)
	require.NoError(t, c.Link(), "linking again changes nothing")
	again, _ := c.Get("top")
	require.Same(t, top, again)

	require.NoError(t, c.AddFile("lost.yaml", []byte(calls("lost", "leave"))))
	require.NoError(t, c.AddFile("ring.yaml", []byte(calls("ring", "round"))))
	require.NoError(t, c.AddFile("round.yaml", []byte(calls("round", "ring"))))
	err := c.Link()
	var found graph.Diagnostics
	require.ErrorAs(t, err, &found)
	require.Len(t, found.Errors(), 2)
	require.ErrorContains(t, err, "lost.yaml:4:39: error[unknown_graph]: there is no graph \"leave\"")
	require.ErrorContains(t, err, "ring.yaml:4:39: error[graph_contains_itself]")
	_, err = activities.New(activities.Options{Catalogue: c})
	require.ErrorContains(t, err, "lost.yaml:4:39")
}

// A name is not at fault when the graph it means was refused itself.
func TestCatalogueDoesNotBlameNames(t *testing.T) {
	t.Parallel()
	c := activities.NewCatalogue(activities.NewRegistry())
	require.Error(t, c.AddFile("leaf.yaml", []byte("id: leaf")))
	require.NoError(t, c.AddFile("top.yaml", []byte(calls("top", "leaf"))))
	require.NoError(t, c.Link())
}

// The callbacks of an inline document are the worker's as well.
func TestCatalogueOfInlineCallbacks(t *testing.T) {
	t.Parallel()
	text := []byte(calls("top", "{id: i, entry: x, nodes: [{id: x, type: set, next: {route: {call: pick}}}]}"))
	compiled, found := graph.Compile("x.yaml", text, graph.CompileOptions{Callbacks: map[string]int{"pick": 2}})
	require.NoError(t, found.Err())
	require.ErrorIs(t, activities.NewCatalogue(activities.NewRegistry()).Add(compiled), activities.ErrUnknownCallback)
}
