package activities

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/tidemill/tidemill/graph"
	"github.com/tidemill/tidemill/graph/value"
)

// Core is the version of the interpreter's rules that runs started here follow.
const Core = 1

// PinInput is what a run was started with.
type PinInput struct {
	Graph   string          `json:"graph"`             // the workflow type
	Input   json.RawMessage `json:"input,omitempty"`   // the first payload, when there is one
	Options json.RawMessage `json:"options,omitempty"` // the second payload, when there is one
}

// Pin is what a run binds itself to when it starts: the graph, and all that would
// otherwise depend on the worker. It is recorded, so a worker that is configured
// otherwise replays and finishes the run as it began. The input, which history
// holds already, is checked and not repeated. Stable: histories hold it.
type Pin struct {
	// Failure is set when the run is refused; then nothing else is.
	Failure *graph.Failure `json:"failure,omitempty"`

	Core             int              `json:"core,omitempty"`
	Document         *graph.Document  `json:"document,omitempty"`
	Fingerprint      string           `json:"fingerprint,omitempty"`
	SearchAttributes []string         `json:"search_attributes,omitempty"`
	Limits           graph.Limits     `json:"limits,omitzero"`
	AdmissionDomain  string           `json:"admission_domain,omitempty"` // empty: no admission
	Options          graph.RunOptions `json:"options,omitzero"`           // without the spec, which is Document
}

// Pin is the local activity that begins a run. A refusal is a field, not an
// error, so that it is recorded and a replay refuses as well.
//
// Repeats: it only reads; a run repeats it until its first task ends.
// Final errors: none.
func (a *Activities) Pin(_ context.Context, in PinInput) (Pin, error) {
	pin, failure := a.pin(in)
	if failure != nil {
		return Pin{Failure: failure}, nil
	}
	return pin, nil
}

func (a *Activities) pin(in PinInput) (Pin, *graph.Failure) {
	options, failure := graph.ParseRunOptions(in.Options)
	if failure != nil {
		return Pin{}, failure
	}
	compiled, failure := a.find(in.Graph, options.Spec)
	if failure != nil {
		return Pin{}, failure
	}
	options.Spec = nil
	input, failure := graph.CheckInput(compiled.Document, in.Input)
	if failure != nil {
		return Pin{}, failure
	}
	if failure := a.checkSizes(len(compiled.Canonical), len(input)); failure != nil {
		return Pin{}, failure
	}
	return Pin{
		Core: Core, Document: compiled.Document, Fingerprint: compiled.Fingerprint,
		SearchAttributes: a.options.SearchAttributes, Limits: a.options.Limits, Options: options,
	}, nil
}

// find gives the graph a run asks for: the worker's own, or the one it brings.
func (a *Activities) find(id string, spec json.RawMessage) (*graph.Compiled, *graph.Failure) {
	own, known := a.options.Catalogue.Get(id)
	if len(spec) > 0 {
		return a.inline(id, spec, own)
	}
	if known {
		return own, nil
	}
	message := fmt.Sprintf("this worker has no graph %q", id)
	if words := a.options.Catalogue.Near(id); len(words) > 0 {
		message += "; did you mean " + strings.Join(words, ", ") + "?"
	}
	return nil, &graph.Failure{Type: graph.ErrTypeUnknownGraph, Message: message}
}

// inline compiles the document a run brings. A worker that takes no documents
// from outside still takes its own.
func (a *Activities) inline(id string, spec json.RawMessage, own *graph.Compiled) (*graph.Compiled, *graph.Failure) {
	text := []byte(spec)
	if value.KindOf(spec) == value.KindString { // a document as it stands in a file
		var document string
		if err := json.Unmarshal(spec, &document); err != nil {
			return nil, graph.Failf(graph.ErrTypeInvalidDocument, "spec: %v", err)
		}
		text = []byte(document)
	}
	compiled, diagnostics := graph.Compile("spec", text, a.options.Catalogue.options)
	if compiled != nil {
		compiled, diagnostics = a.options.Catalogue.link(compiled)
	}
	if err := diagnostics.Err(); err != nil {
		return nil, graph.Failf(graph.ErrTypeInvalidDocument, "%s", cut(err.Error(), maxMessage))
	}
	switch {
	case compiled.Document.ID != id:
		return nil, graph.Failf(graph.ErrTypeInvalidDocument,
			"the spec's id is %q, but the run's workflow type is %q; start it under its own id", compiled.Document.ID, id)
	case own != nil && own.Fingerprint == compiled.Fingerprint:
		return own, nil
	case !a.options.AllowInlineSpecs:
		return nil, graph.Failf(graph.ErrTypeInvalidRunOptions,
			"this worker runs no graph but its own; set inline_specs to allow a spec, or add the graph to the worker")
	}
	return compiled, nil
}

// checkSizes refuses what could later not be carried on.
func (a *Activities) checkSizes(document, input int) *graph.Failure {
	limits := a.options.Limits
	switch {
	case input > limits.Payload:
		return graph.Failf(graph.ErrTypeStateTooLarge,
			"the input has %d bytes; at most %d are allowed: pass a reference to large data", input, limits.Payload)
	case document+input > limits.State:
		return graph.Failf(graph.ErrTypeStateTooLarge,
			"the document and the input have %d bytes; at most %d are allowed together", document+input, limits.State)
	}
	return nil
}
