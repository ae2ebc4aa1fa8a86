package activities

import (
	"github.com/tidemill/tidemill/graph"
)

// Closure lists every document that one names, directly or through others, each
// once and in the order they are met. The documents to choose from are those of a
// pin or of a start; missing are the references that are not among them.
func Closure(of *graph.Document, among []*graph.Document) (found []*graph.Document, missing []graph.GraphRef) {
	seen := map[string]bool{}
	var visit func(*graph.Document)
	visit = func(d *graph.Document) {
		for _, ref := range references(d) {
			if seen[ref.ID] {
				continue
			}
			seen[ref.ID] = true
			if document := documentOf(ref.ID, among); document != nil {
				found = append(found, document)
				visit(document)
			} else {
				missing = append(missing, ref)
			}
		}
	}
	visit(of)
	return found, missing
}

func documentOf(id string, among []*graph.Document) *graph.Document {
	for _, d := range among {
		if d.ID == id {
			return d
		}
	}
	return nil
}

// references are the graphs that a document and its inline children name.
func references(d *graph.Document) []graph.GraphRef {
	refs := d.Graphs
	for i := range d.Nodes {
		node := &d.Nodes[i]
		if node.Item != nil {
			node = node.Item
		}
		if node.Workflow != nil && node.Workflow.Document != nil {
			refs = append(refs[:len(refs):len(refs)], references(node.Workflow.Document)...)
		}
	}
	return refs
}
