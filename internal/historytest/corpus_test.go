package historytest_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill/internal/historytest"
)

// released is a corpus of one version, and of one recording that is not released.
func released(t *testing.T) string {
	t.Helper()
	folder := filepath.Join(t.TempDir(), "histories")
	require.NoError(t, os.MkdirAll(folder, 0o755))
	write(t, folder, "line.json", "{1}")
	write(t, folder, "fork.json", "{2}")
	require.NoError(t, historytest.Release(folder, 1))
	write(t, folder, "map.json", "{3}")
	return folder
}

func write(t *testing.T, folder, name, content string) {
	t.Helper()
	require.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600))
}

// A recording that is left out is replayed by nobody, and one that does not say of
// which version it is names no culprit.
func TestCorpus(t *testing.T) {
	t.Parallel()
	folder := released(t)
	require.NoError(t, historytest.Release(folder, 10))
	write(t, folder, "map.json", "{4}")
	require.NoError(t, historytest.Release(folder, 2))
	write(t, folder, "loop.json", "{5}")
	corpus, err := historytest.Corpus(folder)
	require.NoError(t, err)
	var names []string
	for _, kept := range corpus {
		names = append(names, kept.String())
		_, err := os.Stat(kept.Path)
		require.NoError(t, err)
	}
	require.Equal(t, []string{"core-1/fork", "core-1/line", "core-2/map", "core-10/map", "unreleased/loop"}, names)

	_, err = historytest.Corpus(t.TempDir())
	require.ErrorContains(t, err, "holds no recordings")
}

// What was released is the only witness of runs that are open out there: a recording
// that is made anew, or lost, would hide that they cannot go on.
func TestCorpusStaysAsItWasReleased(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		tamper func(t *testing.T, folder string)
		want   string
	}{
		{"changed", func(t *testing.T, folder string) {
			t.Helper()
			write(t, folder, "core-1/line.json", "{9}")
		}, "line.json was changed after its release"},
		{"removed", func(t *testing.T, folder string) {
			t.Helper()
			require.NoError(t, os.Remove(filepath.Join(folder, "core-1", "line.json")))
		}, "line.json was removed after its release"},
		{"added", func(t *testing.T, folder string) {
			t.Helper()
			write(t, folder, "core-1/new.json", "{9}")
		}, "new.json is not in SHA256SUMS"},
		{"without sums", func(t *testing.T, folder string) {
			t.Helper()
			require.NoError(t, os.Remove(filepath.Join(folder, "core-1", "SHA256SUMS")))
		}, "SHA256SUMS"},
		{"a folder of no version", func(t *testing.T, folder string) {
			t.Helper()
			require.NoError(t, os.Rename(filepath.Join(folder, "core-1"), filepath.Join(folder, "old")))
		}, "folder old in"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			folder := released(t)
			_, err := historytest.Corpus(folder)
			require.NoError(t, err)
			c.tamper(t, folder)
			_, err = historytest.Corpus(folder)
			require.ErrorContains(t, err, c.want)
		})
	}

	t.Run("released again", func(t *testing.T) {
		t.Parallel()
		folder := released(t)
		write(t, folder, "line.json", "{9}")
		require.ErrorContains(t, historytest.Release(folder, 1), "line was released before")
		corpus, err := historytest.Corpus(folder)
		require.NoError(t, err, "a refused release must leave all as it was")
		require.Len(t, corpus, 4)
	})
}
