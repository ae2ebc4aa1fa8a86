package activities

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tidemill/tidemill/graph"
	"github.com/tidemill/tidemill/graph/value"
)

// reservedPrefix begins the names of our own activities and error types.
const reservedPrefix = "tidemill."

// maxName is the longest name of an action or a callback.
const maxName = 128

// The reasons why a registration is refused. They are collected and returned by
// [Registry.Err], so that a program that registers wrongly says everything that
// is wrong when its worker starts.
var (
	ErrName       = errors.New("activities: not a name; use [A-Za-z_][A-Za-z0-9_.-]{0,127}, not beginning with tidemill")
	ErrRegistered = errors.New("activities: registered twice")
	ErrFunc       = errors.New("activities: no function given")
	ErrVersion    = errors.New("activities: a callback's version is at least 1")
)

// Registry holds the Go functions a worker offers to graphs: its actions and its
// callbacks. It is a value the worker is built with; fill it before that.
type Registry struct {
	actions   map[string]*action
	callbacks map[string]*callback
	errs      []error
}

// action is a registered action with its types erased.
type action struct {
	name string
	call func(ctx context.Context, args json.RawMessage) (Result, error)
}

// NewRegistry makes a Registry without anything in it. The built-in actions are
// added by [New].
func NewRegistry() *Registry {
	return &Registry{actions: map[string]*action{}, callbacks: map[string]*callback{}}
}

// Register adds the action name. Its arguments are decoded into In with every
// digit of a number kept where In says any; a [json.RawMessage] gets the
// canonical text. Out is any value that JSON can hold and becomes the node's
// output, or a [Result] for everything else an action can ask for.
//
// The action may be called again with the same arguments after a lost worker,
// even without a retry policy: use the key of [Info] where that matters. Errors
// of registration are kept for [Registry.Err].
func Register[In, Out any](r *Registry, name string, fn func(context.Context, In) (Out, error)) {
	if fn == nil {
		r.refuse(ErrFunc, "action", name)
		return
	}
	r.add(&action{name: name, call: func(ctx context.Context, args json.RawMessage) (Result, error) {
		var in In
		if err := decode(args, &in); err != nil {
			return Result{}, NewError(graph.ErrTypeNodeInputSchema,
				fmt.Sprintf("the arguments do not fit action %q: %v", name, err)).NotRetryable()
		}
		out, err := fn(ctx, in)
		if err != nil {
			return Result{}, err
		}
		if result, ok := any(out).(Result); ok {
			return result, nil
		}
		return Output(out), nil
	}})
}

func (r *Registry) add(a *action) {
	switch {
	case !validName(a.name):
		r.refuse(ErrName, "action", a.name)
	case r.actions[a.name] != nil || builtin(a.name):
		r.refuse(ErrRegistered, "action", a.name)
	default:
		r.actions[a.name] = a
	}
}

func (r *Registry) refuse(reason error, kind, name string) {
	r.errs = append(r.errs, fmt.Errorf("%w: %s %q", reason, kind, name))
}

// Err is every error of registration so far, joined; nil when there is none.
func (r *Registry) Err() error { return errors.Join(r.errs...) }

// Actions lists the names of the registered actions, sorted.
func (r *Registry) Actions() []string { return slices.Sorted(maps.Keys(r.actions)) }

// validName reports whether an action or a callback may be called so:
// [A-Za-z_][A-Za-z0-9_.-]{0,127}, our own prefix excluded.
func validName(name string) bool {
	if name == "" || len(name) > maxName || strings.HasPrefix(name, reservedPrefix) {
		return false
	}
	for i := range len(name) {
		if !nameByte(name[i], i == 0) {
			return false
		}
	}
	return true
}

func nameByte(b byte, first bool) bool {
	switch {
	case 'a' <= b && b <= 'z', 'A' <= b && b <= 'Z', b == '_':
		return true
	case '0' <= b && b <= '9', b == '-', b == '.':
		return !first
	default:
		return false
	}
}

// decode reads canonical JSON into v, numbers exact where v says any.
func decode(raw json.RawMessage, v any) error {
	if text, ok := v.(*json.RawMessage); ok {
		canonical, err := value.Canonical(raw)
		*text = canonical
		return err
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	return decoder.Decode(v)
}
