package main

import (
	"fmt"
	"io"
	"strings"
	"unicode"

	"github.com/tidemill/tidemill"
	"github.com/tidemill/tidemill/graph"
)

// The control sequences of a screen, as every terminal of today knows them.
const (
	lineUp    = "\x1b[%dA\r" // so many lines up, to the first column
	clearDown = "\x1b[J"     // from here to the end
	noWrap    = "\x1b[?7l"   // cut long lines, or the count of lines is wrong
	wrapAgain = "\x1b[?7h"
)

// What fits a small terminal can be drawn anew.
const (
	maxRows  = 14 // of nodes
	maxLines = 22
)

// screen draws a run as a tree, each time over the one before.
type screen struct {
	out   io.Writer
	drawn int    // lines
	last  string // what they say
}

// show draws the next report, unless it looks like the last.
func (s *screen) show(r tidemill.Report) {
	lines := tree(r)
	text := strings.Join(lines, "\n") + "\n"
	if text == s.last {
		return
	}
	up := ""
	if s.drawn > 0 {
		up = fmt.Sprintf(lineUp, s.drawn) + clearDown
	}
	_, _ = io.WriteString(s.out, noWrap+up+text+wrapAgain)
	s.drawn, s.last = len(lines), text
}

// branch is a line of the tree with those below it.
type branch struct {
	text  string
	below []string
}

// tree is a run as lines: the run, its nodes, and below each what it waits for.
func tree(r tidemill.Report) []string {
	branches, left := nodeBranches(r)
	lines := []string{headline(r)}
	if left > 0 {
		lines = append(lines, fmt.Sprintf("├─ … %s completed", count(left, "node")))
	}
	for i, b := range branches {
		stem, rest := "├─ ", "│  "
		if i == len(branches)-1 {
			stem, rest = "└─ ", "   "
		}
		lines = append(lines, stem+plain(b.text))
		for j, text := range b.below {
			twig := "├─ "
			if j == len(b.below)-1 {
				twig = "└─ "
			}
			lines = append(lines, rest+twig+plain(text))
		}
	}
	if r.Note != "" {
		lines = append(lines, "note: "+plain(r.Note))
	}
	if len(lines) > maxLines {
		more := count(len(lines)-maxLines+1, "line")
		lines = append(lines[:maxLines-1], "… "+more+" more; see starter status "+plain(r.ID))
	}
	return lines
}

// headline is the run itself.
func headline(r tidemill.Report) string {
	name := r.Graph
	if len(r.Fingerprint) >= 8 {
		name += "@" + r.Fingerprint[:8]
	}
	line := fmt.Sprintf("%s  %s  %s", plain(r.ID), name, r.Status)
	if r.Note == "" {
		line += ", " + count(r.Steps, "step")
	}
	return line
}

// nodeBranches are the nodes in the order of their first visit, with what waits
// in them. Of too many, those that completed first are left out and counted.
func nodeBranches(r tidemill.Report) (branches []branch, left int) {
	widest := 0
	for _, node := range r.Nodes {
		widest = max(widest, len(node.Node))
	}
	known := map[string]int{} // branch by node
	for i, node := range r.Nodes {
		if node.Status == graph.NodeCompleted && len(r.Nodes)-i+len(branches) > maxRows {
			left++
			continue
		}
		text := fmt.Sprintf("%-*s  %s", widest, node.Node, node.Status)
		if node.Visits > 1 {
			text += fmt.Sprintf(" ×%d", node.Visits)
		}
		known[node.Node] = len(branches)
		branches = append(branches, branch{text: text})
	}
	hang := func(at graph.Address, text string) {
		if i, ok := known[nodeOf(at)]; ok {
			branches[i].below = append(branches[i].below, text)
		} else {
			branches = append(branches, branch{text: text})
		}
	}
	for _, pause := range r.Pauses {
		hang(pause.ID, string(pause.ID)+" is open: "+pauseText(pause))
		hang(pause.ID, answerText(pause))
	}
	for _, waiting := range r.Waiting {
		hang(waiting.Address, waitingText(waiting))
	}
	return branches, left
}

// nodeOf is the node of the run that an address is in or below.
func nodeOf(at graph.Address) string {
	segments := at.Segments()
	if len(segments) == 0 {
		return ""
	}
	return segments[0].Node
}

// answerText says how a pause is answered, in fewer columns than the command of
// Temporal's own takes: a line that is too long for the screen is cut.
func answerText(p tidemill.OpenPause) string {
	return fmt.Sprintf("answer it with: starter resume %s --pause %s --input JSON", shellWord(p.WorkflowID), shellWord(string(p.ID)))
}

// shellWord makes one word of a text for a shell.
func shellWord(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// plain is text that cannot steer a terminal, on one line.
func plain(text string) string {
	return strings.Map(func(c rune) rune {
		if unicode.IsControl(c) {
			return ' '
		}
		return c
	}, text)
}
