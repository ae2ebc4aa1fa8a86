package tidemilltest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tidemill/tidemill"
	"github.com/tidemill/tidemill/activities"
	"github.com/tidemill/tidemill/graph"
	"github.com/tidemill/tidemill/graph/value"
)

// stage is a scenario with its graph found and its fakes in their places.
type stage struct {
	scenario  *Scenario
	script    *script
	app       *tidemill.App // with every action that the graphs name
	catalogue *activities.Catalogue
	compiled  *graph.Compiled
	input     json.RawMessage      // canonical
	clock     func() time.Duration // since the start of the run
	live      bool                 // calls take real time

	mu    sync.Mutex
	calls []Call
	err   error // the first mistake of the scenario that a call showed
}

// newStage finds what is wrong with a scenario before anything runs.
func newStage(s *Scenario, clock func() time.Duration) (*stage, error) {
	if s.App == nil {
		return nil, errors.New("tidemilltest: the scenario has no App; see Graphs for one of graphs alone")
	}
	registry, catalogue, err := s.App.Parts()
	if err != nil {
		return nil, err
	}
	st := &stage{scenario: s, script: newScript(s), catalogue: catalogue, clock: clock}
	if st.compiled, err = find(catalogue, s.Graph); err != nil {
		return nil, err
	}
	if st.input, err = canonicalInput(s.Input); err != nil {
		return nil, err
	}
	if err := st.check(); err != nil {
		return nil, err
	}
	wrapped := map[string]tidemill.ActionFunc{}
	for _, name := range st.actions() {
		own, _ := registry.Action(name)
		wrapped[name] = st.action(name, own)
	}
	st.app = s.App.With(wrapped)
	return st, nil
}

// find is the graph of a scenario.
func find(catalogue *activities.Catalogue, id string) (*graph.Compiled, error) {
	ids := catalogue.IDs()
	if id == "" && len(ids) == 1 {
		id = ids[0]
	}
	if compiled, known := catalogue.Get(id); known {
		return compiled, nil
	}
	if id == "" {
		return nil, fmt.Errorf("tidemilltest: the App has %d graphs (%s); name one in Graph", len(ids), strings.Join(ids, ", "))
	}
	return nil, fmt.Errorf("tidemilltest: the App has no graph %q%s", id, hint(id, ids))
}

// hint suggests a word for a misspelt one.
func hint(word string, known []string) string {
	if near := graph.Suggest(word, known); near != "" {
		return " (" + near + ")"
	}
	return ""
}

func canonicalInput(input any) (json.RawMessage, error) {
	if input == nil {
		return json.RawMessage("{}"), nil
	}
	raw, err := value.Marshal(input)
	if err != nil {
		return nil, fmt.Errorf("tidemilltest: the input is not JSON: %w", err)
	}
	return raw, nil
}

// documents are the graph and all that it names or contains.
func (st *stage) documents() []*graph.Document {
	return append([]*graph.Document{st.compiled.Document}, st.compiled.Closure...)
}

// named lists a word of every node of all documents, each once, sorted.
func (st *stage) named(word func(*graph.Node) string) []string {
	var names []string
	for _, d := range st.documents() {
		for _, node := range d.AllNodes() {
			if name := word(node); name != "" {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// actions are the actions that the graphs run; activities have no wrapper.
func (st *stage) actions() []string {
	return st.named(func(n *graph.Node) string {
		if !n.Wrapped() {
			return ""
		}
		return n.Run.Name
	})
}

// vocabulary are the names that fakes may have.
type vocabulary struct{ actions, nodes, children []string }

func (st *stage) vocabulary() vocabulary {
	return vocabulary{
		actions: st.named(func(n *graph.Node) string {
			if !n.Runs() {
				return ""
			}
			return n.Run.ActivityType()
		}),
		nodes: st.named(func(n *graph.Node) string { return strings.TrimSuffix(n.ID, graph.ItemID("")) }),
		children: st.named(func(n *graph.Node) string {
			if n.Workflow == nil {
				return ""
			}
			return n.Workflow.Graph
		}),
	}
}

// unknown says what is wrong with the name of a fake, and how to mend it; nothing when
// it is used. What a graph does not have would never be faked.
func (v vocabulary) unknown(kind, name string) (message, fix string) {
	word, known, looked := "action", v.actions, name
	switch kind {
	case kindNode:
		word, known, looked = "node", v.nodes, nodeOf(name)
	case kindGraph:
		word, known = "child graph", v.children
	}
	if slices.Contains(known, looked) {
		return "", ""
	}
	return fmt.Sprintf("there is a fake for %s %q, and the graph has none of that name", word, name), graph.Suggest(looked, known)
}

// check refuses fakes that would never be used, and such that are empty.
func (st *stage) check() error {
	v := st.vocabulary()
	var errs []error
	for _, group := range st.script.groups() {
		for _, name := range sortedNames(group.fakes) {
			if message, fix := v.unknown(group.kind, name); message != "" {
				if fix != "" {
					message += " (" + fix + ")"
				}
				errs = append(errs, fmt.Errorf("tidemilltest: %s", message))
			}
			if fake := group.fakes[name]; fake.always && len(fake.steps) == 0 {
				errs = append(errs, fmt.Errorf("tidemilltest: the fake of %q has no steps", name))
			}
		}
	}
	return errors.Join(errs...)
}

// nodeOf is the node that an address ends with.
func nodeOf(address string) string {
	segments := strings.Split(address, "/")
	for i := len(segments) - 1; i > 0; i-- {
		if s := segments[i]; s != "" && (s[0] < '0' || s[0] > '9') {
			segments = segments[:i+1]
			break
		}
		segments = segments[:i]
	}
	node, _, _ := strings.Cut(segments[len(segments)-1], "#")
	node, _, _ = strings.Cut(node, "~")
	return node
}

// action is what runs in place of an action: its fake, or else the App's own.
func (st *stage) action(name string, own tidemill.ActionFunc) tidemill.ActionFunc {
	return func(ctx context.Context, args json.RawMessage) (tidemill.Result, error) {
		call := callOf(name, tidemill.Info(ctx), args)
		step, known, err := st.script.take(name, call.Address)
		if err == nil && !known && own == nil {
			err = missing(name, call.Address)
		}
		if err != nil {
			return tidemill.Result{}, st.fail(err)
		}
		call.Worked = !step.idle
		st.record(call)
		if !known {
			return own(ctx, args)
		}
		if a := attemptOf(ctx); a != nil {
			a.step = step
		}
		if err := st.pass(ctx, step); err != nil {
			return tidemill.Result{}, err
		}
		return step.perform(ctx, call)
	}
}

func missing(name string, address graph.Address) error {
	if name == activities.NameHTTP {
		return fmt.Errorf("%s sends a request, which the kit does not: give a fake for http", address)
	}
	return fmt.Errorf("%s runs the action %q, for which there is no fake and which the App does not have", address, name)
}

func callOf(name string, facts graph.RunFacts, args json.RawMessage) Call {
	return Call{
		Name: name, Address: facts.Address, Attempt: facts.Attempt, Key: facts.Key, Token: facts.Token, Args: args,
	}
}

func (st *stage) record(call Call) {
	st.mu.Lock()
	defer st.mu.Unlock()
	call.At = st.clock()
	st.calls = append(st.calls, call)
}

// fail keeps the first mistake of the scenario, which ends the run.
func (st *stage) fail(err error) error {
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.err == nil {
		st.err = fmt.Errorf("tidemilltest: %w", err)
	}
	return tidemill.NewError("tidemilltest", err.Error()).NotRetryable()
}

func (st *stage) failed() error {
	st.mu.Lock()
	defer st.mu.Unlock()
	return st.err
}

// pass lets the time of a step pass where time is real.
func (st *stage) pass(ctx context.Context, step Step) error {
	if !st.live || step.after == 0 && !step.hangs {
		return nil
	}
	inner, stop := ctx, func() {}
	if !step.hangs {
		inner, stop = context.WithTimeout(ctx, step.after)
	}
	defer stop()
	<-inner.Done()
	switch {
	case ctx.Err() == nil: // its time has passed
		return nil
	case step.effect != "":
		return tidemill.Cancelled(step.effect)
	default:
		return ctx.Err()
	}
}
