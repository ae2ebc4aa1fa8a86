package docstest_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill/activities/permits"
)

const admissionPage = "docs/admission.md"

// Whoever builds an alarm on a metric that is called otherwise never hears it, and
// who asks for a reason that is not listed learns nothing.
func TestAdmissionWords(t *testing.T) {
	t.Parallel()
	manual := read(t, admissionPage)
	require.ElementsMatch(t, words(t, "activities/permits/labels.go", "Metric"), manual.firstSpans(t, "metrics"))
	labels := words(t, "activities/permits/labels.go", "Label")
	for _, row := range manual.rows(t, "metrics") {
		require.Subset(t, labels, spans(row[2]), row[0])
	}
	require.ElementsMatch(t, words(t, "admission/answer.go", "Reason"), manual.firstSpans(t, "reasons"))
}

// The names in a table are those that a rule may use: one that is missing is not
// used, one too many stops a worker.
func TestFactsOfRules(t *testing.T) {
	t.Parallel()
	var known []string
	for _, name := range literals(t, "activities/permits/rules_eval.go") {
		rules := permits.Rules{Rules: []permits.Rule{{When: name + " == 'x'"}}}
		if _, err := permits.Compile(rules); err == nil && !slices.Contains(known, name) {
			known = append(known, name)
		}
	}
	require.ElementsMatch(t, known, read(t, admissionPage).firstSpans(t, "facts"))
}

// Go that a page quotes is Go that a test runs: each block stands in an example.
func TestGoOfAdmissionIsRun(t *testing.T) {
	t.Parallel()
	flat := func(lines []string) string {
		var b strings.Builder
		for _, line := range lines {
			if line = strings.TrimSpace(line); line != "" {
				b.WriteString(line + "\n")
			}
		}
		return b.String()
	}
	source := flat(read(t, "example_admission_test.go").lines)
	count := 0
	for _, f := range read(t, admissionPage).fences() {
		if f.language == "go" {
			count++
			require.Contains(t, source, flat(strings.Split(f.text, "\n")), "%s:%d", admissionPage, f.line)
		}
	}
	require.Positive(t, count)
}
