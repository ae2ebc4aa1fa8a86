package tidemill_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"

	"github.com/tidemill/tidemill"
	"github.com/tidemill/tidemill/admission"
	"github.com/tidemill/tidemill/graph"
	"github.com/tidemill/tidemill/internal/temporaltest"
)

// setupCoded starts a worker whose payloads are encoded, as teams do that encrypt what
// the server keeps.
func setupCoded(t *testing.T, app *tidemill.App, edit func(*tidemill.WorkerOptions)) world {
	t.Helper()
	coded := converter.NewCodecDataConverter(converter.GetDefaultDataConverter(),
		converter.NewZlibCodec(converter.ZlibCodecOptions{AlwaysEncode: true}))
	server := shared.Server(t)
	w := world{server: server, queue: server.TaskQueue(t)}
	w.client = server.Client(t, func(o *client.Options) { o.DataConverter = coded })
	w.runs = tidemill.NewClient(w.client, tidemill.ClientOptions{TaskQueue: w.queue, DataConverter: coded})
	w.serve(t, app, edit)
	return w
}

// Payloads that only the team's own converter can read are told, asked, answered, taken
// as data and taken up again like all others.
func TestRunsUnderACodec(t *testing.T) {
	t.Parallel()
	m := newMill()
	app := tidemill.NewApp()
	tidemill.Action(app, "work", m.work)
	for _, document := range []string{approval, wheel, part} {
		app.AddGraph("graph.yaml", []byte(document))
	}
	w := setupCoded(t, app, func(o *tidemill.WorkerOptions) {
		o.InlineSpecs = true
		o.Admission = &tidemill.AdmissionOptions{
			Domains: []tidemill.AdmissionDomain{{Name: o.TaskQueue, Limits: tidemill.AdmissionLimits{Keys: []admission.KeyLimit{{Key: "resource:mill", Limit: 1}}}}},
			Rules: tidemill.AdmissionRules{Rules: []tidemill.AdmissionRule{
				{When: "graph == 'wheel'", Domain: o.TaskQueue, Keys: []tidemill.AdmissionUnits{{Key: "resource:mill"}}},
			}},
		}
	})
	ctx := t.Context()

	asks, err := w.runs.Start(ctx, tidemill.StartOptions{ID: w.queue + "-asks", Graph: "approval", Input: json.RawMessage(`{"order":"7"}`)})
	require.NoError(t, err)
	report, err := w.runs.Await(ctx, asks.ID, tidemill.AwaitOptions{})
	require.NoError(t, err)
	require.Equal(t, "Order 7", report.Pauses[0].Summary)
	_, err = w.runs.Resume(ctx, asks.ID, tidemill.ResumeOptions{Input: json.RawMessage(`{"approved":"perhaps"}`)})
	require.Equal(t, graph.ErrTypeInvalidResumeInput, tidemill.ErrorType(err))
	_, err = w.runs.Resume(ctx, asks.ID, tidemill.ResumeOptions{Input: json.RawMessage(`{"approved":true}`)})
	require.NoError(t, err)
	report, err = w.runs.Await(ctx, asks.ID, tidemill.AwaitOptions{})
	require.NoError(t, err)
	require.JSONEq(t, `"7 is shipped"`, string(report.Output))

	id := w.queue + "-wheel"
	m.set(id, "broken")
	_, err = w.runs.Start(ctx, tidemill.StartOptions{ID: id, Graph: "wheel"})
	require.NoError(t, err)
	report, err = w.runs.Await(ctx, id, tidemill.AwaitOptions{})
	require.NoError(t, err)
	require.Equal(t, graph.StatusFailed, report.Status)
	require.Equal(t, "out_of_order", report.Error.Type)
	require.Equal(t, graph.Address("z#1"), report.Error.Address)
	m.set(id, "")
	m.called(id)
	redriven, err := w.runs.Redrive(ctx, id, tidemill.RedriveOptions{From: "each#1/no. 2"})
	require.NoError(t, err)
	require.Equal(t, graph.Address("each#1/1"), redriven.Plan.From)
	report, err = w.runs.Await(ctx, id, tidemill.AwaitOptions{})
	require.NoError(t, err)
	require.Equal(t, graph.StatusCompleted, report.Status)
	require.Equal(t, map[string]int{"i2": 1, "left": 1, "right": 1, "b": 1, "c": 1, "z": 1}, m.called(id))
	_, err = w.runs.AdmissionStatus(ctx, w.queue)
	require.NoError(t, err, "it has asked for permits")
	temporaltest.Wait(t, within, "the list", func() bool {
		list, err := w.runs.List(ctx, tidemill.ListOptions{Graph: "approval"})
		require.NoError(t, err)
		return len(list.Runs) > 0
	})
}
