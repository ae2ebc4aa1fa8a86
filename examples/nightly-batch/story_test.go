package nightlybatch_test

import (
	"encoding/json"
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill"
	nightlybatch "github.com/tidemill/tidemill/examples/nightly-batch"
	"github.com/tidemill/tidemill/graph"
	"github.com/tidemill/tidemill/internal/devserver"
	"github.com/tidemill/tidemill/internal/exampletest"
	"github.com/tidemill/tidemill/internal/temporaltest"
)

var temporal = temporaltest.NewShared(devserver.Options{})

func TestMain(m *testing.M) { os.Exit(temporal.Main(m)) }

// setup starts a worker with a bank.
func setup(t *testing.T, bank *nightlybatch.Bank) *exampletest.Bench {
	t.Helper()
	app := tidemill.NewApp()
	nightlybatch.Add(app, bank)
	return exampletest.New(t, temporal.Server(t), app, tidemill.WorkerOptions{})
}

const day = `{"day":"2026-03-01"}`

// result is what a batch gives.
type result struct {
	Day    string                       `json:"day"`
	Posted int                          `json:"posted"`
	Failed []nightlybatch.FailedAccount `json:"failed"`
	Stale  []string                     `json:"stale_rates"`
}

func completed(t *testing.T, run *exampletest.Run) result {
	t.Helper()
	var r result
	require.NoError(t, json.Unmarshal(run.Ends(t, tidemill.StatusCompleted).Output, &r))
	return r
}

// One account of ten fails, which is tolerated; a rate that is missing is replaced
// by that of the day before.
func TestSomeFailuresAreTolerated(t *testing.T) {
	t.Parallel()
	bank := nightlybatch.NewBank()
	run := setup(t, bank).Start(t, nightlybatch.GraphID, day)
	require.Equal(t, result{
		Day: "2026-03-01", Posted: 9, Stale: []string{"NOK"},
		Failed: []nightlybatch.FailedAccount{{Account: "A7", Error: nightlybatch.ErrTypeAccountClosed}},
	}, completed(t, run))
	require.Equal(t, 9, bank.Posted())
	require.Empty(t, bank.Alarms())
}

// Three of ten are too many: the batch stops, says which accounts failed, and the
// run is a failure to whoever watches the schedule.
func TestTooManyFailuresRaiseTheAlarm(t *testing.T) {
	t.Parallel()
	bank := nightlybatch.NewBank()
	bank.Accounts[0].Closed, bank.Accounts[1].Closed, bank.Accounts[2].Closed = true, true, true
	run := setup(t, bank).Start(t, nightlybatch.GraphID, day)
	require.Equal(t, "batch_stopped", run.Ends(t, tidemill.StatusFailed).Error.Type)

	alarms := bank.Alarms()
	require.Len(t, alarms, 1)
	require.Contains(t, alarms[0].Text, "Batch of 2026-03-01: 3 of 10 items failed")
	require.Equal(t, []nightlybatch.FailedAccount{
		{Account: "A1", Error: nightlybatch.ErrTypeAccountClosed},
		{Account: "A2", Error: nightlybatch.ErrTypeAccountClosed},
		{Account: "A3", Error: nightlybatch.ErrTypeAccountClosed},
	}, alarms[0].Accounts)
	require.Less(t, bank.Posted(), 7, "the batch goes on although too much has failed")
}

// A long list is a run of its own, which can grow without the batch's history
// growing; what it gives is the same.
func TestManyAccounts(t *testing.T) {
	t.Parallel()
	bank := nightlybatch.NewBank()
	bank.Accounts = nil
	for i := range 250 {
		bank.Accounts = append(bank.Accounts, nightlybatch.Account{
			ID: fmt.Sprintf("B%d", i), Currency: "EUR", Balance: 100, Closed: i%10 == 0,
		})
	}
	run := setup(t, bank).Start(t, nightlybatch.GraphID, day)
	got := completed(t, run)
	require.Equal(t, 225, got.Posted)
	require.Len(t, got.Failed, 25)
	require.Equal(t, nightlybatch.FailedAccount{Account: "B10", Error: nightlybatch.ErrTypeAccountClosed}, got.Failed[1])
	require.Equal(t, 225, bank.Posted())
}

// The alarm of a long list names what failed, too: those that were begun long before
// the batch stopped, whichever of the last ones were still under way.
func TestManyAccountsRaiseTheAlarm(t *testing.T) {
	t.Parallel()
	bank := nightlybatch.NewBank()
	bank.Accounts = nil
	for i := range 210 {
		bank.Accounts = append(bank.Accounts, nightlybatch.Account{ID: fmt.Sprintf("B%d", i), Currency: "EUR", Balance: 100, Closed: true})
	}
	run := setup(t, bank).Start(t, nightlybatch.GraphID, day)
	require.Equal(t, "batch_stopped", run.Ends(t, tidemill.StatusFailed).Error.Type)
	require.Len(t, bank.Alarms(), 1)
	require.Contains(t, bank.Alarms()[0].Accounts, nightlybatch.FailedAccount{Account: "B10", Error: nightlybatch.ErrTypeAccountClosed})
}

// Without a day in the input it is the one on which the run began, as a schedule
// wants it.
func TestDayOfTheRun(t *testing.T) {
	t.Parallel()
	run := setup(t, nightlybatch.NewBank()).Start(t, nightlybatch.GraphID, `{}`)
	got := completed(t, run)
	require.Equal(t, run.Status(t).Started.UTC().Format("2006-01-02"), got.Day)
}

func TestDayThatIsNone(t *testing.T) {
	t.Parallel()
	bench := setup(t, nightlybatch.NewBank())
	_, err := bench.Runs.Start(t.Context(), tidemill.StartOptions{Graph: nightlybatch.GraphID, Input: map[string]string{"day": "yesterday"}})
	require.Equal(t, graph.ErrTypeInputSchema, tidemill.ErrorType(err))
}
