package devserver_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill/internal/devserver"
)

// A database file must carry runs over a server that was killed, else no test can
// look at what a power cut leaves.
func TestDatabaseOutlivesKill(t *testing.T) {
	t.Parallel()
	opts := devserver.Options{Database: filepath.Join(t.TempDir(), "temporal.db")}
	first, err := devserver.Start(t.Context(), opts)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, first.Stop()) })
	_, err = first.CLI(t.Context(), "workflow", "start", "--type", "any", "--task-queue", "none", "--workflow-id", "kept")
	require.NoError(t, err)
	require.NoError(t, first.Kill())
	require.NoError(t, first.Kill(), "killing twice is harmless")

	second, err := devserver.Start(t.Context(), opts)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, second.Stop()) })
	out, err := second.CLI(t.Context(), "workflow", "describe", "--workflow-id", "kept")
	require.NoError(t, err)
	require.Contains(t, string(out), "kept")
	require.Empty(t, second.UI())
}

// The caller's own connection settings must not reach the server's clients: a
// test would then write to a cluster that somebody uses.
func TestEnvironmentHidesTheCallers(t *testing.T) {
	t.Setenv("TEMPORAL_ADDRESS", "production.example:7233")
	t.Setenv("TEMPORAL_API_KEY", "do-not-send")
	server, err := devserver.Start(t.Context(), devserver.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Stop()) })

	settings := slices.DeleteFunc(server.Environment(), func(entry string) bool { return !strings.HasPrefix(entry, "TEMPORAL_") })
	require.Equal(t, []string{"TEMPORAL_ADDRESS=" + server.Address(), "TEMPORAL_NAMESPACE=default", "TEMPORAL_CONFIG_FILE=" + os.DevNull}, settings)
}

// A server that ends at once must fail the start with its own words, in time.
func TestStartTellsWhyTheServerEnded(t *testing.T) {
	t.Parallel()
	started := time.Now()
	_, err := devserver.Start(t.Context(), devserver.Options{Dynamic: map[string]string{"frontend.nonsense": "{not json"}})
	require.ErrorContains(t, err, "frontend.nonsense")
	require.Less(t, time.Since(started), 30*time.Second)

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = devserver.Start(ctx, devserver.Options{})
	require.ErrorIs(t, err, context.Canceled)
}

// Each way to the binary must be the one that is documented, or people on
// another machine start another server than they think.
func TestBinary(t *testing.T) {
	tool := func(t *testing.T, path string) string {
		t.Helper()
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte("#!/bin/sh\n"), 0o755)) //nolint:gosec // it must be executable to be found
		return path
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module example.com/m\n"), 0o600))
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "deep", "inside"), 0o755))
	t.Chdir(filepath.Join(dir, "deep", "inside"))
	t.Setenv("PATH", filepath.Join(dir, "path"))
	t.Setenv(devserver.BinaryVariable, "")

	_, err = devserver.Binary()
	require.ErrorIs(t, err, devserver.ErrNoBinary)
	require.ErrorContains(t, err, "make tools")

	for _, place := range []string{"bin", "path"} { // the later is looked up first
		path := tool(t, filepath.Join(dir, place, "temporal"))
		found, err := devserver.Binary()
		require.NoError(t, err)
		require.Equal(t, path, found)
	}

	named := tool(t, filepath.Join(dir, "elsewhere", "temporal-1.5"))
	t.Setenv(devserver.BinaryVariable, named)
	found, err := devserver.Binary()
	require.NoError(t, err)
	require.Equal(t, named, found)

	t.Setenv(devserver.BinaryVariable, filepath.Join(dir, "missing"))
	_, err = devserver.Binary()
	require.ErrorIs(t, err, os.ErrNotExist)
}
