package tidemill

import (
	"fmt"
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
	if s.compiled != nil {
		name += "@" + s.compiled.Fingerprint[:8]
	}
	return shorten(name+" · "+s.id, maxStaticSummary)
}

// details is the text at the top of the run's page: what it is, and how it is
// answered.
func (s start) details() string {
	var b strings.Builder
	if s.compiled != nil && s.compiled.Document.Description != "" {
		b.WriteString(shorten(s.compiled.Document.Description, maxStaticDetails) + "\n\n")
	}
	fmt.Fprintf(&b, "Graph `%s`. While it is paused, answer it with\n\n"+
		"```\ntemporal workflow signal --workflow-id %s --name resume --input '{…}'\n```\n\n"+
		"The current details show what each open pause asks, and its exact command.\n", s.graph, shellWord(s.id))
	return b.String()
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
