package docstest_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// root is the repository, as seen from this package.
const root = "../.."

// page is a document, line by line.
type page struct {
	name  string // from the root of the repository
	lines []string
}

func read(tb testing.TB, name string) page {
	tb.Helper()
	data, err := os.ReadFile(filepath.Join(root, name))
	require.NoError(tb, err)
	return page{name: name, lines: strings.Split(string(data), "\n")}
}

// pages are the documents of the repository: those at its root, those in docs,
// and those of the examples.
func pages(tb testing.TB) []page {
	tb.Helper()
	var all []page
	for _, name := range files(tb, ".md") {
		all = append(all, read(tb, name))
	}
	require.NotEmpty(tb, all)
	return all
}

// files lists the files with an ending, from the root of the repository.
// Folders that hold tools, scratch work and data of tests are left out.
func files(tb testing.TB, ending string) []string {
	tb.Helper()
	var all []string
	require.NoError(tb, filepath.WalkDir(root, func(path string, entry os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		base := entry.Name()
		if entry.IsDir() && path != root && (base[0] == '.' || base[0] == '_' || base == "bin" || base == "testdata") {
			return filepath.SkipDir
		}
		if !entry.IsDir() && strings.HasSuffix(base, ending) {
			name, err := filepath.Rel(root, path)
			all = append(all, filepath.ToSlash(name))
			return err
		}
		return nil
	}))
	return all
}

// lists gives the lines below each comment with the mark, up to the next blank
// one.
func (p page) lists(tb testing.TB, mark string) [][]string {
	tb.Helper()
	var all [][]string
	for i, line := range p.lines {
		if strings.TrimSpace(line) != "<!-- "+mark+" -->" {
			continue
		}
		var list []string
		for _, below := range p.lines[i+1:] {
			if below = strings.TrimSpace(below); below == "" {
				break
			}
			list = append(list, below)
		}
		all = append(all, list)
	}
	require.NotEmpty(tb, all, "%s has no list marked %q", p.name, mark)
	return all
}

// rows are the rows of all tables with a mark, cell by cell, without their
// headers.
func (p page) rows(tb testing.TB, mark string) [][]string {
	tb.Helper()
	var all [][]string
	for _, list := range p.lists(tb, mark) {
		for i, line := range list {
			if i >= 2 { // the header and the line below it
				all = append(all, cells(line))
			}
		}
	}
	return all
}

// cells are the cells of one row of a table. An escaped bar divides nothing.
func cells(line string) []string {
	const bar = "\x00"
	line = strings.ReplaceAll(strings.Trim(line, "| "), `\|`, bar)
	var all []string
	for cell := range strings.SplitSeq(line, "|") {
		all = append(all, strings.ReplaceAll(strings.TrimSpace(cell), bar, "|"))
	}
	return all
}

// spans are the words of code in a text.
func spans(text string) []string {
	var all []string
	for _, found := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(text, -1) {
		all = append(all, found[1])
	}
	return all
}

// firstSpans are the words of code in the first cells of all tables with a
// mark. A word that is listed twice is an error.
func (p page) firstSpans(tb testing.TB, mark string) []string {
	tb.Helper()
	var all []string
	for _, row := range p.rows(tb, mark) {
		all = append(all, spans(row[0])...)
	}
	sorted := slices.Sorted(slices.Values(all))
	require.Equal(tb, slices.Compact(slices.Clone(sorted)), sorted, "%s lists a word twice under %q", p.name, mark)
	return all
}

// fence is a block of code.
type fence struct {
	language string
	text     string
	line     int // of its first line, from 1
}

func (p page) fences() []fence {
	var all []fence
	open, indent := -1, ""
	for i, line := range p.lines {
		trimmed := strings.TrimLeft(line, " ")
		switch {
		case !strings.HasPrefix(trimmed, "```"):
		case open < 0:
			open, indent = i, line[:len(line)-len(trimmed)]
		default:
			body := slices.Clone(p.lines[open+1 : i])
			for j := range body {
				body[j] = strings.TrimPrefix(body[j], indent)
			}
			language := strings.TrimLeft(strings.TrimSpace(p.lines[open]), "`")
			all = append(all, fence{language: language, text: strings.Join(body, "\n") + "\n", line: open + 2})
			open = -1
		}
	}
	return all
}

// prose are the lines outside of blocks of code, with their numbers from 1.
func (p page) prose() map[int]string {
	outside := map[int]string{}
	fenced := false
	for i, line := range p.lines {
		if strings.HasPrefix(strings.TrimLeft(line, " "), "```") {
			fenced = !fenced
			continue
		}
		if !fenced {
			outside[i+1] = line
		}
	}
	return outside
}

// anchors are the names under which the headings of a page can be linked to.
func (p page) anchors() []string {
	var all []string
	for _, line := range p.prose() {
		title, ok := strings.CutPrefix(strings.TrimLeft(line, "#"), " ")
		if !ok || !strings.HasPrefix(line, "#") {
			continue
		}
		name := strings.ReplaceAll(strings.ToLower(strings.TrimSpace(title)), " ", "-")
		all = append(all, regexp.MustCompile(`[^\p{L}\p{N}_-]`).ReplaceAllString(name, ""))
	}
	return all
}
