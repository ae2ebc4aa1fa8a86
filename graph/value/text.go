package value

import (
	"bytes"
	"unicode/utf16"
	"unicode/utf8"
)

const hexDigits = "0123456789abcdef"

// text reads a quoted string, writes its canonical form and returns its content,
// which may share memory with the input.
func (p *parser) text() ([]byte, *Error) {
	p.pos++
	start := p.pos
	for p.pos < len(p.in) && isPlain(p.in[p.pos]) {
		p.pos++
	}
	if p.take('"') { // the common case: nothing in it needs a second look
		p.out = append(p.out, p.in[start-1:p.pos]...)
		return p.in[start : p.pos-1], nil
	}
	content := append(make([]byte, 0, p.pos-start+64), p.in[start:p.pos]...)
	for !p.take('"') {
		var err *Error
		if content, err = p.char(content); err != nil {
			return nil, err
		}
	}
	p.out = AppendString(p.out, string(content))
	return content, nil
}

// char reads one character of a string and appends it to content.
func (p *parser) char(content []byte) ([]byte, *Error) {
	if p.pos >= len(p.in) || p.in[p.pos] < 0x20 {
		return nil, p.fail(ReasonSyntax)
	}
	if p.in[p.pos] == '\\' {
		r, err := p.escape()
		return utf8.AppendRune(content, r), err
	}
	r, size := utf8.DecodeRune(p.in[p.pos:])
	if r == utf8.RuneError && size == 1 {
		return nil, p.fail(ReasonInvalidUTF8)
	}
	p.pos += size
	return append(content, p.in[p.pos-size:p.pos]...), nil
}

// escape reads one escape, or a pair of them that make one character.
func (p *parser) escape() (rune, *Error) {
	if p.pos+1 >= len(p.in) {
		return 0, p.fail(ReasonSyntax)
	}
	c := p.in[p.pos+1]
	if c == 'u' {
		return p.unicodeEscape()
	}
	i := bytes.IndexByte([]byte(`"\/bfnrt`), c)
	if i < 0 {
		return 0, p.fail(ReasonSyntax)
	}
	p.pos += 2
	return rune("\"\\/\b\f\n\r\t"[i]), nil
}

func (p *parser) unicodeEscape() (rune, *Error) {
	r, ok := hex4(p.in[p.pos:])
	if !ok {
		return 0, p.fail(ReasonSyntax)
	}
	if r == utf8.RuneError && p.strictFFFD {
		return 0, p.fail(ReasonInvalidUTF8)
	}
	if !utf16.IsSurrogate(r) {
		p.pos += 6
		return r, nil
	}
	low, _ := hex4(p.in[p.pos+6:])
	both := utf16.DecodeRune(r, low)
	if both == utf8.RuneError {
		return 0, p.fail(ReasonInvalidUTF8)
	}
	p.pos += 12
	return both, nil
}

// hex4 reads \uXXXX at the start of b.
func hex4(b []byte) (rune, bool) {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0, false
	}
	var r rune
	for _, c := range b[2:6] {
		switch {
		case isDigit(c):
			r = r<<4 | rune(c-'0')
		case 'a' <= c|0x20 && c|0x20 <= 'f':
			r = r<<4 | rune(c|0x20-'a'+10)
		default:
			return 0, false
		}
	}
	return r, true
}

// AppendString appends s as a canonical JSON string, with its quotes. The text
// must be valid UTF-8; bytes that are not are copied as they stand.
func AppendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	done := 0
	for i := 0; i < len(s); i++ {
		n := escapeLen(s, i)
		if n == 0 {
			continue
		}
		dst = append(dst, s[done:i]...)
		dst = appendEscape(dst, s[i:i+n])
		i += n - 1
		done = i + 1
	}
	dst = append(dst, s[done:]...)
	return append(dst, '"')
}

// escapeLen is the length of the character at s[i:] if it must be escaped.
func escapeLen(s string, i int) int {
	switch c := s[i]; {
	case c < 0x20, c == '"', c == '\\':
		return 1
	case c == 0xE2 && i+2 < len(s) && s[i+1] == 0x80 && s[i+2]|1 == 0xA9:
		return 3 // U+2028 and U+2029 end a line in old JavaScript
	default:
		return 0
	}
}

func appendEscape(dst []byte, char string) []byte {
	if len(char) == 3 {
		return append(dst, '\\', 'u', '2', '0', '2', hexDigits[char[2]&0xF])
	}
	c := char[0]
	short := byte(0)
	switch c {
	case '"', '\\':
		short = c
	case '\b':
		short = 'b'
	case '\f':
		short = 'f'
	case '\n':
		short = 'n'
	case '\r':
		short = 'r'
	case '\t':
		short = 't'
	}
	if short != 0 {
		return append(dst, '\\', short)
	}
	return append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&0xF])
}

// stringLen is the length of what [AppendString] writes.
func stringLen(s string) int {
	n := len(s) + 2
	for i := range len(s) {
		k := escapeLen(s, i)
		switch {
		case k == 3:
			n += 3
		case k == 0:
		case s[i] == '"', s[i] == '\\', '\b' <= s[i] && s[i] <= '\r' && s[i] != '\v':
			n++
		default:
			n += 5
		}
	}
	return n
}

// isPlain reports an ASCII byte that a canonical string holds unescaped.
func isPlain(c byte) bool { return c >= 0x20 && c < utf8.RuneSelf && c != '"' && c != '\\' }
