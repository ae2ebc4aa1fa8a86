package graph

import (
	"encoding/json"

	"github.com/tidemill/tidemill/graph/value"
)

// Builder makes a document in Go. Mistakes are kept and reported by Compile,
// so that building reads without error checks.
//
//	b := graph.NewBuilder("greet")
//	b.Add(graph.Node{ID: "hello", Type: graph.TypeSet, Output: b.Value("hello"), Next: graph.To(graph.End)})
//	compiled, found := b.Compile(graph.CompileOptions{})
type Builder struct {
	// Document is what was built so far; set its other fields here.
	Document Document
	mistakes Diagnostics
}

// NewBuilder begins a document. The first node added is its entry, unless
// Document.Entry names another.
func NewBuilder(id string) *Builder { return &Builder{Document: Document{ID: id}} }

// Value writes a Go value as JSON, for fields that hold values or schemas.
func (b *Builder) Value(v any) json.RawMessage {
	raw, err := value.Marshal(v)
	if err != nil {
		b.mistakes = append(b.mistakes, valueMistake(err))
		return value.Null()
	}
	return raw
}

// Add adds nodes in the order given.
func (b *Builder) Add(nodes ...Node) *Builder {
	if b.Document.Entry == "" && len(nodes) > 0 {
		b.Document.Entry = nodes[0].ID
	}
	b.Document.Nodes = append(b.Document.Nodes, nodes...)
	return b
}

// Compile compiles the document as [CompileDocument] does.
func (b *Builder) Compile(options CompileOptions) (*Compiled, Diagnostics) {
	compiled, found := CompileDocument(&b.Document, options)
	if len(b.mistakes) > 0 {
		return nil, append(b.mistakes[:len(b.mistakes):len(b.mistakes)], found...)
	}
	return compiled, found
}

// To is the edge to a node, or to [End].
func To(target string) *Route { return &Route{To: target} }

// Choose is the edge to the first case that holds, else to otherwise, which may
// be empty.
func Choose(otherwise string, cases ...Case) *Route { return &Route{Cases: cases, Default: otherwise} }

// Ask is the edge to wherever a callback says.
func Ask(callback string) *Route { return &Route{Call: callback} }

func valueMistake(err error) Diagnostic {
	return Diagnostic{Severity: SeverityError, Code: codeInvalidValue, Message: err.Error()}
}
