package activities

import (
	"time"

	"github.com/tidemill/tidemill/graph"
	"github.com/tidemill/tidemill/graph/value"
)

// pinRedriven binds a run that takes up an earlier one. Whoever started it may have
// looked before; here all of it is looked at again.
func (a *Activities) pinRedriven(in PinInput, options graph.RunOptions) (Pin, *graph.Failure) {
	export, failure := graph.ParseExport(options.Checkpoint)
	if failure != nil {
		return Pin{}, failure
	}
	bound, failure := a.findRedriven(in.Graph, options.Spec, export)
	if failure != nil {
		return Pin{}, failure
	}
	// The input was held against its schema when the first run began.
	if _, failure := graph.CheckInput(&graph.Document{}, RedrivenInput(in.Input, export)); failure != nil {
		return Pin{}, failure
	}
	how := graph.Redriving{
		From: options.From, Deadline: options.Deadline, MaxSteps: options.MaxSteps,
		Now: time.Now().UTC(), Corrected: len(options.Spec) > 0, Limit: a.options.Limits.State,
	}
	plan, err := graph.NewPlan(bound.document, bound.graphs...)
	if err != nil {
		return Pin{}, graph.Failf(graph.ErrTypeInvalidDocument, "%v", err)
	}
	redriven, _, failure := graph.Redrive(plan, export, how)
	if failure == nil {
		_, failure = graph.Redriven(plan, redriven, graph.Start{Now: how.Now})
	}
	if failure != nil {
		return Pin{}, failure
	}
	pin := a.rules(options)
	pin.Document, pin.Fingerprint, pin.Graphs = bound.document, bound.fingerprint, bound.graphs
	how.Settled = true
	pin.Redriving = &how
	return pin, nil
}

// RedrivenInput is the input of a run that takes up an earlier one: what it is given,
// or else what the earlier one was given.
func RedrivenInput(given []byte, export graph.Export) []byte {
	if len(given) == 0 || value.KindOf(given) == value.KindNull {
		return export.Input
	}
	return given
}

// findRedriven gives the graph of a run that takes up an earlier one: the one it
// brings, the worker's own, or the one the earlier run was bound to.
func (a *Activities) findRedriven(id string, spec []byte, export graph.Export) (bound, *graph.Failure) {
	own, known := a.options.Catalogue.Get(id)
	fingerprint := export.Checkpoint.Fingerprint
	if len(spec) > 0 || export.Document == nil || known && own.Fingerprint == fingerprint || export.Checkpoint.Graph != id {
		return a.find(id, spec)
	}
	if !a.options.AllowInlineSpecs {
		return bound{}, graph.Failf(graph.ErrTypeCheckpointDefinition,
			"the run was bound to a version of graph %q that this worker does not have (%.8s): give the worker's own as the spec to go on with it, "+
				"add that version to the worker, or set inline_specs to take it from the export", id, fingerprint)
	}
	compiled, failure := a.compileExported(export)
	switch {
	case failure != nil:
		return bound{}, failure
	case compiled.Fingerprint != fingerprint:
		return bound{}, graph.Failf(graph.ErrTypeCheckpointDefinition,
			"the document in the export is not the one that the run was bound to: its fingerprint is %.8s, not %.8s", compiled.Fingerprint, fingerprint)
	}
	return bind(compiled), nil
}

// compileExported compiles the document of an export with the graphs that it names, as
// if they came from an author: nothing of an export is trusted.
func (a *Activities) compileExported(export graph.Export) (*graph.Compiled, *graph.Failure) {
	var all []*graph.Compiled
	for _, d := range append(append([]*graph.Document{}, export.Graphs...), export.Document) {
		if d == nil {
			return nil, graph.Failf(graph.ErrTypeInvalidCheckpoint, "a document of the export is null")
		}
		compiled, found := graph.CompileDocument(d, a.options.Catalogue.options)
		if err := found.Err(); err != nil {
			return nil, graph.Failf(graph.ErrTypeInvalidDocument, "the document %q of the export: %s", d.ID, cut(err.Error(), maxMessage))
		}
		all = append(all, compiled)
	}
	linked, found := graph.LinkAll(all)
	if err := found.Err(); err != nil || linked[len(linked)-1] == nil {
		return nil, graph.Failf(graph.ErrTypeInvalidDocument, "the documents of the export: %s", cut(found.Error(), maxMessage))
	}
	return linked[len(linked)-1], nil
}

// checkRedriven makes sure that a child can go on from where its parent says it stood.
func checkRedriven(bound bound, child *graph.ChildStart) *graph.Failure {
	plan, err := graph.NewPlan(bound.document, bound.graphs...)
	if err != nil {
		return graph.Failf(graph.ErrTypeInvalidDocument, "%v", err)
	}
	_, failure := graph.Redriven(plan, *child.Redriven, graph.Start{Now: time.Now().UTC(), Child: child})
	return failure
}
