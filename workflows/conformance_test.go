package workflows_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/worker"

	"github.com/tidemill/tidemill/activities"
	"github.com/tidemill/tidemill/graph"
)

// flowScenarios are the numbered rules of values, routes, loops and budgets.
func flowScenarios() []scenario {
	return []scenario{
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
			name:   "row 46, a join without a fork passes on",
			nodes:  `[{id: j, type: join, next: end}]`,
			input:  `{"a":1}`,
			output: `{"a":1}`, calls: []string{},
		},
		{
			name: "row 24, stop with null: null is the output",
			nodes: `
  - {id: a, run: act, args: {control: stop, output: null, delta: {a: 1}}, next: b}
  - {id: b, run: act, args: {output: B}, next: end}`,
			output: `null`, state: `{"a":1}`, steps: 1, calls: []string{"a#1"},
		},
		{
			name: "row 32, branches, loops and joins pass on what they get",
			nodes: `
  - {id: a, run: act, args: {output: A}, next: which}
  - {id: which, type: branch, cases: [{when: "input == 'A'", to: l}], default: end}
  - {id: l, type: loop, while: "!has(state.w)", body: w, done: j, max_iterations: 5}
  - {id: w, run: act, args: {output: W, delta: {w: "${ input }"}}, next: l}
  - {id: j, type: join, next: z}
  - {id: z, run: act, args: {control: ok, delta: {z: "${ input }"}}, next: end}`,
			output: `"W"`, state: `{"w":"A","z":"W"}`, steps: 7, calls: []string{"a#1", "w#1", "z#1"},
		},
		{
			name: "row 33, a condition ends a loop before its limit",
			nodes: `
  - {id: l, type: loop, while: "state.count < 3", body: b, done: end, max_iterations: 5}
  - {id: b, run: act, args: {control: ok, delta: {count: "${ state.count + 1 }"}}, next: l}`,
			input:  `{"count":0}`,
			output: `{"count":3}`, steps: 7, calls: []string{"b#1", "b#2", "b#3"},
		},
		{
			name: "row 37, a predicate that is neither true nor false",
			nodes: `
  - {id: l, type: loop, while: {call: one}, body: b, done: end, max_iterations: 2}
  - {id: b, run: act, next: l}`,
			failure: graph.ErrTypeGraphLoopFailed, calls: []string{},
		},
		{
			name: "row 41, a run may raise the graph's step budget", head: "max_steps: 1",
			nodes: `
  - {id: a, run: act, args: {output: 1}, next: b}
  - {id: b, run: act, args: {output: 2}, next: end}`,
			options: `{"max_steps":5}`,
			output:  `2`, steps: 2, calls: []string{"a#1", "b#1"},
		},
		{
			// The reference has an option for it; here a fork's own max_concurrency is all.
			name: "row 42, an option that there is not starts nothing", nodes: `[{id: a, run: act, next: end}]`,
			options: `{"max_concurrency":0}`,
			failure: graph.ErrTypeInvalidRunOptions, calls: []string{},
		},
		{
			name: "row 43, an input that is no object starts nothing", nodes: `[{id: a, run: act, next: end}]`,
			input:   `[1]`,
			failure: graph.ErrTypeInputSchema, calls: []string{},
		},
		{
			name: "row 121, an input that does not fit starts nothing", head: "input_schema: {type: object, required: [topic]}",
			nodes:   `[{id: a, run: act, next: end}]`,
			failure: graph.ErrTypeInputSchema, calls: []string{},
		},
		{
			// In the reference the delta of such a stop is lost and the node runs again.
			name: "row 123, an output that does not fit fails the run; what the node did stands", head: "output_schema: {type: string}",
			nodes:   `[{id: a, run: act, args: {control: stop, output: 1, delta: {a: 1}}, next: end}]`,
			failure: graph.ErrTypeOutputSchema, state: `{"a":1}`, calls: []string{"a#1"},
		},
		{
			name: "row 134, reducers", head: "state_reducers: {total: sum, log: append, owner: reject_conflict}",
			nodes: `
  - {id: a, run: act, args: {control: ok, delta: {total: 7, log: [a], owner: me, last: a}}, next: b}
  - {id: b, run: act, args: {control: ok, delta: {total: 3, log: ["<b>"], owner: me, last: b}}, next: end}`,
			input:  `{"total":5,"log":[]}`,
			output: `{"last":"b","log":["a","<b>"],"owner":"me","total":15}`,
		},
		{
			name: "row 134, a reducer that refuses", head: "state_reducers: {owner: reject_conflict}",
			nodes:   `[{id: a, run: act, args: {control: ok, delta: {owner: you, more: 1}}, next: end}]`,
			input:   `{"owner":"me"}`,
			failure: graph.ErrTypeReducerConflict, state: `{"owner":"me"}`,
		},
		{
			name: "row 134, a sum that is no number any more", head: "state_reducers: {total: sum}",
			nodes:   `[{id: a, run: act, args: {control: ok, delta: {total: 1}}, retry: {max_attempts: 3}, next: end}]`,
			input:   `{"total":9223372036854775807}`,
			failure: graph.ErrTypeReducerNumericOverflow, state: `{"total":9223372036854775807}`, calls: []string{"a#1"},
		},
	}
}

// The rules of the machine must hold with real activities, a real server and a
// payload converter in between, not only on the pure machine. The numbers are
// those of the conformance catalogue.
func TestConformance(t *testing.T) {
	t.Parallel()
	acts, crowd := newScript(), &crowd{}
	tellAll(t, slices.Concat(flowScenarios(), forkScenarios(crowd), pauseScenarios(), attemptScenarios(), childScenarios(), mapScenarios(), brokenScenarios()), parts{
		register: func(r *activities.Registry) {
			acts.register(r)
			crowd.register(r)
			registerBlock(r)
			registerBeat(r)
			activities.RegisterCallback(r, "pick", 1, func(s activities.Scope) (string, error) {
				var choice string
				_, err := s.State("choice", &choice)
				return choice, err
			})
			activities.RegisterCallback(r, "one", 1, func(activities.Scope) (any, error) { return 1, nil })
			activities.RegisterCallback(r, "merge", 1, mergeByID)
			activities.RegisterCallback(r, "error", 1, func(activities.Scope) (any, error) { return nil, errors.New("no") })
			activities.RegisterCallback(r, "panic", 1, func(activities.Scope) (any, error) { panic("no") })
			activities.RegisterCallback(r, "nil", 1, func(activities.Scope) (any, error) {
				return map[string]*line{}["missing"].Output, nil
			})
		},
		foreign: func(r worker.Registry) { // an activity that does not answer as our actions do
			r.RegisterActivityWithOptions(func(context.Context, graph.Task) (any, error) { return 5, nil },
				activity.RegisterOptions{Name: "garbage"})
		},
	}, acts)
}
