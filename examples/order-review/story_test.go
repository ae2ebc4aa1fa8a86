package orderreview_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill"
	orderreview "github.com/tidemill/tidemill/examples/order-review"
	"github.com/tidemill/tidemill/graph"
	"github.com/tidemill/tidemill/internal/temporaltest"
)

// delivered checks the output of a run that went all the way, and that its order
// became one parcel.
func delivered(t *testing.T, f *fixture, output json.RawMessage) {
	t.Helper()
	parcels := shop.Parcels(f.order)
	require.Len(t, parcels, 1)
	require.JSONEq(t, `{"order":"`+f.order+`","parcel":"`+parcels[0].ID+`","status":"delivered"}`, string(output))
}

// The whole story with Temporal's command line alone, no client of ours.
func TestLargeOrderWaitsForApproval(t *testing.T) {
	t.Parallel()
	f := setup(t, 1500)
	f.worker(t)
	f.start(t, `{"order":"`+f.order+`"}`)

	paused := f.await(t, tidemill.StatusPaused)
	require.Len(t, paused.Pauses, 1)
	require.Equal(t, graph.Address("approve#1"), paused.Pauses[0].ID)
	require.Equal(t, "Order "+f.order+" is over the limit: 1500", paused.Pauses[0].Summary)
	require.JSONEq(t, `{"items":[{"name":"desk","quantity":1}]}`, string(paused.Pauses[0].Show))
	require.Equal(t, 1, f.fetched())
	require.Zero(t, f.asked())

	f.answer(t, `{"approved":true}`)
	delivered(t, f, f.await(t, tidemill.StatusCompleted).Output)
	require.Equal(t, 1, f.fetched(), "a committed node ran again")
	require.Equal(t, 1, f.asked(), "a committed node ran again")

	var result struct{ Result json.RawMessage }
	require.NoError(t, json.Unmarshal([]byte(f.temporal(t, "workflow", "result", "--workflow-id", f.order, "--output", "json")), &result))
	delivered(t, f, result.Result)
}

func TestSmallOrderWaitsForNobody(t *testing.T) {
	t.Parallel()
	f := setup(t, 1000)
	f.worker(t)
	f.start(t, `{"order":"`+f.order+`"}`)
	delivered(t, f, f.await(t, tidemill.StatusCompleted).Output)
}

func TestRejectedOrderIsNotShipped(t *testing.T) {
	t.Parallel()
	f := setup(t, 1001)
	f.worker(t)
	f.start(t, `{"order":"`+f.order+`"}`)
	f.await(t, tidemill.StatusPaused)
	f.answer(t, `{"approved":false}`)
	require.JSONEq(t, `"rejected"`, string(f.await(t, tidemill.StatusCompleted).Output))
	require.Zero(t, f.asked())
}

// A 404 is final: asking again would only annoy the shop.
func TestUnknownOrderHasAPathOfItsOwn(t *testing.T) {
	t.Parallel()
	f := setup(t, 1)
	f.worker(t)
	f.start(t, `{"order":"nobody-ordered-this"}`)
	require.JSONEq(t, `"no such order"`, string(f.await(t, tidemill.StatusCompleted).Output))
	require.Equal(t, 1, shop.Calls("GET", "/orders/nobody-ordered-this"))
}

func TestBrokenShopFailsTheRunAfterItsRetries(t *testing.T) {
	t.Parallel()
	f := setup(t, 1)
	shop.Break(f.order)
	f.worker(t)
	f.start(t, `{"order":"`+f.order+`"}`)
	report := f.await(t, tidemill.StatusFailed)
	require.Equal(t, "order_service_down", report.Error.Type)
	require.Contains(t, report.Error.Message, "503")
	require.Equal(t, 3, f.fetched())
	require.Zero(t, f.asked())
}

// What the graph's schemas refuse must not run, and must say what is wrong.
func TestWrongInputRunsNothing(t *testing.T) {
	t.Parallel()
	f := setup(t, 1)
	f.worker(t)
	f.start(t, `{"ordr":"7"}`)
	report := f.await(t, tidemill.StatusFailed)
	require.Equal(t, graph.ErrTypeInputSchema, report.Error.Type)
	require.Contains(t, report.Error.Message, "order")
	require.Empty(t, report.Nodes)
}

// An answer that does not fit is refused where a person sees it, and the pause
// stays open for one that does.
func TestWrongAnswerIsRefusedAndShown(t *testing.T) {
	t.Parallel()
	f := setup(t, 1500)
	f.worker(t)
	f.start(t, `{"order":"`+f.order+`"}`)
	f.await(t, tidemill.StatusPaused)

	f.answer(t, `{"approved":"yes"}`)
	var seen tidemill.Report
	temporaltest.Wait(t, patience, "the answer to be refused", func() bool {
		var err error
		seen, err = f.runs.Status(t.Context(), f.order)
		require.NoError(t, err)
		return seen.Rejected.Count == 1
	})
	require.Equal(t, tidemill.StatusPaused, seen.Status)
	require.Equal(t, graph.ErrTypeInvalidResumeInput, seen.Rejected.Last[0].Type)

	f.answer(t, `{"approved":true}`)
	delivered(t, f, f.await(t, tidemill.StatusCompleted).Output)
}

func TestStarterTakesAnOrderThrough(t *testing.T) {
	t.Parallel()
	f := setup(t, 1500)
	f.worker(t)
	starter := launch(t, f.server.Environment(), "./cmd/starter", "-task-queue", f.queue, "-order", f.order)
	require.Zero(t, starter.wait(t), starter.output)
	require.Contains(t, starter.output.String(), "asked: Order "+f.order+" is over the limit: 1500")
	require.Contains(t, starter.output.String(), `"status":"delivered"`)
	require.Len(t, shop.Parcels(f.order), 1)
}

// A program that starts runs must not take a failed one for a success.
func TestStarterFailsWithItsRun(t *testing.T) {
	t.Parallel()
	f := setup(t, 1500)
	shop.Break(f.order)
	f.worker(t)
	starter := launch(t, f.server.Environment(), "./cmd/starter", "-task-queue", f.queue, "-order", f.order)
	require.Equal(t, 1, starter.wait(t))
	require.Contains(t, starter.output.String(), "order_service_down")
}

// With the shop's usual address the worker runs the file as readers see it.
func TestDocumentIsTheFile(t *testing.T) {
	t.Parallel()
	require.NoError(t, orderreview.NewApp("localhost:9191").Validate())
	require.NotContains(t, string(orderreview.Document("shop.example:80")), "9191")
}
