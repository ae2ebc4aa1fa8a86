package orderreview_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill"
	orderreview "github.com/tidemill/tidemill/examples/order-review"
	"github.com/tidemill/tidemill/internal/temporaltest"
)

// A worker that dies in the middle of a node with one attempt must cost neither
// the run nor a second call of what was committed before.
func TestKilledWorker(t *testing.T) {
	t.Parallel()
	f := setup(t, 80)
	release := shop.Hold(f.order)
	defer release()
	first := f.worker(t)
	f.start(t, `{"order":"`+f.order+`"}`)
	f.inShipping(t, 1)
	first.end(t, syscall.SIGKILL)

	f.worker(t)
	f.inShipping(t, 2)
	release()
	report := f.await(t, tidemill.StatusCompleted)
	delivered(t, f, report.Output)
	require.Equal(t, 1, f.fetched(), "a committed node ran again")
	require.Equal(t, 2, f.asked())
}

// A worker that is told to stop leaves in good order, and what it was doing is
// done by another without counting as an attempt.
func TestStoppedWorker(t *testing.T) {
	t.Parallel()
	f := setup(t, 80)
	release := shop.Hold(f.order)
	defer release()
	first := f.worker(t, "-stop-grace", "1s")
	f.start(t, `{"order":"`+f.order+`"}`)
	f.inShipping(t, 1)
	require.Zero(t, first.end(t, syscall.SIGTERM))

	f.worker(t)
	f.inShipping(t, 2)
	release()
	delivered(t, f, f.await(t, tidemill.StatusCompleted).Output)
	require.Equal(t, 1, f.fetched(), "a committed node ran again")
}

// Within its grace a stopping worker finishes what it has begun.
func TestStoppingWorkerFinishesWhatItCan(t *testing.T) {
	t.Parallel()
	f := setup(t, 80)
	release := shop.Hold(f.order)
	defer release()
	first := f.worker(t, "-stop-grace", "1m")
	f.start(t, `{"order":"`+f.order+`"}`)
	f.inShipping(t, 1)
	require.NoError(t, first.cmd.Process.Signal(syscall.SIGTERM))
	release()
	require.Zero(t, first.wait(t))

	f.worker(t)
	delivered(t, f, f.await(t, tidemill.StatusCompleted).Output)
	require.Equal(t, 1, f.asked())
}

// An operator's reset repeats the node; it is no failure and no attempt.
func TestActivityReset(t *testing.T) {
	t.Parallel()
	f := setup(t, 80)
	release := shop.Hold(f.order)
	defer release()
	f.worker(t)
	f.start(t, `{"order":"`+f.order+`"}`)
	f.inShipping(t, 1)
	f.temporal(t, "activity", "reset", "--workflow-id", f.order, "--activity-id", "ship#1")

	f.inShipping(t, 2)
	release()
	delivered(t, f, f.await(t, tidemill.StatusCompleted).Output)
	require.Equal(t, 1, f.fetched(), "a committed node ran again")
}

// A run that needs an action no worker has must say which, and go on once a
// worker has it.
func TestWorkerWithoutTheAction(t *testing.T) {
	t.Parallel()
	f := setup(t, 80)
	bare := launch(t, f.server.Environment(), "../../cmd/worker", "--config", bareConfig(t, f.queue))
	f.start(t, `{"order":"`+f.order+`"}`)
	temporaltest.Wait(t, patience, "the run to say what is missing", func() bool {
		seen, err := f.runs.Status(t.Context(), f.order)
		return err == nil && len(seen.Waiting) == 1 && seen.Waiting[0].Reason == "no worker has action `ship`"
	})
	require.Zero(t, bare.end(t, syscall.SIGTERM))

	f.worker(t)
	delivered(t, f, f.await(t, tidemill.StatusCompleted).Output)
	require.Equal(t, 1, f.fetched(), "a committed node ran again")
	require.Equal(t, 1, f.asked())
}

// A pause outlives every worker, and so does the answer that nobody is there to
// take.
func TestAnswerWhileNoWorkerRuns(t *testing.T) {
	t.Parallel()
	f := setup(t, 1500)
	first := f.worker(t)
	f.start(t, `{"order":"`+f.order+`"}`)
	f.await(t, tidemill.StatusPaused)
	require.Zero(t, first.end(t, syscall.SIGTERM))
	f.answer(t, `{"approved":true}`)

	f.worker(t)
	delivered(t, f, f.await(t, tidemill.StatusCompleted).Output)
	require.Equal(t, 1, f.fetched(), "a committed node ran again")
}

// bareConfig configures the stock worker, which has the built-in actions only,
// for the example's graph.
func bareConfig(t *testing.T, queue string) string {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "order-review.yaml"), orderreview.Document(shop.Address()), 0o600))
	config := filepath.Join(t.TempDir(), "worker.yaml")
	require.NoError(t, os.WriteFile(config, []byte("task_queue: "+queue+"\ngraphs: "+dir+
		"\nhttp: {hosts: [\""+shop.Address()+"\"], private: true}\n"), 0o600))
	return config
}
