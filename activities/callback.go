package activities

import (
	"fmt"
	"maps"
	"slices"

	"github.com/tidemill/tidemill/graph"
)

// callback is a registered callback with its type erased.
type callback struct {
	version int
	call    func(Scope) (any, error)
}

// RegisterCallback adds the callback name, which graphs use as {call: NAME} where
// Go decides better than an expression. T is string for choose and route (a
// node id or end), bool for while, an object of state keys for merge, anything
// for args.
//
// The version is part of the fingerprint of every graph that names the
// callback: raise it when the function answers differently. It runs in an
// activity and its answer is recorded, but it may be asked again: it should only
// look at its Scope. Errors of registration are kept for [Registry.Err].
func RegisterCallback[T any](r *Registry, name string, version int, fn func(Scope) (T, error)) {
	switch {
	case fn == nil:
		r.refuse(ErrFunc, "callback", name)
	case !validName(name):
		r.refuse(ErrName, "callback", name)
	case version < 1:
		r.refuse(ErrVersion, "callback", name)
	case r.callbacks[name] != nil:
		r.refuse(ErrRegistered, "callback", name)
	default:
		r.callbacks[name] = &callback{version: version, call: func(s Scope) (any, error) { return fn(s) }}
	}
}

// Callbacks gives the version of each registered callback by name, as the
// compiler wants it.
func (r *Registry) Callbacks() map[string]int {
	versions := make(map[string]int, len(r.callbacks))
	for _, name := range slices.Sorted(maps.Keys(r.callbacks)) {
		versions[name] = r.callbacks[name].version
	}
	return versions
}

// Call asks the callback name. It makes a Registry a [graph.Callbacks].
func (r *Registry) Call(name string, scope graph.Scope) (any, error) {
	c := r.callbacks[name]
	if c == nil {
		return nil, fmt.Errorf("callback %q is not registered in this worker", name)
	}
	return c.call(Scope{scope: scope})
}

// Scope is what a callback sees of its run.
type Scope struct {
	scope graph.Scope
}

// State decodes the state key into v. It reports whether the state has the key.
func (s Scope) State(key string, v any) (bool, error) {
	raw, ok := s.scope.State.Get(key)
	if !ok {
		return false, nil
	}
	if err := decode(raw, v); err != nil {
		return true, fmt.Errorf("state %q: %w", key, err)
	}
	return true, nil
}

// Input decodes the node's input into v: what its predecessor passed on, in a
// route the node's own output, and in a merge the list of what the branches that
// completed gave, in declared order: [{id, output, delta}].
func (s Scope) Input(v any) error {
	if len(s.scope.Input) == 0 {
		return decode([]byte("null"), v)
	}
	if err := decode(s.scope.Input, v); err != nil {
		return fmt.Errorf("input: %w", err)
	}
	return nil
}

// Run is the facts of the run.
func (s Scope) Run() graph.RunFacts { return s.scope.Run }
