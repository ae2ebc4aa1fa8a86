package graph

import (
	"slices"
	"strings"
)

// nodeTypes are the types of the document format in the order of its manual.
func nodeTypes() []NodeType {
	return []NodeType{
		TypeAction, TypeAgent, TypeTool, TypeWorkflow, TypeSet, TypePause, TypeWait,
		TypeMap, TypeBranch, TypeDynamic, TypeLoop, TypeFork, TypeJoin,
	}
}

// runs reports whether this version runs nodes of the type.
func (t NodeType) runs() bool {
	switch t {
	case TypeAction, TypeWorkflow, TypeSet, TypePause, TypeWait, TypeMap, TypeBranch, TypeDynamic, TypeLoop, TypeFork, TypeJoin:
		return true
	case TypeAgent, TypeTool:
		return false
	}
	return false
}

func rootFields() []string { return names(documentTable()) }

// fieldsOf are the fields that a node of the type has.
func fieldsOf(t NodeType) []string { return names(tableOf(t)) }

// tableOf are all fields of a node of the type.
func tableOf(t NodeType) []fieldSpec {
	table := nodeTable()
	if t.EdgeBearing() {
		table = append(table, leavingTable()...)
	}
	return append(table, ownTable(t)...)
}

// ownFields are the fields that the type has beside those of all nodes.
func ownFields(t NodeType) []string { return names(ownTable(t)) }

// nodeFields reports the fields of a node that its type does not have.
func (d *decoder) nodeFields(f field, t NodeType) {
	known := fieldsOf(t)
	for _, member := range f.node.Members {
		if slices.Contains(known, member.Key) {
			continue
		}
		at := f.at.key(member.Key)
		if member.Key == "next" {
			d.failKey(at, codeExplicitEdge, "remove next; "+ownWay(t), "a node of type %s does not leave by an edge", t)
			continue
		}
		d.failKey(at, codeUnknownField, otherOwner(member.Key, known), "a node of type %s has no field %q", t, member.Key)
	}
}

// ownWay says which fields name the targets of a node without an edge.
func ownWay(t NodeType) string {
	switch t {
	case TypeLoop:
		return "a loop leads to body, done and on_exhausted"
	case TypeFork:
		return "a fork leads to its branches, and they to its join"
	case TypeAction, TypeAgent, TypeTool, TypeWorkflow, TypeSet, TypePause, TypeWait, TypeMap, TypeBranch, TypeDynamic, TypeJoin:
	}
	return "a branch leads to the targets of its cases and its default"
}

// otherOwner tells of which types a field is, or which field was meant.
func otherOwner(name string, known []string) string {
	var owners []string
	for _, t := range nodeTypes() {
		if slices.Contains(ownFields(t), name) {
			owners = append(owners, string(t))
		}
	}
	switch {
	case len(owners) > 0:
		return name + " is a field of " + strings.Join(owners, ", ")
	case slices.Contains(names(leavingTable()), name):
		return name + " is a field of the node types that leave by an edge"
	}
	return didYouMean(name, known)
}
