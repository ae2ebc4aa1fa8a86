package source

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// yamlReader turns the library's tree, which keeps all that was written, into
// ours, which keeps what it means.
type yamlReader struct {
	reader
	lines    []string            // only when the document holds a '!'
	open     map[*yaml.Node]bool // anchored values we are inside of
	unfolded int                 // values made from aliases so far
}

func parseYAML(data []byte) (*Node, []Problem) {
	r := &yamlReader{open: map[*yaml.Node]bool{}}
	if at, f := forbiddenChar(data); f != nil {
		r.report(newLocator(data).at(at), *f)
		return nil, r.problems
	}
	if bytes.IndexByte(data, '!') >= 0 {
		r.lines = strings.Split(strings.ReplaceAll(string(data), "\r\n", "\n"), "\n")
	}
	dec := yaml.NewDecoder(bytes.NewReader(data))
	doc, err := nextDocument(dec)
	if errors.Is(err, io.EOF) || err == nil && isBlank(doc.Content[0]) {
		r.report(Position{1, 1}, emptyDocument())
		return nil, r.problems
	}
	if err != nil {
		r.syntax(data, err)
		return nil, r.problems
	}
	n := r.value(doc.Content[0])
	switch second, err := nextDocument(dec); {
	case err == nil:
		r.report(position(second), multipleDocuments())
	case !errors.Is(err, io.EOF):
		r.syntax(data, err)
	}
	return n, r.problems
}

// nextDocument reads one document. The library panics on some broken input; that
// is an error like any other.
func nextDocument(dec *yaml.Decoder) (doc *yaml.Node, err error) {
	defer func() {
		if p := recover(); p != nil {
			doc, err = nil, fmt.Errorf("yaml: %v", p)
		}
	}()
	doc = new(yaml.Node)
	if err := dec.Decode(doc); err != nil {
		return nil, err
	}
	if len(doc.Content) == 0 {
		return nil, io.EOF
	}
	return doc, nil
}

func position(y *yaml.Node) Position { return Position{Line: y.Line, Column: y.Column} }

func isPlain(y *yaml.Node) bool {
	const quoted = yaml.SingleQuotedStyle | yaml.DoubleQuotedStyle | yaml.LiteralStyle | yaml.FoldedStyle
	return y.Kind == yaml.ScalarNode && y.Style&quoted == 0
}

// isBlank reports a document in which no value was written.
func isBlank(y *yaml.Node) bool {
	return isPlain(y) && y.Value == "" && y.Anchor == "" && y.Style&yaml.TaggedStyle == 0
}

func (r *yamlReader) value(y *yaml.Node) *Node {
	if r.alias != nil && !r.unfold() {
		return nil
	}
	if y.Kind == yaml.AliasNode {
		return r.aliased(y)
	}
	tagged := r.tag(y)
	pos := position(y)
	switch {
	case y.Kind == yaml.ScalarNode && (tagged || !isPlain(y)):
		return &Node{Kind: String, Pos: pos, Text: y.Value}
	case y.Kind == yaml.ScalarNode:
		return r.plain(y.Value, pos)
	case !r.fits(pos):
		return nil
	}
	if y.Anchor != "" {
		r.open[y] = true
		defer delete(r.open, y)
	}
	if y.Kind == yaml.SequenceNode {
		return r.array(y)
	}
	return r.object(y)
}

func (r *yamlReader) array(y *yaml.Node) *Node {
	n := &Node{Kind: Array, Pos: position(y)}
	for i, item := range y.Content {
		r.enter(strconv.Itoa(i))
		if v := r.value(item); v != nil {
			n.Items = append(n.Items, v)
		}
		r.leave()
	}
	return n
}

func (r *yamlReader) object(y *yaml.Node) *Node {
	n := &Node{Kind: Object, Pos: position(y)}
	seen := keys{}
	for i := 0; i+1 < len(y.Content); i += 2 {
		r.member(n, seen, y.Content[i], y.Content[i+1])
	}
	return n
}

func (r *yamlReader) member(n *Node, seen keys, key, val *yaml.Node) {
	pos := position(key)
	if key.Kind == yaml.AliasNode {
		key = key.Alias
	}
	if key.Kind != yaml.ScalarNode {
		r.report(pos, flaw{CodeInvalidMapKey, "a key must be text, not a list or a map", "use a short text as the key"})
		return
	}
	r.enter(key.Value)
	defer r.leave()
	fresh := r.key(key, pos) && r.fresh(seen, key.Value, pos)
	v := r.value(val)
	if fresh && v != nil {
		n.Members = append(n.Members, Member{Key: key.Value, KeyPos: pos, Value: v})
	}
}

// key checks that a key is text and that every reader takes it for text.
func (r *yamlReader) key(y *yaml.Node, pos Position) bool {
	if r.tag(y) {
		return false
	}
	if !isPlain(y) {
		return true
	}
	fix := fmt.Sprintf("write %q in quotes", y.Value)
	kind, f := classify(y.Value)
	switch {
	case y.Value == "<<":
		f = &flaw{CodeUnsupportedMerge, "the merge key << is not part of YAML 1.2", "write the members out, or give the whole value with an alias"}
	case f != nil && f.code == CodeAmbiguousScalar:
		f.fix = fix
	case kind != String:
		f = &flaw{CodeInvalidMapKey, fmt.Sprintf("the key %s is not text but %s", y.Value, kind), fix}
	}
	if f != nil {
		r.report(pos, *f)
	}
	return f == nil
}

// aliased unfolds an alias into a copy of what it stands for.
func (r *yamlReader) aliased(y *yaml.Node) *Node {
	pos := position(y)
	if r.open[y.Alias] {
		r.limit(pos, flaw{CodeCyclicAlias, fmt.Sprintf("the alias *%s stands inside the value it names", y.Value), "write the value out"})
		return nil
	}
	if r.alias == nil {
		r.alias = &pos
		defer func() { r.alias = nil }()
	}
	n := r.value(y.Alias)
	if n != nil {
		n.Pos = pos
	}
	return n
}

// unfold counts one value made from an alias. It is false beyond the limit,
// which is reported once.
func (r *yamlReader) unfold() bool {
	r.unfolded++
	if r.unfolded == MaxAliasNodes+1 {
		r.limit(*r.alias, flaw{
			CodeTooManyAliases, fmt.Sprintf("the aliases unfold to more than %d values", MaxAliasNodes), "use fewer aliases, or smaller values behind them",
		})
	}
	return r.unfolded <= MaxAliasNodes
}

// tag reports a tag on a value and whether there is one.
func (r *yamlReader) tag(y *yaml.Node) bool {
	tag := y.Tag
	if y.Style&yaml.TaggedStyle == 0 {
		if !r.bareTag(y) {
			return false
		}
		tag = "!"
	}
	r.report(position(y), flaw{
		CodeUnsupportedTag, fmt.Sprintf("the tag %s is not supported", tag), "remove the tag, and put text in quotes",
	})
	return true
}

// bareTag finds the tag "!", which the library drops although it makes text of
// a number. A plain value cannot begin with that character itself.
func (r *yamlReader) bareTag(y *yaml.Node) bool {
	if r.lines == nil || !isPlain(y) || y.Line > len(r.lines) {
		return false
	}
	line := []rune(r.lines[y.Line-1])
	if y.Column > len(line) {
		return false
	}
	rest := string(line[y.Column-1:])
	if y.Anchor != "" {
		rest = strings.TrimLeft(strings.TrimPrefix(rest, "&"+y.Anchor), " \t")
	}
	return strings.HasPrefix(rest, "!")
}
