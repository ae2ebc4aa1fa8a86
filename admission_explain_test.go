package tidemill_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"

	"github.com/tidemill/tidemill"
	"github.com/tidemill/tidemill/admission"
	"github.com/tidemill/tidemill/internal/admissiontest"
)

// Whoever asks why a run waits must learn on which key, behind whom, and who holds it.
func TestExplainAWait(t *testing.T) {
	t.Parallel()
	w := setup(t, newApp())
	books := admissiontest.New(t, w.server, w.queue)
	report := paused(t, w)
	wide, runs := admissiontest.Request("b", payments), admissiontest.Request(report.ID, payments)
	wide.Keys[0].Units, runs.Keys[0].Units = 2, 2
	books.Submit(t, w.queue, paying(2), admissiontest.Request("a", payments), wide, runs)

	x, err := w.runs.ExplainAdmission(t.Context(), w.queue, "b")
	require.NoError(t, err)
	require.Equal(t, "b waits for a permit: "+payments+" has too little room, 1 of 2 in use, 2 wanted", x.Answer)
	require.True(t, x.Waits)
	require.Empty(t, x.Runs, "b is no run")
	require.Len(t, x.Requests, 1)
	request := x.Requests[0]
	require.Equal(t, admission.ReasonLimit, request.Explanation.Reason)
	require.Equal(t, 1, request.Explanation.Place)
	require.Len(t, request.Holders, 1)
	require.Equal(t, "a", request.Holders[0].Owner.Workflow)
	require.Zero(t, request.Unlisted)
	require.WithinDuration(t, time.Now(), request.Explanation.Since, within)

	x, err = w.runs.ExplainAdmission(t.Context(), w.queue, wide.ID)
	require.NoError(t, err)
	require.Equal(t, request.Explanation.Key, x.Requests[0].Explanation.Key)

	x, err = w.runs.ExplainAdmission(t.Context(), w.queue, report.ID)
	require.NoError(t, err)
	require.Equal(t, report.ID+" waits for a permit: "+payments+" has too little room, 1 of 2 in use, 2 wanted", x.Answer)
	require.Equal(t, "is paused at approve#1", x.Runs[0].Does)
	require.Equal(t, 2, x.Requests[0].Explanation.Place, "behind b")

	x, err = w.runs.ExplainAdmission(t.Context(), "", "a")
	require.NoError(t, err, "all domains are asked where none is named")
	require.Contains(t, x.Answer, "a holds a permit since ")
	require.False(t, x.Waits)
	require.Contains(t, x.Domains, w.queue)
}

// What does not wait for a permit must be told what it does instead, also where nobody
// has ever asked for one; and what nobody knows is not found.
func TestExplainWhatDoesNotWait(t *testing.T) {
	t.Parallel()
	server := shared.Server(t)
	c, queue := server.Client(t, func(o *client.Options) { o.Namespace = otherNamespace }), server.TaskQueue(t)
	app := newApp()
	app.AddGraph("orders.yaml", []byte(orders))
	worker, err := tidemill.NewWorker(t.Context(), c, app, tidemill.WorkerOptions{TaskQueue: queue, StopGrace: -1})
	require.NoError(t, err)
	require.NoError(t, worker.Start())
	t.Cleanup(worker.Stop)
	w := world{server: server, client: c, queue: queue, runs: tidemill.NewClient(c, tidemill.ClientOptions{TaskQueue: queue})}

	report := paused(t, w)
	x, err := w.runs.ExplainAdmission(t.Context(), "", report.ID)
	require.NoError(t, err)
	require.Equal(t, report.ID+" does not wait for a permit: it is paused at approve#1; no domain has a book, so nobody has asked for one yet", x.Answer)
	require.Empty(t, x.Domains)
	x, err = w.runs.ExplainAdmission(t.Context(), "shop", report.ID)
	require.NoError(t, err)
	require.Contains(t, x.Notes[0], `no run has asked for a permit in domain "shop" yet`)

	_, err = w.runs.Resume(t.Context(), report.ID, tidemill.ResumeOptions{Input: yes})
	require.NoError(t, err)
	_, err = w.runs.Await(t.Context(), report.ID, tidemill.AwaitOptions{})
	require.NoError(t, err)
	x, err = w.runs.ExplainAdmission(t.Context(), "", report.ID)
	require.NoError(t, err)
	require.Contains(t, x.Answer, "does not wait for a permit: it has closed: completed")

	for id, want := range map[string]string{"nobody": tidemill.ErrTypeNotFound, "": tidemill.ErrTypeInvalidAdmission} {
		_, err = w.runs.ExplainAdmission(t.Context(), "", id)
		require.Equal(t, want, tidemill.ErrorType(err), "%v", err)
	}
}
