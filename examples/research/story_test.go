package research_test

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill"
	"github.com/tidemill/tidemill/examples/research"
	"github.com/tidemill/tidemill/graph"
	"github.com/tidemill/tidemill/internal/devserver"
	"github.com/tidemill/tidemill/internal/exampletest"
	"github.com/tidemill/tidemill/internal/temporaltest"
)

var temporal = temporaltest.NewShared(devserver.Options{})

func TestMain(m *testing.M) { os.Exit(temporal.Main(m)) }

// setup starts a worker over shelves of which some do not answer.
func setup(t *testing.T, down ...string) *exampletest.Bench {
	t.Helper()
	shelves := research.NewShelves()
	shelves.Down = map[string]bool{}
	for _, source := range down {
		shelves.Down[source] = true
	}
	app := tidemill.NewApp()
	research.Add(app, shelves)
	return exampletest.New(t, temporal.Server(t), app, tidemill.WorkerOptions{})
}

const (
	tides, bridges = `{"topic":"tides"}`, `{"topic":"bridges"}`

	spend = "expert#1/spend#1" // the question of the branch that costs money
)

// result is what a run gives.
type result struct {
	Brief   string   `json:"brief"`
	Sources []string `json:"sources"`
	Cost    int      `json:"cost"`
}

func completed(t *testing.T, run *exampletest.Run) result {
	t.Helper()
	var r result
	require.NoError(t, json.Unmarshal(run.Ends(t, tidemill.StatusCompleted).Output, &r))
	return r
}

// Three sources answer, so the question to the person is withdrawn and the branch
// that asked it is gone.
func TestThreeSourcesAreEnough(t *testing.T) {
	t.Parallel()
	bench := setup(t)
	run := bench.Start(t, research.GraphID, tides)
	require.Equal(t, result{
		Brief: "tides: The moon pulls, and the water follows." +
			" (web) Tides come twice a day. (archive) A tide mill stood here in 1170.",
		Sources: []string{"web", "archive", "library"}, Cost: 3,
	}, completed(t, run))
	require.Empty(t, run.Status(t).Pauses)

	_, err := bench.Runs.Resume(t.Context(), run.ID, tidemill.ResumeOptions{PauseID: spend, Input: map[string]bool{"approved": true}})
	require.Equal(t, tidemill.ErrTypeAlreadyTerminal, tidemill.ErrorType(err))
}

// With one source short the fork needs the expert, and the run waits for a person
// in the middle of it. The other branches are not asked again.
func TestExpertNeedsApproval(t *testing.T) {
	t.Parallel()
	run := setup(t).Start(t, research.GraphID, bridges)
	report := run.Pauses(t)
	require.Len(t, report.Pauses, 1)
	require.Equal(t, graph.Address(spend), report.Pauses[0].ID)
	require.Equal(t, "May we spend 200 on an expert for bridges?", report.Pauses[0].Summary)

	run.Answer(t, spend, `{"approved":true}`)
	require.Equal(t, result{
		Brief: "bridges: Mind the resonance." +
			" (web) Bridges cross things. (library) An arch stands by its own weight.",
		Sources: []string{"web", "library", "expert"}, Cost: 202,
	}, completed(t, run))
}

// A refusal fails the branch, and without it the quorum is out of reach.
func TestRefusedExpertFailsTheQuorum(t *testing.T) {
	t.Parallel()
	run := setup(t).Start(t, research.GraphID, bridges)
	run.Answer(t, spend, `{"approved":false}`)
	failure := run.Ends(t, tidemill.StatusFailed).Error
	require.Equal(t, graph.ErrTypeForkJoinUnsatisfied, failure.Type)
}

// Two sources short: nobody needs the person's answer any more.
func TestTwoSourcesShortAreTooMany(t *testing.T) {
	t.Parallel()
	run := setup(t, "web").Start(t, research.GraphID, bridges)
	report := run.Ends(t, tidemill.StatusFailed)
	require.Equal(t, graph.ErrTypeForkJoinUnsatisfied, report.Error.Type)
	require.Empty(t, report.Pauses)
}

// A source that is down for a moment is asked again; the run does not wait for a
// person meanwhile.
func TestSourceThatIsDown(t *testing.T) {
	t.Parallel()
	run := setup(t, "archive").Start(t, research.GraphID, tides)
	run.Answer(t, spend, `{"approved":true}`)
	require.Equal(t, []string{"web", "library", "expert"}, completed(t, run).Sources)
}
