package admission_test

import (
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill"
	"github.com/tidemill/tidemill/examples/admission"
	"github.com/tidemill/tidemill/internal/devserver"
	"github.com/tidemill/tidemill/internal/exampletest"
	"github.com/tidemill/tidemill/internal/temporaltest"
)

var temporal = temporaltest.NewShared(devserver.Options{})

func TestMain(m *testing.M) { os.Exit(temporal.Main(m)) }

// setup starts a service, and a worker that calls it.
func setup(t *testing.T, options *tidemill.AdmissionOptions) (*exampletest.Bench, *admission.API) {
	t.Helper()
	api, err := admission.Listen("127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = api.Close() })
	bench := exampletest.New(t, temporal.Server(t), admission.NewApp(api.Address()), tidemill.WorkerOptions{Admission: options})
	return bench, api
}

// While one tenant floods the service, the others get as much of it as the hog, and
// it is never asked for more than it takes: not at a time, and not in any time.
func TestTenantsShareTheService(t *testing.T) {
	t.Parallel()
	bench, api := setup(t, admission.Options())
	api.Begin()
	release := api.Hold()
	ids, err := admission.Start(t.Context(), bench.Runs, bench.Queue, admission.Flood(30, 15))
	require.NoError(t, err)
	temporaltest.Wait(t, time.Minute, "all runs to wait or to call", func() bool {
		view, err := bench.Runs.AdmissionStatus(t.Context(), "")
		return err == nil && view.Status.Queued == 60-admission.MostAtOnce
	})
	require.Len(t, api.Record().Calls, admission.MostAtOnce)
	from := api.Elapsed()
	release()
	require.NoError(t, admission.Await(t.Context(), bench.Runs, ids))

	record := api.Record()
	require.Len(t, record.Calls, 60, "a call for each run, and none twice")
	require.Equal(t, admission.MostAtOnce, record.Peak)
	require.LessOrEqual(t, record.Ahead(admission.PerSecond, admission.Burst), 0)
	for _, call := range record.Calls {
		require.NotZero(t, call.Token, "a call without a permit")
	}
	shares := record.Shares(admission.Tenants(), from)
	for _, s := range shares {
		require.InEpsilon(t, 14.5, s.Calls, 0.1, "%v", shares)
	}
}

// Without admission nothing keeps the calls of the same flood apart: the limits above
// are kept by admission, not by chance.
func TestWithoutAdmissionTheServiceIsOverrun(t *testing.T) {
	t.Parallel()
	bench, api := setup(t, nil)
	release := api.Hold()
	ids, err := admission.Start(t.Context(), bench.Runs, bench.Queue, admission.Flood(12, 6))
	require.NoError(t, err)
	temporaltest.Wait(t, time.Minute, "all calls to be under way at a time", func() bool { return api.Record().Peak == 24 })
	release()
	require.NoError(t, admission.Await(t.Context(), bench.Runs, ids))
}

// What the graph itself does: a place, or none for an address that nobody knows.
func TestPlaces(t *testing.T) {
	t.Parallel()
	bench, _ := setup(t, nil)
	found := bench.Start(t, admission.GraphID, `{"address":"Storgata 1"}`).Ends(t, tidemill.StatusCompleted)
	require.JSONEq(t, `{"address":"Storgata 1","place":{"north":-8,"east":114}}`, string(found.Output))
	none := bench.Start(t, admission.GraphID, `{"address":"nowhere"}`).Ends(t, tidemill.StatusCompleted)
	require.JSONEq(t, `{"address":"nowhere","place":null}`, string(none.Output))
}
