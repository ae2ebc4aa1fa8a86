package workflows_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill/activities"
	"github.com/tidemill/tidemill/activities/permits"
	"github.com/tidemill/tidemill/admission"
	"github.com/tidemill/tidemill/graph"
	"github.com/tidemill/tidemill/internal/temporaltest"
)

// A chain is one owner: what it waits for it waits for in its next run too, and when it
// has ended nothing is held.
func TestPermitsOfAChain(t *testing.T) {
	t.Parallel()
	const text = `
version: 1
id: chained
entry: a
nodes:
  - {id: a, run: act, next: wait}
  - {id: wait, type: wait, for: 1s, next: work}
  - {id: work, run: act, next: b}
  - {id: b, run: act, args: {output: done}, next: end}
`
	acts := newScript()
	p := continuing(1, acts, text)
	w := setup(t, p)
	w.worker.Stop() // the book needs the client
	book, err := permits.NewInProcess(permits.InProcessOptions{
		Limits: map[string]admission.Limits{"": {DefaultAgent: 1}}, Owners: permits.TemporalOwners(w.client),
	})
	require.NoError(t, err)
	t.Cleanup(func() { _ = book.Close(context.Background()) })
	edit := p.edit
	p.edit = func(o *activities.Options) {
		edit(o)
		o.Admitter = book
		o.Classifier = func(f permits.Facts) (permits.Class, error) { return permits.Class{Agent: f.Node}, nil }
	}
	w.worker = w.start(p)
	take := func() permits.Hold {
		ask := permits.Ask{Request: admission.Request{ID: "other", Owner: admission.Owner{Process: "other"}, Agent: "work"}}
		d, err := book.Submit(t.Context(), ask)
		require.NoError(t, err)
		require.Equal(t, admission.AnswerGranted, d.Answer)
		return permits.Hold{ID: "other", Token: d.Token}
	}
	other := take()
	run := w.run("chained")
	w.until(chainOf(run), "the wait", func(r graph.Report) bool { return len(r.Waiting) == 1 && r.Waiting[0].Reason == waitsForWork })
	require.NoError(t, book.Release(t.Context(), other))
	require.JSONEq(t, `"done"`, w.output(run))
	require.Equal(t, []string{"a#1", "work#1", "b#1"}, acts.called(run.GetID()))
	require.Greater(t, len(w.runsOf(run)), 2)
	var again permits.Hold
	temporaltest.Wait(t, 10*time.Second, "the permit to be free", func() bool {
		ask := permits.Ask{Request: admission.Request{
			ID: "after", Owner: admission.Owner{Process: "other"}, Agent: "work", Overflow: admission.OverflowReject,
		}}
		d, err := book.Submit(t.Context(), ask)
		again = permits.Hold{ID: "after", Token: d.Token}
		return err == nil && d.Answer == admission.AnswerGranted
	})
	require.NoError(t, book.Release(t.Context(), again))
}
