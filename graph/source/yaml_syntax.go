package source

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

var (
	syntaxError   = regexp.MustCompile(`^yaml: (?:line ([0-9]+): )?(.*)$`)
	unknownAnchor = regexp.MustCompile(`^unknown anchor '(.*)' referenced$`)
)

// syntax reports an error of the YAML library. It names a line at most, so the
// column is that of the first character on it.
func (r *yamlReader) syntax(data []byte, err error) {
	f := flaw{CodeInvalidSyntax, err.Error(), "correct the YAML at or just above this line; check indentation, colons and quotes"}
	pos := Position{1, 1}
	if m := syntaxError.FindStringSubmatch(f.message); m != nil {
		f.message = m[2]
		if line, err := strconv.Atoi(m[1]); err == nil {
			pos = lineStart(data, line)
		}
	}
	if m := unknownAnchor.FindStringSubmatch(f.message); m != nil {
		f.message = fmt.Sprintf("the alias *%s names no value", m[1])
		f.fix = fmt.Sprintf("put &%s before the value it stands for, further up", m[1])
		pos = newLocator(data).at(max(0, bytes.Index(data, []byte("*"+m[1]))))
	}
	r.report(pos, f)
}

func lineStart(data []byte, line int) Position {
	lines := strings.Split(string(data), "\n")
	if line < 1 || line > len(lines) {
		return Position{max(1, min(line, len(lines))), 1}
	}
	text := lines[line-1]
	return Position{line, 1 + len(text) - len(strings.TrimLeft(text, " \t"))}
}

// forbiddenChar finds a character that YAML does not allow in a document, or
// that its versions do not agree on as the end of a line.
func forbiddenChar(data []byte) (int, *flaw) {
	for i, c := range string(data) {
		switch {
		case c == '\t', c == '\n', c == '\r', ' ' <= c && c < 0x7F, c > 0xA0 && c < 0x2028:
		case c == 0x85, c == 0x2028, c == 0x2029:
			return i, &flaw{
				CodeInvalidSyntax, fmt.Sprintf("%U ends a line for some readers of YAML only", c), fmt.Sprintf(`write it as "\u%04x" in double quotes`, c),
			}
		case c < 0xA0, c == 0xFEFF, c == 0xFFFE, c == 0xFFFF:
			return i, &flaw{
				CodeInvalidSyntax, fmt.Sprintf("control character %U is not allowed in YAML", c), fmt.Sprintf(`write it as "\u%04x" in double quotes`, c),
			}
		}
	}
	return 0, nil
}
