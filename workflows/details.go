package workflows

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tidemill/tidemill/graph"
)

// Bounds of the live details. The UI carries them in an address, which proxies
// cut.
const (
	maxDetails = 2900
	maxCell    = 160
)

// details is the run in Markdown: a table of what is active, and for each open
// pause the command that answers it. Every value is escaped: what a node says
// must not shape an operator's page.
func details(report graph.Report, current []graph.Current, of chain, drains string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "**%s** · %d steps", report.Status, report.Steps)
	if report.Deadline != nil {
		fmt.Fprintf(&b, " · until %s", report.Deadline.Format(time.RFC3339))
	}
	if of.runs > 0 {
		fmt.Fprintf(&b, " · run %d of its chain, since %s", of.runs+1, of.began.Format(time.RFC3339))
	}
	b.WriteString("\n")
	for _, p := range report.Pauses {
		writePause(&b, p)
	}
	writeTable(&b, current)
	if slices.ContainsFunc(current, func(c graph.Current) bool { return c.Phase == graph.PhaseAdmission }) {
		fmt.Fprintf(&b, "\nWho holds the permits, and when it is its turn: %s\n", code("starter admission explain "+quote(report.ID)))
	}
	if drains != "" {
		fmt.Fprintf(&b, "\nThe run is to continue as new: %s.\n", drains)
	}
	if n := report.Rejected.Count; n > 0 {
		last := report.Rejected.Last[len(report.Rejected.Last)-1]
		fmt.Fprintf(&b, "\nRefused answers: %d, the last: %s (%s)\n", n, escape(last.Message), last.Type)
	}
	if report.Error != nil {
		fmt.Fprintf(&b, "\n%s: %s\n", escape(report.Error.Type), escape(report.Error.Message))
	}
	return cut(b.String(), maxDetails) + lastLine
}

// lastLine is a paragraph of nothing for the UI to cut off: it makes the frame of
// the details as high as the text without the margins of its first and last block.
const lastLine = "\n\u00a0\n"

func writeTable(b *strings.Builder, current []graph.Current) {
	if len(current) == 0 {
		return
	}
	b.WriteString("\n| node | status | attempt | waits for |\n|---|---|---|---|\n")
	for _, c := range current {
		if b.Len() > maxDetails/2 {
			b.WriteString("| … | | | |\n")
			return
		}
		waiting := c.Waiting
		if c.Child != "" {
			waiting += ": " + c.Child
		}
		fmt.Fprintf(b, "| %s | %s | %d | %s |\n", escape(string(c.Address)), c.Phase, c.Attempt, escape(waiting))
	}
}

func writePause(b *strings.Builder, p graph.OpenPause) {
	if b.Len() > maxDetails*3/4 {
		return
	}
	fmt.Fprintf(b, "\n**%s** (%s)", escape(string(p.ID)), escape(p.Reason))
	if p.Summary != "" {
		fmt.Fprintf(b, ": %s", escape(p.Summary))
	}
	if p.Expires != nil {
		fmt.Fprintf(b, " — expires %s", p.Expires.Format(time.RFC3339))
	}
	fmt.Fprintf(b, "\n\n%s\n", code(ResumeCommand(p)))
}

// ResumeCommand is the exact command that answers a pause from a shell; the
// answer stands in it as a placeholder.
func ResumeCommand(p graph.OpenPause) string {
	return fmt.Sprintf("temporal workflow signal --workflow-id %s --name %s --input '%s'",
		quote(p.WorkflowID), quote(SignalResumePrefix+string(p.ID)), placeholder(p.ResumeSchema))
}

// code is text as Markdown's inline code, which the UI wraps; the lines of a code
// block it cuts.
func code(text string) string {
	fence := "`"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence + strings.ReplaceAll(text, "\n", " ") + fence
}

// quote makes one shell word of a text.
func quote(text string) string {
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// escape makes a value harmless in a Markdown table that the UI renders as
// HTML: one line, no markup, at most maxCell bytes.
func escape(text string) string {
	text = cut(strings.Join(strings.Fields(text), " "), maxCell)
	var b strings.Builder
	for _, c := range text {
		switch c {
		case '<':
			b.WriteString("&lt;")
		case '>':
			b.WriteString("&gt;")
		case '&':
			b.WriteString("&amp;")
		case '\\', '`', '*', '_', '[', ']', '|', '!', '~', '(', ')':
			b.WriteByte('\\')
			b.WriteRune(c)
		default:
			b.WriteRune(c)
		}
	}
	return b.String()
}

// cut shortens text to at most limit bytes, at a character, and shows that.
func cut(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	limit -= len("…")
	for limit > 0 && text[limit]&0xC0 == 0x80 {
		limit--
	}
	return text[:limit] + "…"
}
