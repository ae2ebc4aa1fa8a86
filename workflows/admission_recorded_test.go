package workflows_test

import (
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/worker"

	"github.com/tidemill/tidemill/activities/permits"
	"github.com/tidemill/tidemill/admission"
	"github.com/tidemill/tidemill/internal/historytest"
	"github.com/tidemill/tidemill/internal/temporaltest"
)

// admissionShapes are the histories of semaphores that are kept, each with what makes
// it and the run of the chain that is recorded.
func admissionShapes() []admissionShape {
	return []admissionShape{
		{name: "admission_basic", run: 0, act: playAdmission},
		{name: "admission_left", run: 0, maxEvents: 25, act: playAdmission},
		{name: "admission_continued", run: 1, maxEvents: 25, act: playAdmission},
		{name: "admission_checked", run: 0, act: func(h *hall) {
			holds, waits := h.occupant(nil), h.occupant(nil)
			last := waits.wants("", oneOf("A"))
			h.ask(holds.wants("", oneOf("A")), holds.wants("", oneOf("A")), last)
			holds.terminate()
			waits.hears(last.ID, granted)
		}},
	}
}

type admissionShape struct {
	name      string
	run       int // of the chain
	maxEvents int
	act       func(*hall)
}

// playAdmission has an owner wait for another, an operator change a limit, and a
// deadline pass.
func playAdmission(h *hall) {
	first, o := h.occupant(nil), h.occupant(nil)
	held, other, waits, late := first.wants("", oneOf("A")), first.wants("", oneOf("A")), o.wants("", oneOf("A")), o.wants("", oneOf("A"))
	late.QueueTimeout = 10 * time.Millisecond
	permit := h.submit(held)
	h.ask(other, waits, late)
	o.hears(late.ID, admission.AnswerDeadlineExceeded)
	h.steer(permits.Steer{Action: permits.SteerLimit, Key: "A", Limit: 1})
	h.cancel(other.ID)
	h.release(held.ID, permit.Token)
	h.release(waits.ID, o.hears(waits.ID, granted).Token)
	h.used(0, 0)
}

// Every shape of a semaphore's history must replay with today's code: what it holds
// would be lost otherwise. What is recorded is replayed with all others, in
// TestRecordedHistories.
func TestAdmissionHistories(t *testing.T) {
	t.Parallel()
	for _, shape := range admissionShapes() {
		path := recordingOf(shape.name)
		if _, err := os.Stat(path); err != nil && *update {
			recordAdmission(t, shape)
		}
		historytest.Replay(t, historytest.Load(t, path), registerReplay)
	}
	changed := historytest.Load(t, recordingOf("admission_basic"))
	for _, event := range changed.History.Events {
		if scheduled := event.GetActivityTaskScheduledEventAttributes(); scheduled != nil {
			scheduled.ActivityType.Name = permits.NameCheckOwners
		}
	}
	require.Error(t, historytest.TryReplay(changed, worker.WorkflowReplayerOptions{}, registerReplay))
}

func recordAdmission(t *testing.T, shape admissionShape) {
	t.Helper()
	h := newHall(t, short(2), func(p *hallParts) { p.maxEvents = shape.maxEvents })
	shape.act(h)
	runs := h.runs()
	require.Greater(t, len(runs), shape.run)
	temporaltest.Wait(t, 30*time.Second, "the last task to be over", func() bool {
		history := h.history(runs[shape.run])
		return temporaltest.Count(history, enumspb.EVENT_TYPE_WORKFLOW_TASK_SCHEDULED) ==
			temporaltest.Count(history, enumspb.EVENT_TYPE_WORKFLOW_TASK_COMPLETED)
	})
	recording := historytest.Record(t, h.client, h.id(), runs[shape.run])
	anonymous(recording)
	historytest.Save(t, recordingOf(shape.name), recording)
}
