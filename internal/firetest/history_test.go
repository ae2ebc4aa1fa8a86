package firetest_test

import (
	"context"
	"net"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/tidemill/tidemill"
	"github.com/tidemill/tidemill/activities/permits"
	"github.com/tidemill/tidemill/internal/historytest"
	"github.com/tidemill/tidemill/internal/temporaltest"
	"github.com/tidemill/tidemill/workflows"
)

// replay checks that a history is what today's code would write again: that of a run
// of a graph, of a semaphore, or of a workflow of these tests.
func replay(tb testing.TB, c client.Client, workflowID, runID string) {
	tb.Helper()
	recording := historytest.Record(tb, c, workflowID, runID)
	require.NoError(tb, temporaltest.Audit(recording.History), workflowID)
	options := worker.WorkflowReplayerOptions{Interceptors: []interceptor.WorkerInterceptor{tidemill.Interceptor()}}
	again := func() error {
		return historytest.TryReplay(recording, options, func(r worker.WorkflowReplayer) {
			r.RegisterDynamicWorkflow(workflows.Graph, workflow.DynamicRegisterOptions{})
			r.RegisterWorkflowWithOptions(workflows.Admission, workflow.RegisterOptions{Name: permits.WorkflowType})
			registerCode(r)
		})
	}
	err := again()
	if err != nil && strings.Contains(err.Error(), "TMPRL1101") { // the machine was too busy for a second
		err = again()
	}
	require.NoError(tb, err, workflowID)
}

// chain are the runs of a workflow id, which continued as new one after the other,
// the oldest first. None if there never was one.
func chain(tb testing.TB, c client.Client, workflowID string) (runs []string) {
	tb.Helper()
	ctx := context.WithoutCancel(tb.Context())
	description, err := c.DescribeWorkflow(ctx, workflowID, "")
	if err != nil {
		return nil
	}
	for run := description.WorkflowExecution.RunID; run != ""; {
		runs = append(runs, run)
		history := temporaltest.History(tb, c, workflowID, run)
		run = history.GetEvents()[0].GetWorkflowExecutionStartedEventAttributes().GetContinuedExecutionRunId()
	}
	slices.Reverse(runs)
	return runs
}

func portOf(tb testing.TB, address string) int {
	tb.Helper()
	_, port, err := net.SplitHostPort(address)
	require.NoError(tb, err)
	number, err := strconv.Atoi(port)
	require.NoError(tb, err)
	return number
}

// domainOf is a domain that no other test has: a namespace has one book a domain.
func domainOf(queue string) string { return queue[max(0, len(queue)-60):] }
