package graph

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/tidemill/tidemill/graph/source"
)

// The defaults of a document.
const (
	defaultMaxSteps         = 1000
	defaultTimeout          = Duration(10 * time.Minute)
	defaultCancelGrace      = Duration(30 * time.Second)
	defaultMaxInterruptions = 10
	defaultPauseReason      = "pause"
)

// reservedPrefix begins the graph ids and action names that are Tidemill's own.
const reservedPrefix = "tidemill"

// origin says where a decoded node was written.
type origin struct {
	field
	edge    pointer // where its edge is; "" when it has none
	item    *origin // of a map's item
	skipped bool    // its type is not run, so nothing more is said about it
}

// decoded is a document and where its nodes came from.
type decoded struct {
	document *Document
	origins  []origin       // one per node
	index    map[string]int // of the first node of each id, however malformed the id
	hints    int            // suggestions given so far
}

// written is a node and where it was written.
type written struct {
	node *Node
	from *origin
}

// all lists the nodes, the item of a map after the map.
func (o *decoded) all() []written {
	all := make([]written, 0, len(o.document.Nodes))
	for i := range o.document.Nodes {
		node, from := &o.document.Nodes[i], &o.origins[i]
		all = append(all, written{node, from})
		if node.Item != nil {
			all = append(all, written{node.Item, from.item})
		}
	}
	return all
}

// decode reads the whole document. What cannot be read is left zero, and
// said.
func (d *decoder) decode(root field) *decoded {
	out := &decoded{document: &Document{Version: DocumentVersion, MaxSteps: defaultMaxSteps}, index: map[string]int{}}
	if !d.members(root, codeExpectedMap, "a graph document") {
		return out
	}
	d.rootNames(root)
	d.header(root, out.document)
	d.nodes(root, out)
	d.entry(root, out)
	d.edges(root, out)
	d.bounds(root, out.document)
	d.reducers(root, out.document)
	return out
}

// rootNames reports unknown fields, with a word about those that other
// versions of the format had.
func (d *decoder) rootNames(root field) {
	known := rootFields()
	for _, member := range root.node.Members {
		at := root.at.key(member.Key)
		switch {
		case slices.Contains(known, member.Key):
		case member.Key == "kind" && member.Value.Text == "graph":
			d.failKey(at, codeUnknownField, "remove it", "a document has no field \"kind\"; every document is a graph")
		case member.Key == "kind":
			d.fail(at, codeUnsupportedKind, "describe the work as a graph and remove kind", "every document is a graph")
		case member.Key == "definition_revision":
			d.failKey(at, codeUnknownField, "write revision", "a document has no field %q", member.Key)
		default:
			d.failKey(at, codeUnknownField, rootFix(member.Key, known), "a document has no field %q", member.Key)
		}
	}
}

func rootFix(name string, known []string) string {
	if slices.Contains(fieldsOf(TypeAction), name) {
		return name + " is a field of a node"
	}
	return didYouMean(name, known)
}

func (d *decoder) header(root field, doc *Document) {
	if f, ok := root.member("version"); ok && (f.kind() != source.Number || string(f.raw()) != "1") {
		d.fail(f.at, codeUnsupportedVersion, "write version: 1", "the version of the document format is 1")
	}
	d.graphID(root, doc)
	if f, ok := root.member("revision"); ok {
		doc.Revision = d.revision(f)
	}
	if f, ok := root.member("description"); ok {
		if !f.isText() {
			d.fail(f.at, codeExpectedText, quoteHint(f), "description must be text, and this is %s", kindWord(f.kind()))
		}
		doc.Description = f.node.Text
	}
}

func (d *decoder) graphID(root field, doc *Document) {
	f, ok := root.member("id")
	if !ok {
		d.fail(root.at.key("id"), codeExpectedNonempty, "add id: NAME", "the document has no id")
		return
	}
	doc.ID, ok = d.id(f, "id")
	if ok && strings.HasPrefix(doc.ID, reservedPrefix) {
		d.fail(f.at, codeReservedID, "choose another id", "graph ids that begin with %q are reserved", reservedPrefix)
	}
}

// revision is text; a whole number is taken as its digits.
func (d *decoder) revision(f field) string {
	switch {
	case f.isText() && f.node.Text != "":
		return f.node.Text
	case f.kind() == source.Number:
		if digits := string(f.raw()); strings.Trim(digits, "0123456789") == "" {
			return digits
		}
	}
	d.fail(f.at, codeInvalidRevision, quoteHint(f), "revision must be text, or a whole number of at least 0")
	return ""
}

func (d *decoder) entry(root field, out *decoded) {
	f, ok := root.member("entry")
	if !ok {
		d.fail(root.at.key("entry"), codeUnknownEntry, "add entry: NODE", "the document has no entry")
		return
	}
	if !f.isText() {
		d.fail(f.at, codeUnknownEntry, "write the id of the first node", "entry must be a node id")
		return
	}
	out.document.Entry = f.node.Text
	if _, known := out.index[f.node.Text]; !known && len(out.index) > 0 {
		d.fail(f.at, codeUnknownEntry, out.nearest(f.node.Text), "entry %q is not a node", f.node.Text)
	}
}

// maxHints bounds how many misspelt targets get a suggestion: each is compared
// with every node, and a document may hold thousands of both.
const maxHints = 20

// nearest suggests a node for a misspelt target.
func (o *decoded) nearest(target string) string {
	if o.hints >= maxHints {
		return ""
	}
	o.hints++
	ids := []string{End}
	for i := range o.document.Nodes {
		ids = append(ids, o.document.Nodes[i].ID)
	}
	return didYouMean(target, ids)
}

// bounds reads the limits and schemas of the document.
func (d *decoder) bounds(root field, doc *Document) {
	if f, ok := root.member("max_steps"); ok {
		if n, ok := d.integer(f, 1, codeExpectedPositive, "max_steps"); ok {
			doc.MaxSteps = n
		}
	}
	if f, ok := root.member("deadline"); ok {
		doc.Deadline = d.duration(f, span{code: codeInvalidDeadline, what: "deadline", none: true})
		d.floor(f, doc.Deadline, "deadline")
		if doc.Deadline == None {
			doc.Deadline = 0
		}
	}
	doc.InputSchema = d.schema(root, "input_schema")
	doc.OutputSchema = d.schema(root, "output_schema")
}

// reducers reads state_reducers. Overwrite is what a key without a reducer
// does, so it is left out.
func (d *decoder) reducers(root field, doc *Document) {
	f, ok := root.member("state_reducers")
	if !ok || !d.members(f, codeExpectedMap, "state_reducers") {
		return
	}
	for _, member := range f.node.Members {
		at := f.at.key(member.Key)
		kind := ReducerKind(member.Value.Text)
		switch {
		case member.Key == "":
			d.failKey(at, codeReducerKeys, "name a key of the state", "a state key must not be empty")
		case member.Value.Kind != source.String || !slices.Contains(reducerKinds(), kind):
			d.fail(at, codeReducerKind, reducerFix(member.Value.Text), "%q is not a reducer", member.Value.Text)
		case kind != ReduceOverwrite:
			doc.Reducers = append(doc.Reducers, Reducer{Key: member.Key, Kind: kind})
		}
	}
	slices.SortFunc(doc.Reducers, func(a, b Reducer) int { return strings.Compare(a.Key, b.Key) })
}

func reducerKinds() []ReducerKind {
	return []ReducerKind{ReduceOverwrite, ReduceAppend, ReduceSum, ReduceRejectConflict}
}

func reducerFix(name string) string {
	known := make([]string, 0, len(reducerKinds()))
	for _, kind := range reducerKinds() {
		known = append(known, string(kind))
	}
	if fix := didYouMean(name, known); fix != "" {
		return fix
	}
	return "write " + strings.Join(known[:len(known)-1], ", ") + " or " + known[len(known)-1]
}

// schema reads a JSON Schema as it stands; it is compiled later.
func (d *decoder) schema(f field, name string) json.RawMessage {
	s, ok := f.member(name)
	if !ok {
		return nil
	}
	return s.raw()
}
