package graph_test

import (
	"fmt"
	"time"

	"pgregory.net/rapid"
)

// treeDrawer makes up graphs. Their nodes are structured programs, so that which
// loop a node is inside of is known by construction.
type treeDrawer struct {
	t      *rapid.T
	graphs int
	nodes  int // in all, so that no graph grows without end
}

// treeLoop is a loop as its inside sees it.
type treeLoop struct{ head, after string }

// treePlace is where nodes are made up.
type treePlace struct {
	graph *treeGraph
	depth int // of graphs
	nest  int // of loops and branches
	loops []treeLoop
}

func (d *treeDrawer) chance(of int, label string) bool {
	return rapid.IntRange(1, of).Draw(d.t, label) == 1
}

func pick[T any](d *treeDrawer, label string, from ...T) T {
	return rapid.SampledFrom(from).Draw(d.t, label)
}

func (d *treeDrawer) graph(depth int) *treeGraph {
	g := &treeGraph{id: fmt.Sprintf("g%d", d.graphs), reduces: !d.chance(4, "plain"), steps: pick(d, "steps", 30, 30, 30, 12, 4)}
	d.graphs++
	if d.chance(3, "deadline") {
		g.deadline = pick(d, "deadline", 30*time.Second, 90*time.Second, 5*time.Minute)
	}
	if depth > 0 {
		g.needs = d.chance(6, "needs")
	}
	g.entry = d.list(treePlace{graph: g, depth: depth}, "end", 1, 4-depth)
	return g
}

// list makes up nodes that lead to next, and gives the first.
func (d *treeDrawer) list(p treePlace, next string, least, most int) string {
	for range rapid.IntRange(least, most).Draw(d.t, "nodes") {
		next = d.node(p, next)
	}
	return next
}

// to is mostly next, and at times somewhere else that is known.
func (d *treeDrawer) to(p treePlace, next string) string {
	if !d.chance(5, "elsewhere") {
		return next
	}
	targets := []string{"end", next}
	for _, l := range p.loops {
		targets = append(targets, l.head, l.after)
	}
	return pick(d, "to", targets...)
}

func (d *treeDrawer) node(p treePlace, next string) string {
	d.nodes++
	n := &treeNode{id: fmt.Sprintf("n%d", len(p.graph.nodes)), attempts: 1}
	for _, l := range p.loops {
		n.inside = append(n.inside, l.head)
	}
	p.graph.nodes = append(p.graph.nodes, n)
	kinds := []string{"action", "action", "foreign", "set", "pause", "wait"}
	if d.nodes < 25 {
		kinds = append(kinds, "fork", "fork", "map", "map")
		if p.depth < 2 {
			kinds = append(kinds, "workflow", "workflow", "workflow")
		}
		if p.nest < 2 {
			kinds = append(kinds, "branch", "loop")
		}
	}
	switch n.kind = pick(d, "kind", kinds...); n.kind {
	case "branch":
		inner := p
		inner.nest++
		n.when, n.yes = d.condition(), d.list(inner, next, 1, 2)
		if !d.chance(5, "no default") {
			n.no = d.list(inner, next, 0, 2)
		}
	case "loop":
		n.inside = append(n.inside, n.id)
		inner := p
		inner.nest++
		inner.loops = append(p.loops[:len(p.loops):len(p.loops)], treeLoop{n.id, next})
		n.when, n.most, n.no = d.condition(), rapid.IntRange(0, 3).Draw(d.t, "most"), next
		n.body = d.list(inner, n.id, 1, 2)
	case "fork":
		d.fork(p, n, next)
	default:
		d.fill(p, n, true)
		d.edges(p, n, next)
	}
	return n.id
}

// edges lets a node lead on, and its failure.
func (d *treeDrawer) edges(p treePlace, n *treeNode, next string) {
	n.next = d.to(p, next)
	if d.chance(6, "routed") {
		n.when, n.other = d.condition(), d.to(p, next)
	}
	if d.chance(3, "on_error") {
		n.onError, n.onlyBoom = d.to(p, next), d.chance(3, "boom")
	}
	if n.kind == "pause" && n.expires > 0 && d.chance(2, "on_expire") {
		n.onExpire = d.to(p, next)
	}
}

func (d *treeDrawer) condition() *treeCond {
	return pick(d, "when",
		overC("state.c % 2 == 0", func(c int) bool { return c%2 == 0 }), overC("state.c < 4", func(c int) bool { return c < 4 }),
		always("true", true), always("true", true), always("false", false),
		&treeCond{"input == null", func(s treeScope) (bool, string) { return s.input == nil, "" }},
	)
}

// fill makes up what a node does. Inner nodes are branches and items.
func (d *treeDrawer) fill(p treePlace, n *treeNode, deltas bool) {
	switch n.kind {
	case "action", "join":
		n.interruptions = pick(d, "interruptions", 0, 1, 2)
		n.attempts = pick(d, "attempts", 1, 1, 2, 3)
		return
	case "foreign":
		n.attempts = pick(d, "attempts", 1, 1, 2)
		n.output = pick(d, "output", nil, nil, reading("[result]", func(s treeScope) any { return []any{s.result} }))
		if deltas {
			n.delta = pick(d, "delta", nil, keyOf("k", reading("result", func(s treeScope) any { return s.result })))
		}
		return
	case "pause":
		n.schema = d.chance(2, "schema")
		n.expires = pick(d, "expires", 0, 0, 40*time.Second)
	case "wait":
		n.lasts = pick(d, "for", 15*time.Second, time.Minute)
	case "workflow":
		d.child(p, n, deltas)
		return
	case "map":
		d.mapping(p, n, deltas)
		return
	}
	n.output = pick(d, "output", nil, nil, literally(`"L"`, "L"), stateKey("c"), keyOf("v", reading("input", func(s treeScope) any { return s.input })))
	if deltas {
		n.delta = d.delta(n.id)
	}
}

// delta writes in expressions what no checker knows: branches that disagree for
// certain would be no document.
func (d *treeDrawer) delta(id string) *treeValue {
	own := reading("run.node", func(treeScope) any { return id })
	return pick(d, "delta", nil, nil,
		keyOf("c", reading("1", func(treeScope) any { return 1 })), keyOf("c", reading("'x'", func(treeScope) any { return "x" })),
		keyOf("list", literally(`["${ run.node }"]`, []any{id})), keyOf("k", own),
		keyOf("k", reading("input", func(s treeScope) any { return s.input })), keyOf("k", reading("[1, 2]", func(treeScope) any { return []any{1, 2} })),
	)
}

func (d *treeDrawer) child(p treePlace, n *treeNode, deltas bool) {
	p.depth++
	n.child = d.graph(p.depth)
	n.attempts = pick(d, "attempts", 1, 1, 2)
	n.input = pick(d, "input", nil, nil, literally("{c: 1, k: 2}", map[string]any{"c": 1, "k": 2}), keyOf("c", stateKey("c")),
		keyOf("k", reading("input", func(s treeScope) any { return s.input })), objectOnly(reading("input", func(s treeScope) any { return s.input })))
	n.deadline = pick(d, "deadline", 0, 0, 50*time.Second)
	n.limit = pick(d, "timeout", 0, 0, 70*time.Second)
	n.steps = pick(d, "max_steps", 0, 0, 5)
	n.output = pick(d, "output", nil, nil, reading("result.changed", func(s treeScope) any { return s.result.(map[string]any)["changed"] }))
	if deltas {
		n.delta = pick(d, "delta", nil, nil, nil, literally("{}", map[string]any{}),
			keyOf("k", reading("result.output", func(s treeScope) any { return s.result.(map[string]any)["output"] })))
	}
}

// objectOnly is a value that must be an object.
func objectOnly(v *treeValue) *treeValue {
	return &treeValue{v.text, func(s treeScope) (any, string) {
		given, failure := v.eval(s)
		if _, ok := given.(map[string]any); failure == "" && !ok {
			return nil, noExpression
		}
		return given, failure
	}}
}

func (d *treeDrawer) mapping(p treePlace, n *treeNode, deltas bool) {
	n.items = pick(d, "items", literally("[]", []any{}), literally("[1, 2]", []any{1, 2}), literally("[1, 2, 3]", []any{1, 2, 3}),
		literally("[1, x, x, null]", []any{1, "x", "x", nil}), literally("[5, 6, 7, 8]", []any{5, 6, 7, 8}), stateKey("list"), stateKey("k"))
	n.key = pick(d, "key", nil, nil, reading("index % 2", func(s treeScope) any { return s.index % 2 }), textOnly(reading("item", func(s treeScope) any { return s.item })))
	n.window = rapid.IntRange(1, 4).Draw(d.t, "window")
	n.attempts = pick(d, "attempts", 1, 1, 2)
	n.limit = pick(d, "timeout", 0, 12*time.Second, 45*time.Second)
	n.percent = d.chance(2, "percent")
	n.tolerates = pick(d, "count", 0, 1, 2)
	if n.percent {
		n.tolerates = pick(d, "share", 1, 25, 50, 100)
	}
	kinds := []string{"action", "action", "pause"}
	if p.depth < 2 {
		kinds = append(kinds, "workflow", "workflow")
	}
	n.item = &treeNode{id: n.id + "/item", kind: pick(d, "item", kinds...), attempts: 1}
	d.fill(p, n.item, false)
	if n.item.kind == "workflow" && d.chance(2, "item as input") {
		n.item.input = keyOf("c", reading("index", func(s treeScope) any { return s.index }))
	}
	if n.item.kind == "pause" && d.chance(2, "item shown") {
		n.item.output = reading("[item, result]", func(s treeScope) any { return []any{s.item, s.result} })
	}
	if d.chance(3, "recovers") {
		n.item.recovers = d.recovery()
	}
	n.output = pick(d, "output", nil, nil, nil, reading("result.completed", func(s treeScope) any { return s.result.(map[string]any)["completed"] }),
		reading("result", func(s treeScope) any { return s.result }))
	if deltas {
		n.delta = pick(d, "delta", nil, nil, keyOf("c", reading("result.failed", func(s treeScope) any { return s.result.(map[string]any)["failed"] })))
	}
}

// textOnly is a value that must be text or a number.
func textOnly(v *treeValue) *treeValue {
	return &treeValue{v.text, func(s treeScope) (any, string) {
		switch given, failure := v.eval(s); given.(type) {
		case string, int:
			return given, failure
		default:
			return nil, noExpression
		}
	}}
}

func (d *treeDrawer) recovery() *treeValue {
	return pick(d, "recovery", literally("lost", "lost"), reading("error.type", func(s treeScope) any { return s.failure.kind }), stateKey("none"))
}

func (d *treeDrawer) fork(p treePlace, n *treeNode, next string) {
	count := rapid.IntRange(1, 4).Draw(d.t, "branches")
	n.policy = pick(d, "policy", "all", "any", "first_success", "quorum", "collect")
	n.quorum = rapid.IntRange(1, count).Draw(d.t, "quorum")
	n.merge = pick(d, "merge", "reject_conflicts", "ordered_last_wins")
	n.window = rapid.IntRange(1, 4).Draw(d.t, "window")
	n.join = &treeNode{id: n.id + "j", kind: pick(d, "join", "noop", "noop", "join"), attempts: 1, inside: n.inside}
	for i := range count {
		kinds := []string{"action", "action", "foreign", "set", "pause", "wait", "map"}
		if p.depth < 2 && d.nodes < 25 {
			kinds = append(kinds, "workflow", "workflow")
		}
		b := &treeNode{id: fmt.Sprintf("%sb%d", n.id, i), kind: pick(d, "branch", kinds...), attempts: 1, next: n.join.id}
		d.fill(p, b, true)
		if d.chance(4, "recovers") {
			b.recovers, b.recoversDelta = d.recovery(), d.delta(b.id)
		}
		n.branches = append(n.branches, b)
	}
	d.fill(p, n.join, true)
	d.edges(p, n.join, next)
	p.graph.nodes = append(p.graph.nodes, n.join)
}
