package workflows_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"github.com/tidemill/tidemill/graph"
	"github.com/tidemill/tidemill/internal/temporaltest"
)

const closings = `
version: 1
id: closings
entry: which
input_schema: {type: object, required: [how], properties: {how: {type: string}}}
output_schema: {type: string}
nodes:
  - id: which
    type: branch
    cases:
      - {when: "state.how == 'business'", to: declined}
      - {when: "state.how == 'failed'", to: broken}
      - {when: "state.how == 'expression'", to: wrong}
      - {when: "state.how == 'route'", to: nowhere}
      - {when: "state.how == 'output'", to: number}
    default: good
  - {id: good, type: set, output: fine, next: end}
  - {id: declined, run: fail, args: {type: card_declined, message: "the bank said no", business: true, details: {code: 51}}, next: end}
  - {id: broken, run: fail, args: {type: service_down, message: down}, next: end}
  - {id: wrong, type: set, output: "${ 1 / 0 }", next: end}
  - {id: nowhere, type: branch, cases: [{when: "false", to: good}]}
  - {id: number, type: set, output: 5, next: end}
`

// Each outcome closes the run so that Temporal's own tools see it right: what
// is returned as a value would be Completed, and block a redrive.
func TestClosing(t *testing.T) {
	t.Parallel()
	w := setup(t, parts{graphs: []string{closings}})
	good := w.run("closings", map[string]string{"how": "well"})
	require.Equal(t, `"fine"`, w.output(good))
	require.Equal(t, enumspb.WORKFLOW_EXECUTION_STATUS_COMPLETED, w.closed(good))

	for how, want := range map[string]graph.Failure{
		"business":   {Type: "card_declined", Message: "the bank said no", Node: "declined"},
		"failed":     {Type: "service_down", Message: "down", Node: "broken"},
		"expression": {Type: graph.ErrTypeExpressionFailed, Node: "wrong"},
		"route":      {Type: graph.ErrTypeRouteFailed, Node: "nowhere"},
		"output":     {Type: graph.ErrTypeOutputSchema},
	} {
		run := w.run("closings", map[string]string{"how": how})
		kind, report := w.failure(run)
		require.Equal(t, want.Type, kind, how)
		require.Equal(t, enumspb.WORKFLOW_EXECUTION_STATUS_FAILED, w.closed(run), how)
		require.Equal(t, graph.StatusFailed, report.Status, how)
		require.Equal(t, want.Type, report.Error.Type, how)
		require.Equal(t, want.Node, report.Error.Node, how)
		if want.Message != "" {
			require.Equal(t, want.Message, report.Error.Message, how)
		}
		require.Equal(t, run.GetID(), report.ID, how)
		require.Equal(t, run.GetRunID(), report.RunID, how)
		require.JSONEq(t, `{"how":"`+how+`"}`, string(report.State), how)
		require.Equal(t, "null", string(report.Output), how)

		failed := w.applicationError(run)
		require.True(t, failed.NonRetryable(), how)
		benign := failed.Category() == temporal.ApplicationErrorCategoryBenign
		require.Equal(t, how == "business", benign, how)
	}
}

// applicationError is the error that a run closed with.
func (w *world) applicationError(run client.WorkflowRun) *temporal.ApplicationError {
	w.tb.Helper()
	failed := new(temporal.ApplicationError)
	require.ErrorAs(w.tb, run.Get(w.tb.Context(), nil), &failed)
	return failed
}

// A run that cannot begin fails at once, with the reason, and no node has run;
// the query status says the same.
func TestRefusedStarts(t *testing.T) {
	t.Parallel()
	w := setup(t, parts{graphs: []string{closings, linear}})
	ok := json.RawMessage(`{"how":"well"}`)
	for name, test := range map[string]struct {
		graph string
		args  []any
		want  string
		says  string
	}{
		"unknown graph":     {"closing", []any{ok}, graph.ErrTypeUnknownGraph, "did you mean closings?"},
		"input no object":   {"closings", []any{5}, graph.ErrTypeInputSchema, "object"},
		"input of text":     {"closings", []any{"how"}, graph.ErrTypeInputSchema, "object"},
		"input not JSON":    {"closings", []any{[]byte{0xff, 0xfe}}, graph.ErrTypeInputSchema, "JSON"},
		"input incomplete":  {"closings", []any{json.RawMessage(`{}`)}, graph.ErrTypeInputSchema, "how"},
		"input absent":      {"closings", nil, graph.ErrTypeInputSchema, "how"},
		"input null":        {"closings", []any{nil}, graph.ErrTypeInputSchema, "how"},
		"unknown option":    {"closings", []any{ok, map[string]int{"maxsteps": 1}}, graph.ErrTypeInvalidRunOptions, "maxsteps"},
		"wrong option":      {"closings", []any{ok, map[string]int{"max_steps": -1}}, graph.ErrTypeInvalidRunOptions, "max_steps"},
		"negative deadline": {"closings", []any{ok, map[string]string{"deadline": "-1s"}}, graph.ErrTypeInvalidRunOptions, "negative"},
		"options no object": {"closings", []any{ok, 5}, graph.ErrTypeInvalidRunOptions, "options"},
		"third argument":    {"closings", []any{ok, nil, 1}, graph.ErrTypeInvalidRunOptions, "at most two"},
		"third, null":       {"closings", []any{ok, nil, nil}, graph.ErrTypeInvalidRunOptions, "at most two"},
		"fourth argument":   {"closings", []any{ok, nil, 1, 2}, graph.ErrTypeInvalidRunOptions, "at most two"},
		"spec not allowed":  {"other", []any{ok, map[string]any{"spec": longLoop}}, graph.ErrTypeInvalidDocument, "long_loop"},
		"spec refused":      {"long_loop", []any{ok, map[string]any{"spec": longLoop}}, graph.ErrTypeInvalidRunOptions, "inline_specs"},
		"spec broken":       {"long_loop", []any{ok, map[string]any{"spec": "version: 1\nid: long_loop\n"}}, graph.ErrTypeInvalidDocument, "no nodes"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := w.in(t)
			run := w.run(test.graph, test.args...)
			kind, report := w.failure(run)
			require.Equal(t, test.want, kind)
			require.Contains(t, report.Error.Message, test.says)
			require.Equal(t, graph.StatusFailed, report.Status)
			require.Zero(t, report.Steps)
			require.Equal(t, report, w.status(run))
			require.Len(t, temporaltest.Tasks(w.history(run)), 1)
		})
	}
}

// A workflow retry policy would repeat committed nodes in a run of its own.
func TestWorkflowRetryPolicyIsRefused(t *testing.T) {
	t.Parallel()
	w := setup(t, parts{graphs: []string{closings}})
	run := w.runWith(client.StartWorkflowOptions{RetryPolicy: &temporal.RetryPolicy{MaximumAttempts: 3}}, "closings", map[string]string{"how": "well"})
	kind, report := w.failure(run)
	require.Equal(t, graph.ErrTypeRetryPolicy, kind)
	require.Contains(t, report.Error.Message, "retry on nodes")
	require.Equal(t, run.GetRunID(), w.client.GetWorkflow(t.Context(), run.GetID(), "").GetRunID(), "no second run was started")
}

// The plain command line starts a run without any of our client code, and its
// payloads are read as they are.
func TestStartedByCommandLine(t *testing.T) {
	t.Parallel()
	w := setup(t, parts{graphs: []string{closings}})
	id := w.id("closings")
	_, err := w.server.CLI(t.Context(), "workflow", "start", "--type", "closings", "--task-queue", w.queue, "--workflow-id", id, "--input", `{"how":"well"}`)
	require.NoError(t, err)
	run := w.client.GetWorkflow(t.Context(), id, "")
	w.runs = append(w.runs, run)
	require.Equal(t, `"fine"`, w.output(run))
}
