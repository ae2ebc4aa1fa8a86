package workflows_test

import (
	"encoding/json"
	"strconv"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"github.com/tidemill/tidemill/graph"
	"github.com/tidemill/tidemill/internal/temporaltest"
	"github.com/tidemill/tidemill/workflows"
)

// update sends an update with an id and any payload.
func (w *world) update(run client.WorkflowRun, id string, payload any) (workflows.ResumeResult, error) {
	w.tb.Helper()
	handle, err := w.client.UpdateWorkflow(w.tb.Context(), client.UpdateWorkflowOptions{
		UpdateID: id, WorkflowID: run.GetID(), RunID: last(run), UpdateName: workflows.UpdateResume,
		Args: []any{payload}, WaitForStage: client.WorkflowUpdateStageCompleted,
	})
	if err != nil {
		return workflows.ResumeResult{}, err
	}
	var result workflows.ResumeResult
	return result, handle.Get(w.tb.Context(), &result)
}

// refusalType is the error type with which an update was refused.
func refusalType(tb testing.TB, err error) string {
	tb.Helper()
	refused := new(temporal.ApplicationError)
	require.ErrorAs(tb, err, &refused)
	return refused.Type()
}

// A caller that repeats its update for want of an answer must not answer the
// next question with it.
func TestRepeatedUpdate(t *testing.T) {
	t.Parallel()
	w := setup(t, parts{graphs: []string{rounds}})
	run := w.run("rounds")
	w.round(run, "ask#1", 0)
	for range 2 {
		result, err := w.update(run, "mine", workflows.ResumeInput{Input: json.RawMessage(`"first"`)})
		require.NoError(t, err)
		require.Equal(t, graph.Address("ask#1"), result.PauseID)
	}
	w.round(run, "ask#2", 0)
	require.Equal(t, 1, temporaltest.Count(w.history(run), enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_UPDATE_ACCEPTED))
	_, err := w.update(run, "another", workflows.ResumeInput{Input: json.RawMessage(`"second"`)})
	require.NoError(t, err)
	require.JSONEq(t, `{"answers":["first","second"]}`, w.output(run))
}

// Of answers that come at the same time one wins, and each of the others is
// told so: two people who decide differently must not both believe they did.
func TestConcurrentUpdatesHaveOneWinner(t *testing.T) {
	t.Parallel()
	w := setup(t, parts{graphs: []string{rounds}})
	run := w.run("rounds")
	w.round(run, "ask#1", 0)
	const callers = 5
	errs := make([]error, callers)
	var wait sync.WaitGroup
	for i := range callers {
		wait.Go(func() {
			in := workflows.ResumeInput{PauseID: "ask#1", Input: json.RawMessage(strconv.Itoa(i)), Actor: strconv.Itoa(i)}
			_, errs[i] = w.update(run, "", in)
		})
	}
	wait.Wait()
	winner := ""
	for i, err := range errs {
		if err == nil {
			require.Empty(t, winner, "a second winner")
			winner = strconv.Itoa(i)
			continue
		}
		require.Equal(t, graph.ErrTypePauseClosed, refusalType(t, err))
	}
	w.round(run, "ask#2", w.status(run).Rejected.Count)
	w.signal(run, workflows.SignalResume, "second")
	require.JSONEq(t, `{"answers":[`+winner+`,"second"]}`, w.output(run))
	require.Equal(t, winner, w.checkpoint(run).Answers[0].Actor)
}

// The update reads its argument strictly: what it does not know it refuses,
// with nothing written.
func TestMalformedUpdates(t *testing.T) {
	t.Parallel()
	w := setup(t, parts{graphs: []string{approval}})
	run := w.run("approval", map[string]int{"order": 7})
	w.paused(run)
	before := temporaltest.Count(w.history(run))
	for name, test := range map[string]struct {
		payload any
		want    string
	}{
		"text":          {"x", graph.ErrTypeInvalidResumeInput},
		"list":          {[]int{1}, graph.ErrTypeInvalidResumeInput},
		"unknown field": {map[string]any{"input": map[string]bool{"approved": true}, "pause": "ask#1"}, graph.ErrTypeInvalidResumeInput},
		"no input":      {map[string]any{"pause_id": "ask#1"}, graph.ErrTypeResumeInputRequired},
		"null":          {nil, graph.ErrTypeInvalidResumeInput},
		"a later pause": {map[string]any{"pause_id": "ask#2", "input": 1}, graph.ErrTypeUnknownPause},
		"bytes":         {[]byte{0xff, 0x00}, graph.ErrTypeInvalidResumeInput},
	} {
		_, err := w.update(run, "", test.payload)
		require.Error(t, err, name)
		require.Equal(t, test.want, refusalType(t, err), name)
	}
	require.Equal(t, before, temporaltest.Count(w.history(run)))
	require.Zero(t, w.status(run).Rejected.Count)
}
