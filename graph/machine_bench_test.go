package graph_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill/graph"
)

// ring is a thousand nodes that are visited over and over.
func ring(steps int, node func(i int) string) string {
	var doc strings.Builder
	fmt.Fprintf(&doc, "entry: n0\nmax_steps: %d\nstate_reducers: {c: sum}\nnodes:\n", steps)
	for i := range ringNodes {
		fmt.Fprintf(&doc, "  - {id: n%d, %s}\n", i, strings.ReplaceAll(node(i), "NEXT", fmt.Sprintf("n%d", (i+1)%ringNodes)))
	}
	return doc.String()
}

const (
	ringNodes  = 1000
	benchSteps = 100_000
)

// perStep runs a document to the end of its budget and reports the time of one
// step. One in a workflow task of 250 decisions may cost 10 µs.
func perStep(b *testing.B, doc string, decider func(*graph.Compiled) graph.Decider) {
	b.Helper()
	compiled := compileStory(b, doc)
	answers := decider(compiled)
	b.ResetTimer()
	for b.Loop() {
		m, err := graph.New(compiled.Plan, graph.Start{Input: raw(`{"c":0}`), Now: noon})
		require.NoError(b, err)
		for m.Outcome() == nil {
			m.Advance(noon, answers)
			endAll(m)
		}
		require.Equal(b, "budget_exhausted", m.Outcome().Failure.Type)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*benchSteps), "ns/step")
	b.ReportMetric(0, "ns/op")
}

// endAll ends the activities that are due.
func endAll(m *graph.Machine) {
	for _, effect := range m.Effects() {
		if run, ok := effect.(graph.RunNode); ok {
			m.End(noon, run.Task.Run.Address, oks(`{"c":1}`).ending)
		}
	}
}

func undecided(*graph.Compiled) graph.Decider { return graph.Undecided{} }

// evaluating decides by evaluating, as the activity that runs ahead does.
func evaluating(b *testing.B) func(*graph.Compiled) graph.Decider {
	b.Helper()
	return func(c *graph.Compiled) graph.Decider {
		evaluator, err := graph.NewEvaluator(c.Document, nil)
		require.NoError(b, err)
		return evaluator
	}
}

func BenchmarkStepStatic(b *testing.B) {
	perStep(b, ring(benchSteps, func(int) string { return "type: set, output: 1, next: NEXT" }), undecided)
}

func BenchmarkStepAction(b *testing.B) {
	perStep(b, ring(benchSteps, func(int) string { return "run: act, next: NEXT" }), undecided)
}

// BenchmarkStepRecorded repeats decisions, as a replay does.
func BenchmarkStepRecorded(b *testing.B) {
	perStep(b, ring(benchSteps, func(i int) string {
		return fmt.Sprintf(`type: branch, cases: [{when: "state.c == %d", to: end}], default: NEXT`, i+1)
	}), func(*graph.Compiled) graph.Decider { return around{} })
}

// around leads from each node of a ring to the next.
type around struct{}

func (around) Decide(q graph.Question) (graph.Decision, bool) {
	return graph.Decision{To: q.Node.Default}, true
}

func BenchmarkStepEvaluated(b *testing.B) {
	perStep(b, ring(benchSteps, func(i int) string {
		return fmt.Sprintf(`type: branch, cases: [{when: "state.c == %d", to: end}], default: NEXT`, i+1)
	}), evaluating(b))
}

// BenchmarkCheckpoint takes, writes and reads the checkpoint of a run that has
// visited a thousand nodes.
func BenchmarkCheckpoint(b *testing.B) {
	compiled := compileStory(b, ring(1000, func(int) string { return "type: set, output: 1, next: NEXT" }))
	m, err := graph.New(compiled.Plan, graph.Start{Input: raw(`{"c":0}`), Now: noon})
	require.NoError(b, err)
	m.Advance(noon, graph.Undecided{})
	for b.Loop() {
		_, failure := graph.ParseCheckpoint([]byte(text(b, m.Checkpoint())))
		require.Nil(b, failure)
	}
}
