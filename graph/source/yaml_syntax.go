package source

import (
	"bytes"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

var (
	syntaxError   = regexp.MustCompile(`^yaml: (?:line ([0-9]+): )?(.*)$`)
	unknownAnchor = regexp.MustCompile(`^unknown anchor '(.*)' referenced$`)
)

// syntax reports an error of the YAML library.
func (r *yamlReader) syntax(data []byte, err error) {
	message, begun := libraryMessage(err)
	if m := unknownAnchor.FindStringSubmatch(message); m != nil {
		r.report(newLocator(data).at(max(0, bytes.Index(data, []byte("*"+m[1])))), flaw{
			CodeInvalidSyntax, fmt.Sprintf("the alias *%s names no value", m[1]),
			fmt.Sprintf("put &%s before the value it stands for, further up", m[1]),
		})
		return
	}
	f := flaw{CodeInvalidSyntax, message, "correct the YAML at this line or just above it: indentation, colons, brackets, quotes"}
	if bytes.Contains(data, []byte("${")) {
		f.fix += "; inside { } and [ ] an expression ${ } must stand in quotes"
	}
	line := failureLine(data, message)
	unclosed := strings.Contains(message, "end of stream") || strings.Contains(message, "',' or")
	if unclosed && line == lastLine(data) {
		line = min(line, begun) // the end of the document says nothing, the beginning does
	}
	if begun < line {
		f.message += fmt.Sprintf(", in what begins on line %d", begun)
	}
	r.report(lineStart(data, line), f)
}

// libraryMessage splits an error of the library into its text and the line where
// the part it was reading begins. Errors of its parser count lines from zero,
// all others from one, and line zero is left out.
func libraryMessage(err error) (message string, line int) {
	message, line = err.Error(), 1
	if m := syntaxError.FindStringSubmatch(message); m != nil {
		message = m[2]
		line, _ = strconv.Atoi("0" + m[1])
		if line == 0 || strings.HasPrefix(message, "did not find expected") {
			line++
		}
	}
	return message, line
}

// byteReader hands out one byte at a time, so that what was asked of it tells
// how far its reader came.
type byteReader struct {
	data []byte
	read int
}

func (b *byteReader) Read(p []byte) (int, error) {
	if b.read == len(b.data) {
		return 0, io.EOF
	}
	n := copy(p[:min(1, len(p))], b.data[b.read:])
	b.read += n
	return n, nil
}

// failureLine reads the document again to find the line on which reading fails,
// which the library does not tell. At the edge of a block it has looked ahead
// into the next line, so the shortest text that fails the same way has the line;
// a text cut short cannot fail so by itself.
func failureLine(data []byte, message string) int {
	in := &byteReader{data: data}
	_ = firstError(in) // known already; how far it came is what counts
	read := data[:in.read]
	line := lastLine(read)
	if message != "did not find expected key" && message != "did not find expected '-' indicator" {
		return line
	}
	for range 2 {
		read = read[:max(0, bytes.LastIndexByte(bytes.TrimRight(read, " \t\r\n"), '\n'))]
		if m, _ := libraryMessage(firstError(bytes.NewReader(read))); m != message {
			break
		}
		line = lastLine(read)
	}
	return line
}

// firstError reads documents until one fails; io.EOF is the end of them all.
func firstError(in io.Reader) error {
	dec := yaml.NewDecoder(in)
	for {
		if _, err := nextDocument(dec); err != nil {
			return err
		}
	}
}

func lastLine(data []byte) int {
	return 1 + bytes.Count(bytes.TrimRight(data, " \t\r\n"), []byte("\n"))
}

// lineStart is the first character of a line that is not a space.
func lineStart(data []byte, line int) Position {
	lines := strings.Split(string(data), "\n")
	text := lines[min(line, len(lines))-1]
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
