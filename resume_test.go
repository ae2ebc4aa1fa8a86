package tidemill_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill"
	"github.com/tidemill/tidemill/graph"
	"github.com/tidemill/tidemill/internal/temporaltest"
)

// paused starts a run of the approval graph and waits until it asks.
func paused(t *testing.T, w world) tidemill.Report {
	t.Helper()
	run, err := w.runs.Start(t.Context(), tidemill.StartOptions{Graph: "approval", Input: map[string]string{"order": "7"}})
	require.NoError(t, err)
	report, err := w.runs.Await(t.Context(), run.ID, tidemill.AwaitOptions{})
	require.NoError(t, err)
	require.Equal(t, tidemill.StatusPaused, report.Status)
	return report
}

var yes = json.RawMessage(`{"approved":true}`)

// Every refusal has its type and leaves the pause open.
func TestResumeRefusals(t *testing.T) {
	t.Parallel()
	w := setup(t, newApp())
	report := paused(t, w)
	for _, test := range []struct {
		name string
		o    tidemill.ResumeOptions
		want string
	}{
		{"no input", tidemill.ResumeOptions{}, graph.ErrTypeResumeInputRequired},
		{"no JSON", tidemill.ResumeOptions{Input: make(chan int)}, graph.ErrTypeInvalidResumeInput},
		{"against the schema", tidemill.ResumeOptions{Input: json.RawMessage("null")}, graph.ErrTypeInvalidResumeInput},
		{"an unknown pause", tidemill.ResumeOptions{Input: yes, PauseID: "approve#2"}, graph.ErrTypeUnknownPause},
		{"another digest", tidemill.ResumeOptions{Input: yes, Digest: "00"}, graph.ErrTypePauseDigestMismatch},
		{"a signal with a note", tidemill.ResumeOptions{Input: yes, Signal: true, Note: "x"}, graph.ErrTypeInvalidRunOptions},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			_, err := w.runs.Resume(t.Context(), report.ID, test.o)
			require.Equal(t, test.want, tidemill.ErrorType(err), "%v", err)
			status, err := w.runs.Status(t.Context(), report.ID)
			require.NoError(t, err)
			require.Len(t, status.Pauses, 1)
			require.Zero(t, status.Rejected.Count, "a refused update leaves no trace")
		})
	}
}

// A repeated answer with the same update id must not count as a second one, and
// an answer to a closed run must say that it has closed.
func TestResumeIsRepeatable(t *testing.T) {
	t.Parallel()
	w := setup(t, newApp())
	report := paused(t, w)
	first, err := w.runs.Resume(t.Context(), report.ID, tidemill.ResumeOptions{
		Input: yes, PauseID: "approve#1", Digest: report.Pauses[0].Digest, Actor: "mara", Note: "checked", UpdateID: "answer-1",
	})
	require.NoError(t, err)
	again, err := w.runs.Resume(t.Context(), report.ID, tidemill.ResumeOptions{Input: yes, UpdateID: "answer-1"})
	require.NoError(t, err)
	require.Equal(t, first, again)

	_, err = w.runs.Resume(t.Context(), report.ID, tidemill.ResumeOptions{Input: yes})
	require.Equal(t, tidemill.ErrTypeAlreadyTerminal, tidemill.ErrorType(err), "%v", err)
	_, err = w.runs.Resume(t.Context(), "nobody-"+w.queue, tidemill.ResumeOptions{Input: yes})
	require.Equal(t, tidemill.ErrTypeNotFound, tidemill.ErrorType(err))
}

// Without a worker an answer by update fails soon and says so; as a signal it is
// kept until a worker comes.
func TestResumeWithoutAWorker(t *testing.T) {
	t.Parallel()
	w := idle(t)
	worker, err := tidemill.NewWorker(t.Context(), w.client, newApp(), tidemill.WorkerOptions{TaskQueue: w.queue, StopGrace: -1})
	require.NoError(t, err)
	require.NoError(t, worker.Start())
	report := paused(t, w)
	worker.Stop()

	_, err = w.runs.Resume(t.Context(), report.ID, tidemill.ResumeOptions{Input: yes, Wait: time.Second})
	require.ErrorIs(t, err, tidemill.ErrNoWorker)
	require.Equal(t, tidemill.ErrTypeNoWorker, tidemill.ErrorType(err))

	status, err := w.runs.Status(t.Context(), report.ID)
	require.NoError(t, err)
	require.Equal(t, tidemill.StatusPaused, status.Status, "as its search attribute says")
	require.Equal(t, graph.Address("approve#1"), status.Pauses[0].ID)
	require.Contains(t, status.Note, "this is what the server knows")

	answered, err := w.runs.Resume(t.Context(), report.ID, tidemill.ResumeOptions{Input: yes, PauseID: "approve#1", Signal: true})
	require.NoError(t, err)
	require.Equal(t, "sent", answered.Status)

	second, err := tidemill.NewWorker(t.Context(), w.client, newApp(), tidemill.WorkerOptions{TaskQueue: w.queue, StopGrace: -1})
	require.NoError(t, err)
	require.NoError(t, second.Start())
	t.Cleanup(second.Stop)
	temporaltest.Wait(t, within, "the signalled answer to be taken", func() bool {
		report, err := w.runs.Status(t.Context(), report.ID)
		return err == nil && report.Status == tidemill.StatusCompleted
	})
}
