package graph_test

import (
	"maps"
	"reflect"
	"slices"
	"time"

	"github.com/tidemill/tidemill/graph"
)

// locate is a failure that happened to a visit.
func (r *treeRun) locate(v *treeVisit, f *treeFailure) *treeFailure {
	at := *f
	at.node, at.addr = v.node.id, v.addr
	if at.attempts == 0 {
		at.attempts = v.tried
	}
	return &at
}

// finish gives a node its output and delta: its own fields', or what was given.
func (r *treeRun) finish(v *treeVisit, control graph.Control, output any, delta map[string]any, result any) {
	scope := r.scope(v)
	scope.result = result
	if v.node.output != nil {
		given, failure := v.node.output.eval(scope)
		if failure != "" {
			r.fail(v, &treeFailure{kind: failure})
			return
		}
		control, output = graph.ControlOutput, given
	}
	if v.node.delta != nil {
		given, failure := v.node.delta.eval(scope)
		if failure != "" {
			r.fail(v, &treeFailure{kind: failure})
			return
		}
		delta = given.(map[string]any)
	}
	r.commit(v, treeResult{control: control, output: output, delta: delta})
}

// treeResult is what a node gives.
type treeResult struct {
	control graph.Control
	output  any
	delta   map[string]any
	target  string
	pause   *graph.PauseRequest
}

func (r *treeRun) commit(v *treeVisit, given treeResult) {
	if given.control == graph.ControlRoute && (given.target == "" || v.owner != nil) {
		r.fail(v, &treeFailure{kind: graph.ErrTypeInvalidControl})
		return
	}
	if v.owner != nil {
		r.commitPart(v, given)
		return
	}
	state, failure := r.graph.reduced(r.state, given.delta)
	if failure != "" {
		r.fail(v, &treeFailure{kind: failure})
		return
	}
	r.state = state
	r.contribute(given.delta)
	v.due = time.Time{}
	v.phase = "routed"
	switch v.input = given.output; given.control {
	case graph.ControlOutput:
		r.output, r.hasOutput = given.output, true
	case graph.ControlStop:
		r.output, r.hasOutput = given.output, true
		r.move("end", nil)
		return
	case graph.ControlRoute:
		r.jump(v, given.target)
		return
	case graph.ControlPause:
		r.openPause(v, given.pause.ResumeSchema != nil, given.pause.Expires.Std())
		return
	case graph.ControlOK:
	}
	if v.node.when == nil {
		r.move(v.node.next, v.input)
		return
	}
	switch holds, failure := v.node.when.eval(r.scope(v)); {
	case failure != "":
		r.stop(graph.StatusFailed, r.locate(v, &treeFailure{kind: failure}))
	case holds:
		r.move(v.node.other, v.input)
	default:
		r.move(v.node.next, v.input)
	}
}

// reduced is the state after a delta, all of it or none.
func (g *treeGraph) reduced(before, delta map[string]any) (map[string]any, string) {
	state := maps.Clone(before)
	for key, v := range delta {
		old, had := state[key]
		switch {
		case g.combines(key) && key == "c":
			add, isInt := v.(int)
			base, wasInt := old.(int)
			if !isInt || had && !wasInt {
				return nil, graph.ErrTypeReducerTypeMismatch
			}
			v = base + add
		case g.combines(key):
			add, isList := v.([]any)
			base, wasList := old.([]any)
			if !isList || had && !wasList {
				return nil, graph.ErrTypeReducerTypeMismatch
			}
			v = append(slices.Clone(base), add...)
		}
		state[key] = v
	}
	return state, ""
}

func (g *treeGraph) combines(key string) bool { return g.reduces && (key == "c" || key == "list") }

// contribute notes what the run itself adds to the keys that combine.
func (r *treeRun) contribute(delta map[string]any) {
	added := map[string]any{}
	for key, v := range delta {
		if r.graph.combines(key) {
			added[key] = v
		}
	}
	r.own, _ = r.graph.reduced(r.own, added)
}

// changed is what a child gives its parent: of keys that combine what it added,
// of others those that are not as they were.
func (r *treeRun) changed() map[string]any {
	if r.faulty("the child's whole state as delta") {
		return maps.Clone(r.state)
	}
	changed := map[string]any{}
	for key, v := range r.state {
		if own, added := r.own[key]; added {
			changed[key] = own
		} else if before, had := r.began[key]; !had || !reflect.DeepEqual(before, v) {
			changed[key] = v
		}
	}
	return changed
}

// fail settles a visit as failed, and lets that lead where it leads.
func (r *treeRun) fail(v *treeVisit, why *treeFailure) {
	v.due, v.child, v.known = time.Time{}, nil, treeKnown{}
	f := r.locate(v, why)
	if v.owner != nil {
		r.failPart(v, f)
		return
	}
	v.phase = "done"
	if v.node.onError == "" || f.kind == graph.ErrTypeCancelled || v.node.onlyBoom && f.kind != "boom" {
		r.stop(graph.StatusFailed, f)
		return
	}
	r.move(v.node.onError, f.value())
}
