package workflows_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill/activities"
)

// An interruption is carried over the border between two runs: what the action left in
// its heartbeat is there for the next try, and no attempt is counted for it.
func TestInterruptionOfAChain(t *testing.T) {
	t.Parallel()
	began := make(chan struct{}, 1)
	p := continuing(1, newScript(), `
version: 1
id: pages
entry: a
nodes:
  - {id: a, run: act, next: read}
  - {id: read, run: read, retry: {max_attempts: 1}, next: end}
`)
	edit, register := p.edit, p.register
	p.edit = func(o *activities.Options) {
		edit(o)
		o.StopGrace = 10 * time.Millisecond
	}
	p.register = func(r *activities.Registry) {
		register(r)
		activities.Register(r, "read", func(ctx context.Context, _ struct{}) (any, error) {
			var page string
			if found, err := activities.HeartbeatDetails(ctx, &page); found || err != nil {
				return map[string]any{"page": page, "attempt": activities.Info(ctx).Attempt, "key": activities.Info(ctx).Key}, err
			}
			if err := activities.Heartbeat(ctx, "page 7"); err != nil {
				return "", err
			}
			began <- struct{}{}
			<-ctx.Done()
			return "", ctx.Err()
		})
	}
	w := setup(t, p)
	run := w.run("pages")
	<-began
	before := len(w.runsOf(run))
	w.start(p)
	w.worker.Stop()
	require.JSONEq(t, `{"page":"page 7","attempt":1,"key":"`+run.GetRunID()+`/read#1"}`, w.output(run))
	require.Greater(t, len(w.runsOf(run)), before, "no border lay behind the interruption")
}
