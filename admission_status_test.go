package tidemill_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill"
	"github.com/tidemill/tidemill/activities/permits"
	"github.com/tidemill/tidemill/admission"
	"github.com/tidemill/tidemill/internal/admissiontest"
	"github.com/tidemill/tidemill/internal/temporaltest"
)

const payments = "resource:payments"

// paying are limits with one key.
func paying(limit int) admission.Limits {
	return admission.Limits{Version: 3, Keys: []admission.KeyLimit{{Key: payments, Limit: limit}}}
}

// What is asked of a domain without a book must say so, and which there are: the name
// may be misspelt.
func TestUnknownDomain(t *testing.T) {
	t.Parallel()
	w := idle(t)
	for what, ask := range map[string]func(domain string) error{
		"status": func(domain string) error {
			_, err := w.runs.AdmissionStatus(t.Context(), domain)
			return err
		},
		"steer": func(domain string) error {
			_, err := w.runs.SteerAdmission(t.Context(), domain, tidemill.AdmissionSteer{Action: tidemill.SteerDrain})
			return err
		},
		"explain": func(domain string) error {
			_, err := w.runs.ExplainAdmission(t.Context(), domain, "nobody")
			return err
		},
	} {
		err := ask(w.queue + "-none")
		require.Equal(t, tidemill.ErrTypeUnknownDomain, tidemill.ErrorType(err), "%s: %v", what, err)
		require.ErrorIs(t, err, permits.ErrUnknownDomain, what)
		require.ErrorContains(t, err, "no run has asked for a permit in domain", what)
		require.Equal(t, tidemill.ErrTypeInvalidAdmission, tidemill.ErrorType(ask(strings.Repeat("x", 300))), what)
	}
	books := admissiontest.New(t, w.server, w.queue)
	books.Submit(t, w.queue, paying(1), admissiontest.Request("a", payments))
	temporaltest.Wait(t, within, "the domain to be found", func() bool {
		_, err := w.runs.AdmissionStatus(t.Context(), w.queue+"-none")
		return strings.Contains(err.Error(), w.queue)
	})
	require.NoError(t, w.client.TerminateWorkflow(t.Context(), permits.WorkflowID(w.queue), "", "test"))
	_, err := w.runs.AdmissionStatus(t.Context(), w.queue)
	require.Equal(t, tidemill.ErrTypeUnknownDomain, tidemill.ErrorType(err))
	require.ErrorContains(t, err, "was ended at")
}

// The numbers are those of the book, and the permits are named: a stuck one would
// otherwise block a key and nobody could tell whose it is.
func TestAdmissionStatus(t *testing.T) {
	t.Parallel()
	w := idle(t)
	books := admissiontest.New(t, w.server, w.queue)
	books.Submit(t, w.queue, paying(1), admissiontest.Request("a", payments), admissiontest.Request("b", payments))
	view, err := w.runs.AdmissionStatus(t.Context(), w.queue)
	require.NoError(t, err)
	require.Equal(t, w.queue, view.Domain)
	require.Equal(t, []admission.KeyStatus{{Name: payments, Active: 1, Queued: 1, Limit: 1}}, view.Status.Keys)
	require.EqualValues(t, 3, view.Status.Version)
	require.Len(t, view.Holders, 1)
	require.Equal(t, "a", view.Holders[0].Owner.Workflow)

	temporaltest.Wait(t, within, "the domain to be listed", func() bool {
		domains, err := w.runs.AdmissionDomains(t.Context())
		require.NoError(t, err)
		return slices.Contains(domains, w.queue)
	})
}

// A book whose worker is away must be told from an unknown one, soon.
func TestAdmissionWithoutAWorker(t *testing.T) {
	t.Parallel()
	w := setup(t, newApp())
	books := admissiontest.New(t, w.server, w.queue)
	report := paused(t, w)
	books.Submit(t, w.queue, paying(1), admissiontest.Request("a", payments))
	books.Worker.Stop()

	begin := time.Now()
	_, err := w.runs.AdmissionStatus(t.Context(), w.queue)
	require.ErrorIs(t, err, tidemill.ErrNoWorker)
	require.ErrorContains(t, err, "no worker answers on "+permits.TaskQueue(w.queue)+"; start a worker with an admission section")
	require.Less(t, time.Since(begin), 10*time.Second)
	_, err = w.runs.SteerAdmission(t.Context(), w.queue, tidemill.AdmissionSteer{Action: tidemill.SteerPause})
	require.ErrorIs(t, err, tidemill.ErrNoWorker)
	require.ErrorContains(t, err, "whether the change was made is seen in the status")

	x, err := w.runs.ExplainAdmission(t.Context(), w.queue, report.ID)
	require.NoError(t, err, "the run is explained as far as it goes")
	require.Contains(t, x.Answer, "it is paused at approve#1")
	require.Contains(t, strings.Join(x.Notes, "\n"), "no worker answers on "+permits.TaskQueue(w.queue))
	_, err = w.runs.ExplainAdmission(t.Context(), w.queue, "a")
	require.ErrorIs(t, err, tidemill.ErrNoWorker)
}
