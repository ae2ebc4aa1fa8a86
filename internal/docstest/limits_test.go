package docstest_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// limit is a row of docs/limits.md and the constant it repeats.
type limit struct {
	mark, what, files, constant, unit string
}

func limits() []limit {
	return []limit{
		{"limits", "a document, as text", "graph/source/parse.go", "MaxBytes", "bytes"},
		{"limits", "the input of a run", "graph/result.go", "DefaultPayloadLimit", "bytes"},
		{"limits", "what one action is given: its node, its `input`, and the state keys that it reads", "graph/effect.go", "MaxTask", "bytes"},
		{"limits", "what a run carries: document, state, output, the inputs and outputs under way, and what the branches of a fork gave so far", "graph/result.go", "DefaultStateLimit", "bytes"},
		{"limits", "what the expressions of one node other than an action give", "graph/decision.go", "MaxDecisionBytes", "bytes"},
		{"limits", "`summary` of a pause", "graph/pause.go", "MaxSummary", "bytes"},
		{"limits", "`show` of a pause", "graph/pause.go", "MaxShow", "bytes"},
		{"limits", "message of an action's error", "activities/error.go", "maxMessage", "bytes"},
		{"limits", "details of an action's error", "activities/error.go", "maxDetails", "bytes"},
		{"limits", "state in the detail of a closed run", "workflows/graph.go", "maxClosingState", "bytes"},
		{"limits", "the same of an action with `mode: local`", "activities/local.go", "MaxLocalResult", "bytes"},
		{"limits", "steps of a run", "graph/decode_root.go", "defaultMaxSteps", ""},
		{"limits", "interruptions of one visit", "graph/decode_root.go", "defaultMaxInterruptions", ""},
		{"limits", "levels of nesting in a document", "graph/source/parse.go", "MaxDepth", ""},
		{"limits", "levels of nesting in a value", "graph/value/canonical.go", "MaxDepth", ""},
		{"limits", "values that a document's aliases unfold to", "graph/source/parse.go", "MaxAliasNodes", ""},
		{"limits", "errors reported while a text is read", "graph/source/parse.go", "MaxProblems", ""},
		{"limits", "cost of one evaluation", "graph/expr/library.go", "costLimit", "units"},
		{"limits", "nesting of one expression", "graph/expr/library.go", "maxDepth", ""},
		{"limits", "redirects of one `http` request", "activities/http_hosts.go", "maxRedirects", ""},
		{"limits", "refused answers that are kept", "graph/answer.go", "maxRejections", ""},
		{"limits", "closed pauses that are remembered", "graph/answer.go", "maxAnswers", ""},
		{"limits", "pause ids in `TidemillWaiting`", "workflows/publish.go", "maxWaiting", ""},
		{"limits", "a workflow id", "start.go", "maxWorkflowID", "bytes"},
		{"limits: task", "markers of one task", "workflows/budget.go", "taskMarkers", ""},
		{"limits: task", "bytes of commands in one task", "workflows/budget.go", "taskCommands", "bytes"},
		{"limits: task", "commands of one task, and what local actions that run side by side may yet give", "workflows/budget.go", "taskLocals", "bytes"},
	}
}

// A limit that the manual gives wrongly is met by surprise, in production.
func TestLimits(t *testing.T) {
	t.Parallel()
	manual := read(t, "docs/limits.md")
	for _, l := range limits() {
		t.Run(l.what, func(t *testing.T) {
			t.Parallel()
			given := ""
			for _, row := range manual.rows(t, l.mark) {
				if row[0] == l.what {
					given = row[1]
				}
			}
			require.Equal(t, amount(number(t, l.files, l.constant), l.unit), given)
		})
	}
}

// amount writes a number as the manual does: KiB and MiB where they are whole,
// else with commas.
func amount(n int64, unit string) string {
	switch {
	case unit == "bytes" && n%(1<<20) == 0:
		return fmt.Sprintf("%d MiB", n>>20)
	case unit == "bytes" && n%(1<<10) == 0:
		return grouped(n>>10) + " KiB"
	case unit == "":
		return grouped(n)
	default:
		return grouped(n) + " " + unit
	}
}

func grouped(n int64) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%s,%03d", grouped(n/1000), n%1000)
}
