package historytest

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/api/temporalproto"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

	"github.com/tidemill/tidemill/internal/temporaltest"
)

// Recording is the history of one run and whose it is.
type Recording struct {
	WorkflowID string
	RunID      string
	History    *historypb.History
}

// Record reads the history of a run, closed or open. An empty runID means the
// latest run of the workflow id.
func Record(tb testing.TB, c client.Client, workflowID, runID string) Recording {
	tb.Helper()
	description, err := c.DescribeWorkflow(context.WithoutCancel(tb.Context()), workflowID, runID)
	require.NoError(tb, err)
	runID = description.WorkflowExecution.RunID
	return Recording{WorkflowID: workflowID, RunID: runID, History: temporaltest.History(tb, c, workflowID, runID)}
}

// RecordAll reads the histories of all runs that the query of workflow list
// finds; an empty query finds all. Visibility lags behind, so a test waits for
// its runs to close first.
func RecordAll(tb testing.TB, c client.Client, query string) []Recording {
	tb.Helper()
	var recordings []Recording
	request := &workflowservice.ListWorkflowExecutionsRequest{Query: query}
	for {
		page, err := c.ListWorkflow(context.WithoutCancel(tb.Context()), request)
		require.NoError(tb, err)
		for _, info := range page.GetExecutions() {
			execution := info.GetExecution()
			recordings = append(recordings, Record(tb, c, execution.GetWorkflowId(), execution.GetRunId()))
		}
		request.NextPageToken = page.GetNextPageToken()
		if len(request.NextPageToken) == 0 {
			return recordings
		}
	}
}

// file is the stored form. Its events are those that `temporal workflow show
// --output json` prints, so both tools read it.
type file struct {
	WorkflowID string          `json:"workflowId"`
	RunID      string          `json:"runId"`
	Events     json.RawMessage `json:"events"`
}

// Save writes the recording to path, creating its folder.
func Save(tb testing.TB, path string, recording Recording) {
	tb.Helper()
	content, err := encode(recording)
	require.NoError(tb, err)
	require.NoError(tb, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(tb, os.WriteFile(path, content, 0o600))
}

func encode(recording Recording) ([]byte, error) {
	history, err := temporalproto.CustomJSONMarshalOptions{}.Marshal(recording.History)
	if err != nil {
		return nil, fmt.Errorf("historytest: encode: %w", err)
	}
	var stored file
	if err := json.Unmarshal(history, &stored); err != nil {
		return nil, fmt.Errorf("historytest: encode: %w", err)
	}
	stored.WorkflowID, stored.RunID = recording.WorkflowID, recording.RunID
	// Indenting anew makes equal recordings equal files: protobuf varies its spaces on purpose.
	content, err := json.MarshalIndent(stored, "", " ")
	return append(content, '\n'), err
}

// Load reads what [Save] wrote.
func Load(tb testing.TB, path string) Recording {
	tb.Helper()
	content, err := os.ReadFile(path)
	require.NoError(tb, err)
	recording, err := decode(content)
	require.NoError(tb, err, path)
	return recording
}

func decode(content []byte) (Recording, error) {
	var stored file
	if err := json.Unmarshal(content, &stored); err != nil {
		return Recording{}, fmt.Errorf("historytest: decode: %w", err)
	}
	if stored.WorkflowID == "" {
		return Recording{}, fmt.Errorf("historytest: decode: no workflowId: the events alone do not hold it, add it beside them")
	}
	events, err := json.Marshal(map[string]json.RawMessage{"events": stored.Events})
	if err != nil {
		return Recording{}, fmt.Errorf("historytest: decode: %w", err)
	}
	var history historypb.History
	if err := (temporalproto.CustomJSONUnmarshalOptions{}).Unmarshal(events, &history); err != nil {
		return Recording{}, fmt.Errorf("historytest: decode: %w", err)
	}
	return Recording{WorkflowID: stored.WorkflowID, RunID: stored.RunID, History: &history}, nil
}
