package activities

import (
	"context"
	"encoding/json"
	"errors"
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
	// Child is the third payload, when there is one: what the run inherits from
	// the one that started it. HasParent says that there is one.
	Child     json.RawMessage `json:"child,omitempty"`
	HasParent bool            `json:"has_parent,omitempty"`
	// Carry is the fourth payload, when there is one: what the earlier run of the
	// chain left, whose run id is Continues.
	Carry     json.RawMessage `json:"carry,omitempty"`
	Continues string          `json:"continues,omitempty"`
}

// Pin is what a run binds itself to when it starts: the graph, and all that would
// otherwise depend on the worker. It is recorded, so a worker that is configured
// otherwise replays and finishes the run as it began. The input, what a child
// inherits and what a continued run was left, documents included, which history holds
// already, are checked and not repeated. Stable: histories hold it.
type Pin struct {
	// Failure is set when the run is refused; then nothing else is.
	Failure *graph.Failure `json:"failure,omitempty"`

	Core        int             `json:"core,omitempty"`
	Document    *graph.Document `json:"document,omitempty"`
	Fingerprint string          `json:"fingerprint,omitempty"`
	// Graphs are the documents that Document names, directly or through others,
	// each once.
	Graphs           []*graph.Document `json:"graphs,omitempty"`
	SearchAttributes []string          `json:"search_attributes,omitempty"`
	Limits           graph.Limits      `json:"limits,omitzero"`
	AdmissionDomain  string            `json:"admission_domain,omitempty"` // empty: no admission
	// Options are without the spec, which is Document, and without the checkpoint.
	Options graph.RunOptions `json:"options,omitzero"`
	// Redriving is how a run takes up the earlier one whose checkpoint its options hold.
	Redriving *graph.Redriving `json:"redriving,omitempty"`
	// ContinueAt is how many events the run may have before it continues as new. Zero:
	// it never does, as before there was such a number.
	ContinueAt int `json:"continue_at,omitempty"`
}

// Pin is the local activity that begins a run. A refusal is a field, not an
// error, so that it is recorded and a replay refuses as well.
//
// Repeats: it only reads; a run repeats it until its first task ends.
// Final errors: none. What a later release wrote is for a worker of that release.
func (a *Activities) Pin(ctx context.Context, in PinInput) (Pin, error) {
	carry, err := carried(in)
	if err != nil {
		return Pin{}, err
	}
	if carry != nil {
		return a.pinAgain(in, carry)
	}
	child, err := inherited(in)
	if errors.Is(err, ErrNewer) {
		return Pin{}, err
	}
	var failure *graph.Failure
	if !errors.As(err, &failure) {
		var pin Pin
		if pin, failure = a.pin(in, child); failure == nil {
			a.warn(ctx, pin)
			return pin, nil
		}
	}
	return Pin{Failure: failure}, nil
}

// pin binds a run that begins, by itself or as a child.
func (a *Activities) pin(in PinInput, child *graph.ChildStart) (Pin, *graph.Failure) {
	options, failure := graph.ParseRunOptions(in.Options)
	if failure != nil {
		return Pin{}, failure
	}
	if child == nil && len(options.Checkpoint) > 0 {
		return a.pinRedriven(in, options)
	}
	var bound bound
	if child != nil {
		bound, failure = a.findChild(in.Graph, child)
	} else {
		bound, failure = a.find(in.Graph, options.Spec)
	}
	if failure != nil {
		return Pin{}, failure
	}
	input, failure := checkInput(bound.document, in.Input, child)
	if failure != nil {
		return Pin{}, failure
	}
	if failure := a.checkSizes(bound.size, input, child); failure != nil {
		return Pin{}, failure
	}
	if child != nil && child.Redriven != nil {
		if failure := checkRedriven(bound, child); failure != nil {
			return Pin{}, failure
		}
	}
	pin := a.rules(options)
	pin.Document, pin.Fingerprint, pin.Graphs = bound.document, bound.fingerprint, bound.graphs
	return pin, nil
}

// pinAgain binds a continued run: to the graph that its chain is bound to, and to the
// rules of the worker that takes it up.
func (a *Activities) pinAgain(in PinInput, carry *Carry) (Pin, error) {
	options, failure := graph.ParseRunOptions(in.Options)
	if failure != nil {
		return Pin{}, failure
	}
	fingerprint, err := carry.Documents[0].Fingerprint()
	if err != nil {
		return Pin{}, err
	}
	if fingerprint != carry.Checkpoint.Fingerprint {
		return Pin{}, fmt.Errorf("activities: the earlier run left another document than graph %q with the fingerprint %s",
			carry.Checkpoint.Graph, carry.Checkpoint.Fingerprint)
	}
	pin := a.rules(options)
	pin.Fingerprint = fingerprint
	return pin, nil
}

// rules is the part of a pin that does not hang on the graph.
func (a *Activities) rules(options graph.RunOptions) Pin {
	options.Spec, options.Checkpoint = nil, nil // large, and in history already
	return Pin{
		Core: Core, SearchAttributes: a.options.SearchAttributes, Limits: a.options.Limits, Options: options,
		AdmissionDomain: a.options.admissionDomain(), ContinueAt: a.options.ContinueAt,
	}
}

// bound is the graph that a run binds itself to, with every graph it names.
type bound struct {
	document    *graph.Document
	fingerprint string
	graphs      []*graph.Document
	size        int // bytes of all of them
}

func bind(c *graph.Compiled) bound {
	b := bound{document: c.Document, fingerprint: c.Fingerprint, graphs: c.Closure, size: len(c.Canonical)}
	for _, d := range c.Closure {
		b.size += sizeOf(d)
	}
	return b
}

// sizeOf is the length of a document; one that cannot be written has none, and is
// refused where it is read.
func sizeOf(d *graph.Document) int {
	raw, err := d.Canonical()
	if err != nil {
		return 0
	}
	return len(raw)
}

// find gives the graph a run asks for: the worker's own, or the one it brings.
func (a *Activities) find(id string, spec json.RawMessage) (bound, *graph.Failure) {
	own, known := a.options.Catalogue.Get(id)
	if len(spec) > 0 {
		compiled, failure := a.inline(id, spec, own)
		if failure != nil {
			return bound{}, failure
		}
		return bind(compiled), nil
	}
	if known {
		return bind(own), nil
	}
	message := fmt.Sprintf("this worker has no graph %q", id)
	if words := a.options.Catalogue.Near(id); len(words) > 0 {
		message += "; did you mean " + strings.Join(words, ", ") + "?"
	}
	return bound{}, &graph.Failure{Type: graph.ErrTypeUnknownGraph, Message: message}
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

// checkSizes refuses what could later not be carried on. The input of a map's own
// run is a state, which only the sum bounds.
func (a *Activities) checkSizes(documents int, input json.RawMessage, child *graph.ChildStart) *graph.Failure {
	limits, size := a.options.Limits, len(input)
	if child != nil && child.Map != nil {
		size += len(child.Map.Items) + len(child.Map.Input)
	} else if size > limits.Payload {
		return graph.Failf(graph.ErrTypeStateTooLarge,
			"the input has %d bytes; at most %d are allowed: pass a reference to large data", size, limits.Payload)
	}
	if documents+size > limits.State {
		return graph.Failf(graph.ErrTypeStateTooLarge,
			"the document with the graphs it names and the input have %d bytes; at most %d are allowed together", documents+size, limits.State)
	}
	return nil
}
