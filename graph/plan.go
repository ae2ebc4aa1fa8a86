package graph

import (
	"fmt"

	"github.com/tidemill/tidemill/graph/value"
)

// Plan is a Document made ready to run: nodes by id, and the region of each
// loop. It is immutable, so any number of machines share one.
type Plan struct {
	Document    *Document
	Fingerprint string
	Size        int // bytes of the canonical forms of the document and of what it names
	index       map[string]int
	regions     map[int]region    // by node; loops only
	forks       map[string]int    // the fork of each branch and each join that has one
	items       map[string]*Node  // what maps run for each item, by ItemID
	children    map[string]string // fingerprints of the graphs that workflow nodes run, by node
	named       []*Document
}

// NewPlan indexes a compiled Document. It takes time and memory linear in the
// nodes, and a bit per node for each loop.
//
// Named are the documents of the graphs that this one names, directly or through
// others: a run carries them too.
func NewPlan(d *Document, named ...*Document) (*Plan, error) {
	raw, err := d.Canonical()
	if err != nil {
		return nil, err
	}
	p := &Plan{
		Document: d, Fingerprint: value.Digest(raw), Size: len(raw),
		index: make(map[string]int, len(d.Nodes)), regions: map[int]region{},
		forks: map[string]int{}, items: map[string]*Node{}, children: map[string]string{}, named: named,
	}
	for i := range d.Nodes {
		p.index[d.Nodes[i].ID] = i
		if err := p.addInner(&d.Nodes[i]); err != nil {
			return nil, err
		}
		if d.Nodes[i].Type == TypeFork {
			for _, member := range append([]string{d.Nodes[i].Join}, d.Nodes[i].Branches...) {
				p.forks[member] = i
			}
		}
	}
	for _, other := range named {
		raw, err := other.Canonical()
		if err != nil {
			return nil, err
		}
		p.Size += len(raw)
	}
	if _, ok := p.index[d.Entry]; !ok {
		return nil, fmt.Errorf("graph: entry %q is not a node", d.Entry)
	}
	p.findRegions()
	return p, nil
}

// addInner indexes what a node runs inside of it: the item of a map, and the
// graphs of children.
func (p *Plan) addInner(n *Node) error {
	if n.Item != nil {
		p.items[n.Item.ID] = n.Item
		if err := p.addInner(n.Item); err != nil {
			return err
		}
	}
	if n.Workflow == nil {
		return nil
	}
	var err error
	if n.Workflow.Document != nil {
		p.children[n.ID], err = n.Workflow.Document.Fingerprint()
		return err
	}
	for _, ref := range p.Document.Graphs {
		if ref.ID == n.Workflow.Graph {
			p.children[n.ID] = ref.Fingerprint
		}
	}
	return nil
}

// Node is the node of an id, which may be a map's [ItemID]; nil when there is
// none.
func (p *Plan) Node(id string) *Node {
	i, ok := p.index[id]
	if !ok {
		return p.items[id]
	}
	return &p.Document.Nodes[i]
}

// child is the plan of what a node runs in a run of its own: the graph of a workflow
// node, or for a map this one.
func (p *Plan) child(n *Node) (*Plan, error) {
	if n.Type == TypeMap {
		return p, nil
	}
	if n.Workflow == nil {
		return nil, fmt.Errorf("graph: node %q runs no graph", n.ID)
	}
	if n.Workflow.Document != nil {
		return NewPlan(n.Workflow.Document, p.named...)
	}
	for _, d := range p.named {
		if d.ID == n.Workflow.Graph {
			return NewPlan(d, p.named...)
		}
	}
	return nil, fmt.Errorf("graph: the graph %q of node %q is not there", n.Workflow.Graph, n.ID)
}

// forkOf is the fork that a node is a branch or the join of; nil when there is
// none. Only that fork leads to the node.
func (p *Plan) forkOf(id string) *Node {
	i, ok := p.forks[id]
	if !ok {
		return nil
	}
	return &p.Document.Nodes[i]
}

// region is the set of nodes of a loop: those on a way from its body back to
// it. A bit per node.
type region []uint64

func newRegion(nodes int) region { return make(region, (nodes+63)/64) }

func (r region) has(i int) bool { return r[i/64]&(1<<(i%64)) != 0 }
func (r region) add(i int)      { r[i/64] |= 1 << (i % 64) }

// inLoop reports whether node is part of the loop's turns.
func (p *Plan) inLoop(loop, node string) bool {
	r, ok := p.regions[p.index[loop]]
	return ok && (loop == node || r.has(p.index[node]))
}

// findRegions computes, for each loop, the nodes that are reached from its
// body without passing the loop and from which the loop is reached. A node
// with a callback for a route may lead anywhere.
func (p *Plan) findRegions() {
	nodes := p.Document.Nodes
	var forward, backward [][]int
	for i := range nodes {
		if nodes[i].Type != TypeLoop {
			continue
		}
		if forward == nil {
			forward, backward = p.edges()
		}
		reached := flood(forward, p.index[nodes[i].Body], i)
		back := flood(backward, i, -1)
		inside := make(region, len(reached))
		for word := range inside {
			inside[word] = reached[word] & back[word]
		}
		p.regions[i] = inside
	}
}

// edges lists, per node, where it leads and where it is led to from.
func (p *Plan) edges() (forward, backward [][]int) {
	nodes := p.Document.Nodes
	hub := len(nodes) // stands for "any node", so that edges stay linear
	forward, backward = make([][]int, hub+1), make([][]int, hub+1)
	link := func(from, to int) {
		forward[from] = append(forward[from], to)
		backward[to] = append(backward[to], from)
	}
	for i := range nodes {
		link(hub, i)
		targets, anywhere := nodes[i].Leads()
		for _, target := range targets {
			if to, ok := p.index[target]; ok {
				link(i, to)
			}
		}
		if anywhere {
			link(i, hub)
		}
	}
	return forward, backward
}

// flood marks what is reached from start along edges, without going through
// the node stop.
func flood(edges [][]int, start, stop int) region {
	seen := newRegion(len(edges))
	if start == stop {
		return seen
	}
	seen.add(start)
	open := []int{start}
	for len(open) > 0 {
		at := open[len(open)-1]
		open = open[:len(open)-1]
		for _, to := range edges[at] {
			if to != stop && !seen.has(to) {
				seen.add(to)
				open = append(open, to)
			}
		}
	}
	return seen
}

// Leads lists the targets a node names, in declared order; End is among them.
// Anywhere is set when a callback chooses among all nodes.
func (n *Node) Leads() (targets []string, anywhere bool) {
	add := func(target string) {
		if target != "" {
			targets = append(targets, target)
		}
	}
	for _, c := range n.Cases {
		add(c.To)
	}
	add(n.Default)
	targets = append(targets, n.Targets...)
	targets = append(targets, n.Branches...)
	add(n.Join)
	add(n.Body)
	add(n.Done)
	add(n.OnExhausted)
	add(n.OnExpire)
	for _, route := range n.routes() {
		add(route.To)
		for _, c := range route.Cases {
			add(c.To)
		}
		add(route.Default)
		anywhere = anywhere || route.Call != ""
	}
	return targets, anywhere
}

func (n *Node) routes() []*Route {
	var routes []*Route
	if n.Next != nil {
		routes = append(routes, n.Next)
	}
	if n.OnError != nil {
		routes = append(routes, &n.OnError.Route)
	}
	return routes
}
