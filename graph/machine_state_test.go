package graph_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill/graph"
)

// twice is an action that runs two times, with reducers for what it changes.
func twice(reducers string) string {
	return `entry: a
state_reducers: {` + reducers + `}
nodes:
  - {id: a, run: act, next: b}
  - {id: b, run: act, next: end}
`
}

// Reducers, as scenario 134 has them: each combines what a key has with what a
// delta gives, and a delta that one refuses is not applied at all.
func TestReducers(t *testing.T) {
	t.Parallel()
	big := `9223372036854775807`
	for _, c := range []struct {
		name, kind, input, first, second string
		want                             string // the state, or an error type
	}{
		{"overwrite is the default", "", `{}`, `{"k":1}`, `{"k":[2]}`, `{"k":[2]}`},
		{"overwrite replaces, it does not merge", "k: overwrite", `{"k":{"a":1}}`, `{"k":{"b":2}}`, `{}`, `{"k":{"b":2}}`},
		{"sum", "k: sum", `{"k":5}`, `{"k":7}`, `{"k":3}`, `{"k":15}`},
		{"sum from nothing", "k: sum", `{}`, `{"k":7}`, `{"k":-7}`, `{"k":0}`},
		{"sum of fractions", "k: sum", `{"k":0.1}`, `{"k":0.2}`, `{}`, `{"k":0.30000000000000004}`},
		{"sum of a fraction and an integer", "k: sum", `{"k":1}`, `{"k":0.5}`, `{"k":0.5}`, `{"k":2}`},
		{"sum up to the limit", "k: sum", `{"k":9223372036854775806}`, `{"k":1}`, `{}`, `{"k":` + big + `}`},
		{"sum is exact", "k: sum", `{"k":9007199254740993}`, `{"k":2}`, `{}`, `{"k":9007199254740995}`},
		{"sum over the limit", "k: sum", `{"k":` + big + `}`, `{"k":1}`, `{}`, "state_reducer_numeric_overflow"},
		{"sum under the limit", "k: sum", `{"k":-` + big + `}`, `{"k":-2}`, `{}`, "state_reducer_numeric_overflow"},
		{"sum out of floating point", "k: sum", `{"k":1.7e308}`, `{"k":1.7e308}`, `{}`, "state_reducer_numeric_overflow"},
		{"a larger integer passes through", "k: sum", `{"k":92233720368547758070}`, `{}`, `{}`, `{"k":92233720368547758070}`},
		{"nothing is added to a larger integer", "k: sum", `{"k":92233720368547758070}`, `{"k":0.5}`, `{}`, "state_reducer_numeric_overflow"},
		{"a larger integer is not added", "k: sum", `{"k":0.5}`, `{"k":92233720368547758070}`, `{}`, "state_reducer_numeric_overflow"},
		{"sum of text", "k: sum", `{"k":1}`, `{"k":"1"}`, `{}`, "state_reducer_type_mismatch"},
		{"sum onto text", "k: sum", `{"k":"1"}`, `{"k":1}`, `{}`, "state_reducer_type_mismatch"},
		{"sum begins with text", "k: sum", `{}`, `{"k":"1"}`, `{}`, "state_reducer_type_mismatch"},
		{"sum of null", "k: sum", `{"k":1}`, `{"k":null}`, `{}`, "state_reducer_type_mismatch"},
		{"append", "k: append", `{"k":[1]}`, `{"k":[2,[3]]}`, `{"k":["<"]}`, `{"k":[1,2,[3],"<"]}`},
		{"append from nothing", "k: append", `{}`, `{"k":[]}`, `{"k":[{}]}`, `{"k":[{}]}`},
		{"append nothing", "k: append", `{"k":[1]}`, `{"k":[]}`, `{}`, `{"k":[1]}`},
		{"append no list", "k: append", `{"k":[1]}`, `{"k":2}`, `{}`, "state_reducer_type_mismatch"},
		{"append to no list", "k: append", `{"k":1}`, `{"k":[2]}`, `{}`, "state_reducer_type_mismatch"},
		{"append begins with no list", "k: append", `{}`, `{"k":2}`, `{}`, "state_reducer_type_mismatch"},
		{"reject_conflict takes the first", "k: reject_conflict", `{}`, `{"k":"me"}`, `{"k":"me"}`, `{"k":"me"}`},
		{"reject_conflict knows equal values", "k: reject_conflict", `{"k":{"a":1,"b":2}}`, `{"k":{"b":2.0,"a":1}}`, `{}`, `{"k":{"a":1,"b":2}}`},
		{"reject_conflict refuses another", "k: reject_conflict", `{}`, `{"k":"me"}`, `{"k":"you"}`, "state_reducer_conflict"},
		{"reject_conflict refuses null", "k: reject_conflict", `{"k":1}`, `{"k":null}`, `{}`, "state_reducer_conflict"},
		{"all or nothing", "k: sum", `{"a":1,"k":1,"z":1}`, `{"a":2,"k":"x","z":2}`, `{}`, "state_reducer_type_mismatch"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := tell(t, twice(c.kind), c.input, plays{"a": {oks(c.first)}, "b": {oks(c.second)}}).run()
			if strings.HasPrefix(c.want, "{") {
				require.Equal(t, c.want, string(s.m.Outcome().Output))
				return
			}
			failure := s.m.Outcome().Failure
			require.Equal(t, c.want, failure.Type)
			require.Contains(t, failure.Message, `"k"`)
			before := s.tasks[len(s.tasks)-1].Run.Address
			require.Equal(t, before, failure.Address, "the node whose delta it was has failed")
			if before == "a#1" {
				require.Equal(t, string(canonical(t, c.input)), string(s.m.Checkpoint().State.Raw()), "nothing of the delta was applied")
			}
		})
	}
}

// A delta that a reducer refuses is a failure of its node, so on_error sees it.
// It is never tried again: the action has run.
func TestReducerFailureIsTheNodes(t *testing.T) {
	t.Parallel()
	s := tell(t, `entry: a
state_reducers: {k: sum}
nodes:
  - {id: a, run: act, retry: {max_attempts: 3}, on_error: s, next: end}
  - {id: s, type: set, output: "${ [input.type, input.attempts] }", next: end}
`, "", plays{"a": {fails("x"), outputs(`"lost"`, `{"k":"x"}`)}}).run()
	require.Equal(t, raw(`["state_reducer_type_mismatch",2]`), s.m.Outcome().Output)
	require.Equal(t, `{}`, string(s.m.Checkpoint().State.Raw()))
	require.Len(t, s.tasks, 2)
}

// What would make the run too large to be carried fails the node that gave it,
// and the state stays as it was. The document counts, and an output twice: as
// the run's, and as what the next node is given.
func TestStateTooLarge(t *testing.T) {
	t.Parallel()
	small := func(s *story) { s.start.Limits.State = s.compiled.Plan.Size + 40 }
	fits, over := `{"x":"`+strings.Repeat("é", 16)+`"}`, `{"x":"`+strings.Repeat("é", 17)+`"}`
	require.Len(t, fits, 40)
	s := tell(t, oneAction(""), "", plays{"a": {oks(fits)}}, small).run()
	require.Equal(t, fits, string(s.m.Outcome().Output))
	s = tell(t, oneAction(""), "", plays{"a": {outputs(`"`+strings.Repeat("o", 17)+`"`, `{}`)}}, small).run()
	require.Equal(t, graph.StatusCompleted, s.m.Outcome().Status)
	s = tell(t, oneAction(""), "", plays{"a": {outputs(`"`+strings.Repeat("o", 18)+`"`, `{}`)}}, small).run()
	require.Equal(t, "state_too_large", s.m.Outcome().Failure.Type)
	s = tell(t, oneAction(""), `{"k":1}`, plays{"a": {oks(over)}}, small).run()
	require.Equal(t, "state_too_large", s.m.Outcome().Failure.Type)
	require.Equal(t, `{"k":1}`, string(s.m.Checkpoint().State.Raw()))
	s = tell(t, oneAction("on_error: end, "), `{"k":1}`, plays{"a": {outputs(`"lost"`, over)}}, small).run()
	require.Equal(t, `{"k":1}`, string(s.m.Outcome().Output), "neither the delta nor the output was committed")
}

// Schemas of the graph and of nodes that no action runs.
func TestSchemas(t *testing.T) {
	t.Parallel()
	const integer = `{type: integer}`
	runRows(t, []row{
		{
			name: "the output that ends the run is held against output_schema",
			doc:  "output_schema: {type: string}\n" + oneAction(""), plays: plays{"a": {outputs(`1`, `{"x":1}`)}},
			want: want{status: graph.StatusFailed, failure: "output_schema_validation_failed", state: `{"x":1}`, steps: 1},
		},
		{
			name: "123 the same by stop: the commit stands, the node is not run again",
			doc:  "output_schema: {type: string}\n" + abc, plays: plays{"a": {stops(`1`, `{"x":1}`)}},
			want: want{status: graph.StatusFailed, failure: "output_schema_validation_failed", state: `{"x":1}`, seen: `a {}`},
		},
		{
			name: "23 the final state is held against output_schema when nothing gave an output",
			doc:  "output_schema: {type: object, required: [x]}\n" + oneAction(""), plays: plays{"a": {oks(`{"x":1}`)}},
			want: want{status: graph.StatusCompleted, output: `{"x":1}`},
		},
		{
			name: "an output that fits",
			doc:  "output_schema: {type: string}\n" + oneAction(""), plays: plays{"a": {outputs(`"<&>"`)}},
			want: want{status: graph.StatusCompleted, output: `"<&>"`},
		},
		{
			name: "a node's input that does not fit costs no step",
			doc: `entry: a
nodes:
  - {id: a, run: act, next: s}
  - {id: s, type: set, input_schema: ` + integer + `, next: end}
`,
			plays: plays{"a": {outputs(`"x"`)}},
			want:  want{status: graph.StatusFailed, failure: "node_input_schema_validation_failed", steps: 1},
		},
		{
			name: "a node's input that does not fit can be dealt with",
			doc: `entry: a
nodes:
  - {id: a, run: act, next: s}
  - {id: s, type: set, input_schema: ` + integer + `, on_error: e, next: end}
  - {id: e, type: set, output: "${ input.type + ' ' + input.node }", next: end}
`,
			plays: plays{"a": {outputs(`"x"`)}},
			want:  want{status: graph.StatusCompleted, output: `"node_input_schema_validation_failed s"`, steps: 2},
		},
		{
			// The activation leads to the end without ever having had an address.
			name: "a node's input that does not fit leads to the end",
			doc: `entry: s
output_schema: {type: object}
nodes:
  - {id: s, type: set, input_schema: ` + integer + `, on_error: end, next: end}
`,
			want: want{status: graph.StatusCompleted, output: `{}`},
		},
		{
			name: "a branch's input and what it passes on",
			doc: `entry: b
nodes:
  - {id: b, type: branch, input_schema: {type: object}, output_schema: {required: [k]}, cases: [{when: "true", to: end}]}
`,
			want: want{status: graph.StatusFailed, failure: "node_output_schema_validation_failed"},
		},
		{
			name: "a set's output",
			doc: `entry: s
nodes:
  - {id: s, type: set, output: "${ input.k }", delta: {x: 1}, output_schema: ` + integer + `, next: end}
`,
			input: `{"k":"no"}`,
			want:  want{status: graph.StatusFailed, failure: "node_output_schema_validation_failed", at: "s#1", state: `{"k":"no"}`},
		},
		{
			name: "an integer with a fraction of zero is an integer",
			doc: `entry: s
nodes:
  - {id: s, type: set, output: "${ input.k }", output_schema: ` + integer + `, next: end}
`,
			input: `{"k":3.0}`, want: want{status: graph.StatusCompleted, output: `3`},
		},
	})
}

// 43, 121: what a run may begin with.
func TestRunInput(t *testing.T) {
	t.Parallel()
	doc := compileStory(t, "input_schema: {required: [topic]}\n"+abc).Document
	for _, c := range []struct{ input, want string }{
		{``, ""},
		{`null`, ""},
		{`{}`, ""},
		{`{"topic":1}`, `{"topic":1}`},
		{` { "topic" : 1.0, "a" : "<" } `, `{"a":"<","topic":1}`},
		{`[]`, ""},
		{`"topic"`, ""},
		{`7`, ""},
		{`{`, ""},
		{`{"topic":1,"topic":2}`, ""},
		{"{\"topic\":\"\xff\"}", ""},
	} {
		got, failure := graph.CheckInput(doc, json.RawMessage(c.input))
		if c.want == "" {
			require.NotNil(t, failure, c.input)
			require.Equal(t, "input_schema_validation_failed", failure.Type)
			continue
		}
		require.Nil(t, failure, c.input)
		require.Equal(t, c.want, string(got))
	}
	_, err := graph.New(compileStory(t, abc).Plan, graph.Start{Input: json.RawMessage(`[]`)})
	require.Error(t, err, "a machine begins with an object")
}

// A decision larger than history takes is a failure of the node, on the machine
// and on its copy alike.
func TestDecisionTooLarge(t *testing.T) {
	t.Parallel()
	grow := strings.Repeat("${ input.k }", 3)
	s := tell(t, `entry: s
nodes:
  - {id: s, type: set, output: "`+grow+`", next: end}
`, `{"k":"`+strings.Repeat("x", 100<<10)+`"}`, nil)
	recorder := graph.NewRecorder(s.decider)
	s.m.Clone().Advance(noon, recorder)
	s.m.Advance(noon, graph.NewRecorded(recorder.Decisions()))
	require.Equal(t, "output_too_large", s.m.Outcome().Failure.Type)
	require.Less(t, len(text(t, recorder.Decisions())), 1000)
}

// A batch is full at 64 KiB as well; a decision larger than that has one alone.
func TestBatchBytes(t *testing.T) {
	t.Parallel()
	recorder := graph.NewRecorder(constantly{Output: raw(`"` + strings.Repeat("x", 10<<10) + `"`)})
	for range 300 {
		if _, ok := recorder.Decide(graph.Question{}); !ok {
			break
		}
	}
	require.Len(t, recorder.Decisions(), 6)
	recorder = graph.NewRecorder(constantly{Output: raw(`"` + strings.Repeat("x", 100<<10) + `"`)})
	_, ok := recorder.Decide(graph.Question{})
	require.True(t, ok, "else the run would stand still")
	_, ok = recorder.Decide(graph.Question{})
	require.False(t, ok)
	recorder = graph.NewRecorder(constantly{})
	for range 300 {
		recorder.Decide(graph.Question{})
	}
	require.Len(t, recorder.Decisions(), graph.MaxBatchDecisions)
}

// constantly decides always the same.
type constantly graph.Decision

func (f constantly) Decide(graph.Question) (graph.Decision, bool) { return graph.Decision(f), true }
