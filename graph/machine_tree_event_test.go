package graph_test

import (
	"encoding/json"
	"time"

	"github.com/tidemill/tidemill/graph"
	"github.com/tidemill/tidemill/graph/value"
)

// plain is JSON as the model holds it: whole numbers are ints.
func plain(raw json.RawMessage) any {
	if raw == nil {
		return nil
	}
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return nil
	}
	return whole(v)
}

func whole(v any) any {
	switch v := v.(type) {
	case float64:
		return int(v)
	case []any:
		for i := range v {
			v[i] = whole(v[i])
		}
	case map[string]any:
		for key := range v {
			v[key] = whole(v[key])
		}
	}
	return v
}

func plainObject(o value.Object) map[string]any {
	if o == nil {
		return nil
	}
	m, _ := plain(o.Raw()).(map[string]any)
	return m
}

func plainFailure(f *graph.Failure) *treeFailure {
	if f == nil {
		return nil
	}
	return &treeFailure{kind: f.Type, node: f.Node, addr: string(f.Address), attempts: f.Attempts, cause: plainFailure(f.Cause), details: plain(f.Details)}
}

// end is the end of an activity or a child, without what follows from it.
func (r *treeRun) end(v *treeVisit, e graph.Ending) {
	r.forget(v)
	r.endPermit(v, e)
	if v.phase == "cancelling" {
		r.stopped(v)
		return
	}
	switch e.Kind {
	case graph.Returned:
		v.tried = max(v.tried+1, e.Used)
		r.returned(v, e.Result)
	case graph.Failed, graph.TimedOut:
		r.attemptFailed(v, plainFailure(e.Failure), e)
	case graph.Interrupted:
		r.interrupted(v, e)
	case graph.Cancelled:
		r.fail(v, &treeFailure{kind: graph.ErrTypeCancelled})
	}
}

// endPermit is what an ending says of the permit: it was given back, or nobody knows.
func (r *treeRun) endPermit(v *treeVisit, e graph.Ending) {
	unsure := e.Kind == graph.Interrupted && !r.faulty("an interruption keeps its permit") || e.Kind == graph.TimedOut
	if v.permit == "held" && (e.Released != 0 || unsure && v.node.kind != "foreign") {
		v.permit = ""
	}
}

// stopped ends what was asked to stop; what it gave is not taken.
func (r *treeRun) stopped(v *treeVisit) {
	v.child = nil
	if r.stopping == nil {
		r.lost(v)
		return
	}
	v.phase = "done"
	if why := r.stopping; why.status != graph.StatusFailed && why.failure.cause == nil {
		f := *why.failure
		f.cause = r.locate(v, &treeFailure{kind: graph.ErrTypeCancelled})
		r.stopping = &treeOutcome{status: why.status, failure: &f}
	}
}

func (r *treeRun) returned(v *treeVisit, given *graph.Result) {
	output := plain(given.Output)
	switch v.node.kind {
	case "foreign":
		r.finish(v, graph.ControlOutput, output, nil, output)
	case "workflow":
		changed := plainObject(given.Delta)
		v.child = nil
		r.finish(v, graph.ControlOutput, output, changed, map[string]any{"output": output, "changed": changed})
	default:
		r.commit(v, treeResult{control: given.Control, output: output, delta: plainObject(given.Delta), target: given.Target, pause: given.Pause})
	}
}

// attemptFailed tries again, or fails the node.
func (r *treeRun) attemptFailed(v *treeVisit, f *treeFailure, e graph.Ending) {
	v.tried = max(v.tried+1, e.Used)
	v.child = nil
	switch {
	case e.Final || v.node.attempts == 1 || f.kind == "fatal":
		r.fail(v, f)
	case v.tried >= v.node.attempts:
		r.fail(v, &treeFailure{kind: graph.ErrTypeRetryExhausted, cause: f, attempts: v.tried})
	default:
		wait := treeBackoff
		for range v.tried - 1 {
			wait *= 2
		}
		r.sleep(v, min(max(wait, e.RetryAfter), treeMaxBackoff))
	}
}

// interrupted schedules the same attempt again, at once for the first time.
func (r *treeRun) interrupted(v *treeVisit, e graph.Ending) {
	count := &v.interruptions
	if e.Interruption == graph.InterruptNotRegistered {
		count = &v.missing
	}
	*count++
	if r.faulty("an interruption is an attempt") {
		v.tried++
	}
	most := v.node.interruptions
	if most == 0 {
		most = 10
	}
	if count == &v.interruptions && *count > most {
		r.fail(v, &treeFailure{kind: graph.ErrTypeWorkerLost})
		return
	}
	waits := []time.Duration{0, time.Second, 5 * time.Second, 15 * time.Second, 30 * time.Second, time.Minute}
	if wait := waits[min(*count, len(waits))-1]; wait > 0 {
		r.sleep(v, wait)
		return
	}
	r.begin(v)
}

// fire is a timer whose time has come.
func (r *treeRun) fire(v *treeVisit) {
	v.due = time.Time{}
	switch {
	case v.phase == "mapping":
		if v.verdict == "" {
			r.dismissMap(v, "timed_out")
		}
	case v.phase == "paused" && v.node.onExpire != "" && v.owner == nil:
		r.move(v.node.onExpire, v.input)
	case v.phase == "paused":
		if r.faulty("silence is an answer") {
			r.accept(v, nil)
			return
		}
		r.fail(v, &treeFailure{kind: graph.ErrTypePauseExpired})
	case v.node.kind == "wait":
		r.finish(v, graph.ControlOK, v.input, nil, nil)
	default:
		r.begin(v)
	}
}

// startChild begins the child of a visit's next attempt.
func (r *treeRun) startChild(v *treeVisit) {
	n := v.node
	input := anyMap(r.state)
	if n.input != nil {
		var failure string
		if input, failure = n.input.eval(r.scope(v)); failure != "" {
			r.fail(v, &treeFailure{kind: failure})
			return
		}
	}
	child := newTreeRun(r.treeWorld, n.child, input.(map[string]any))
	child.isKid, child.prefix = true, v.attemptAddr()
	if r.faulty("a second attempt has the addresses of the first") {
		child.prefix = v.addr
	}
	if n.steps > 0 {
		child.left = n.steps
	}
	if n.deadline > 0 {
		child.limited = false
		child.limit(n.deadline)
	}
	if !r.deadline.IsZero() && !r.faulty("a child outlives its parent's deadline") {
		child.limit(r.deadline.Sub(r.now))
	}
	child.byNode = child.limit(n.limit)
	v.phase, v.child, v.known = "running", child, treeKnown{}
	if _, has := child.state["c"]; n.child.needs && !has {
		child.outcome = &treeOutcome{status: "refused"}
		return
	}
	child.settle()
}

// endChild is how the end of a visit's child reaches it.
func (r *treeRun) endChild(v *treeVisit) {
	o := v.child.outcome
	failed := func(kind string) graph.Ending {
		return graph.Ending{Kind: graph.Failed, Final: kind == graph.ErrTypeChildCancelled || kind == graph.ErrTypeChildStartFailed, Failure: &graph.Failure{Type: kind}}
	}
	cause := o.failure
	var e graph.Ending
	switch {
	case o.status == graph.StatusCompleted:
		v.tried++
		changed := v.child.changed()
		r.forget(v)
		if v.phase == "cancelling" {
			v.tried--
			r.stopped(v)
			return
		}
		v.child = nil
		r.finish(v, graph.ControlOutput, o.output, changed, map[string]any{"output": o.output, "changed": changed})
		return
	case o.status == "refused":
		e, cause = failed(graph.ErrTypeChildStartFailed), &treeFailure{kind: graph.ErrTypeInputSchema}
	case o.status == graph.StatusCancelled:
		e = failed(graph.ErrTypeChildCancelled)
	case o.status == graph.StatusTimedOut && v.child.byNode:
		e, cause = failed(cause.kind), cause.cause
	case o.status == graph.StatusTimedOut:
		e = failed(graph.ErrTypeChildTimedOut)
	default:
		e = failed(graph.ErrTypeChildFailed)
	}
	r.forget(v)
	if v.phase == "cancelling" {
		r.stopped(v)
		return
	}
	r.attemptFailed(v, &treeFailure{kind: e.Failure.Type, cause: cause}, e)
}
