package graph_test

import (
	"fmt"
	"strings"
	"time"
)

// treeGraph is a made-up graph, as its model reads it and as a document.
type treeGraph struct {
	id       string
	entry    string
	steps    int
	deadline time.Duration
	reduces  bool // c is summed, list appended to; else the last value stands
	needs    bool // its input must have c
	nodes    []*treeNode
}

// node is a node that edges may lead to; nil when there is none.
func (g *treeGraph) node(id string) *treeNode {
	for _, n := range g.nodes {
		if n.id == id {
			return n
		}
	}
	return nil
}

// treeNode is a node of any type. Which fields are set is its kind's affair.
type treeNode struct {
	id, kind string   // action, foreign, set, pause, wait, branch, loop, fork, join, noop (a join that runs nothing), map, workflow
	inside   []string // the loops around it, and itself when it is one

	next            string    // where it leads
	when            *treeCond // leads elsewhere when it holds
	other           string    // there
	output, delta   *treeValue
	onError         string     // where its failure leads
	onlyBoom        bool       // when the failure is a boom
	recovers        *treeValue // of a branch or an item: the output
	recoversDelta   *treeValue // of a branch
	attempts        int
	interruptions   int
	schema          bool // an answer must be an object
	expires         time.Duration
	onExpire        string
	lasts           time.Duration // of a wait
	yes, no         string        // of a branch
	body            string        // of a loop
	most            int           // turns
	branches        []*treeNode
	join            *treeNode
	policy, merge   string
	quorum, window  int
	items, key      *treeValue
	tolerates       int // of 100 when percent is set
	percent         bool
	item            *treeNode
	child           *treeGraph
	input           *treeValue
	deadline, limit time.Duration // limit is its timeout
	steps           int
}

// treeScope is what an expression sees.
type treeScope struct {
	state         map[string]any
	input, result any
	item          any
	index         int
	failure       *treeFailure
}

// treeValue is an expression and what it means; the kind of the failure is empty
// when there is none.
type treeValue struct {
	text string
	eval func(treeScope) (any, string)
}

// treeCond is a condition and what it means.
type treeCond struct {
	text string
	eval func(treeScope) (bool, string)
}

const noExpression = "expression_failed"

func literally(text string, v any) *treeValue {
	return &treeValue{text, func(treeScope) (any, string) { return v, "" }}
}

func stateKey(key string) *treeValue {
	return &treeValue{fmt.Sprintf(`"${ state.%s }"`, key), func(s treeScope) (any, string) {
		v, ok := s.state[key]
		if !ok {
			return nil, noExpression
		}
		return v, ""
	}}
}

func reading(text string, eval func(treeScope) any) *treeValue {
	return &treeValue{`"${ ` + text + ` }"`, func(s treeScope) (any, string) { return eval(s), "" }}
}

// keyed is an object of one key.
func keyOf(key string, v *treeValue) *treeValue {
	return &treeValue{fmt.Sprintf(`{%s: %s}`, key, v.text), func(s treeScope) (any, string) {
		inner, failure := v.eval(s)
		return map[string]any{key: inner}, failure
	}}
}

func overC(text string, holds func(int) bool) *treeCond {
	return &treeCond{text, func(s treeScope) (bool, string) {
		c, ok := s.state["c"].(int)
		if !ok {
			return false, noExpression
		}
		return holds(c), ""
	}}
}

func always(text string, holds bool) *treeCond {
	return &treeCond{text, func(treeScope) (bool, string) { return holds, "" }}
}

// fields writes "name: text" of what is set.
type fields []string

func (f *fields) add(name, text string) {
	if text != "" {
		*f = append(*f, name+": "+text)
	}
}

func (f *fields) value(name string, v *treeValue) {
	if v != nil {
		f.add(name, v.text)
	}
}

func (f *fields) time(name string, d time.Duration) {
	if d > 0 {
		f.add(name, d.String())
	}
}

// document writes the graph without version and id; nodes in one line each.
func (g *treeGraph) document() string {
	f := fields{"entry: " + g.entry, fmt.Sprintf("max_steps: %d", g.steps)}
	f.time("deadline", g.deadline)
	if g.reduces {
		f.add("state_reducers", "{c: sum, list: append}")
	}
	if g.needs {
		f.add("input_schema", "{type: object, required: [c]}")
	}
	var nodes []string
	for _, n := range g.nodes {
		nodes = append(nodes, n.document())
		for _, b := range n.branches {
			nodes = append(nodes, b.document())
		}
	}
	return strings.Join(f, "\n") + "\nnodes:\n  - " + strings.Join(nodes, "\n  - ") + "\n"
}

func (g *treeGraph) inline() string {
	doc := strings.ReplaceAll(strings.TrimSpace(g.document()), "nodes:\n  - ", "nodes: [")
	return "{version: 1, id: " + g.id + ", " + strings.ReplaceAll(strings.ReplaceAll(doc, "\n  - ", ", "), "\n", ", ") + "]}"
}

func (n *treeNode) document() string {
	var f fields
	f.add("id", n.id)
	n.own(&f)
	f.value("output", n.output)
	f.value("delta", n.delta)
	n.failing(&f)
	switch {
	case n.next == "":
	case n.when != nil:
		f.add("next", fmt.Sprintf(`{cases: [{when: "%s", to: %s}], default: %s}`, n.when.text, n.other, n.next))
	default:
		f.add("next", n.next)
	}
	return "{" + strings.Join(f, ", ") + "}"
}

// own writes the fields of the node's type.
func (n *treeNode) own(f *fields) {
	switch n.kind {
	case "action", "join":
		f.add("type", n.kind)
		f.add("run", "act")
		f.add("args", "{}")
	case "foreign":
		f.add("run", "{activity: Act}")
	case "noop":
		f.add("type", "join")
	case "set":
		f.add("type", "set")
	case "pause":
		f.add("type", "pause")
		if n.schema {
			f.add("resume_schema", "{type: object}")
		}
		f.time("expires", n.expires)
		f.add("on_expire", n.onExpire)
	case "wait":
		f.add("type", "wait")
		f.time("for", n.lasts)
	case "branch":
		f.add("type", "branch")
		f.add("cases", fmt.Sprintf(`[{when: "%s", to: %s}]`, n.when.text, n.yes))
		f.add("default", n.no)
	case "loop":
		f.add("type", "loop")
		f.add("while", `"`+n.when.text+`"`)
		f.add("max_iterations", fmt.Sprint(n.most))
		f.add("body", n.body)
		f.add("done", n.no)
	case "fork":
		n.ownFork(f)
	case "map":
		n.ownMap(f)
	case "workflow":
		f.add("type", "workflow")
		f.add("workflow", n.child.inline())
		f.value("input", n.input)
		f.time("deadline", n.deadline)
		f.time("timeout", n.limit)
		if n.steps > 0 {
			f.add("max_steps", fmt.Sprint(n.steps))
		}
	}
}

func (n *treeNode) ownFork(f *fields) {
	f.add("type", "fork")
	var ids []string
	for _, b := range n.branches {
		ids = append(ids, b.id)
	}
	f.add("branches", "["+strings.Join(ids, ", ")+"]")
	f.add("join", n.join.id)
	policy := n.policy
	if policy == "quorum" {
		policy = fmt.Sprintf("{quorum: %d}", n.quorum)
	}
	f.add("join_policy", policy)
	f.add("merge", n.merge)
	f.add("max_concurrency", fmt.Sprint(n.window))
}

func (n *treeNode) ownMap(f *fields) {
	f.add("type", "map")
	f.value("items", n.items)
	f.value("key", n.key)
	f.add("max_concurrency", fmt.Sprint(n.window))
	f.time("timeout", n.limit)
	switch {
	case n.percent:
		f.add("tolerate", fmt.Sprintf("{percent: %d}", n.tolerates))
	case n.tolerates > 0:
		f.add("tolerate", fmt.Sprintf("{count: %d}", n.tolerates))
	}
	f.add("item", strings.Replace(n.item.document(), "id: "+n.item.id+", ", "", 1))
}

// The retries of a node that has some.
const (
	treeBackoff    = 10 * time.Second
	treeMaxBackoff = 25 * time.Second
)

// failing writes what becomes of a failure.
func (n *treeNode) failing(f *fields) {
	if n.attempts > 1 {
		f.add("retry", fmt.Sprintf("{max_attempts: %d, backoff: 10s, coefficient: 2, max_backoff: 25s, non_retryable: [fatal]}", n.attempts))
	}
	if n.interruptions > 0 {
		f.add("max_interruptions", fmt.Sprint(n.interruptions))
	}
	switch {
	case n.recovers != nil && n.recoversDelta != nil:
		f.add("on_error", "{output: "+n.recovers.text+", delta: "+n.recoversDelta.text+"}")
	case n.recovers != nil:
		f.add("on_error", "{output: "+n.recovers.text+"}")
	case n.onError != "" && n.onlyBoom:
		f.add("on_error", `{cases: [{when: "error.type == 'boom'", to: `+n.onError+`}]}`)
	case n.onError != "":
		f.add("on_error", n.onError)
	}
}
