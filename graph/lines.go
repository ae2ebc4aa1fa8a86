package graph

import (
	"strings"

	"github.com/tidemill/tidemill/graph/source"
)

// lines finds the place of a character of a text value in the document's own
// text, where quotes and escapes stand between the two.
type lines struct {
	text []string
}

func newLines(text []byte) lines { return lines{strings.Split(string(text), "\n")} }

// inside is the position of the character at offset of a text value. Values
// that span lines are too involved for that: their start is given instead.
func (l lines) inside(node *source.Node, offset int) source.Position {
	start := node.Pos
	if node.Kind != source.String || start.Line < 1 || start.Line > len(l.text) {
		return start
	}
	line := []rune(strings.TrimSuffix(l.text[start.Line-1], "\r"))
	if start.Column < 1 || start.Column > len(line) {
		return start
	}
	rest := line[start.Column-1:]
	width, ok := 0, false
	switch rest[0] {
	case '"':
		width, ok = skipDouble(rest, offset)
	case '\'':
		width, ok = skipSingle(rest, offset)
	case '|', '>', '&', '*', '!':
		return start
	default:
		width, ok = offset, offset <= len(rest) && plainFits(rest, node.Text)
	}
	if !ok {
		return start
	}
	return source.Position{Line: start.Line, Column: start.Column + width}
}

// plainFits reports whether a plain scalar stands on the rest of one line.
func plainFits(rest []rune, text string) bool { return strings.HasPrefix(string(rest), text) }

// skipSingle counts the characters before the one at offset of a text in
// single quotes, where only the quote itself is written twice.
func skipSingle(rest []rune, offset int) (int, bool) {
	at := 1
	for ; offset > 0 && at < len(rest); offset-- {
		if rest[at] == '\'' {
			if at+1 >= len(rest) || rest[at+1] != '\'' {
				return 0, false
			}
			at++
		}
		at++
	}
	return at, offset == 0
}

// skipDouble does the same for double quotes, where a backslash begins an
// escape: \n, \xff, \uffff, \Uffffffff.
func skipDouble(rest []rune, offset int) (int, bool) {
	at := 1
	for ; offset > 0 && at < len(rest); offset-- {
		if rest[at] == '"' {
			return 0, false
		}
		at += escapeWidth(rest[at:])
	}
	return min(at, len(rest)), offset == 0
}

func escapeWidth(rest []rune) int {
	if rest[0] != '\\' || len(rest) < 2 {
		return 1
	}
	switch rest[1] {
	case 'x':
		return 4
	case 'u':
		if isHighSurrogate(rest) {
			return 12
		}
		return 6
	case 'U':
		return 10
	default:
		return 2
	}
}

// isHighSurrogate reports whether an escape is the first half of a pair, which
// stands for one character: \ud83d\ude00.
func isHighSurrogate(rest []rune) bool {
	if len(rest) < 12 {
		return false
	}
	digits := strings.ToLower(string(rest[2:4]))
	return digits >= "d8" && digits <= "db" && rest[6] == '\\'
}
