package graph_test

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/tidemill/tidemill/graph"
)

// treeWorld is what all runs of a tree share: the time, and the fault that is
// planted in the rules, if any.
type treeWorld struct {
	now       time.Time
	fault     string
	admission bool // every attempt needs a permit
}

// faulty reports whether a fault is planted.
func (w *treeWorld) faulty(fault string) bool { return w.fault == fault }

// treeRun is one run, told as plainly as it can be told: a place in the graph,
// with branches or items below it, and whatever happens is carried through at
// once until nothing moves.
type treeRun struct {
	*treeWorld
	graph  *treeGraph
	prefix string
	isKid  bool

	state, began, own map[string]any
	output            any
	hasOutput         bool
	steps, left       int
	visits, turns     map[string]int
	at                *treeVisit // nil once the end is reached

	stopping *treeOutcome // how it is being ended
	outcome  *treeOutcome

	limited  bool
	byNode   bool          // the budget is the timeout of the parent's node
	budget   time.Duration // what is left while the clock stands still
	deadline time.Time     // zero while it stands still

	wasOpen  map[string]bool // pauses that were ever known
	forwards []treeForward
	requests int
	replies  []treeReply       // for the parent
	verdicts map[string]string // of those who ask this run itself
}

// treeOutcome is how a run ended.
type treeOutcome struct {
	status  graph.Status
	failure *treeFailure
	output  any
}

// treeFailure is a failure without its words.
type treeFailure struct {
	kind, node, addr string
	attempts         int
	cause            *treeFailure
	details          any
}

// value is the failure as expressions see it.
func (f *treeFailure) value() any {
	if f == nil {
		return nil
	}
	v := map[string]any{"type": f.kind, "node": f.node, "address": f.addr, "attempts": f.attempts, "cause": f.cause.value()}
	if f.details != nil {
		v["details"] = f.details
	}
	return v
}

// treeVisit is one visit of a node: of the run's place, a branch or an item.
type treeVisit struct {
	node  *treeNode
	addr  string
	input any
	phase string // ready, asking, running, cancelling, resting, paused, forking, mapping, done
	due   time.Time
	tried int // attempts that ended

	permit string // none, free or held

	interruptions, missing int
	schema                 bool           // of its pause
	keeps                  map[string]any // the delta of a paused branch

	owner   *treeVisit // of a branch or an item
	index   int
	item    any
	parts   []*treePart // branches or items
	verdict string      // on them

	child *treeRun
	known treeKnown
}

// treeKnown is what a run knows of a child: what it was told last.
type treeKnown struct {
	paused bool
	pauses []treePause
}

// treePart is a branch or an item as its fork or map sees it.
type treePart struct {
	visit   *treeVisit
	status  string // unstarted, active, completed, failed, cancelled, skipped
	output  any
	delta   map[string]any
	failure *treeFailure
	tried   int
	judged  bool
	key     string
	value   any
}

func newTreeRun(w *treeWorld, g *treeGraph, input map[string]any) *treeRun {
	r := &treeRun{
		treeWorld: w, graph: g, state: maps.Clone(input), own: map[string]any{}, left: g.steps,
		visits: map[string]int{}, turns: map[string]int{}, wasOpen: map[string]bool{}, verdicts: map[string]string{},
	}
	r.began = maps.Clone(input)
	r.limit(g.deadline)
	r.at = &treeVisit{node: g.node(g.entry), input: anyMap(input), phase: "ready"}
	return r
}

// anyMap is an object as a value of its own.
func anyMap(m map[string]any) any { return maps.Clone(m) }

// limit bounds the budget of running time.
func (r *treeRun) limit(most time.Duration) bool {
	if most <= 0 || r.limited && r.budget <= most {
		return false
	}
	r.limited, r.budget = true, most
	return true
}

// settle carries the run on until nothing moves. Its clock runs meanwhile.
func (r *treeRun) settle() {
	if r.limited && r.stopping == nil && r.deadline.IsZero() {
		r.budget, r.deadline = 0, r.now.Add(r.budget)
	}
	for r.stopping == nil && r.progress(r.at) {
	}
	r.rest()
}

// rest ends a run whose last open work has stopped, and keeps its clock.
func (r *treeRun) rest() {
	if r.stopping != nil && r.outcome == nil && !slices.ContainsFunc(r.all(), func(v *treeVisit) bool { return v.phase == "cancelling" }) {
		r.outcome = r.stopping
	}
	if !r.limited || r.stopping != nil {
		return
	}
	paused := r.paused()
	if r.faulty("the clock runs while the child is paused") && r.at.child != nil {
		paused = false
	}
	switch {
	case paused && !r.deadline.IsZero():
		r.budget, r.deadline = r.deadline.Sub(r.now), time.Time{}
	case !paused && r.deadline.IsZero():
		r.budget, r.deadline = 0, r.now.Add(r.budget)
	}
}

// all are the visits of the run that are under way.
func (r *treeRun) all() []*treeVisit {
	var list []*treeVisit
	var walk func(*treeVisit)
	walk = func(v *treeVisit) {
		list = append(list, v)
		for _, p := range v.parts {
			if p.status == "active" {
				walk(p.visit)
			}
		}
	}
	if r.at != nil {
		walk(r.at)
	}
	return list
}

// visitOf is the visit of an address that is under way.
func (r *treeRun) visitOf(addr string) *treeVisit {
	for _, v := range r.all() {
		if v.addr == addr && v.phase != "done" {
			return v
		}
	}
	return nil
}

// paused reports whether all of the run waits for people.
func (r *treeRun) paused() bool {
	return r.stopping == nil && r.at != nil && waitsForPeople(r.at)
}

func waitsForPeople(v *treeVisit) bool {
	switch v.phase {
	case "paused":
		return true
	case "running":
		return v.child != nil && v.known.paused
	case "forking", "mapping":
		open := false
		for _, p := range v.parts {
			if p.status == "active" && !waitsForPeople(p.visit) {
				return false
			}
			open = open || p.status == "active"
		}
		return open
	default:
		return false
	}
}

func (r *treeRun) status() graph.Status {
	switch {
	case r.outcome != nil:
		return r.outcome.status
	case r.paused():
		return graph.StatusPaused
	default:
		return graph.StatusRunning
	}
}

// progress takes a visit one step on; false when it waits for the world.
func (r *treeRun) progress(v *treeVisit) bool {
	switch v.phase {
	case "ready":
		r.enter(v)
		return true
	case "forking":
		return r.advanceFork(v)
	case "mapping":
		return r.advanceMap(v)
	default:
		return false
	}
}

// enter takes the step of a visit and begins it. A fork and an item cost none.
func (r *treeRun) enter(v *treeVisit) {
	if v.addr == "" {
		if v.node.kind != "fork" {
			if r.left == 0 {
				r.stop(graph.StatusFailed, &treeFailure{kind: graph.ErrTypeBudgetExhausted, node: v.node.id})
				return
			}
			r.left--
			r.steps++
		}
		r.visits[v.node.id]++
		v.addr = join(r.prefix, fmt.Sprintf("%s#%d", v.node.id, r.visits[v.node.id]))
	}
	r.begin(v)
}

func join(prefix, segment string) string {
	if prefix == "" {
		return segment
	}
	return prefix + "/" + segment
}

// begin lets a node do what it does, for the first time or again.
func (r *treeRun) begin(v *treeVisit) {
	n := v.node
	switch n.kind {
	case "action", "foreign", "join":
		v.phase = "running"
		if r.admission && v.permit == "" {
			v.phase = "asking"
		}
	case "set", "noop":
		r.finish(v, graph.ControlOK, v.input, nil, nil)
	case "pause":
		r.openPause(v, n.schema, n.expires)
	case "wait":
		r.sleep(v, n.lasts)
	case "branch":
		r.branch(v)
	case "loop":
		r.loop(v)
	case "fork":
		v.phase = "forking"
		for _, b := range n.branches {
			v.parts = append(v.parts, &treePart{status: "unstarted", visit: &treeVisit{node: b, input: v.input, owner: v, index: len(v.parts)}})
		}
	case "map":
		r.openMap(v)
	case "workflow":
		r.startChild(v)
	}
}

func (r *treeRun) sleep(v *treeVisit, d time.Duration) {
	v.phase, v.due = "resting", r.now.Add(d)
	if d >= time.Second && !r.faulty("who sleeps keeps its permit") {
		v.permit = ""
	}
}

func (r *treeRun) openPause(v *treeVisit, schema bool, expires time.Duration) {
	v.phase, v.schema = "paused", schema
	if expires > 0 {
		v.due = r.now.Add(expires)
	}
	r.wasOpen[v.addr] = true
}

func (r *treeRun) branch(v *treeVisit) {
	holds, failure := v.node.when.eval(r.scope(v))
	switch {
	case failure != "":
		r.fail(v, &treeFailure{kind: failure})
	case holds:
		r.move(v.node.yes, v.input)
	case v.node.no == "":
		r.fail(v, &treeFailure{kind: graph.ErrTypeRouteFailed})
	default:
		r.move(v.node.no, v.input)
	}
}

func (r *treeRun) loop(v *treeVisit) {
	holds, failure := v.node.when.eval(r.scope(v))
	switch {
	case failure != "":
		r.fail(v, &treeFailure{kind: failure})
	case holds && r.turns[v.node.id] < v.node.most:
		r.turns[v.node.id]++
		r.move(v.node.body, v.input)
	default:
		r.move(v.node.no, v.input)
	}
}

// scope is what the expressions of a visit see.
func (r *treeRun) scope(v *treeVisit) treeScope {
	return treeScope{state: r.state, input: v.input, item: v.item, index: v.index}
}

// move leaves the run's place for another. Turns of loops that are left are
// forgotten.
func (r *treeRun) move(target string, input any) {
	if target == "end" {
		output := anyMap(r.state)
		if r.hasOutput {
			output = r.output
		}
		r.at = nil
		r.stopping = &treeOutcome{status: graph.StatusCompleted, output: output}
		return
	}
	n := r.graph.node(target)
	for id := range r.turns {
		if !slices.Contains(n.inside, id) {
			delete(r.turns, id)
		}
	}
	r.at = &treeVisit{node: n, input: input, phase: "ready"}
}

// jump is a move to a target that an action chose.
func (r *treeRun) jump(v *treeVisit, target string) {
	n := r.graph.node(target)
	if target != "end" && (n == nil || n.kind == "join" || n.kind == "noop") {
		r.stop(graph.StatusFailed, r.locate(v, &treeFailure{kind: graph.ErrTypeRouteFailed}))
		return
	}
	r.move(target, v.input)
}

// stop begins to end the run. What is open is asked to stop.
func (r *treeRun) stop(status graph.Status, why *treeFailure) {
	if r.stopping != nil {
		return
	}
	r.stopping = &treeOutcome{status: status, failure: why}
	for _, v := range r.all() {
		switch v.phase {
		case "running":
			r.cancelOpen(v)
			if r.faulty("who is asked to stop gives its permit back") {
				v.permit = ""
			}
		case "cancelling":
		default:
			v.phase = "done"
		}
	}
}

// cancelOpen asks what is open to stop; it is awaited.
func (r *treeRun) cancelOpen(v *treeVisit) {
	v.phase = "cancelling"
	if v.child != nil {
		r.forget(v)
		v.child.cancel()
	}
}

// cancel ends the run from outside.
func (r *treeRun) cancel() {
	if r.outcome == nil {
		r.stop(graph.StatusCancelled, &treeFailure{kind: graph.ErrTypeCancelled})
		r.rest()
	}
}

// expire ends a run whose budget is spent.
func (r *treeRun) expire() {
	kind := graph.ErrTypeDeadlineExceeded
	if r.byNode {
		kind = graph.ErrTypeActionTimedOut
	}
	r.stop(graph.StatusTimedOut, &treeFailure{kind: kind})
	r.rest()
}
