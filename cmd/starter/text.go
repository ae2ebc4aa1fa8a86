package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"

	"github.com/tidemill/tidemill"
	"github.com/tidemill/tidemill/graph"
)

// writeReport is the outcome document for people.
func writeReport(out io.Writer, r tidemill.Report) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	line := func(name, format string, args ...any) {
		text := strings.ReplaceAll(printable(fmt.Sprintf(format, args...)), "\n", "\n\t")
		_, _ = fmt.Fprintf(w, "%s\t%s\n", name, text)
	}
	line("run", "%s", r.ID)
	line("run id", "%s", r.RunID)
	if len(r.Fingerprint) >= 8 {
		line("graph", "%s@%s", r.Graph, r.Fingerprint[:8])
	} else {
		line("graph", "%s", r.Graph)
	}
	if r.Note == "" {
		line("status", "%s, %s", r.Status, count(r.Steps, "step"))
	} else {
		line("status", "%s", r.Status) // the server does not count steps
	}
	line("started", "%s", r.Started.Format(time.RFC3339))
	if r.Finished != nil {
		line("finished", "%s", r.Finished.Format(time.RFC3339))
	}
	if r.Deadline != nil {
		line("deadline", "%s", r.Deadline.Format(time.RFC3339))
	}
	if r.Error != nil {
		line("error", "%s", errorText(r))
	}
	if r.Status == tidemill.StatusCompleted {
		line("output", "%s", r.Output)
	}
	writeOpen(line, r)
	if n := r.Rejected.Count; n > 0 {
		line("refused", "%s, the last: %s", count(n, "answer"), lastRefusal(r))
	}
	if r.Note != "" {
		line("note", "%s", r.Note)
	}
	_ = w.Flush()
}

// printable is text that a terminal shows and does not obey: what a run says may
// come from anywhere, and must not move the cursor or turn the line around.
func printable(text string) string {
	return strings.Map(func(c rune) rune {
		switch {
		case c == '\n':
			return c
		case c == '\t':
			return ' ' // a tab ends a cell of the table
		case unicode.IsControl(c), unicode.Is(unicode.Bidi_Control, c):
			return unicode.ReplacementChar
		default:
			return c
		}
	}, text)
}

// writeOpen shows what the run waits for, and how to answer it.
func writeOpen(line func(name, format string, args ...any), r tidemill.Report) {
	for _, pause := range r.Pauses {
		text := string(pause.ID)
		if pause.Reason != "" {
			text += " (" + pause.Reason + ")"
		}
		if pause.Summary != "" {
			text += ": " + pause.Summary
		}
		line("pause", "%s", text)
		if len(pause.Show) > 0 {
			line("", "%s", pause.Show)
		}
		if pause.Expires != nil {
			line("", "expires %s", pause.Expires.Format(time.RFC3339))
		}
		line("", "answer it with: %s", tidemill.ResumeCommand(pause))
	}
	admitted := true
	for _, waiting := range r.Waiting {
		line("waiting", "%s", waitingText(waiting))
		admitted = admitted && !tidemill.AdmissionWait(waiting)
	}
	if !admitted {
		line("", "who holds it, and when it is its turn: starter admission explain %s", shellWord(r.ID))
	}
}

// waitingText is what an activation waits for.
func waitingText(w graph.Waiting) string { return fmt.Sprintf("%s: %s", w.Address, reasonText(w)) }

// reasonText is what an activation waits for, and when it looks again.
func reasonText(w graph.Waiting) string {
	text := w.Reason
	if w.NextCheck != nil {
		text += ", next at " + w.NextCheck.Format(time.RFC3339)
	}
	return text
}

// pauseText is what a pause asks, on one line.
func pauseText(p tidemill.OpenPause) string {
	text := p.Reason
	if p.Summary != "" {
		text += ": " + strings.Join(strings.Fields(p.Summary), " ")
	}
	if p.Expires != nil {
		text += ", expires " + p.Expires.Format(time.RFC3339)
	}
	return text
}

func errorText(r tidemill.Report) string {
	text := r.Error.Type
	if r.Error.Address != "" {
		text += " at " + string(r.Error.Address)
	}
	text += ": " + r.Error.Message
	if cause := r.Error.Cause; cause != nil {
		text += fmt.Sprintf("\ncause: %s: %s", cause.Type, cause.Message)
	}
	return text
}

func lastRefusal(r tidemill.Report) string {
	if len(r.Rejected.Last) == 0 {
		return "unknown"
	}
	last := r.Rejected.Last[len(r.Rejected.Last)-1]
	return fmt.Sprintf("%s (%s)", last.Message, last.Type)
}
