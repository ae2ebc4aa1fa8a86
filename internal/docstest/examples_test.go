package docstest_test

import (
	"flag"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill/graph"
)

var update = flag.Bool("update", false, "rewrite what docs/examples.md shows of the examples; read the diff")

const (
	examplesPage   = "docs/examples.md"
	examplesImages = "docs/images/examples"
)

// exampleGraphs are the files of all graphs of the examples.
func exampleGraphs(tb testing.TB) []string {
	tb.Helper()
	all := slices.DeleteFunc(files(tb, ".yaml"), func(name string) bool {
		return !strings.HasPrefix(name, "examples/") || path.Base(path.Dir(name)) != "graphs" || graph.IsCasesFile(path.Base(name))
	})
	require.NotEmpty(tb, all)
	return all
}

func text(tb testing.TB, name string) string {
	tb.Helper()
	data, err := os.ReadFile(filepath.Join(root, name))
	require.NoError(tb, err)
	return string(data)
}

func write(tb testing.TB, name, content string) {
	tb.Helper()
	target := filepath.Join(root, name)
	require.NoError(tb, os.MkdirAll(filepath.Dir(target), 0o750))
	require.NoError(tb, os.WriteFile(target, []byte(content), 0o600))
}

// shown is how the page shows a graph: after this comment.
func shown(name string) string { return "<!-- graph: " + name + " -->\n" }

// picture is where the picture of a graph is.
func picture(name string) string {
	return path.Join(examplesImages, strings.TrimSuffix(path.Base(name), ".yaml")+".svg")
}

// block is what stands below the comment: the file, and its picture.
func block(tb testing.TB, name string) string {
	tb.Helper()
	id := strings.TrimSuffix(path.Base(name), ".yaml")
	return "\n```yaml\n" + text(tb, name) + "```\n\n![The graph " + id + "](images/examples/" + id + ".svg)\n"
}

// The page must show each graph as it is, and as `starter render` draws it: a
// reader who copies an older one gets other results than the page speaks of.
func TestExamplesPage(t *testing.T) {
	t.Parallel()
	content := text(t, examplesPage)
	for _, name := range exampleGraphs(t) {
		require.Equal(t, 1, strings.Count(content, shown(name)), "%s must show %s once", examplesPage, name)
		before, after, _ := strings.Cut(content, shown(name))
		if *update {
			content = before + shown(name) + block(t, name) + rest(after)
			continue
		}
		require.True(t, strings.HasPrefix(after, block(t, name)), "%s differs from %s", examplesPage, name)
	}
	if *update {
		write(t, examplesPage, content)
	}
}

// rest is what follows the block of a graph on the page.
func rest(after string) string {
	if _, below, found := strings.Cut(after, ".svg)\n"); found && strings.HasPrefix(after, "\n```yaml\n") {
		return below
	}
	return after
}

func TestExamplePictures(t *testing.T) {
	t.Parallel()
	wanted := map[string]bool{}
	for _, name := range exampleGraphs(t) {
		compiled, found := graph.Compile(name, []byte(text(t, name)), graph.CompileOptions{})
		require.NoError(t, found.Err(), name)
		require.Equal(t, path.Base(name), compiled.Document.ID+".yaml", "the file is named for its graph")
		drawn := graph.SVG(compiled.Document, nil)
		wanted[picture(name)] = true
		if *update {
			write(t, picture(name), drawn)
		}
		require.Equal(t, drawn, text(t, picture(name)), name)
	}
	for _, name := range files(t, ".svg") {
		require.True(t, wanted[name] || !strings.HasPrefix(name, examplesImages), "nothing is drawn in %s any more", name)
	}
}
