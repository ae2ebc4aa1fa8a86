package source

import (
	"fmt"
	"strings"
)

// reader is what reading JSON and reading YAML share: the way down to the value
// at hand, the problems so far, and the checks.
type reader struct {
	path     []string
	problems []Problem
	alias    *Position // the outermost alias being unfolded
}

// report records a problem of the value at hand. What an alias repeats was
// reported where it is written.
func (r *reader) report(pos Position, f flaw) {
	if r.alias == nil {
		r.limit(pos, f)
	}
}

// limit records a problem that an alias may cause as well.
func (r *reader) limit(pos Position, f flaw) {
	if r.alias != nil {
		pos = *r.alias
	}
	if len(r.problems) < MaxProblems {
		r.problems = append(r.problems, Problem{
			Code: f.code, Pos: pos, Pointer: r.pointer(), Message: f.message, Fix: f.fix,
		})
	}
}

func (r *reader) pointer() string {
	var b strings.Builder
	escape := strings.NewReplacer("~", "~0", "/", "~1")
	for _, token := range r.path {
		b.WriteByte('/')
		b.WriteString(escape.Replace(token))
	}
	return b.String()
}

func (r *reader) enter(token string) { r.path = append(r.path, token) }
func (r *reader) leave()             { r.path = r.path[:len(r.path)-1] }

// fits reports whether one more array or object may be opened.
func (r *reader) fits(pos Position) bool {
	if len(r.path) < MaxDepth {
		return true
	}
	r.limit(pos, flaw{
		CodeTooDeep, fmt.Sprintf("values are nested more than %d levels deep", MaxDepth), "flatten the document",
	})
	return false
}

// plain makes a node of text without quotes.
func (r *reader) plain(text string, pos Position) *Node {
	kind, f := classify(text)
	if f != nil {
		r.report(pos, *f)
	}
	n := &Node{Kind: kind, Pos: pos}
	switch kind {
	case Bool:
		n.Bool = text == "true"
	case Number, String:
		n.Text = text
	default:
	}
	return n
}

// keys tells the first use of a key from a second one.
type keys map[string]Position

// fresh records the key just entered; a repeated one is a problem and false.
func (r *reader) fresh(seen keys, key string, pos Position) bool {
	first, repeated := seen[key]
	if !repeated {
		seen[key] = pos
		return true
	}
	r.report(pos, flaw{
		CodeDuplicateKey,
		fmt.Sprintf("the key %q stands here and on line %d", key, first.Line),
		"keep one of the two",
	})
	return false
}
