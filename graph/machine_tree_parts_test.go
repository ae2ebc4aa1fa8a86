package graph_test

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tidemill/tidemill/graph"
)

// part is how the owner of a branch or an item sees it.
func (v *treeVisit) part() *treePart { return v.owner.parts[v.index] }

// settlePart ends a branch or an item.
func (r *treeRun) settlePart(v *treeVisit, status string, output any, delta map[string]any, f *treeFailure) {
	p := v.part()
	p.status, p.output, p.delta, p.failure, p.tried = status, output, delta, f, v.tried
	v.phase, v.due = "done", time.Time{}
	if v.owner.node.kind == "map" {
		if r.faulty("the delta of an item is applied") {
			r.state, _ = r.graph.reduced(r.state, delta)
		}
		p.delta = nil
	}
}

// commitPart takes what a branch or an item gives. Stop is an output like others.
func (r *treeRun) commitPart(v *treeVisit, given treeResult) {
	if given.control == graph.ControlPause {
		v.keeps = given.delta
		r.openPause(v, given.pause.ResumeSchema != nil, given.pause.Expires.Std())
		return
	}
	r.settlePart(v, "completed", given.output, given.delta, nil)
}

// failPart settles a branch or an item as failed, or as completed with what its
// on_error gives.
func (r *treeRun) failPart(v *treeVisit, f *treeFailure) {
	if v.node.recovers == nil || f.kind == graph.ErrTypeCancelled {
		r.settlePart(v, "failed", nil, nil, f)
		return
	}
	scope := r.scope(v)
	scope.failure = f
	output, failure := v.node.recovers.eval(scope)
	var delta map[string]any
	if failure == "" && v.node.recoversDelta != nil {
		var given any
		given, failure = v.node.recoversDelta.eval(scope)
		delta, _ = given.(map[string]any)
	}
	if failure != "" {
		r.settlePart(v, "failed", nil, nil, r.locate(v, &treeFailure{kind: failure}))
		return
	}
	r.settlePart(v, "completed", output, delta, nil)
}

// lose ends a branch or an item that nobody wants any more. What is open is asked
// to stop, and awaited.
func (r *treeRun) lose(v *treeVisit) {
	switch v.phase {
	case "asking":
		if !r.faulty("who waits for a permit is awaited") {
			r.lost(v)
		}
	case "running":
		r.cancelOpen(v)
		if r.faulty("losers are not awaited") {
			r.lost(v)
		}
	case "cancelling":
	case "mapping":
		r.dismissMap(v, "dismissed")
	default:
		r.lost(v)
	}
}

func (r *treeRun) lost(v *treeVisit) {
	r.settlePart(v, "cancelled", nil, nil, r.locate(v, &treeFailure{kind: graph.ErrTypeCancelled}))
}

// settleParts carries branches or items on until they wait for the world. All are
// entered before what is below one of them begins: without a step for the last of
// them nothing below has begun.
func (r *treeRun) settleParts(v *treeVisit) {
	for _, p := range v.parts {
		if p.status == "active" && p.visit.phase == "ready" && r.stopping == nil {
			r.enter(p.visit)
		}
	}
	for _, p := range v.parts {
		for p.status == "active" && r.stopping == nil && r.progress(p.visit) {
		}
	}
}

// start takes up the next branches or items while the window has room.
func (r *treeRun) start(v *treeVisit, window int) bool {
	active, started := v.count("active"), false
	for _, p := range v.parts {
		if p.status == "active" && p.visit.phase == "paused" && r.faulty("a pause gives its place away") {
			active--
		}
	}
	for _, p := range v.parts {
		if p.status == "unstarted" && active < window {
			p.status, p.visit.phase = "active", "ready"
			active++
			started = true
		}
	}
	return started
}

func (v *treeVisit) count(statuses ...string) int {
	n := 0
	for _, p := range v.parts {
		if slices.Contains(statuses, p.status) {
			n++
		}
	}
	return n
}

// advanceFork judges a fork when its branches have come to rest, starts others,
// or joins.
func (r *treeRun) advanceFork(v *treeVisit) bool {
	r.settleParts(v)
	switch {
	case r.stopping != nil:
		return false
	case v.verdict == "":
		if v.verdict = r.judge(v); v.verdict == "" {
			return r.start(v, v.node.window)
		}
		for _, p := range v.parts {
			switch p.status {
			case "active":
				r.lose(p.visit)
			case "unstarted":
				p.status = "skipped"
			}
		}
		return true
	case v.count("active") > 0:
		return false
	}
	r.joinFork(v)
	return true
}

// judge looks at the branches that settled since it last did, in declared order,
// up to the one that decides. Completed ones behind that came too late.
func (r *treeRun) judge(v *treeVisit) string {
	verdict := ""
	for _, p := range v.parts {
		if p.judged || p.status == "unstarted" || p.status == "active" {
			continue
		}
		p.judged = true
		if verdict == "" {
			verdict = v.decided()
			continue
		}
		if verdict == "join" && p.status == "completed" && !r.faulty("who comes too late counts") {
			p.status, p.output, p.delta, p.failure = "cancelled", nil, nil, r.locate(p.visit, &treeFailure{kind: graph.ErrTypeCancelled})
		}
	}
	return verdict
}

// decided reads the policy to the letter, over the branches that were judged.
func (v *treeVisit) decided() string {
	n, won, lost := len(v.parts), 0, 0
	for _, p := range v.parts {
		switch {
		case p.judged && p.status == "completed":
			won++
		case p.judged:
			lost++
		}
	}
	need := v.node.quorum
	switch v.node.policy {
	case "all", "any":
		if lost > 0 {
			return "branch"
		}
		need = n
		if v.node.policy == "any" {
			need = 1
		}
	case "first_success":
		need = 1
	case "collect":
		if won+lost == n {
			return "join"
		}
		return ""
	}
	switch {
	case won >= need:
		return "join"
	case n-lost < need:
		return "nobody"
	default:
		return ""
	}
}

// joinFork goes on with a decided fork.
func (r *treeRun) joinFork(v *treeVisit) {
	if v.verdict != "join" {
		f := &treeFailure{kind: graph.ErrTypeForkBranchFailed}
		if v.verdict == "nobody" {
			f.kind = graph.ErrTypeForkJoinUnsatisfied
		}
		for _, p := range v.parts {
			if p.status == "failed" && f.cause == nil {
				f.cause = p.failure
			}
		}
		r.fail(v, f)
		return
	}
	given := map[string]any{}
	for _, p := range v.parts {
		switch id := p.visit.node.id; {
		case v.node.policy == "collect":
			given[id] = map[string]any{"status": p.status, "output": p.output, "error": p.failure.value()}
		case p.status == "completed":
			given[id] = p.output
		}
	}
	state, deltas, failure := r.merged(v)
	if failure != "" {
		r.fail(v, &treeFailure{kind: failure})
		return
	}
	r.state, r.output, r.hasOutput = state, given, true
	for _, delta := range deltas {
		r.contribute(delta)
	}
	r.move(v.node.join.id, given)
}

// merged is the state after a fork: the values of keys that combine one after the
// other, of each other key the last one declared.
func (r *treeRun) merged(v *treeVisit) (map[string]any, []map[string]any, string) {
	last := map[string]*treePart{}
	for _, p := range v.parts {
		for key, value := range p.delta {
			if first := last[key]; first != nil && v.node.merge == "reject_conflicts" && !r.graph.combines(key) && !reflect.DeepEqual(first.delta[key], value) {
				return nil, nil, graph.ErrTypeForkMergeFailed
			}
			last[key] = p
		}
	}
	state := r.state
	var deltas []map[string]any
	for _, p := range v.parts {
		delta := maps.Clone(p.delta)
		maps.DeleteFunc(delta, func(key string, _ any) bool { return last[key] != p && !r.graph.combines(key) })
		var failure string
		if state, failure = r.graph.reduced(state, delta); failure != "" {
			return nil, nil, failure
		}
		deltas = append(deltas, delta)
	}
	return state, deltas, ""
}

// openMap takes up the list of a map.
func (r *treeRun) openMap(v *treeVisit) {
	given, failure := v.node.items.eval(r.scope(v))
	list, isList := given.([]any)
	if failure == "" && !isList {
		failure = graph.ErrTypeMapItemsInvalid
	}
	v.parts, v.verdict = nil, ""
	for i, item := range list {
		p := &treePart{status: "unstarted", value: item}
		addr := v.attemptAddr()
		if r.faulty("a second attempt has the addresses of the first") {
			addr = v.addr
		}
		p.visit = &treeVisit{node: v.node.item, input: v.input, owner: v, index: i, item: item, addr: fmt.Sprintf("%s/%d", addr, i)}
		if v.node.key != nil && failure == "" {
			var key any
			key, failure = v.node.key.eval(r.scope(p.visit))
			p.key = fmt.Sprint(key)
		}
		v.parts = append(v.parts, p)
	}
	if failure != "" {
		v.parts = nil
		r.fail(v, &treeFailure{kind: failure})
		return
	}
	v.phase = "mapping"
	if v.node.limit > 0 {
		v.due = r.now.Add(v.node.limit)
	}
}

// attemptAddr is the address of the attempt that is under way.
func (v *treeVisit) attemptAddr() string {
	if v.tried == 0 {
		return v.addr
	}
	return fmt.Sprintf("%s~%d", v.addr, v.tried+1)
}

// advanceMap judges a map when its items have come to rest, starts others, or
// closes it.
func (r *treeRun) advanceMap(v *treeVisit) bool {
	r.settleParts(v)
	if v.verdict == "" {
		if r.exceeded(v) {
			r.dismissMap(v, "exceeded")
			return true
		}
		window := v.node.window
		if r.faulty("the window of a map has room for one more") {
			window++
		}
		if r.start(v, window) {
			return true
		}
	}
	if v.count("active") > 0 {
		return false
	}
	r.closeMap(v)
	return true
}

// exceeded reports whether more items failed than are tolerated.
func (r *treeRun) exceeded(v *treeVisit) bool {
	failed := v.count("failed")
	if r.faulty("as many failures as are tolerated are too many") && v.node.tolerates > 0 {
		failed++
	}
	if v.node.percent {
		return failed*100 > v.node.tolerates*len(v.parts)
	}
	return failed > v.node.tolerates
}

func (r *treeRun) dismissMap(v *treeVisit, why string) {
	v.verdict = why
	for _, p := range v.parts {
		switch p.status {
		case "unstarted":
			p.status = "skipped"
		case "active":
			r.lose(p.visit)
		}
	}
}

func (r *treeRun) closeMap(v *treeVisit) {
	result := v.result()
	v.due = time.Time{}
	switch v.verdict {
	case "dismissed":
		r.lost(v)
	case "exceeded", "timed_out":
		f := &treeFailure{kind: graph.ErrTypeActionTimedOut, details: result}
		if v.verdict == "exceeded" {
			f.kind = graph.ErrTypeMapTolerance
			for _, p := range slices.Backward(v.parts) {
				if p.status == "failed" {
					f.cause = p.failure
				}
			}
		}
		v.parts = nil
		r.attemptFailed(v, f, graph.Ending{})
	default:
		outputs := make([]any, len(v.parts))
		for i, p := range v.parts {
			outputs[i] = p.output
		}
		v.parts = nil
		r.finish(v, graph.ControlOutput, outputs, nil, result)
	}
}

// result is what a map's own fields see.
func (v *treeVisit) result() map[string]any {
	items := make([]any, len(v.parts))
	for i, p := range v.parts {
		var key any
		if p.key != "" {
			key = p.key
		}
		items[i] = map[string]any{"key": key, "status": p.status, "output": p.output, "error": p.failure.value(), "attempts": p.tried}
	}
	return map[string]any{
		"items": items, "completed": v.count("completed"), "failed": v.count("failed"), "cancelled": v.count("cancelled", "skipped"),
	}
}

// treePause is an open pause as a run shows it.
type treePause struct {
	id, workflow, alias string
	schema              bool
	expires             time.Time
}

// pauses are the open pauses of the run and, as far as it was told, below it.
func (r *treeRun) pauses() []treePause {
	var open []treePause
	if r.stopping != nil {
		return nil
	}
	for _, v := range r.all() {
		first := len(open)
		switch {
		case v.phase == "paused":
			open = append(open, treePause{id: v.addr, workflow: strings.TrimSuffix("w/"+r.prefix, "/"), schema: v.schema, expires: v.due})
		case v.phase == "running" && v.child != nil:
			open = append(open, v.known.pauses...)
		}
		if v.owner == nil || v.owner.node.kind != "map" || v.part().key == "" || v.owner.numbered(v.part().key) {
			continue
		}
		for i := range open[first:] {
			p := &open[first+i]
			name := p.id
			if p.alias != "" {
				name = p.alias
			}
			p.alias = v.owner.attemptAddr() + "/" + v.part().key + strings.TrimPrefix(name, v.addr)
		}
	}
	return open
}

// numbered reports whether a key is the number of an item, and so no name.
func (v *treeVisit) numbered(key string) bool {
	number, err := strconv.Atoi(key)
	return err == nil && number < len(v.parts)
}
