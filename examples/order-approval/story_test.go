package orderapproval_test

import (
	"encoding/json"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill"
	orderapproval "github.com/tidemill/tidemill/examples/order-approval"
	"github.com/tidemill/tidemill/graph"
	"github.com/tidemill/tidemill/internal/devserver"
	"github.com/tidemill/tidemill/internal/exampletest"
	"github.com/tidemill/tidemill/internal/temporaltest"
	"github.com/tidemill/tidemill/tidemilltest"
)

var temporal = temporaltest.NewShared(devserver.Options{})

func TestMain(m *testing.M) { os.Exit(temporal.Main(m)) }

// fixture is a shop of the test's own, and a worker with its actions.
type fixture struct {
	*exampletest.Bench

	shop *orderapproval.Shop
}

func setup(t *testing.T) fixture {
	t.Helper()
	shop := orderapproval.NewShop()
	app := tidemill.NewApp()
	orderapproval.Add(app, shop)
	return fixture{exampletest.New(t, temporal.Server(t), app, tidemill.WorkerOptions{}), shop}
}

// approve starts the approval of an order.
func (f fixture) approve(t *testing.T, order string) *exampletest.Run {
	t.Helper()
	return f.Start(t, orderapproval.GraphID, `{"order":"`+order+`"}`)
}

const ask = "check#1/ask#1" // the pause of the first check, as the order's run knows it

// outcome is what a run of an order gives.
type outcome struct {
	Status     string `json:"status"`
	Number     string `json:"number"`
	ApprovedBy string `json:"approved_by"`
}

func completed(t *testing.T, run *exampletest.Run) outcome {
	t.Helper()
	var o outcome
	require.NoError(t, json.Unmarshal(run.Ends(t, tidemill.StatusCompleted).Output, &o))
	return o
}

func TestSmallOrderIsApprovedByTheRule(t *testing.T) {
	t.Parallel()
	f := setup(t)
	require.Equal(t, outcome{"placed", "N1-1", "a rule"}, completed(t, f.approve(t, "1")))
}

// The child's question is the parent's: shown, listed and answered there, with
// Temporal's command line and nothing of ours.
func TestLargeOrderWaitsForAPerson(t *testing.T) {
	t.Parallel()
	f := setup(t)
	run := f.approve(t, "2")
	report := run.Pauses(t)
	require.Len(t, report.Pauses, 1)
	pause := report.Pauses[0]
	require.Equal(t, graph.Address(ask), pause.ID)
	require.Equal(t, "approval", pause.Reason)
	require.Equal(t, "Order 2 of ada: 1800", pause.Summary)
	require.JSONEq(t, `{"score":90}`, string(pause.Show))
	require.NotNil(t, pause.Expires)

	run.CLI(t, "workflow", "signal", "--workflow-id", run.ID, "--name", "resume:"+ask, "--input", `{"approved":true}`)
	require.Equal(t, outcome{"placed", "N1-2", "a person"}, completed(t, run))
}

// Who looks at the child itself can answer there: it is a run like any other.
func TestTheChildCanBeAnsweredItself(t *testing.T) {
	t.Parallel()
	f := setup(t)
	run := f.approve(t, "2")
	pause := run.Opens(t, ask)
	require.Equal(t, run.ID+"/check#1", pause.WorkflowID)
	f.CLI(t, "workflow", "signal", "--workflow-id", pause.WorkflowID, "--name", "resume", "--input", `{"approved":false}`)
	require.Equal(t, "refused", completed(t, run).Status)
}

// An answer that does not fit is refused at the parent, and the question stays.
func TestAnswersAreCheckedAtTheParent(t *testing.T) {
	t.Parallel()
	f := setup(t)
	run := f.approve(t, "2")
	run.Opens(t, ask)
	_, err := f.Runs.Resume(t.Context(), run.ID, tidemill.ResumeOptions{PauseID: ask, Input: map[string]string{"approved": "yes"}})
	require.Equal(t, graph.ErrTypeInvalidResumeInput, tidemill.ErrorType(err))
	run.Answer(t, ask, `{"approved":true}`)
	require.Equal(t, "placed", completed(t, run).Status)
}

func TestBadScoreIsRefusedByTheRule(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.shop.Put(orderapproval.Order{ID: "4", Customer: "sly", Lines: []orderapproval.Line{{Item: "lamp", Quantity: 1}}}, 5)
	require.Equal(t, outcome{Status: "refused"}, completed(t, f.approve(t, "4")))
}

// The check as a whole is tried again; its second attempt is another child.
func TestCheckIsRetried(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.shop.Silence("ada", 1)
	run := f.approve(t, "2")
	run.Answer(t, "check#1~2/ask#1", `{"approved":true}`)
	require.Equal(t, "placed", completed(t, run).Status)
}

// A check that cannot be made must not decide: a person does.
func TestFailedCheckGoesToAPerson(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string]outcome{
		`{"approved":true}`:  {"placed", "N1-3", "hand"},
		`{"approved":false}`: {Status: "refused"},
	} {
		t.Run(want.Status, func(t *testing.T) {
			t.Parallel()
			f := setup(t)
			run := f.approve(t, "3")
			pause := run.Opens(t, "by-hand#1")
			require.Equal(t, "check_failed", pause.Reason)
			require.JSONEq(t, `{"error":"retry_exhausted","lines":[{"item":"lamp","quantity":1}],"total":45}`, string(pause.Show))
			run.Answer(t, "by-hand#1", answer)
			require.Equal(t, want, completed(t, run))
		})
	}
}

// An unknown order ends before anybody is asked, and one that cannot be priced is
// a failure of the run with the action's own type.
func TestOrdersThatCannotBe(t *testing.T) {
	t.Parallel()
	f := setup(t)
	require.Equal(t, "unknown", completed(t, f.approve(t, "99")).Status)

	f.shop.Put(orderapproval.Order{ID: "5", Customer: "ada", Lines: []orderapproval.Line{{Item: "moon", Quantity: 1}}}, 90)
	require.Equal(t, orderapproval.ErrTypeUnknownItem, f.approve(t, "5").Ends(t, tidemill.StatusFailed).Error.Type)
}

// Cancelling the order's run cancels its open check, and closes the question.
func TestCancelReachesTheCheck(t *testing.T) {
	t.Parallel()
	f := setup(t)
	run := f.approve(t, "2")
	child := run.Opens(t, ask).WorkflowID
	require.NoError(t, f.Runs.Cancel(t.Context(), run.ID, "changed their mind"))
	run.Ends(t, tidemill.StatusCancelled)
	report, err := f.Runs.Status(t.Context(), child)
	require.NoError(t, err)
	require.Equal(t, tidemill.StatusCancelled, report.Status)
}

// The test cases beside the graph are what the documentation teaches with: they must
// hold, also with the example's own actions behind the fakes.
func TestCases(t *testing.T) {
	t.Parallel()
	tidemilltest.RunCases(t, "graphs/order-approval.test.yaml", nil)
	tidemilltest.RunCases(t, "graphs/order-approval.test.yaml", orderapproval.NewApp)
}

// A test in Go, with the shop's own actions and no server.
func TestLargeOrderInVirtualTime(t *testing.T) {
	t.Parallel()
	run := tidemilltest.Play(t, tidemilltest.Scenario{
		App: orderapproval.NewApp(), Graph: orderapproval.GraphID, Input: map[string]string{"order": "2"},
		Answers: []tidemilltest.Answer{{Pause: "check/ask", Input: map[string]bool{"approved": true}, After: 26 * time.Hour}},
	})
	run.Require(tidemilltest.Expect{
		Output: outcome{"placed", "N1-2", "a person"}.with("2"),
		Path:   []string{"load", "price", "check", "place"},
		Took:   26 * time.Hour,
	})
	require.Equal(t, "run/place#1", run.CallsOf("place-order")[0].Key)
}

// with is the outcome as the run gives it, with the order's id.
func (o outcome) with(order string) map[string]string {
	return map[string]string{"order": order, "status": o.Status, "number": o.Number, "approved_by": o.ApprovedBy}
}
