package docstest_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill/graph"
)

const errorsPage = "docs/errors.md"

// An operator who meets an error type looks it up: one without an entry leaves
// them alone, and an entry without a type sends them after a ghost.
func TestErrorTypes(t *testing.T) {
	t.Parallel()
	for mark, list := range map[string]struct{ files, prefix string }{
		"errors: graph":   {"graph/errors.go", "ErrType"},
		"errors: client":  {"errors.go", "ErrType"},
		"errors: starter": {"cmd/starter/problem.go", "type"},
		"reasons: schema": {"graph/schema/errors.go", ""},
	} {
		t.Run(mark, func(t *testing.T) {
			t.Parallel()
			wanted := words(t, list.files, list.prefix)
			for i, word := range wanted {
				if strings.HasSuffix(word, "_") { // the beginning of a family of types
					wanted[i] = word + "<status>"
				}
			}
			require.ElementsMatch(t, wanted, read(t, errorsPage).firstSpans(t, mark))
		})
	}
}

// A code of the compiler means in the manual what it means in the program, and
// stands among the errors or the warnings as it is reported.
func TestCompilerCodes(t *testing.T) {
	t.Parallel()
	for _, severity := range []graph.Severity{graph.SeverityError, graph.SeverityWarning} {
		var wanted [][]string
		for _, code := range graph.Codes() {
			if code.Severity == severity {
				wanted = append(wanted, []string{"`" + code.Code + "`", code.Meaning})
			}
		}
		require.NotEmpty(t, wanted)
		require.Equal(t, wanted, read(t, errorsPage).rows(t, "codes: "+string(severity)))
	}
}
