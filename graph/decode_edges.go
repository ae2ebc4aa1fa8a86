package graph

// edges folds the map of edges into the nodes they leave.
func (d *decoder) edges(root field, out *decoded) {
	if f, ok := root.member("edges"); ok && d.members(f, codeExpectedMap, "edges") {
		for _, member := range f.node.Members {
			d.edge(field{f.at.key(member.Key), member.Value}, member.Key, out)
		}
	}
	for i := range out.origins {
		from := out.origins[i]
		if !from.skipped && from.edge == "" && out.document.Nodes[i].Type.EdgeBearing() {
			d.fail(from.at.key("next"), codeExplicitEdge, "add next: NODE, or next: end", "the node %q has no edge", out.document.Nodes[i].ID)
		}
	}
}

func (d *decoder) edge(f field, from string, out *decoded) {
	i, known := out.index[from]
	if !known {
		d.failKey(f.at, codeExplicitEdge, out.nearest(from), "an edge leaves %q, which is not a node", from)
		return
	}
	node, origin := &out.document.Nodes[i], &out.origins[i]
	switch {
	case origin.skipped:
	case !node.Type.EdgeBearing():
		d.failKey(f.at, codeExplicitEdge, "remove the edge; "+ownWay(node.Type), "a node of type %s does not leave by an edge", node.Type)
	case origin.edge != "":
		d.failKey(f.at, codeDuplicateEdge, "keep one of them", "the node %q has next, and an edge too", from)
	default:
		origin.edge = f.at
		node.Next = d.route(f)
	}
}
