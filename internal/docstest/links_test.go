package docstest_test

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var (
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	mention = regexp.MustCompile(`\b(docs|examples)/[A-Za-z0-9_./-]*[A-Za-z0-9_]`)
)

// A link that leads nowhere is worse than none: the reader stops there.
func TestLinks(t *testing.T) {
	t.Parallel()
	for _, p := range pages(t) {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			for number, line := range p.prose() {
				for _, found := range link.FindAllStringSubmatch(line, -1) {
					follow(t, p, number, found[1])
				}
			}
		})
	}
}

// follow checks that a link of a page leads to a file, and to a heading in it.
func follow(tb testing.TB, from page, number int, target string) {
	tb.Helper()
	if strings.Contains(target, "://") || strings.HasPrefix(target, "mailto:") {
		return
	}
	file, anchor, _ := strings.Cut(target, "#")
	name := from.name
	if file != "" {
		name = path.Join(path.Dir(from.name), file)
		exists(tb, name, from.name, number)
	}
	if anchor != "" {
		require.Contains(tb, read(tb, name).anchors(), anchor, "%s:%d links to %s", from.name, number, target)
	}
}

// Comments and texts name files of docs and examples; such a name goes stale
// when the file moves.
func TestMentions(t *testing.T) {
	t.Parallel()
	for _, ending := range []string{".md", ".go", ".yaml", "Makefile"} {
		for _, name := range files(t, ending) {
			if path.Dir(name) == "internal/docstest" {
				continue
			}
			for i, line := range read(t, name).lines {
				for _, found := range mention.FindAllStringIndex(line, -1) {
					if found[0] > 0 && strings.ContainsRune("/.-:", rune(line[found[0]-1])) && !strings.HasSuffix(line[:found[0]], "./") {
						continue // part of an address or a longer path
					}
					exists(t, line[found[0]:found[1]], name, i+1)
				}
			}
		}
	}
}

func exists(tb testing.TB, target, from string, number int) {
	tb.Helper()
	_, err := os.Stat(filepath.Join(root, target))
	require.NoError(tb, err, "%s:%d names %s", from, number, target)
}
