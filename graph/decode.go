package graph

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"

	"github.com/tidemill/tidemill/graph/internal/suggest"
	"github.com/tidemill/tidemill/graph/source"
)

// decoder turns the tree of a document into a [Document] in normal form. It
// goes on after an error, so that one run finds all of them.
type decoder struct {
	findings
}

// field is one value of the document: where it is and what it is.
type field struct {
	at   pointer
	node *source.Node
}

func (f field) kind() source.Kind { return f.node.Kind }

// member is a member of the object f.
func (f field) member(name string) (field, bool) {
	node := f.node.Get(name)
	return field{f.at.key(name), node}, node != nil
}

func (f field) isText() bool { return f.kind() == source.String }

// raw is the value as canonical JSON. A number that has no canonical form was
// reported when the text was read.
func (f field) raw() json.RawMessage {
	raw, err := f.node.JSON()
	if err != nil {
		return json.RawMessage("null")
	}
	return raw
}

// members checks that f is an object.
func (d *decoder) members(f field, code, what string) bool {
	if f.kind() == source.Object {
		return true
	}
	d.fail(f.at, code, "", "%s must be an object, and this is %s", what, kindWord(f.kind()))
	return false
}

// items are the items of a list that has at least one.
func (d *decoder) items(f field, what string) []field {
	if f.kind() != source.Array {
		d.fail(f.at, codeExpectedList, "", "%s must be a list, and this is %s", what, kindWord(f.kind()))
		return nil
	}
	if len(f.node.Items) == 0 {
		d.fail(f.at, codeEmpty, "", "%s must have at least one item", what)
	}
	all := make([]field, len(f.node.Items))
	for i, item := range f.node.Items {
		all[i] = field{f.at.item(i), item}
	}
	return all
}

// text is the text of a field that must not be empty.
func (d *decoder) text(f field, code, what string) (string, bool) {
	switch {
	case !f.isText():
		hint := quoteHint(f)
		if code == codeExpectedNonempty {
			hint = "write a name" // the digits of a number in quotes are none
		}
		d.fail(f.at, code, hint, "%s must be text, and this is %s", what, kindWord(f.kind()))
		return "", false
	case f.node.Text == "":
		d.fail(f.at, code, "", "%s must not be empty", what)
		return "", false
	}
	return f.node.Text, true
}

// texts is a list of texts.
func (d *decoder) texts(f field, what string) []string {
	if f.kind() != source.Array {
		d.fail(f.at, codeExpectedList, "", "%s must be a list, and this is %s", what, kindWord(f.kind()))
		return nil
	}
	var all []string
	for i, item := range f.node.Items {
		if text, ok := d.text(field{f.at.item(i), item}, codeExpectedText, "each item of "+what); ok {
			all = append(all, text)
		}
	}
	return all
}

// integer is a whole number of at least least and at most 2^31-1, which is
// what the Temporal server can hold for attempts.
func (d *decoder) integer(f field, least int, code, what string) (int, bool) {
	if f.kind() == source.Number {
		n, err := strconv.ParseInt(string(f.raw()), 10, 64)
		if err == nil && n >= int64(least) && n <= math.MaxInt32 {
			return int(n), true
		}
	}
	d.fail(f.at, code, "", "%s must be a whole number from %d to %d", what, least, math.MaxInt32)
	return 0, false
}

// id is an id of a graph or node.
func (d *decoder) id(f field, what string) (string, bool) {
	id, ok := d.text(f, codeExpectedNonempty, what)
	switch {
	case !ok:
		return "", false
	case id == End || id == endSpelling:
		d.fail(f.at, codeReservedID, "choose another id", "%q is the reserved target that ends a run", id)
		return "", false
	case !validID(id):
		d.fail(f.at, codeInvalidID, "use letters, digits, _ and -, beginning with a letter or _, at most 64 characters",
			"%q is not an id", id)
		return "", false
	}
	return id, true
}

// fields reports the members of f that are not among known.
func (d *decoder) fields(f field, code, what string, known []string) {
	for _, member := range f.node.Members {
		if !slices.Contains(known, member.Key) {
			d.failKey(f.at.key(member.Key), code, didYouMean(member.Key, known), "%s has no field %q", what, member.Key)
		}
	}
}

// validID reports whether a text matches [A-Za-z_][A-Za-z0-9_-]{0,63}.
func validID(id string) bool {
	if len(id) == 0 || len(id) > 64 {
		return false
	}
	for i := range len(id) {
		c := id[i]
		letter := c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
		if !letter && (i == 0 || c != '-' && (c < '0' || c > '9')) {
			return false
		}
	}
	return true
}

func didYouMean(word string, known []string) string {
	if near := suggest.Nearest(word, known); near != "" {
		return "did you mean " + near + "?"
	}
	return ""
}

// quoteHint tells how a number or truth value becomes text.
func quoteHint(f field) string {
	switch f.kind() {
	case source.Number, source.Bool:
		return "write " + strconv.Quote(string(f.raw())) + " in quotes"
	case source.Null, source.String, source.Array, source.Object:
	}
	return ""
}

func kindWord(kind source.Kind) string {
	switch kind {
	case source.Null:
		return "null"
	case source.Bool:
		return "a truth value"
	case source.Number:
		return "a number"
	case source.String:
		return "text"
	case source.Array:
		return "a list"
	case source.Object:
		return "an object"
	}
	return "something else"
}
