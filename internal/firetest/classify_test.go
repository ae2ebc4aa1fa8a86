package firetest_test

import (
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill"
	"github.com/tidemill/tidemill/admission"
	"github.com/tidemill/tidemill/internal/temporaltest"
)

// Issue, and fault 4: policy lookup failing, unknown key, classifier panicking.
// Nothing is admitted under unknown rules, releases still work, and what waits goes on
// by itself once the rules work again.
func TestNothingIsAdmittedUnderUnknownRules(t *testing.T) {
	t.Parallel()
	var mood atomic.Value
	mood.Store("well")
	h := open(t, hallParts{limits: ofOne("a"), graphs: []string{single("queues", "")}, edit: func(h *hall, o *tidemill.WorkerOptions) {
		o.Admission.Rules = tidemill.AdmissionRules{}
		o.Admission.Classify = func(tidemill.Facts) (tidemill.Class, error) {
			class := tidemill.Class{Domain: h.domain, Agent: "a"}
			switch mood.Load() {
			case "down":
				return class, errors.New("the policy service is down")
			case "panic":
				panic("no policy")
			case "unknown":
				class.Keys = []admission.Units{{Key: "nobody"}}
			}
			return class, nil
		}
	}})
	first := h.start("queues", holding("first"))
	h.stage.plays(t, "first", 1)
	before := h.holds(1, 0).Grants
	waiting := map[string]string{}
	for _, m := range []struct{ mood, reason string }{
		{"down", "admission: classification_failed: the policy service is down"},
		{"panic", "admission: classification_failed: "},
		{"unknown", "admission: infeasible of nobody"},
	} {
		mood.Store(m.mood)
		id := h.start("queues", playing(m.mood))
		var seen tidemill.Report
		temporaltest.Wait(t, patience, id+" to wait", func() bool {
			seen = h.report(id)
			return len(seen.Waiting) == 1 && strings.HasPrefix(seen.Waiting[0].Reason, m.reason)
		})
		require.NotNil(t, seen.Waiting[0].NextCheck, m.mood)
		waiting[m.mood] = id
	}
	h.stage.let("first")
	h.ends(first, tidemill.StatusCompleted)
	require.Equal(t, before, h.holds(0, 0).Grants)
	for name := range waiting {
		require.Zero(t, h.stage.begun(name))
	}
	mood.Store("well")
	for _, id := range waiting {
		h.ends(id, tidemill.StatusCompleted)
	}
	h.holds(0, 0)
}

// Issue: four workflow-task slots, 16 owners. Those that wait must not take the slots
// that those who hold need to end, nor those of the book.
func TestFourSlotsSixteenOwners(t *testing.T) {
	t.Parallel()
	limits := tidemill.AdmissionLimits{Overflow: admission.OverflowQueue, QueueTimeout: admission.None, Agents: []admission.KeyLimit{{Key: "a", Limit: 2}, {Key: "b", Limit: 1}}}
	h := open(t, hallParts{limits: limits, graphs: []string{`
version: 1
id: two
entry: a
nodes:
  - {id: a, run: play, args: {name: "${ input.name }"}, next: b}
  - {id: b, run: play, args: {name: "${ state.name }"}, next: end}
`}, edit: func(_ *hall, o *tidemill.WorkerOptions) {
		o.Worker.MaxConcurrentWorkflowTaskExecutionSize = 4
		o.Worker.MaxConcurrentLocalActivityExecutionSize = 4
	}})
	var runs []string
	for range 16 {
		runs = append(runs, h.start("two", map[string]any{"name": "x"}))
	}
	for _, id := range runs {
		h.ends(id, tidemill.StatusCompleted)
	}
	require.Equal(t, 32, h.stage.begun("x"))
	h.holds(0, 0)
}
