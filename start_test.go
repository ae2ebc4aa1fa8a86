package tidemill_test

import (
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/log"

	"github.com/tidemill/tidemill"
	"github.com/tidemill/tidemill/graph"
	"github.com/tidemill/tidemill/internal/temporaltest"
)

// echo gives back its input.
const echo = `
version: 1
id: echo
entry: say
nodes: [{id: say, type: set, output: "${ state }", next: end}]
`

// runsGraph is a document that runs another graph.
func runsGraph(id, name, fields string) string {
	return "id: " + id + "\nentry: x\nnodes:\n  - {id: x, type: workflow, workflow: " + name + fields + ", next: end}\n"
}

// A start that can be refused here must leave no run behind, whoever calls.
func TestStartRefusesBeforeAnythingStarts(t *testing.T) {
	t.Parallel()
	w := idle(t)
	runs := tidemill.NewClient(w.client, tidemill.ClientOptions{TaskQueue: w.queue, App: newApp()})
	for _, test := range []struct {
		name string
		o    tidemill.StartOptions
		want string
	}{
		{"no graph", tidemill.StartOptions{}, graph.ErrTypeUnknownGraph},
		{"no id of a graph", tidemill.StartOptions{Graph: "order review"}, graph.ErrTypeUnknownGraph},
		{"an invalid document", tidemill.StartOptions{Spec: []byte("version: 1\n")}, graph.ErrTypeInvalidDocument},
		{"a child's input that does not fit", tidemill.StartOptions{Spec: []byte(runsGraph("outer", "approval", ", input: {order: 7}"))}, graph.ErrTypeInvalidDocument},
		{"the name of another graph", tidemill.StartOptions{Graph: "other", Spec: []byte(echo)}, graph.ErrTypeInvalidRunOptions},
		{"an input that is no object", tidemill.StartOptions{Graph: "unknown", Input: []int{1}}, graph.ErrTypeInputSchema},
		{"an input that is no JSON", tidemill.StartOptions{Graph: "unknown", Input: func() {}}, graph.ErrTypeInputSchema},
		{"an input against the schema", tidemill.StartOptions{Graph: "approval", Input: map[string]int{"order": 7}}, graph.ErrTypeInputSchema},
		{"no input against the schema", tidemill.StartOptions{Graph: "approval"}, graph.ErrTypeInputSchema},
		{"a huge input", tidemill.StartOptions{Graph: "unknown", Input: map[string]string{"a": strings.Repeat("x", 2<<20)}}, graph.ErrTypeStateTooLarge},
		{"a negative deadline", tidemill.StartOptions{Graph: "unknown", Deadline: -5}, graph.ErrTypeInvalidRunOptions},
		{"a negative step budget", tidemill.StartOptions{Graph: "unknown", MaxSteps: -1}, graph.ErrTypeInvalidRunOptions},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			test.o.ID = w.queue + strings.ReplaceAll(test.name, " ", "-")
			_, err := runs.Start(t.Context(), test.o)
			require.Equal(t, test.want, tidemill.ErrorType(err), "%v", err)
			_, err = runs.Status(t.Context(), test.o.ID)
			require.Equal(t, tidemill.ErrTypeNotFound, tidemill.ErrorType(err))
		})
	}
	t.Run("a long id", func(t *testing.T) {
		t.Parallel()
		_, err := runs.Start(t.Context(), tidemill.StartOptions{Graph: "unknown", ID: strings.Repeat("i", 1001)})
		require.Equal(t, graph.ErrTypeInvalidRunOptions, tidemill.ErrorType(err))
	})
}

// The errors of a document must reach the caller one by one, with positions.
func TestStartGivesDiagnostics(t *testing.T) {
	t.Parallel()
	w := idle(t)
	broken := strings.Replace(echo, "next: end", "next: nowhere, tiemout: 1s", 1)
	_, err := w.runs.Start(t.Context(), tidemill.StartOptions{Spec: []byte(broken), SpecName: "echo.yaml"})
	var diagnostics graph.Diagnostics
	require.ErrorAs(t, err, &diagnostics)
	require.Len(t, diagnostics.Errors(), 2)
	require.Equal(t, "echo.yaml", diagnostics[0].File)
	require.Equal(t, 5, diagnostics[0].Line)
}

// Digits that a float cannot hold must come through a start untouched.
func TestStartKeepsNumbersExact(t *testing.T) {
	t.Parallel()
	app := tidemill.NewApp()
	app.AddGraph("echo.yaml", []byte(echo))
	w := setup(t, app)
	for _, input := range []any{
		json.RawMessage(`{"n": 9007199254740993, "big": 123456789012345678901234567890}`),
		map[string]json.Number{"n": "9007199254740993", "big": "123456789012345678901234567890"},
	} {
		run, err := w.runs.Start(t.Context(), tidemill.StartOptions{Graph: "echo", Input: input})
		require.NoError(t, err)
		require.True(t, strings.HasPrefix(run.ID, "echo-"), run.ID)
		report, err := w.runs.Await(t.Context(), run.ID, tidemill.AwaitOptions{})
		require.NoError(t, err)
		require.Equal(t, `{"big":123456789012345678901234567890,"n":9007199254740993}`, string(report.Output))
	}
}

// Row 94: an id is for one open run; a closed one gives it back.
func TestStartTellsATakenID(t *testing.T) {
	t.Parallel()
	w := setup(t, newApp())
	start := tidemill.StartOptions{Graph: "approval", ID: w.queue, Input: map[string]string{"order": "1"}}
	run, err := w.runs.Start(t.Context(), start)
	require.NoError(t, err)

	_, err = w.runs.Start(t.Context(), start)
	var taken *tidemill.AlreadyExistsError
	require.ErrorAs(t, err, &taken)
	require.Equal(t, tidemill.AlreadyExistsError{ID: run.ID, RunID: run.RunID}, *taken)
	require.Equal(t, tidemill.ErrTypeAlreadyExists, tidemill.ErrorType(err))

	require.NoError(t, w.runs.Cancel(t.Context(), run.ID, ""))
	_, err = w.runs.Await(t.Context(), run.ID, tidemill.AwaitOptions{ThroughPauses: true})
	require.NoError(t, err)
	again, err := w.runs.Start(t.Context(), start)
	require.NoError(t, err)
	require.NotEqual(t, run.RunID, again.RunID)

	report, err := w.runs.Await(t.Context(), run.ID, tidemill.AwaitOptions{RunID: run.RunID})
	require.NoError(t, err)
	require.Equal(t, tidemill.StatusCancelled, report.Status, "the earlier run, not the one that is open now")
}

// Lists and pages of the UI show what a run is before a worker has seen it.
func TestStartDescribesTheRun(t *testing.T) {
	t.Parallel()
	w := idle(t)
	runs := tidemill.NewClient(w.client, tidemill.ClientOptions{TaskQueue: w.queue, App: newApp()})
	run, err := runs.Start(t.Context(), tidemill.StartOptions{Graph: "approval", ID: w.queue, Input: map[string]string{"order": "1"}})
	require.NoError(t, err)

	d, err := w.client.DescribeWorkflow(t.Context(), run.ID, "")
	require.NoError(t, err)
	require.Equal(t, "approval", d.WorkflowType.Name)
	summary, err := d.GetStaticSummary()
	require.NoError(t, err)
	require.Equal(t, "approval@"+run.Fingerprint[:8]+" · "+run.ID, summary)
	details, err := d.GetStaticDetails()
	require.NoError(t, err)
	require.Contains(t, details, "Asks whether an order may be shipped.")
	require.Contains(t, details, "temporal workflow signal --workflow-id '"+run.ID+"' --name resume")
	require.Equal(t, 1, d.TypedSearchAttributes.Size())
	require.Nil(t, d.RawResponse.GetWorkflowExecutionInfo().GetParentExecution())
}

// A document sent along runs where the worker allows it, and is refused with a
// reason where it does not, before a node has run.
func TestStartSendsADocument(t *testing.T) {
	t.Parallel()
	start := tidemill.StartOptions{Spec: []byte(echo), SpecName: "echo.yaml", Input: map[string]bool{"a": true}}
	t.Run("allowed", func(t *testing.T) {
		t.Parallel()
		w := setup(t, tidemill.NewApp(), func(o *tidemill.WorkerOptions) { o.InlineSpecs = true })
		run, err := w.runs.Start(t.Context(), start)
		require.NoError(t, err)
		report, err := w.runs.Await(t.Context(), run.ID, tidemill.AwaitOptions{})
		require.NoError(t, err)
		require.JSONEq(t, `{"a":true}`, string(report.Output))
		require.Equal(t, run.Fingerprint, report.Fingerprint)
	})
	t.Run("refused", func(t *testing.T) {
		t.Parallel()
		w := setup(t, tidemill.NewApp())
		run, err := w.runs.Start(t.Context(), start)
		require.NoError(t, err)
		report, err := w.runs.Await(t.Context(), run.ID, tidemill.AwaitOptions{})
		require.NoError(t, err)
		require.Equal(t, tidemill.StatusFailed, report.Status)
		require.Equal(t, graph.ErrTypeInvalidRunOptions, report.Error.Type)
		require.Zero(t, report.Steps)
	})
}

// A document may name graphs of the worker. Its fingerprint is told where those
// graphs are known, and never one that the run does not have.
func TestStartSendsADocumentWithChildren(t *testing.T) {
	t.Parallel()
	app := tidemill.NewApp()
	app.AddGraph("echo.yaml", []byte(echo))
	w := setup(t, app, func(o *tidemill.WorkerOptions) { o.InlineSpecs = true })
	start := tidemill.StartOptions{Spec: []byte(runsGraph("outer", "echo", ", input: {b: 1}"))}
	for _, known := range []*tidemill.App{app, nil} {
		runs := tidemill.NewClient(w.client, tidemill.ClientOptions{TaskQueue: w.queue, App: known})
		run, err := runs.Start(t.Context(), start)
		require.NoError(t, err)
		report, err := runs.Await(t.Context(), run.ID, tidemill.AwaitOptions{})
		require.NoError(t, err)
		require.JSONEq(t, `{"b":1}`, string(report.Output))
		if known == nil {
			require.Empty(t, run.Fingerprint)
		} else {
			require.Equal(t, report.Fingerprint, run.Fingerprint)
		}
	}
}

// words are what was logged as a warning.
type words struct {
	log.Logger
	mu   sync.Mutex
	text []string
}

func (w *words) Warn(message string, _ ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.text = append(w.text, message)
}

func (w *words) said(part string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.ContainsFunc(w.text, func(message string) bool { return strings.Contains(message, part) })
}

// Two contents under one revision are confused by everybody who reads it: who starts
// such a run is told, and so is who runs the worker. The run itself is what was sent.
func TestStartWarnsOfARevisionThatIsTaken(t *testing.T) {
	t.Parallel()
	revised := func(output string) []byte {
		return []byte("version: 1\nid: revised\nrevision: '3'\nentry: a\nnodes: [{id: a, type: set, output: " + output + ", next: end}]\n")
	}
	const warning = "call themselves revision \"3\""
	server, heard := shared.Server(t), &words{Logger: temporaltest.Logger()}
	c, queue := server.Client(t, func(o *client.Options) { o.Logger = heard }), server.TaskQueue(t)
	app := tidemill.NewApp()
	app.AddGraph("revised.yaml", revised("old"))
	one, err := tidemill.NewWorker(t.Context(), c, app, tidemill.WorkerOptions{TaskQueue: queue, StopGrace: -1, InlineSpecs: true})
	require.NoError(t, err)
	require.NoError(t, one.Start())
	t.Cleanup(one.Stop)
	runs := tidemill.NewClient(c, tidemill.ClientOptions{TaskQueue: queue, App: app})

	run, err := runs.Start(t.Context(), tidemill.StartOptions{Spec: revised("old")})
	require.NoError(t, err)
	require.Empty(t, run.Warnings)
	_, err = runs.Await(t.Context(), run.ID, tidemill.AwaitOptions{})
	require.NoError(t, err)
	require.False(t, heard.said(warning), "it is the same document")

	run, err = runs.Start(t.Context(), tidemill.StartOptions{Spec: revised("new")})
	require.NoError(t, err)
	require.Len(t, run.Warnings, 1)
	require.Contains(t, run.Warnings[0], warning)
	report, err := runs.Await(t.Context(), run.ID, tidemill.AwaitOptions{})
	require.NoError(t, err)
	require.JSONEq(t, `"new"`, string(report.Output))
	require.True(t, heard.said(warning))
}

// A client that works in another namespace than it believes would look for runs
// in the wrong place.
func TestClientKnowsItsNamespace(t *testing.T) {
	t.Parallel()
	server := shared.Server(t)
	c := server.Client(t, func(o *client.Options) { o.Namespace = otherNamespace })
	runs := tidemill.NewClient(c, tidemill.ClientOptions{})
	namespace, err := runs.Namespace(t.Context())
	require.NoError(t, err)
	require.Equal(t, otherNamespace, namespace)
}
