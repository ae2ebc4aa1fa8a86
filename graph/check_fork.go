package graph

import (
	"slices"
	"strconv"
)

// forks checks that every fork hangs together with its branches and its join,
// and that nothing else leads there.
func (c *checker) forks() {
	owners := map[string]int{} // the fork of each branch and each join
	for i := range c.document.Nodes {
		node, from := c.node(i)
		if node.Type == TypeFork && !from.skipped {
			c.forkJoin(i, owners)
			c.forkBranches(i, owners)
			c.writers(node, from)
		}
	}
	for i := range c.document.Nodes {
		c.intruders(i, owners)
		c.recovery(i, owners)
	}
	if fork, owned := owners[c.document.Entry]; owned {
		c.fail("/entry", codeForkTopology, "begin at the fork", "%q belongs to the fork %s, and only the fork leads to it",
			c.document.Entry, c.document.Nodes[fork].ID)
	}
}

// forkJoin checks the join of a fork.
func (c *checker) forkJoin(i int, owners map[string]int) {
	node, from := c.node(i)
	at := from.at.key("join")
	if node.Join == "" || len(node.Branches) == 0 {
		return // reported when it was read
	}
	join, known := c.index[node.Join]
	switch {
	case !known:
		c.fail(at, codeForkTopology, c.nearest(node.Join), "the join %q is not a node", node.Join)
	case c.document.Nodes[join].Type != TypeJoin:
		c.fail(at, codeJoinType, "make it a join with run, or put a join before it", "%q is of type %s, and a fork ends at a join",
			node.Join, c.document.Nodes[join].Type)
	default:
		if first, taken := owners[node.Join]; taken {
			c.fail(at, codeSharedJoin, "give each fork a join of its own", "the fork %s ends at %q too", c.document.Nodes[first].ID, node.Join)
			return
		}
		owners[node.Join] = i
	}
}

// forkBranches checks the branches of a fork.
func (c *checker) forkBranches(i int, owners map[string]int) {
	node, from := c.node(i)
	for j, id := range node.Branches {
		if id == "" || slices.Index(node.Branches, id) != j {
			continue // reported when it was read
		}
		at := from.at.key("branches").item(j)
		branch, known := c.index[id]
		switch {
		case !known:
			c.fail(at, codeForkTopology, c.nearest(id), "the branch %q is not a node", id)
			continue
		case branch == i || id == node.Join:
			c.fail(at, codeForkTopology, "list other nodes", "a fork cannot have itself or its join as a branch")
			continue
		}
		if branch, origin := c.node(branch); !origin.skipped && !branch.canBranch() {
			c.fail(at, codeForkTopology, "put what the branch decides or repeats into a graph of its own",
				"%q is of type %s, which cannot be a branch", id, branch.Type)
			continue
		}
		if first, taken := owners[id]; taken {
			c.fail(at, codeSharedBranch, "give each fork branches of its own", "%q belongs to the fork %s too", id, c.document.Nodes[first].ID)
			continue
		}
		owners[id] = i
		if fork, joined := owners[node.Join]; joined && fork == i {
			c.branchEdge(node, branch)
		}
	}
}

// canBranch reports whether a node may be a branch of a fork.
func (n *Node) canBranch() bool { return n.Type.EdgeBearing() && n.Type != TypeJoin }

// branchEdge checks that a branch leads to the join and nowhere else.
func (c *checker) branchEdge(fork *Node, i int) {
	node, from := c.node(i)
	const fix = "write next: "
	switch next := node.Next; {
	case from.skipped || next == nil || next.Static() && (next.To == "" || next.To == fork.Join):
	case next.Static():
		c.fail(from.place("next"), codeForkTopology, fix+fork.Join, "the branch %q of the fork %s leads past its join", node.ID, fork.ID)
	default:
		c.fail(from.place("next"), codeForkTopology, fix+fork.Join,
			"the branch %q of the fork %s leads to its join and decides nothing", node.ID, fork.ID)
	}
}

// intruders reports ways to a branch or a join that do not come from its fork.
func (c *checker) intruders(i int, owners map[string]int) {
	node, from := c.node(i)
	if from.skipped {
		return
	}
	for _, way := range node.ways() {
		fork, owned := owners[way.to]
		if own, branch := owners[node.ID]; !owned || branch && c.document.Nodes[own].Join == way.to {
			continue
		}
		owner := &c.document.Nodes[fork]
		switch {
		case way.to != owner.Join:
			c.fail(from.place(way.path), codeForkTopology, "lead to the fork "+owner.ID,
				"%q is a branch of the fork %s, and only the fork leads to it", way.to, owner.ID)
		default:
			c.fail(from.place(way.path), codeJoinPredecessor, "lead to the fork "+owner.ID+", or to a join of your own",
				"the join %q of the fork %s is entered by its branches alone", way.to, owner.ID)
		}
	}
}

// recovery checks what becomes of the failures of a node. A branch cannot lead
// on by itself, and only a branch can settle in spite of its failure.
func (c *checker) recovery(i int, owners map[string]int) {
	node, from := c.node(i)
	fork, owned := owners[node.ID]
	owned = owned && c.document.Nodes[fork].Join != node.ID
	if owned && node.OnExpire != "" {
		c.fail(from.place("on_expire"), codeForkTopology, "write on_error: {output: VALUE}, which takes pause_expired too",
			"the branch %q cannot lead anywhere but to its fork's join", node.ID)
	}
	if node.OnError == nil {
		return
	}
	gives := node.OnError.Output != nil || node.OnError.Delta != nil
	switch {
	case owned && !gives:
		c.fail(from.place("on_error"), codeInvalidOnError, "write on_error: {output: VALUE}; the branch then counts as completed",
			"the branch %q cannot lead anywhere but to its fork's join", node.ID)
	case !owned && gives:
		c.fail(from.place("on_error"), codeInvalidOnError, "write a node id, end or {cases, default}",
			"on_error with output or delta is for a fork's branch or a map's item")
	}
}

// way is one target that a node names, and the path of the field that does.
type way struct {
	path, to string
}

// ways lists the targets that a node names beside those of a fork.
func (n *Node) ways() []way {
	ways := []way{
		{"default", n.Default}, {"body", n.Body}, {"done", n.Done}, {"on_expire", n.OnExpire},
	}
	if n.OnExhausted != n.Done {
		ways = append(ways, way{"on_exhausted", n.OnExhausted})
	}
	cases := func(path string, list []Case) {
		for i, one := range list {
			ways = append(ways, way{path + "/" + strconv.Itoa(i) + "/to", one.To})
		}
	}
	cases("cases", n.Cases)
	for i, target := range n.Targets {
		ways = append(ways, way{"targets/" + strconv.Itoa(i), target})
	}
	if n.OnError != nil {
		ways = append(ways, way{"on_error", n.OnError.To}, way{"on_error/default", n.OnError.Default})
		cases("on_error/cases", n.OnError.Cases)
	}
	if n.Next != nil {
		ways = append(ways, way{"next", n.Next.To}, way{"next/default", n.Next.Default})
		cases("next/cases", n.Next.Cases)
	}
	return ways
}
