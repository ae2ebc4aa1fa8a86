package source

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// The limits of a document.
const (
	MaxBytes      = 1 << 20 // size of a document
	MaxDepth      = 100     // levels of arrays and objects
	MaxAliasNodes = 10_000  // values that all aliases together may unfold to
	MaxProblems   = 200     // problems reported; further ones are left out
)

// Parse reads a document whose form is not known. It is read as JSON when it
// begins with a brace or bracket and is well-formed JSON, else as YAML.
func Parse(data []byte) (*Node, []Problem) { return ParseNamed("", data) }

// ParseNamed reads a document that came from a file: .json is JSON, .yaml and
// .yml are YAML, and any other name is treated as [Parse] does.
func ParseNamed(name string, data []byte) (*Node, []Problem) {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if p, ok := unreadable(data); !ok {
		return nil, []Problem{p}
	}
	lower := strings.ToLower(name)
	switch {
	case strings.HasSuffix(lower, ".json"):
		return parseJSON(data)
	case strings.HasSuffix(lower, ".yaml"), strings.HasSuffix(lower, ".yml"):
		return parseYAML(data)
	default:
		return sniff(data)
	}
}

// unreadable checks what no parser needs to see. It is false with a problem.
func unreadable(data []byte) (Problem, bool) {
	if len(data) > MaxBytes {
		return Problem{
			Code: CodeDocumentTooLarge, Pos: Position{1, 1},
			Message: fmt.Sprintf("the document has %d bytes, more than %d", len(data), MaxBytes),
			Fix:     "split it into several documents, or move large data out of it",
		}, false
	}
	if utf8.Valid(data) {
		return Problem{}, true
	}
	at := firstInvalid(data)
	return Problem{
		Code: CodeInvalidUTF8, Pos: newLocator(data).at(at),
		Message: fmt.Sprintf("byte 0x%02X is not valid UTF-8", data[at]),
		Fix:     "save the document as UTF-8",
	}, false
}

func firstInvalid(data []byte) int {
	for i := 0; i < len(data); {
		r, size := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
	return len(data)
}

// sniff chooses between JSON and YAML. Every JSON document is nearly YAML, so a
// document that fails as both is reported as what it looks like.
func sniff(data []byte) (*Node, []Problem) {
	body := bytes.TrimLeft(data, " \t\r\n")
	if len(body) == 0 || body[0] != '{' && body[0] != '[' {
		return parseYAML(data)
	}
	node, problems := parseJSON(data)
	if !slices.ContainsFunc(problems, isSyntax) {
		return node, problems
	}
	yamlNode, yamlProblems := parseYAML(data)
	inner := bytes.TrimLeft(body[1:], " \t\r\n[{")
	looksJSON := len(inner) == 0 || inner[0] == '"'
	if looksJSON && slices.ContainsFunc(yamlProblems, isSyntax) {
		return node, problems
	}
	return yamlNode, yamlProblems
}

func isSyntax(p Problem) bool { return p.Code == CodeInvalidSyntax }
