package features_test

import (
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/worker"

	"github.com/tidemill/tidemill"
	"github.com/tidemill/tidemill/examples/features"
	"github.com/tidemill/tidemill/internal/devserver"
	"github.com/tidemill/tidemill/internal/exampletest"
	"github.com/tidemill/tidemill/internal/temporaltest"
)

var temporal = temporaltest.NewShared(devserver.Options{})

func TestMain(m *testing.M) { os.Exit(temporal.Main(m)) }

const token = "open-sesame"

// keys are secrets by name.
type keys map[string]string

func (k keys) Lookup(name string) (string, error) { return k[name], nil }

// setup starts the neighbours and a worker with all the graphs.
func setup(t *testing.T) *exampletest.Bench {
	t.Helper()
	service := httptest.NewServer(features.Service(token))
	t.Cleanup(service.Close)
	address := strings.TrimPrefix(service.URL, "http://")
	server := temporal.Server(t)
	server.Worker(t, server.Client(t), features.WarehouseQueue, worker.Options{}, features.Warehouse)
	return exampletest.New(t, server, features.NewApp(address), tidemill.WorkerOptions{
		HTTP:    tidemill.HTTPOptions{Hosts: []string{address}, Private: true},
		Secrets: keys{features.SecretName: token},
	})
}

// answer is what a person says to a pause.
type answer struct{ pause, input string }

// story is a run of a graph: what it is given and what becomes of it.
type story struct {
	graph, input string
	answers      []answer
	output       string          // of a run that completes
	status       tidemill.Status // of one that does not
	failure      string          // its error type, and after a slash that of the cause
}

// Each feature does on a real server what its graph's comment says.
func TestFeatures(t *testing.T) {
	t.Parallel()
	bench := setup(t)
	for _, s := range stories() {
		t.Run(s.graph+" "+s.input, func(t *testing.T) {
			t.Parallel()
			run := bench.Start(t, s.graph, s.input)
			for _, a := range s.answers {
				run.Answer(t, a.pause, a.input)
			}
			if s.status == "" {
				require.JSONEq(t, s.output, string(run.Ends(t, tidemill.StatusCompleted).Output))
				return
			}
			failure := run.Ends(t, s.status).Error
			got := failure.Type
			if failure.Cause != nil {
				got += "/" + failure.Cause.Type
			}
			require.Equal(t, s.failure, got, failure)
		})
	}
}

// An action in mode local is no activity of the server: that is what it is for.
func TestLocalIsNoActivity(t *testing.T) {
	t.Parallel()
	bench := setup(t)
	scheduled := func(graph, input string) int {
		run := bench.Start(t, graph, input)
		run.Ends(t, tidemill.StatusCompleted)
		return temporaltest.Count(temporaltest.History(t, bench.Temporal, run.ID, ""), enumspb.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED)
	}
	require.Zero(t, scheduled("local", `{"code":"sek"}`))
	require.Equal(t, 1, scheduled("values", `{"item":"lamp","quantity":1,"price":1}`))
}

// A graph without a story may do anything.
func TestEveryGraphHasAStory(t *testing.T) {
	t.Parallel()
	var told []string
	for _, s := range stories() {
		told = append(told, s.graph)
	}
	slices.Sort(told)
	graphs, err := features.NewApp(features.ServiceAddress).Graphs()
	require.NoError(t, err)
	require.Equal(t, graphs, slices.Compact(told))
}
