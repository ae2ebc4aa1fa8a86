package workflows_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill/graph"
	"github.com/tidemill/tidemill/workflows"
)

const shownPause = `
version: 1
id: shown
entry: ask
nodes:
  - {id: ask, run: act, args: {control: pause, reason: "${ state.text }", summary: "${ state.text }"}, next: again}
  - {id: again, type: pause, reason: look, summary: "${ state.text }", show: {z: 1.0, a: "${ state.text }"}, next: lost}
  - {id: lost, run: fail, args: {type: lost, message: "${ state.text }"}, next: end}
`

// hostile are texts that a model or a caller may give, each of which would shape
// an operator's page if it were shown as it is.
var hostile = []string{
	"<h1>Approved</h1>", "[approve](javascript:alert(1))", "![x](https://example.com/x.png)", "**approved** by _ann_",
	"one\n\n# Approved\n\n| a | b |\n|---|---|", "`approved` ``x``", "a | b | c", "<https://example.com>", "~~not~~ approved", "\\[x\\](y)",
}

// live finds what Markdown or HTML would make of a text: a tag, a link, an image,
// emphasis, code.
var live = regexp.MustCompile("(?:^|[^\\\\])(?:<[a-z/h]|[\\[\\]*_~`|])")

// F15: whatever a node says is shown as text, and shapes no operator's page.
func TestHostileTextIsShownAsText(t *testing.T) {
	t.Parallel()
	w := setup(t, parts{graphs: []string{shownPause}, register: newScript().register})
	for _, text := range hostile {
		run := w.run("shown", map[string]string{"text": text})
		w.until(run, "the first pause", pausedAt("ask#1"))
		requireHarmless(t, w.details(run), text)
		w.signal(run, workflows.SignalResume, 1)
		w.until(run, "the second pause", pausedAt("again#1"))
		requireHarmless(t, w.details(run), text)
		w.signal(run, workflows.SignalResume, map[string]string{"refused": text})
		kind, _ := w.failure(run)
		require.Equal(t, "lost", kind)
		requireHarmless(t, w.details(run), text)
	}
}

// ours are the marks that the details have of their own: the status, the names
// of pauses, the command, and the table.
var ours = regexp.MustCompile("(?m)^\\*\\*(?:paused|failed|ask#1|again#1)\\*\\*|^`.*`$|^\\|---.*$")

// requireHarmless checks what details make of a text that a node gave.
func requireHarmless(t *testing.T, details, text string) {
	t.Helper()
	require.NotContains(t, details, text)
	for line := range strings.SplitSeq(ours.ReplaceAllString(details, ""), "\n") {
		if cells, ok := strings.CutPrefix(line, "| "); ok { // a row of the table
			require.Equal(t, 4, strings.Count(cells, "|")-strings.Count(cells, `\|`), line)
			line = strings.TrimSuffix(strings.ReplaceAll(cells, " | ", " "), " |")
		}
		require.NotRegexp(t, live, line, text)
		require.NotRegexp(t, `^#`, line)
	}
}

// F12: the digest of what was shown is that of the canonical text, whatever a
// payload converter escapes on its way to the person who compares it.
func TestDigestIsOfTheCanonicalText(t *testing.T) {
	t.Parallel()
	w := setup(t, parts{graphs: []string{shownPause}, register: newScript().register})
	run := w.run("shown", map[string]string{"text": "<b>&é\u2028"})
	w.until(run, "the first pause", pausedAt("ask#1"))
	w.signal(run, workflows.SignalResume, 1)
	report := w.until(run, "the second pause", pausedAt("again#1"))
	canonicalText := `{"pause_id":"again#1","reason":"look","show":{"a":"<b>&é\u2028","z":1},"summary":"<b>&é\u2028"}`
	sum := sha256.Sum256([]byte(canonicalText))
	require.Equal(t, hex.EncodeToString(sum[:]), report.Pauses[0].Digest)

	shown := w.cli(run, "workflow", "query", "--type", workflows.QueryStatus, "--output", "json")
	require.Contains(t, shown, report.Pauses[0].Digest)
	_, err := w.resume(run, workflows.ResumeInput{Input: json.RawMessage(`1`), Digest: report.Pauses[0].Digest[1:]})
	require.Equal(t, graph.ErrTypePauseDigestMismatch, refusalType(t, err))
	_, err = w.resume(run, workflows.ResumeInput{Input: json.RawMessage(`1`), Digest: report.Pauses[0].Digest})
	require.NoError(t, err)
	w.failure(run)
}
