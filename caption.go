package tidemill

import (
	"fmt"
	"net/url"
	"strings"
	"unicode/utf8"
)

// Bounds of what lists and pages of the UI show, in bytes.
const (
	maxStaticSummary = 200
	maxStaticDetails = 4 << 10
)

// summary is graph@hash8 · id, the line of the run in lists.
func (s start) summary() string {
	name := s.graph
	if len(s.fingerprint) >= 8 {
		name += "@" + s.fingerprint[:8]
	}
	if s.earlier != nil {
		name += " · redrive"
	}
	return shorten(name+" · "+s.id, maxStaticSummary)
}

// details is the text at the top of the run's page: what it is, and how it is
// answered.
func (s start) details() string {
	var b strings.Builder
	if s.document != nil && s.document.Description != "" {
		b.WriteString(shorten(s.document.Description, maxStaticDetails) + "\n\n")
	}
	if s.earlier != nil {
		b.WriteString(s.earlier.link(s.id) + "\n\n")
	}
	fmt.Fprintf(&b, "Graph `%s`. While it is paused, answer it with\n\n"+
		"```\ntemporal workflow signal --workflow-id %s --name resume --input '{…}'\n```\n\n"+
		"The current details show what each open pause asks, and its exact command.\n", s.graph, shellWord(s.id))
	return b.String()
}

// MemoRedriveOf is the memo of a redriven run that holds the run id of the earlier
// one. Stable: lists are filtered by it.
const MemoRedriveOf = "redrive_of"

// earlier is the run that a redrive takes up.
type earlier struct {
	namespace, runID string
	ended            string // how, in words
}

// memo is what lists of runs show beside them.
func (s start) memo() map[string]any {
	if s.earlier == nil || s.earlier.runID == "" {
		return nil
	}
	return map[string]any{MemoRedriveOf: s.earlier.runID}
}

// link leads to the earlier run on its page of the Temporal UI.
func (e earlier) link(id string) string {
	if e.runID == "" {
		return "Redrive of an exported checkpoint."
	}
	return fmt.Sprintf("Redrive of the run [`%s`](/namespaces/%s/workflows/%s/%s/history), which %s.",
		e.runID, url.PathEscape(e.namespace), url.PathEscape(id), url.PathEscape(e.runID), e.ended)
}

// shellWord makes one word of a text for a shell.
func shellWord(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// shorten cuts a text to at most limit bytes, at a character, and shows that.
func shorten(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	limit -= len("…")
	for limit > 0 && !utf8.RuneStart(text[limit]) {
		limit--
	}
	return text[:limit] + "…"
}
