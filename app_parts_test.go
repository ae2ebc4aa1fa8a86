package tidemill_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill"
)

// An App with other actions is one of its own: neither sees what becomes of the other,
// and mistakes are told as ever.
func TestAppWith(t *testing.T) {
	t.Parallel()
	app := tidemill.NewApp()
	app.AddGraph("a.yaml", []byte("id: a\nentry: x\nnodes: [{id: x, run: x, next: end}]\n"))
	other := app.With(map[string]tidemill.ActionFunc{
		"x": func(ctx context.Context, _ json.RawMessage) (tidemill.Result, error) { return tidemill.OK(), ctx.Err() },
	})
	registry, catalogue, err := other.Parts()
	require.NoError(t, err)
	require.Equal(t, []string{"a"}, catalogue.IDs())
	_, has := registry.Action("x")
	require.True(t, has)
	registry, _, err = app.Parts()
	require.NoError(t, err)
	_, has = registry.Action("x")
	require.False(t, has)

	other.AddGraph("b.yaml", []byte("id: b\nentry: x\nnodes: [{id: x, type: set, next: end}]\n"))
	graphs, err := other.Graphs()
	require.NoError(t, err)
	require.Equal(t, []string{"a", "b"}, graphs)
	graphs, err = app.Graphs()
	require.NoError(t, err)
	require.Equal(t, []string{"a"}, graphs)

	app.AddGraph("c.yaml", []byte("id: c"))
	_, _, err = app.Parts()
	require.Error(t, err)
}

// Test cases beside graphs are passed over: a folder with them is still a folder of
// graphs.
func TestFolderWithCases(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	write("a.yaml", "id: a\nentry: x\nnodes: [{id: x, type: set, next: end}]\n")
	write("a.test.yaml", "cases: [{name: a, expect: {status: completed}}]\n")
	app := tidemill.NewApp()
	app.AddGraphs(dir)
	graphs, err := app.Graphs()
	require.NoError(t, err)
	require.Equal(t, []string{"a"}, graphs)
}
