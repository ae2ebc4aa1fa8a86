// Package docs_test checks what the documentation shows.
package docs_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill/graph"
)

// A document that a page shows must compile as it stands: it is what readers
// copy first.
func TestShownDocumentsCompile(t *testing.T) {
	t.Parallel()
	block := regexp.MustCompile("(?s)```yaml\n(version: 1\n.*?)```")
	shown := 0
	for _, page := range pages(t) {
		text, err := os.ReadFile(page)
		require.NoError(t, err)
		for _, match := range block.FindAllSubmatch(text, -1) {
			_, diagnostics := graph.Compile(page, match[1], graph.CompileOptions{})
			require.NoError(t, diagnostics.Err(), page)
			shown++
		}
	}
	require.GreaterOrEqual(t, shown, 2, "the pages lost their documents")
}

// A link to a file of this module must lead to one.
func TestLinksLeadSomewhere(t *testing.T) {
	t.Parallel()
	link := regexp.MustCompile(`\]\(([^)#:\s]+)(#[^)]*)?\)`)
	for _, page := range pages(t) {
		text, err := os.ReadFile(page)
		require.NoError(t, err)
		for _, match := range link.FindAllStringSubmatch(string(text), -1) {
			_, err := os.Stat(filepath.Join(filepath.Dir(page), match[1]))
			require.NoError(t, err, "%s links to %s", page, match[1])
		}
	}
}

// pages are the Markdown files of the module.
func pages(t *testing.T) []string {
	t.Helper()
	var found []string
	for _, pattern := range []string{"../*.md", "*.md", "../examples/*/*.md"} {
		matches, err := filepath.Glob(pattern)
		require.NoError(t, err)
		found = append(found, matches...)
	}
	require.True(t, strings.HasSuffix(strings.Join(found, " "), "README.md"))
	return found
}
