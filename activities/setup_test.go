package activities_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/testsuite"

	"github.com/tidemill/tidemill/activities"
	"github.com/tidemill/tidemill/graph"
	"github.com/tidemill/tidemill/graph/value"
	"github.com/tidemill/tidemill/internal/temporaltest"
)

// bench runs nodes through the real wrapper in the SDK's test environment.
type bench struct {
	tb       testing.TB
	registry *activities.Registry
	options  activities.Options
	prepare  func(*testsuite.TestActivityEnvironment)
}

func setup(tb testing.TB) *bench {
	tb.Helper()
	return &bench{tb: tb, registry: activities.NewRegistry()}
}

// action registers fn as the action "act".
func action[In, Out any](b *bench, fn func(context.Context, In) (Out, error)) *bench {
	activities.Register(b.registry, "act", fn)
	return b
}

// returns registers an action that gives out and err whatever it is asked.
func returns(tb testing.TB, out any, err error) *bench {
	tb.Helper()
	return action(setup(tb), func(context.Context, json.RawMessage) (any, error) { return out, err })
}

// answers registers an action that gives a Result.
func answers(tb testing.TB, r activities.Result) *bench {
	tb.Helper()
	return action(setup(tb), func(context.Context, json.RawMessage) (activities.Result, error) { return r, nil })
}

// task makes the task of a node with the fields of a document, in flow YAML.
func (b *bench) task(fields string) graph.Task {
	b.tb.Helper()
	node := nodeOf(b.tb, "run: act, "+fields)
	return graph.Task{
		Node: node, Input: json.RawMessage(`{"order":"7"}`),
		State: value.NewObject(value.Member{Key: "count", Value: json.RawMessage("1")}),
		Run:   graph.RunFacts{ID: "w", Graph: "g", Node: "work", Address: "work#1", Key: "lineage/work#1"},
	}
}

func nodeOf(tb testing.TB, fields string) *graph.Node {
	tb.Helper()
	compiled, found := graph.Compile("test.yaml",
		[]byte("{version: 1, id: g, entry: work, nodes: [{id: work, next: end, "+fields+"}]}"), graph.CompileOptions{
			Callbacks: map[string]int{"make_args": 1},
		})
	require.NoError(tb, found.Err())
	return &compiled.Document.Nodes[0]
}

// run makes one attempt and reads it as the workflow would.
func (b *bench) run(task graph.Task) graph.Ending {
	b.tb.Helper()
	ending, _ := b.attempt(task)
	return ending
}

// attempt is run with the error the server would see.
func (b *bench) attempt(task graph.Task) (graph.Ending, error) {
	b.tb.Helper()
	b.options.Registry = b.registry
	acts, err := activities.New(b.options)
	require.NoError(b.tb, err)
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(temporaltest.Logger())
	env := suite.NewTestActivityEnvironment()
	acts.Register(env)
	if b.prepare != nil {
		b.prepare(env)
	}
	encoded, err := env.ExecuteActivity(task.Node.Run.Name, task)
	var result graph.Result
	if err == nil {
		require.NoError(b.tb, encoded.Get(&result))
	}
	return activities.EndingOf(task.Node, &result, err), err
}

// result is the result of an attempt that must have one.
func (b *bench) result(fields string) graph.Result {
	b.tb.Helper()
	ending := b.run(b.task(fields))
	require.Equal(b.tb, graph.Returned, ending.Kind, "failure: %v", ending.Failure)
	return *ending.Result
}

// failure is the failure of an attempt that must have one.
func (b *bench) failure(fields string) graph.Ending {
	b.tb.Helper()
	ending := b.run(b.task(fields))
	require.NotNil(b.tb, ending.Failure, "the attempt ended %s", ending.Kind)
	return ending
}
