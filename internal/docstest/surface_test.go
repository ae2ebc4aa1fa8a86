package docstest_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const semanticsPage = "docs/semantics.md"

// What others send to a run and read from it is listed once for them. A name
// that is missing there is not used; one too many is an error to its user.
func TestSurface(t *testing.T) {
	t.Parallel()
	manual := read(t, semanticsPage)
	require.ElementsMatch(t, words(t, "workflows/names.go", "Query"), manual.firstSpans(t, "queries"))
	require.ElementsMatch(t, tags(t, "workflows/resume.go", "ResumeInput"), manual.firstSpans(t, "update"))

	// No run of this version has a trigger.
	attributes := without(words(t, "activities/probe.go", "Attribute"), "TidemillTrigger")
	require.ElementsMatch(t, attributes, manual.firstSpans(t, "attributes"))

	options := tags(t, "graph/options.go", "RunOptions")
	require.ElementsMatch(t, options, manual.firstSpans(t, "options"))

	outcome := tags(t, "graph/report.go", "Report")
	require.ElementsMatch(t, outcome, spans(strings.Join(manual.lists(t, "outcome")[0], " ")))
}

// without is a list without some words.
func without(list []string, dropped ...string) []string {
	return slices.DeleteFunc(list, func(word string) bool { return slices.Contains(dropped, word) })
}
