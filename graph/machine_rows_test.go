package graph_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill/graph"
)

// row is one scenario of the rules of a run: a graph, what its actions answer,
// what people answer, and what comes of it.
type row struct {
	name    string
	doc     string
	input   string // absent: {}
	plays   plays
	answers []string // given in turn whenever the whole run is paused
	calls   callbacks
	change  func(*story)
	want    want
}

// want is what a row expects. Empty fields are not looked at.
type want struct {
	status  graph.Status
	output  string
	state   string
	seen    string // inputs, in order: "a {}; b 1"
	steps   int
	failure string // its type, and those of its causes: "retry_exhausted/boom"
	at      graph.Address
	message string // part of the failure's message
}

// runRows tells every row five ways: with decisions one at a time and in large
// batches, on one machine and on machines restored before each event, and where
// every attempt needs a permit. All must end alike.
func runRows(t *testing.T, rows []row) {
	t.Helper()
	for _, r := range rows {
		for _, batch := range []int{1, graph.MaxBatchDecisions} {
			for _, restores := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s/batch=%d,restores=%v", r.name, batch, restores), func(t *testing.T) {
					t.Parallel()
					r.run(t, batch, restores)
				})
			}
		}
		t.Run(r.name+"/admission", func(t *testing.T) {
			t.Parallel()
			r.run(t, 1, true, admitting())
		})
	}
}

func (r row) run(t *testing.T, batch int, restores bool, change ...func(*story)) {
	t.Helper()
	s := tell(t, r.doc, r.input, r.plays, func(s *story) {
		s.batch, s.restores = batch, restores
		if r.calls != nil {
			evaluator, err := graph.NewEvaluator(s.compiled.Document, r.calls)
			require.NoError(t, err)
			s.decider = evaluator
		}
		if r.change != nil {
			r.change(s)
		}
		for _, c := range change {
			c(s)
		}
	})
	s.run()
	for _, answer := range r.answers {
		require.True(t, s.m.Paused(), "not paused")
		require.Nil(t, s.answer(graph.Answer{Input: canonical(t, answer), Via: "signal"}))
		s.run()
	}
	r.want.check(t, s)
}

func (w want) check(t *testing.T, s *story) {
	t.Helper()
	cp := s.m.Checkpoint()
	require.Equal(t, w.status, s.m.Status(), "%s", strings.Join(s.log, "\n"))
	if w.output != "" {
		require.Equal(t, w.output, string(s.m.Outcome().Output))
	}
	if w.state != "" {
		require.Equal(t, w.state, string(cp.State.Raw()))
	}
	if w.seen != "" {
		require.Equal(t, w.seen, strings.Join(s.seen, "; "))
	}
	if w.steps > 0 {
		require.Equal(t, w.steps, cp.Steps)
	}
	if w.failure == "" {
		require.True(t, cp.Outcome == nil || cp.Outcome.Failure == nil, "%s", text(t, cp.Outcome))
		return
	}
	failure := cp.Outcome.Failure
	require.Equal(t, w.failure, failureTypes(failure), failure.Message)
	require.Equal(t, w.at, failure.Address)
	require.Contains(t, failure.Message, w.message)
}

// failureTypes are the types of a failure and of its causes.
func failureTypes(f *graph.Failure) string {
	var types []string
	for ; f != nil; f = f.Cause {
		types = append(types, f.Type)
	}
	return strings.Join(types, "/")
}

// computes is a callback that cannot fail.
func computes(f func(graph.Scope) any) func(graph.Scope) (any, error) {
	return func(s graph.Scope) (any, error) { return f(s), nil }
}

// number reads a number out of the state, for callbacks.
func number(scope graph.Scope, key string) int {
	v, _ := scope.State.Get(key)
	var n int
	if json.Unmarshal(v, &n) != nil {
		return -1
	}
	return n
}
