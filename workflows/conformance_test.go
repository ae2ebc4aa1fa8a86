package workflows_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"

	"github.com/tidemill/tidemill/activities"
	"github.com/tidemill/tidemill/graph"
	"github.com/tidemill/tidemill/workflows"
)

// scenario is one numbered rule of the run machine, seen from outside.
type scenario struct {
	name    string
	nodes   string // entry is the first
	input   string
	options string
	answer  string // to the pause that the run reaches; empty: it does not pause
	output  string // JSON; empty: the run fails
	failure string // error type
	state   string // JSON; empty: not looked at
	calls   []string
}

var scenarios = []scenario{
	{
		name: "row 21, stop ends the run and nothing after it is called",
		nodes: `
  - {id: a, run: act, args: {output: X, delta: {first: true}}, next: b}
  - {id: b, run: act, args: {control: stop, output: S, delta: {stopped: true}}, next: c}
  - {id: c, run: act, next: end}`,
		output: `"S"`, state: `{"first":true,"stopped":true}`, calls: []string{"a#1", "b#1"},
	},
	{
		name:   "row 23, without an output the state is the output",
		nodes:  `[{id: a, run: act, args: {control: ok, delta: {a: 1}}, next: end}]`,
		input:  `{"b":2}`,
		output: `{"a":1,"b":2}`, calls: []string{"a#1"},
	},
	{
		name: "row 25, a node that leads to itself while a condition holds",
		nodes: `
  - id: a
    run: act
    args: {output: "${ state.count + 1 }", delta: {count: "${ state.count + 1 }"}}
    next: {cases: [{when: "input < 3", to: a}], default: end}`,
		input:  `{"count":0}`,
		output: `3`, state: `{"count":3}`, calls: []string{"a#1", "a#2", "a#3"},
	},
	{
		name: "row 26, an action's own route wins over the edge, with a null input",
		nodes: `
  - {id: a, run: act, args: {control: route, target: c}, next: b}
  - {id: b, run: act, next: end}
  - {id: c, type: set, output: {got: "${ input }"}, next: end}`,
		output: `{"got":null}`, calls: []string{"a#1"},
	},
	{
		name:    "row 27, a route to nowhere fails the run after the commit",
		nodes:   `[{id: a, run: act, args: {control: route, target: zz, delta: {kept: true}}, next: end}]`,
		failure: graph.ErrTypeRouteFailed, state: `{"kept":true}`, calls: []string{"a#1"},
	},
	{
		name: "row 29, a callback chooses among the targets",
		nodes: `
  - {id: a, type: dynamic, choose: {call: pick}, targets: [left, right]}
  - {id: left, run: act, args: {output: L}, next: end}
  - {id: right, run: act, args: {output: R}, next: end}`,
		input:  `{"choice":"right"}`,
		output: `"R"`, calls: []string{"right#1"},
	},
	{
		name: "row 30, a callback that chooses anything else fails the run",
		nodes: `
  - {id: a, type: dynamic, choose: {call: pick}, targets: [left, right]}
  - {id: left, run: act, next: end}
  - {id: right, run: act, next: end}`,
		input:   `{"choice":"outside"}`,
		failure: graph.ErrTypeTargetNotAllowed, calls: []string{},
	},
	{
		name: "row 34, a loop that reaches its limit ends well",
		nodes: `
  - {id: l, type: loop, while: "true", body: b, done: end, max_iterations: 2}
  - {id: b, run: act, args: {control: ok, delta: {count: "${ state.count + 1 }"}}, next: l}`,
		input:  `{"count":0}`,
		output: `{"count":2}`, calls: []string{"b#1", "b#2"},
	},
	{
		name: "row 35, a loop of no turns never enters its body",
		nodes: `
  - {id: l, type: loop, while: "true", body: b, done: end, max_iterations: 0}
  - {id: b, run: act, next: l}`,
		input:  `{"count":0}`,
		output: `{"count":0}`, calls: []string{},
	},
	{
		name:    "row 38, a cycle spends the step budget, and the state is kept",
		nodes:   `[{id: a, run: act, args: {control: ok, delta: {count: "${ state.count + 1 }"}}, next: a}]`,
		input:   `{"count":0}`,
		options: `{"max_steps":3}`,
		failure: graph.ErrTypeBudgetExhausted, state: `{"count":3}`, calls: []string{"a#1", "a#2", "a#3"},
	},
	{
		name:    "row 40, attempts cost no step",
		nodes:   `[{id: a, run: act, args: {fail: boom, until: 2, output: done}, retry: {max_attempts: 3, backoff: 10ms}, next: end}]`,
		options: `{"max_steps":1}`,
		output:  `"done"`, calls: []string{"a#1", "a#1", "a#1"},
	},
	{
		name:    "row 116, attempts run out",
		nodes:   `[{id: a, run: act, args: {fail: boom}, retry: {max_attempts: 2, backoff: 10ms}, next: end}]`,
		failure: graph.ErrTypeRetryExhausted, calls: []string{"a#1", "a#1"},
	},
	{
		name:    "row 45, a delta that is no object fails at the first attempt",
		nodes:   `[{id: a, run: act, args: {delta: 5}, retry: {max_attempts: 3, backoff: 10ms}, next: end}]`,
		failure: graph.ErrTypeInvalidStateDelta, calls: []string{"a#1"},
	},
	{
		name:   "row 46, a join without a fork passes on",
		nodes:  `[{id: j, type: join, next: end}]`,
		input:  `{"a":1}`,
		output: `{"a":1}`, calls: []string{},
	},
	{
		name: "row 74, a pause's answer routes; its node is called once",
		nodes: `
  - id: a
    run: act
    args: {control: pause, delta: {asked: true}}
    next: {cases: [{when: "input.approved", to: accepted}], default: rejected}
  - {id: accepted, run: act, args: {output: accepted}, next: end}
  - {id: rejected, run: act, args: {output: rejected}, next: end}`,
		answer: `{"approved":true}`,
		output: `"accepted"`, state: `{"asked":true}`, calls: []string{"a#1", "accepted#1"},
	},
	{
		name:   "row 77, an answer is no output by itself",
		nodes:  `[{id: a, type: pause, next: end}]`,
		input:  `{"count":1}`,
		answer: `{"yes":true}`,
		output: `{"count":1}`, calls: []string{},
	},
	{
		name:   "row 79, a pause is no failure to be tried again",
		nodes:  `[{id: a, run: act, args: {control: pause}, retry: {max_attempts: 3}, next: b}, {id: b, type: set, output: "${ input }", next: end}]`,
		answer: `[1]`,
		output: `[1]`, calls: []string{"a#1"},
	},
}

// The rules of the machine must hold with real activities, a real server and a
// payload converter in between, not only on the pure machine.
func TestConformance(t *testing.T) {
	t.Parallel()
	acts := newScript()
	documents := make([]string, len(scenarios))
	for i, s := range scenarios {
		documents[i] = s.document(i)
	}
	w := setup(t, parts{graphs: documents, register: func(r *activities.Registry) {
		acts.register(r)
		activities.RegisterCallback(r, "pick", 1, func(s activities.Scope) (string, error) {
			var choice string
			_, err := s.State("choice", &choice)
			return choice, err
		})
	}})
	runs := make([]client.WorkflowRun, len(scenarios))
	for i, s := range scenarios { // all at once; they do not share anything
		runs[i] = w.run(s.id(i), s.arguments()...)
	}
	for i, s := range scenarios {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			w := w.in(t)
			if s.answer != "" {
				w.paused(runs[i])
				w.signal(runs[i], workflows.SignalResume, json.RawMessage(s.answer))
			}
			s.check(t, w, runs[i])
			require.Equal(t, s.calls, acts.called(runs[i].GetID()))
		})
	}
}

func (s scenario) id(i int) string { return fmt.Sprintf("row_%d", i) }

var firstID = regexp.MustCompile(`\bid: (\w+)`)

// document is the whole graph; its entry is the first node.
func (s scenario) document(i int) string {
	entry := firstID.FindStringSubmatch(s.nodes)[1]
	return fmt.Sprintf("version: 1\nid: %s\nentry: %s\nnodes: %s\n", s.id(i), entry, s.nodes)
}

func (s scenario) arguments() []any {
	args := []any{json.RawMessage("{}")}
	if s.input != "" {
		args[0] = json.RawMessage(s.input)
	}
	if s.options != "" {
		args = append(args, json.RawMessage(s.options))
	}
	return args
}

func (s scenario) check(t *testing.T, w *world, run client.WorkflowRun) {
	t.Helper()
	if s.failure != "" {
		kind, report := w.failure(run)
		require.Equal(t, s.failure, kind)
		if s.state != "" {
			require.JSONEq(t, s.state, string(report.State))
		}
		return
	}
	require.JSONEq(t, s.output, w.output(run))
	if s.state != "" {
		require.JSONEq(t, s.state, string(w.status(run).State))
	}
}
