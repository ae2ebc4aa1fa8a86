package graph

import (
	"encoding/xml"
	"strings"
	"unicode"
)

// The measures of text in a drawing, in pixels. The font is one of fixed width,
// so that a text's length is known without asking a font.
const (
	svgFont      = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace"
	svgChar      = 7 // of a node's text
	svgLine      = 16
	svgFontSize  = 11.5
	svgLabelChar = 6.3
	svgLabelLine = 13
	svgLabelSize = 10.5
)

// Where texts are broken, in columns.
const (
	nodeColumns  = 30
	labelColumns = 24
)

// wrap breaks a text into lines of at most so many columns, between words where
// it can.
func wrap(text string, columns int) []string {
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(pictureText(text)) {
		if line != "" && width(line)+1+width(word) <= columns {
			line += " " + word
			continue
		}
		if line != "" {
			lines = append(lines, line)
		}
		for width(word) > columns {
			var head string
			head, word = split(word, columns)
			lines = append(lines, head)
		}
		line = word
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}

// split cuts a word after at most so many columns, behind punctuation if that
// leaves enough of a line.
func split(word string, columns int) (head, rest string) {
	at, used := 0, 0
	for i, c := range word {
		if used += runeWidth(c); used > columns {
			break
		}
		at = i + len(string(c))
	}
	if cut := strings.LastIndexAny(word[:at], "._-/&|=,(:") + 1; cut > at/2 {
		at = cut
	}
	return word[:at], word[at:]
}

// width is the number of columns of a text.
func width(text string) int {
	columns := 0
	for _, c := range text {
		columns += runeWidth(c)
	}
	return columns
}

// runeWidth is the number of columns of a character: those of East Asia and
// pictures take two, marks that combine none.
func runeWidth(c rune) int {
	switch {
	case unicode.In(c, unicode.Mn, unicode.Me):
		return 0
	case c >= 0x1100 && unicode.In(c, unicode.Han, unicode.Hangul, unicode.Hiragana, unicode.Katakana),
		c >= 0xFF00 && c <= 0xFF60, c >= 0x1F000:
		return 2
	}
	return 1
}

// widest is the number of columns of the longest line.
func widest(lines []string) int {
	columns := 0
	for _, line := range lines {
		columns = max(columns, width(line))
	}
	return columns
}

// xmlText is a text inside an element or an attribute. What XML cannot hold is
// replaced.
func xmlText(text string) string {
	var b strings.Builder
	// Writing to a strings.Builder cannot fail.
	_ = xml.EscapeText(&b, []byte(text))
	return b.String()
}
