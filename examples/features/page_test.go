package features_test

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// same reports whether two texts are the same JSON value.
func same(tb testing.TB, a, b string) bool {
	tb.Helper()
	var first, second any
	require.NoError(tb, json.Unmarshal([]byte(a), &first), a)
	require.NoError(tb, json.Unmarshal([]byte(b), &second), b)
	left, err := json.Marshal(first)
	require.NoError(tb, err)
	right, err := json.Marshal(second)
	require.NoError(tb, err)
	return string(left) == string(right)
}

// What the page of examples promises, "`INPUT` gives `OUTPUT`", is a story that is
// run.
func TestPageTellsStories(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/examples.md")
	require.NoError(t, err)
	promise := regexp.MustCompile("`(\\{[^`]+)` gives `([^`]+)`")
	count := 0
	for section := range strings.SplitSeq(string(page), "\n### ") {
		graph, text, _ := strings.Cut(section, "\n")
		for _, found := range promise.FindAllStringSubmatch(strings.Join(strings.Fields(text), " "), -1) {
			count++
			require.True(t, slices.ContainsFunc(stories(), func(s story) bool {
				return s.graph == graph && s.status == "" && same(t, s.input, found[1]) && same(t, s.output, found[2])
			}), "no story of %s has %s", graph, found[0])
		}
	}
	require.Greater(t, count, 20)
}
