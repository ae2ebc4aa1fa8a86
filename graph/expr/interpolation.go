package expr

import (
	"strings"
	"unicode/utf8"
)

// piece is a stretch of a text with ${…} in it: literal text, or the inside of
// an expression.
type piece struct {
	text   string
	isExpr bool
	offset int // of text in the whole, in characters
}

// hasExpression is a quick test for texts without anything to interpret.
func hasExpression(s string) bool { return strings.Contains(s, "${") }

// pieces cuts a text at its expressions. "$${" stands for a literal "${".
func pieces(s string) ([]piece, *Error) {
	var out []piece
	var literal strings.Builder
	for i := 0; i < len(s); {
		switch {
		case strings.HasPrefix(s[i:], "$${"):
			literal.WriteString("${")
			i += len("$${")
		case strings.HasPrefix(s[i:], "${"):
			if literal.Len() > 0 {
				out = append(out, piece{text: literal.String()})
				literal.Reset()
			}
			end, ok := closing(s, i+len("${"))
			if !ok {
				return nil, &Error{
					Code: InvalidExpression, Offset: utf8.RuneCountInString(s[:i]),
					Message: "${ is not closed by a }", Fix: "close it, or write $${ for a literal ${",
				}
			}
			inside := s[i+len("${") : end]
			out = append(out, piece{text: inside, isExpr: true, offset: utf8.RuneCountInString(s[:i+len("${")])})
			i = end + 1
		default:
			literal.WriteByte(s[i])
			i++
		}
	}
	if literal.Len() > 0 || len(out) == 0 {
		out = append(out, piece{text: literal.String()})
	}
	return out, nil
}

// closing finds the } that ends an expression which starts at i. Braces inside
// the expression's own texts and comments do not count.
func closing(s string, i int) (int, bool) {
	depth := 0
	for i < len(s) {
		switch c := s[i]; {
		case c == '{':
			depth++
		case c == '}' && depth == 0:
			return i, true
		case c == '}':
			depth--
		case c == '"' || c == '\'':
			i = endOfText(s, i)
			continue
		case strings.HasPrefix(s[i:], "//"):
			i = endOfLine(s, i)
			continue
		}
		i++
	}
	return 0, false
}

func endOfLine(s string, i int) int {
	if n := strings.IndexByte(s[i:], '\n'); n >= 0 {
		return i + n
	}
	return len(s)
}

// endOfText gives the place after the quoted text that starts at i, in any of
// CEL's forms: single, double or triple quotes, raw or with escapes.
func endOfText(s string, i int) int {
	quote := s[i : i+1]
	raw := isRaw(s, i)
	if triple := strings.Repeat(quote, 3); strings.HasPrefix(s[i:], triple) {
		quote = triple
	}
	for i += len(quote); i < len(s); i++ {
		if !raw && s[i] == '\\' {
			i++
			continue
		}
		if strings.HasPrefix(s[i:], quote) {
			return i + len(quote)
		}
	}
	return len(s)
}

// isRaw reports whether the quote at i follows an r or R that starts a raw
// text, alone or together with the b of bytes.
func isRaw(s string, i int) bool {
	start := i
	for start > 0 && strings.IndexByte("rRbB", s[start-1]) >= 0 && i-start < 2 {
		start--
	}
	if start > 0 && isWordByte(s[start-1]) {
		return false
	}
	return strings.ContainsAny(s[start:i], "rR")
}

func isWordByte(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}
