package workflows_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

	"github.com/tidemill/tidemill/activities"
	"github.com/tidemill/tidemill/internal/devserver"
	"github.com/tidemill/tidemill/internal/temporaltest"
	"github.com/tidemill/tidemill/workflows"
)

// upserts counts the events that a run spent on search attributes.
func (w *world) upserts(run client.WorkflowRun) int {
	w.tb.Helper()
	return temporaltest.Count(w.history(run), enumspb.EVENT_TYPE_UPSERT_WORKFLOW_SEARCH_ATTRIBUTES)
}

// listed counts the runs that visibility finds.
func (w *world) listed(query string) int {
	w.tb.Helper()
	page, err := w.client.ListWorkflow(w.tb.Context(), &workflowservice.ListWorkflowExecutionsRequest{Query: query})
	require.NoError(w.tb, err)
	return len(page.GetExecutions())
}

// Search attributes are how people find what waits for them, and each write is
// an event: one when a run pauses, one when it moves, none for a run that does
// neither.
func TestSearchAttributes(t *testing.T) {
	t.Parallel()
	w := setup(t, parts{graphs: []string{linear, rounds}, register: registerAdd})
	straight := w.run("linear", json.RawMessage(`{"count":1}`))
	w.output(straight)
	require.Zero(t, w.upserts(straight))

	run := w.run("rounds")
	w.round(run, "ask#1", 0)
	require.Equal(t, 1, w.upserts(run))
	mine := fmt.Sprintf("WorkflowId = '%s' AND ", run.GetID())
	temporaltest.Wait(t, 10*time.Second, "the list to show the pause", func() bool {
		return w.listed(mine+"TidemillStatus = 'paused' AND TidemillGraph = 'rounds' AND TidemillWaiting = 'ask#1'") == 1
	})

	w.signal(run, workflows.SignalResume, 1)
	w.round(run, "ask#2", 0)
	require.Equal(t, 2, w.upserts(run), "still paused, at another question")
	temporaltest.Wait(t, 10*time.Second, "the list to show the next pause", func() bool {
		return w.listed(mine+"TidemillWaiting = 'ask#2'") == 1 && w.listed(mine+"TidemillWaiting = 'ask#1'") == 0
	})
	w.signal(run, workflows.SignalResume, 2)
	w.output(run)
	require.Equal(t, 2, w.upserts(run), "nothing is written at the close")
}

// A namespace without the attributes must not leave runs stuck: the worker asks
// the server first, and its runs pin what it said.
func TestServerWithoutSearchAttributes(t *testing.T) {
	t.Parallel()
	server := temporaltest.Start(t, devserver.Options{NoAttributes: true})
	usable, err := activities.SearchAttributes(t.Context(), server.Client(t), devserver.DefaultNamespace)
	require.NoError(t, err)
	require.Empty(t, usable)
	usable, err = activities.SearchAttributes(t.Context(), shared.Server(t).Client(t), devserver.DefaultNamespace)
	require.NoError(t, err)
	require.Equal(t, []string{"TidemillGraph", "TidemillStatus", "TidemillWaiting", "TidemillTrigger"}, usable)

	w := setupOn(t, server, parts{graphs: []string{approval}, edit: func(o *activities.Options) { o.SearchAttributes = nil }})
	run := w.run("approval", map[string]int{"order": 7})
	w.paused(run)
	require.Zero(t, w.upserts(run))
	w.signal(run, workflows.SignalResume, map[string]bool{"approved": true})
	require.Equal(t, `"accepted"`, w.output(run))
}
