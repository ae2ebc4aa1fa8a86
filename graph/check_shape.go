package graph

import (
	"slices"
	"strings"
)

// shape warns about what the edges show: nodes that are never reached, ends
// that are never reached, cycles that nothing bounds. It runs on a document
// without errors, for each of them would show here a second time.
func (c *checker) shape() {
	g := newShape(c.document, c.index)
	reached := g.reach(c.index[c.document.Entry])
	for i := range c.document.Nodes {
		node, from := c.node(i)
		if !reached.all && !reached.nodes[i] {
			c.warn(from.at, codeUnreachable, "lead an edge to it, or remove it", "no way leads from the entry to %q", node.ID)
		}
		if node.Type == TypeJoin && !c.joins(node.ID) {
			c.warn(from.at, codeOrphanJoin, "remove it, or let it be", "no fork ends at the join %q", node.ID)
		}
	}
	if !reached.all && !reached.end {
		c.warn("/entry", codeNoTerminal, "lead one of the edges to end", "no way leads from the entry to the end")
	}
	for _, cycle := range g.cycles() {
		c.warn(c.origins[cycle[0]].at, codeUnboundedCycle, "lead the cycle through a loop node, which counts its turns",
			"only max_steps bounds the cycle of %s", c.names(cycle))
	}
}

// joins reports whether a fork ends at a node.
func (c *checker) joins(id string) bool {
	return slices.ContainsFunc(c.document.Nodes, func(n Node) bool { return n.Type == TypeFork && n.Join == id })
}

// names lists the first nodes of a cycle.
func (c *checker) names(nodes []int) string {
	const most = 5
	var ids []string
	for _, i := range nodes[:min(len(nodes), most)] {
		ids = append(ids, c.document.Nodes[i].ID)
	}
	if len(nodes) > most {
		ids = append(ids, "…")
	}
	return strings.Join(ids, ", ")
}

// shape is the graph of static edges. A callback may lead anywhere, which
// reaches every node but is no edge.
type shape struct {
	forward  [][]int // by node, with the turns of loops
	bounded  []int   // by node, how many of forward's first entries a loop counts
	anywhere []bool
	ends     []bool
}

func newShape(doc *Document, index map[string]int) *shape {
	n := len(doc.Nodes)
	g := &shape{forward: make([][]int, n), bounded: make([]int, n), anywhere: make([]bool, n), ends: make([]bool, n)}
	for i := range doc.Nodes {
		node := &doc.Nodes[i]
		targets, anywhere := node.Leads()
		g.anywhere[i] = anywhere
		if node.Type == TypeLoop {
			g.bounded[i] = 1
			g.forward[i] = append(g.forward[i], index[node.Body])
			targets = []string{node.Done, node.OnExhausted}
		}
		for _, target := range targets {
			if target == End {
				g.ends[i] = true
			} else {
				g.forward[i] = append(g.forward[i], index[target])
			}
		}
	}
	return g
}

// reached is what can be reached from the entry.
type reached struct {
	nodes []bool
	end   bool
	all   bool // a callback on the way may lead anywhere
}

func (g *shape) reach(entry int) reached {
	out := reached{nodes: make([]bool, len(g.forward))}
	out.nodes[entry] = true
	open := []int{entry}
	for len(open) > 0 {
		at := open[len(open)-1]
		open = open[:len(open)-1]
		out.end = out.end || g.ends[at]
		out.all = out.all || g.anywhere[at]
		for _, to := range g.forward[at] {
			if !out.nodes[to] {
				out.nodes[to] = true
				open = append(open, to)
			}
		}
	}
	return out
}

// cycles are the groups of nodes that lead to each other without taking a turn
// that a loop counts, each in declared order, sorted by their first nodes. A
// node that leads to itself is one.
func (g *shape) cycles() [][]int {
	s := &components{shape: g, order: make([]int, len(g.forward)), low: make([]int, len(g.forward)), open: make([]bool, len(g.forward))}
	for i := range g.forward {
		if s.order[i] == 0 {
			s.visit(i)
		}
	}
	slices.SortFunc(s.cycles, func(a, b []int) int { return a[0] - b[0] })
	return s.cycles
}

// components finds strongly connected components in one pass (Tarjan).
type components struct {
	*shape
	order, low []int // from 1; 0: not seen
	open       []bool
	stack      []int
	seen       int
	cycles     [][]int
}

func (s *components) visit(i int) {
	s.seen++
	s.order[i], s.low[i], s.open[i] = s.seen, s.seen, true
	s.stack = append(s.stack, i)
	free := s.forward[i][s.bounded[i]:]
	for _, to := range free {
		if s.order[to] == 0 {
			s.visit(to)
			s.low[i] = min(s.low[i], s.low[to])
		} else if s.open[to] {
			s.low[i] = min(s.low[i], s.order[to])
		}
	}
	if s.low[i] == s.order[i] {
		s.close(i, slices.Contains(free, i))
	}
}

// close takes the component that began at i off the stack.
func (s *components) close(i int, loopsItself bool) {
	from := len(s.stack) - 1
	for s.stack[from] != i {
		from--
	}
	group := slices.Clone(s.stack[from:])
	s.stack = s.stack[:from]
	for _, member := range group {
		s.open[member] = false
	}
	if len(group) > 1 || loopsItself {
		slices.Sort(group)
		s.cycles = append(s.cycles, group)
	}
}
