package docstest_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill/graph/expr"
	"github.com/tidemill/tidemill/graph/schema"
)

// The manual's expressions are the first that a reader tries.
func TestExpressions(t *testing.T) {
	t.Parallel()
	language, err := expr.NewCompiler()
	require.NoError(t, err)
	count := 0
	for _, row := range read(t, referencePage).rows(t, "expressions") {
		for _, text := range spans(row[1]) {
			if strings.HasPrefix(text, ".") { // the rest of the expression before it
				continue
			}
			count++
			_, err := language.Compile(text, expr.State|expr.Input|expr.Run)
			require.NoError(t, err, text)
		}
	}
	require.Greater(t, count, 10)
}

// The compiler knows the fields of run; the manual lists them.
func TestRunFields(t *testing.T) {
	t.Parallel()
	language, err := expr.NewCompiler()
	require.NoError(t, err)
	listed := read(t, referencePage).firstSpans(t, "names: run")
	for _, name := range listed {
		_, err := language.Compile(name, expr.Run)
		require.NoError(t, err, name)
	}
	_, err = language.Compile("run.surely_unknown", expr.Run)
	var found expr.Errors
	require.ErrorAs(t, err, &found)
	require.Len(t, found, 1)
	known := strings.Split(strings.TrimPrefix(found[0].Fix, "use one of "), ", ")
	for i := range known {
		known[i] = "run." + known[i]
	}
	require.ElementsMatch(t, known, listed)
}

// A keyword that the manual promises and the compiler refuses, or the other
// way round, sends authors on a search.
func TestSchemaKeywords(t *testing.T) {
	t.Parallel()
	listed := spans(strings.Join(read(t, referencePage).lists(t, "keywords")[0], " "))
	supported := func(word string) bool {
		_, found := schema.Compile(json.RawMessage(fmt.Sprintf(`{%q: null}`, word)))
		return !slices.ContainsFunc(found, func(e schema.Error) bool { return e.Reason == schema.UnsupportedKeyword })
	}
	require.False(t, supported("surely_unknown"))
	for _, word := range listed {
		require.True(t, supported(word), word)
	}
	keyword := regexp.MustCompile(`^\$?[a-zA-Z]+$`)
	for _, word := range literals(t, "graph/schema/check.go") {
		if keyword.MatchString(word) && supported(word) {
			require.Contains(t, listed, word)
		}
	}
}
