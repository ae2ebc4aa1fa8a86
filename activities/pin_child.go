package activities

import (
	"encoding/json"

	"github.com/tidemill/tidemill/graph"
)

// inherited is what a run inherits from the run that started it; nil for a run of
// its own. Only a run with a parent may: what is inherited is trusted, documents
// included.
func inherited(in PinInput) (*graph.ChildStart, error) {
	child, err := ParseChildStart(in.Child)
	if err != nil || child == nil {
		return nil, err
	}
	if !in.HasParent {
		return nil, graph.Failf(graph.ErrTypeInvalidRunOptions,
			"only a graph hands a third argument to the graphs it runs; start this one with its input and its options")
	}
	return child, nil
}

// findChild gives the graph a child is to run: this worker's, when it is the one
// that the parent is bound to, else the one the parent hands over.
func (a *Activities) findChild(id string, child *graph.ChildStart) (bound, *graph.Failure) {
	if len(child.Documents) > 0 {
		return handedOver(id, child)
	}
	own, known := a.options.Catalogue.Get(id)
	if !known || own.Fingerprint != child.Fingerprint {
		return bound{}, graph.Failf(graph.ErrTypeUnknownGraph,
			"this worker does not have graph %q with the fingerprint %s that the parent is bound to", id, child.Fingerprint)
	}
	return bind(own), nil
}

// handedOver takes the documents of a parent's pin. They were compiled when the
// parent was pinned; here it is made sure that they are the ones it meant.
func handedOver(id string, child *graph.ChildStart) (bound, *graph.Failure) {
	b := bound{document: child.Documents[0], fingerprint: child.Fingerprint}
	if failure := same(b.document, graph.GraphRef{ID: id, Fingerprint: child.Fingerprint}); failure != nil {
		return bound{}, failure
	}
	var missing []graph.GraphRef
	if b.graphs, missing = Closure(b.document, child.Documents[1:]); len(missing) > 0 {
		return bound{}, graph.Failf(graph.ErrTypeInvalidRunOptions,
			"the parent hands over graph %q without graph %q, which it needs", id, missing[0].ID)
	}
	b.size = sizeOf(b.document)
	for _, d := range append([]*graph.Document{b.document}, b.graphs...) {
		for _, ref := range references(d) {
			if failure := same(documentOf(ref.ID, b.graphs), ref); failure != nil {
				return bound{}, failure
			}
		}
	}
	for _, d := range b.graphs {
		b.size += sizeOf(d)
	}
	return b, nil
}

// same refuses a document that is not the one that is meant.
func same(d *graph.Document, meant graph.GraphRef) *graph.Failure {
	fingerprint, err := d.Fingerprint()
	if err != nil || d.ID != meant.ID || fingerprint != meant.Fingerprint {
		return graph.Failf(graph.ErrTypeInvalidRunOptions,
			"the parent hands over another document than graph %q with the fingerprint %s", meant.ID, meant.Fingerprint)
	}
	return nil
}

// checkInput makes the input of a run canonical. That of a map's own run is the
// state of the graph, which no input schema is about.
func checkInput(document *graph.Document, input json.RawMessage, child *graph.ChildStart) (json.RawMessage, *graph.Failure) {
	if child == nil || child.Map == nil && child.Redriven == nil {
		return graph.CheckInput(document, input)
	}
	raw, failure := graph.CheckInput(&graph.Document{}, input)
	if failure != nil {
		return nil, failure
	}
	if child.Map != nil && documentNode(document, child.Map.Node) == nil {
		return nil, graph.Failf(graph.ErrTypeInvalidRunOptions, "graph %q has no map %q to run", document.ID, child.Map.Node)
	}
	return raw, nil
}

func documentNode(d *graph.Document, id string) *graph.Node {
	for i := range d.Nodes {
		if d.Nodes[i].ID == id && d.Nodes[i].Type == graph.TypeMap {
			return &d.Nodes[i]
		}
	}
	return nil
}
