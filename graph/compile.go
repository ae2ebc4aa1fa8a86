package graph

import (
	"encoding/json"

	"github.com/tidemill/tidemill/graph/expr"
	"github.com/tidemill/tidemill/graph/source"
)

// CompileOptions is what a compiler knows of the worker that will run the
// document. The zero value knows nothing and refuses nothing for it.
type CompileOptions struct {
	// Callbacks are the registered callbacks and their versions. One that a
	// document names and that is not here is a warning, and counts as version 1.
	Callbacks map[string]int
	// CallbacksAreErrors refuses a document that names an unknown callback, as
	// a worker does that loads its catalogue.
	CallbacksAreErrors bool
}

// Compiled is a document that passed every check, ready to run.
type Compiled struct {
	Document    *Document
	Canonical   json.RawMessage // of the document
	Fingerprint string
	Plan        *Plan
	Warnings    Diagnostics
	// Closure are the documents of the graphs that the document names, and those
	// that they name, each once, sorted by id. It is set by [Link].
	Closure []*Document

	secrets  map[string][]string // names of the secrets that a node's args use
	original original            // where it was written, if it names graphs
	unlinked *Compiled           // what a linked document was before
}

// original is the text of a document, as far as linking speaks of it.
type original struct {
	file   string
	root   *source.Node
	placed bool // its positions mean something to the author
}

// place gives positions to what was found after the document was compiled.
func (c *Compiled) place(found *findings) Diagnostics {
	root := c.original.root
	if root == nil {
		root = &source.Node{}
	}
	placed := found.diagnostics(c.original.file, nil, root, nil)
	if !c.original.placed {
		placed.unplace()
	}
	return placed
}

// Compile reads a document, YAML or JSON, and checks all of it. The name is
// shown in diagnostics, and its ending (.json, .yaml, .yml) tells the form;
// without one the text does. Everything that is wrong is reported at once, in
// document order, with warnings between. Compiled is nil when there is an
// error.
func Compile(name string, data []byte, options CompileOptions) (*Compiled, Diagnostics) {
	root, problems := source.ParseNamed(name, data)
	if root == nil {
		return nil, new(findings).diagnostics(name, data, &source.Node{}, problems)
	}
	c := &checker{options: options, partial: len(problems) > 0}
	c.read(root)
	found := c.diagnostics(name, data, root, problems)
	if c.broken != nil {
		found = append(found, Diagnostic{Severity: SeverityError, Code: expr.InvalidExpression, File: name, Message: c.broken.Error()})
	}
	if found.HasErrors() {
		return nil, found
	}
	compiled, found := finish(c.document, found)
	if compiled != nil {
		compiled.secrets = c.secretNames
		if compiled.Document.namesGraphs() {
			compiled.original = original{file: name, root: root, placed: true}
		}
	}
	return compiled, found
}

// CompileDocument checks a document made in Go, as [Compile] does for one in
// text. Zero fields mean "not given" and get their defaults; d itself is not
// changed. Diagnostics have pointers into the JSON form of the document, and
// no positions.
func CompileDocument(d *Document, options CompileOptions) (*Compiled, Diagnostics) {
	data, err := sourceForm(d)
	if err != nil {
		return nil, Diagnostics{valueMistake(err)}
	}
	compiled, found := Compile("", data, options)
	found.unplace()
	if compiled != nil {
		compiled.original.placed = false
	}
	return compiled, found
}

// read decodes a document and checks it as a whole.
func (c *checker) read(root *source.Node) {
	d := &decoder{}
	c.findings, c.root, c.secretNames = &d.findings, root, map[string][]string{}
	c.decoded = d.decode(field{"", root})
	if !c.partial || len(c.index) > 0 {
		c.check()
	}
}

// finish makes a document without errors ready to run.
func finish(d *Document, warnings Diagnostics, named ...*Document) (*Compiled, Diagnostics) {
	out := &Compiled{Document: d, Warnings: warnings}
	var err error
	if out.Canonical, err = d.Canonical(); err == nil {
		out.Plan, err = NewPlan(d, named...)
	}
	if err != nil {
		return nil, append(warnings, valueMistake(err))
	}
	out.Fingerprint = out.Plan.Fingerprint
	return out, warnings
}
