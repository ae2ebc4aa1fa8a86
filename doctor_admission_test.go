package tidemill_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"

	"github.com/tidemill/tidemill"
	"github.com/tidemill/tidemill/activities/permits"
	"github.com/tidemill/tidemill/admission"
	"github.com/tidemill/tidemill/internal/temporaltest"
)

// steer changes a book as an operator does.
func steer(t *testing.T, w world, domain, action string) {
	t.Helper()
	handle, err := w.client.UpdateWorkflow(t.Context(), client.UpdateWorkflowOptions{
		WorkflowID: permits.WorkflowID(domain), UpdateName: permits.UpdateSteer,
		Args: []any{permits.Steer{Action: action}}, WaitForStage: client.WorkflowUpdateStageCompleted,
	})
	require.NoError(t, err)
	require.NoError(t, handle.Get(t.Context(), nil))
}

// Runs that wait for a permit look like runs that hang: Doctor must tell whether
// anybody gives permits, and what keeps them from being given.
func TestDoctorOnAdmission(t *testing.T) {
	t.Parallel()
	w := idle(t)
	domain := domainOf(w)
	diagnose := func() tidemill.Diagnosis {
		d, err := w.runs.Doctor(t.Context(), "")
		require.NoError(t, err)
		return d
	}
	off := diagnose()
	require.Equal(t, tidemill.AdmissionDiagnosis{TaskQueue: w.queue + ".admission", Books: []tidemill.BookDiagnosis{}}, off.Admission)
	require.Equal(t, tidemill.DispatchDiagnosis{Priority: tidemill.DispatchOff, Fairness: tidemill.DispatchOff}, off.Dispatch)

	one, err := tidemill.NewWorker(t.Context(), w.client, newApp(), tidemill.WorkerOptions{
		TaskQueue: w.queue, StopGrace: -1, Admission: &tidemill.AdmissionOptions{Domains: []tidemill.AdmissionDomain{{Name: domain}}},
	})
	require.NoError(t, err)
	require.NoError(t, one.Start())
	t.Cleanup(one.Stop)
	temporaltest.Wait(t, within, "the books' worker", func() bool { return diagnose().Admission.On })
	require.Equal(t, admission.AnswerGranted, ask(t, w, domain, "a").Answer)

	var on tidemill.Diagnosis
	book := func() *tidemill.BookDiagnosis {
		on = diagnose()
		for i := range on.Admission.Books {
			if b := &on.Admission.Books[i]; b.Domain == domain && b.Status != nil {
				return b
			}
		}
		return nil
	}
	temporaltest.Wait(t, within, "the book to be found", func() bool { return book() != nil })
	require.Equal(t, w.queue+".admission", book().TaskQueue)
	require.Equal(t, 1, book().Status.Active)
	require.Equal(t, 2, book().Status.GlobalLimit)
	require.Equal(t, 1, on.Admission.WorkflowPollers)

	steer(t, w, domain, permits.SteerPause)
	temporaltest.Wait(t, within, "the pause", func() bool { return book().Status.Paused })
	require.Contains(t, on.Findings, tidemill.Finding{
		What: "admission domain \"" + domain + "\" is paused: nothing is granted", Fix: "starter admission resume --domain '" + domain + "'",
	})
	steer(t, w, domain, permits.SteerResume)
	steer(t, w, domain, permits.SteerDrain)
	temporaltest.Wait(t, within, "the drain", func() bool { return book().Status.Draining })
	require.Contains(t, on.Findings[len(on.Findings)-1].What, "is draining")
}

// A book without a worker answers nobody, and a question to it would hang.
func TestDoctorOnABookWithoutWorker(t *testing.T) {
	t.Parallel()
	w := idle(t)
	domain := domainOf(w)
	_, err := w.client.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{
		ID: permits.WorkflowID(domain), TaskQueue: permits.TaskQueue(w.queue),
		WorkflowIDConflictPolicy: enumspb.WORKFLOW_ID_CONFLICT_POLICY_FAIL,
	}, permits.WorkflowType, permits.Start{Domain: domain})
	require.NoError(t, err)
	t.Cleanup(func() {
		_ = w.client.TerminateWorkflow(context.WithoutCancel(t.Context()), permits.WorkflowID(domain), "", "the test is over")
	})
	var d tidemill.Diagnosis
	temporaltest.Wait(t, within, "the book to be found", func() bool {
		d, err = w.runs.Doctor(t.Context(), "")
		require.NoError(t, err)
		return len(d.Admission.Books) == 1
	})
	require.True(t, d.Admission.On)
	require.Zero(t, d.Admission.WorkflowPollers)
	require.Nil(t, d.Admission.Books[0].Status)
	require.Contains(t, d.Findings, tidemill.Finding{
		What: "the book of admission domain \"" + domain + "\" does not answer: runs wait for their permits",
		Fix:  "start a worker with admission and task_queue: " + w.queue + ", for the book runs on " + w.queue + ".admission",
	})
}
