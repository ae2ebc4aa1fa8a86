package workflows_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/worker"

	"github.com/tidemill/tidemill/activities"
	"github.com/tidemill/tidemill/graph"
	"github.com/tidemill/tidemill/internal/historytest"
	"github.com/tidemill/tidemill/internal/temporaltest"
)

// next is the version after the one that this code knows.
const next = activities.Core + 1

// A run that a later release began must not be carried on by this one, which does not
// know its rules: not even when it would come to the same decisions.
func TestRunOfALaterCoreIsNotReplayed(t *testing.T) {
	t.Parallel()
	recording := historytest.Load(t, recordingOf("linear"))
	changed := 0
	for _, event := range recording.History.GetEvents() {
		details := event.GetMarkerRecordedEventAttributes().GetDetails()
		if changed > 0 || len(details["result"].GetPayloads()) == 0 {
			continue
		}
		payload := details["result"].GetPayloads()[0]
		before := payload.Data
		payload.Data = bytes.Replace(before, fmt.Appendf(nil, `"core":%d`, activities.Core), fmt.Appendf(nil, `"core":%d`, next), 1)
		require.NotEqual(t, string(before), string(payload.Data), "the first marker is no pin")
		changed++
	}
	err := historytest.TryReplay(recording, worker.WorkflowReplayerOptions{}, registerReplay)
	require.ErrorContains(t, err, fmt.Sprintf("it follows version %d of the interpreter's rules, and this worker knows versions 1 to %d", next, activities.Core))
}

// later makes of a worker one of a later release, as far as what it pins is concerned.
type later struct {
	interceptor.WorkerInterceptorBase
}

func (*later) InterceptActivity(_ context.Context, inner interceptor.ActivityInboundInterceptor) interceptor.ActivityInboundInterceptor {
	return &laterPin{interceptor.ActivityInboundInterceptorBase{Next: inner}}
}

type laterPin struct {
	interceptor.ActivityInboundInterceptorBase
}

func (l *laterPin) ExecuteActivity(ctx context.Context, in *interceptor.ExecuteActivityInput) (any, error) {
	result, err := l.Next.ExecuteActivity(ctx, in)
	if err != nil || activity.GetInfo(ctx).ActivityType.Name != activities.NamePin {
		return result, err
	}
	var pin map[string]any
	if err := json.Unmarshal(result.(converter.RawValue).Payload().GetData(), &pin); err != nil {
		return nil, err
	}
	pin["core"] = next
	return activities.Plain(pin)
}

// Such a run must not fail either: it is in order, only its worker is too old. It waits,
// says why, and goes on with a worker that knows its rules.
func TestRunOfALaterCoreWaits(t *testing.T) {
	t.Parallel()
	acts := newScript()
	p := parts{graphs: []string{admitted}, register: acts.register}
	old := p
	old.worker.Interceptors = []interceptor.WorkerInterceptor{&later{}}
	w := setup(t, old)
	run := w.run("admitted")
	temporaltest.Wait(t, time.Minute, "the workflow task to fail", func() bool {
		return temporaltest.Count(w.history(run), enumspb.EVENT_TYPE_WORKFLOW_TASK_FAILED) > 0
	})
	require.Equal(t, enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING, w.closed(run))
	for _, event := range w.history(run).GetEvents() {
		if failed := event.GetWorkflowTaskFailedEventAttributes(); failed != nil {
			require.Contains(t, failed.GetFailure().GetMessage(), fmt.Sprintf("it follows version %d of the interpreter's rules", next))
		}
	}
	w.worker.Stop()
	w.worker = w.start(p)
	require.Equal(t, `"done"`, w.output(run))
	require.Equal(t, graph.StatusCompleted, w.status(run).Status)
	require.Len(t, acts.called(run.GetID()), 1)
}
