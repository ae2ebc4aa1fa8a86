package activities

import (
	"context"
	"encoding/json"
	"maps"

	"go.temporal.io/sdk/activity"

	"github.com/tidemill/tidemill/graph"
	"github.com/tidemill/tidemill/graph/value"
)

// Attempt makes one attempt of a node's action as a worker does, but outside of
// Temporal: for whoever drives a [graph.Machine] by itself, such as the test kit. It
// takes the same way, without heartbeats and without anybody who may end it; locally
// says that the attempt is one of a local activity. A missing action is an
// interruption, as it is on a server.
func (a *Activities) Attempt(ctx context.Context, task graph.Task, locally bool) graph.Ending {
	t := &try{
		task: &task, guard: &guard{secrets: a.options.Secrets}, pulse: newPulse(activity.Info{}, beat{Used: task.Before, Details: task.Heartbeat}),
		earlier: task.Heartbeat, number: task.Before + 1, outside: true,
	}
	if locally {
		t.local = &local{}
	}
	var known bool
	if t.action, known = a.actions[task.Node.Run.ActivityType()]; !known {
		return graph.Ending{Kind: graph.Interrupted, Interruption: graph.InterruptNotRegistered}
	}
	if end := a.attempt(ctx, t); end != nil {
		t.sign(end)
		return settled(task.Node, *end)
	}
	return settled(task.Node, graph.Ending{Kind: graph.Returned, Result: t.result})
}

// Evaluator answers the questions that runs of a graph ask, as this worker would.
func (a *Activities) Evaluator(document *graph.Document, fingerprint string) (*graph.Evaluator, error) {
	return a.evaluators.get(fingerprint, func() (*graph.Evaluator, error) {
		return graph.NewEvaluator(document, a.options.Registry)
	})
}

// ActionFunc is an action that reads its arguments itself.
type ActionFunc = func(ctx context.Context, args json.RawMessage) (Result, error)

// With is a copy of the registry in which the action name is fn, also where the
// registry has one of that name already, or a worker would bring one: for tests, and
// for places where an action must not do what it does elsewhere.
func (r *Registry) With(name string, fn ActionFunc) *Registry {
	c := &Registry{actions: maps.Clone(r.actions), callbacks: r.callbacks, errs: r.errs}
	switch {
	case fn == nil:
		c.errs = c.errs[:len(c.errs):len(c.errs)]
		c.refuse(ErrFunc, "action", name)
	case !validName(name):
		c.errs = c.errs[:len(c.errs):len(c.errs)]
		c.refuse(ErrName, "action", name)
	default:
		c.actions[name] = &action{name: name, call: fn}
	}
	return c
}

// Action is the action of a name, without its wrapper: one that was registered, or
// the built-in fail.
func (r *Registry) Action(name string) (ActionFunc, bool) {
	if registered := r.actions[name]; registered != nil {
		return registered.call, true
	}
	if name == NameFail {
		return fail, true
	}
	return nil, false
}

// ParseResult reads what a node is to do from JSON: an object with at most one of
// output, stop, pause, route and error, and a delta beside it, as an endpoint
// answers it with `expect: node_result`.
func ParseResult(raw json.RawMessage) (Result, error) {
	content, err := value.Canonical(raw)
	if err != nil {
		return Result{}, unexpected("not JSON: %v", err)
	}
	return nodeResult(content)
}
