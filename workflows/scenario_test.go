package workflows_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"

	"github.com/tidemill/tidemill/graph"
	"github.com/tidemill/tidemill/workflows"
)

// scenario is one numbered rule of the run machine, seen from outside.
type scenario struct {
	name    string
	head    string // further fields of the document, a line each
	nodes   string // entry is the first
	input   string
	options string
	drive   func(*world, client.WorkflowRun) // what happens on the way; nil: nothing
	answer  string                           // to the pause that the run reaches; empty: it does not pause
	output  string                           // JSON; empty: the run fails
	failure string                           // error type, and those of its causes: "retry_exhausted/boom"
	state   string                           // JSON; empty: not looked at
	steps   int                              // zero: not looked at
	calls   []string                         // of act, in the run and below it, in order; nil: not looked at
	verify  func(*world, client.WorkflowRun) // what else holds in the end; nil: nothing
}

// tellAll runs scenarios on one worker, all at once; they do not share anything.
func tellAll(t *testing.T, scenarios []scenario, p parts, acts *script) {
	t.Helper()
	for i, s := range scenarios {
		p.graphs = append(p.graphs, s.document(i))
	}
	w := setup(t, p)
	runs := make([]client.WorkflowRun, len(scenarios))
	for i, s := range scenarios {
		runs[i] = w.run(s.id(i), s.arguments()...)
	}
	for i, s := range scenarios {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			w := w.in(t)
			if s.drive != nil {
				s.drive(w, runs[i])
			}
			if s.answer != "" {
				w.paused(runs[i])
				w.signal(runs[i], workflows.SignalResume, json.RawMessage(s.answer))
			}
			s.check(t, w, runs[i])
			if s.calls != nil {
				require.Equal(t, s.calls, acts.calledBelow(runs[i].GetID()))
			}
		})
	}
}

func (s scenario) id(i int) string { return fmt.Sprintf("row_%d", i) }

var firstID = regexp.MustCompile(`\bid: (\w+)`)

// document is the whole graph; its entry is the first node.
func (s scenario) document(i int) string {
	entry := firstID.FindStringSubmatch(s.nodes)[1]
	return fmt.Sprintf("version: 1\nid: %s\nentry: %s\n%s\nnodes: %s\n", s.id(i), entry, s.head, s.nodes)
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
	var report graph.Report
	if s.failure != "" {
		_, report = w.failure(run)
		require.Equal(t, s.failure, failureTypes(report.Error), "%v", report.Error)
	} else {
		require.JSONEq(t, s.output, w.output(run))
		report = w.status(run)
	}
	if s.state != "" {
		require.JSONEq(t, s.state, string(report.State))
	}
	if s.steps > 0 {
		require.Equal(t, s.steps, report.Steps)
	}
	if s.verify != nil {
		s.verify(w, run)
	}
	require.Empty(t, w.failedTasks(run))
	require.Empty(t, w.openTimers(run))
}

// failureTypes are the types of a failure and of its causes.
func failureTypes(f *graph.Failure) string {
	var types []string
	for ; f != nil; f = f.Cause {
		types = append(types, f.Type)
	}
	return strings.Join(types, "/")
}

// failedTasks are the reasons why workflow tasks of a run failed. A task that
// meets a signal at its end is begun again and is no failure.
func (w *world) failedTasks(run client.WorkflowRun) []string {
	w.tb.Helper()
	var reasons []string
	for _, event := range w.history(run).GetEvents() {
		failed := event.GetWorkflowTaskFailedEventAttributes()
		if failed != nil && failed.GetCause() != enumspb.WORKFLOW_TASK_FAILED_CAUSE_UNHANDLED_COMMAND {
			reasons = append(reasons, failed.GetFailure().GetMessage())
		}
	}
	return reasons
}
