package workflows_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	historypb "go.temporal.io/api/history/v1"

	"github.com/tidemill/tidemill/activities"
	"github.com/tidemill/tidemill/internal/temporaltest"
)

// longLives are graphs that continue as new a few times. Ten times as long ones are
// contests of the bench.
var longLives = []struct {
	name, below, text, input string
	at, steps                int
	step                     func(*historypb.HistoryEvent) bool
}{
	{name: "turns", at: 500, steps: 1000, input: `{"k":0}`, step: localMarker, text: `
version: 1
id: turns
entry: again
max_steps: 100000
nodes:
  - {id: again, type: loop, while: "state.k < 1000", body: work, done: end, max_iterations: 100000}
  - {id: work, run: pad, mode: local, idempotent: true, timeout: 1s, args: {bytes: 1000}, delta: {k: "${ state.k + 1 }"}, next: again}
`},
	{name: "heavy", at: 5000, steps: 90, input: `{"k":0}`, step: localMarker, text: `
version: 1
id: heavy
entry: again
max_steps: 100000
nodes:
  - {id: again, type: loop, while: "state.k < 90", body: work, done: end, max_iterations: 100000}
  - {id: work, run: pad, mode: local, idempotent: true, timeout: 1s, args: {bytes: 100000}, delta: {k: "${ state.k + 1 }"}, next: again}
`},
	{
		name: "items", below: "/each#1", at: 900, steps: 600, step: activityDone, input: `{"list":[1` + strings.Repeat(",1", 599) + `]}`,
		text: mapped("items", "\n    max_concurrency: 40", tenfold),
	},
}

func localMarker(e *historypb.HistoryEvent) bool {
	for _, p := range e.GetMarkerRecordedEventAttributes().GetDetails()["data"].GetPayloads() {
		if strings.Contains(string(p.GetData()), `"`+activities.NameLocal+`"`) {
			return true
		}
	}
	return false
}

func activityDone(e *historypb.HistoryEvent) bool {
	return e.GetActivityTaskCompletedEventAttributes() != nil && e.GetActivityTaskCompletedEventAttributes().GetResult() != nil
}

// A run may be as long as it likes: no history of its chain passes what was set, the
// last steps cost what the first did, and each is taken once.
func TestLongLives(t *testing.T) {
	t.Parallel()
	for _, l := range longLives {
		t.Run(l.name, func(t *testing.T) {
			t.Parallel()
			p := continuing(l.at, newScript(), l.text)
			register := p.register
			p.register = func(r *activities.Registry) {
				register(r)
				activities.Register(r, "pad", func(_ context.Context, in struct {
					Bytes int `json:"bytes"`
				},
				) (string, error) {
					return strings.Repeat("x", in.Bytes), nil
				})
			}
			w := setup(t, p)
			run := w.run(l.name, json.RawMessage(l.input))
			ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
			defer cancel()
			require.NoError(t, run.Get(ctx, nil))
			worker := w.client.GetWorkflow(t.Context(), run.GetID()+l.below, "")
			runs := w.runsOf(worker)
			require.Greater(t, len(runs), 2)
			at, all := []int{0}, 0
			for _, id := range runs {
				events := temporaltest.History(t, w.client, worker.GetID(), id).GetEvents()
				require.LessOrEqual(t, len(events), l.at*6/5, "events of one history")
				for _, e := range events {
					if all++; l.step(e) && e.GetEventId() > 0 {
						at = append(at, all)
					}
				}
			}
			require.GreaterOrEqual(t, len(at)-1, l.steps)
			third := l.steps / 3
			first, last := at[third], at[len(at)-1]-at[len(at)-1-third]
			require.LessOrEqual(t, float64(last), 1.1*float64(first), "the last steps beside the first")
		})
	}
}
