package firetest_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"

	"github.com/tidemill/tidemill"
	"github.com/tidemill/tidemill/activities/permits"
	"github.com/tidemill/tidemill/admission"
	"github.com/tidemill/tidemill/internal/temporaltest"
)

// Faults 1 and 26: an owner that is gone frees its permit and its place in the queue,
// and one release of many wakes a waiter of another owner. Fault 5: what is granted to
// an owner that is gone goes to the next.
func TestGoneOwnersFreeAll(t *testing.T) {
	t.Parallel()
	h, s := codeHall(t, brief("a"))
	first := h.code("holds", s)
	h.holds(1, 0)
	gone := h.code("holds", s)
	h.holds(1, 1)
	last := h.code("holds", s)
	h.holds(1, 2)
	h.terminate(gone)
	h.tell(first)
	require.NoError(t, h.result(first, nil))
	view := h.holds(1, 0)
	require.Equal(t, last, view.Holders[0].Owner.Workflow)
	h.terminate(last) // it holds
	next := h.code("holds", s)
	h.until("the permit to be given on", func(v tidemill.AdmissionView) bool {
		return v.Status.Permits == 1 && v.Holders[0].Owner.Workflow == next
	})
	h.tell(next)
	require.NoError(t, h.result(next, nil))
	h.holds(0, 0)
}

// Fault 2: terminate 50 holders at random moments; after a lease and a check nothing
// is held, and the recount at continue-as-new finds nothing to repair.
func TestFiftyHoldersTerminated(t *testing.T) {
	t.Parallel()
	metrics := newRecorder()
	limits := tidemill.AdmissionLimits{Overflow: admission.OverflowQueue, Agents: []admission.KeyLimit{{Key: "a", Limit: 30}}, Lease: 2 * time.Second}
	h := open(t, hallParts{limits: limits, events: 50, client: func(o *client.Options) { o.MetricsHandler = metrics }})
	s := stay{Domain: h.domain, Agent: "a", Timeout: admission.None}
	var ids []string
	for i := range 50 {
		ids = append(ids, h.code("holds", s))
		if i%3 == 2 {
			h.terminate(ids[i/2])
		}
	}
	h.until("all to be there", func(v tidemill.AdmissionView) bool { return v.Status.Permits > 0 })
	for _, id := range ids {
		_ = h.client.TerminateWorkflow(t.Context(), id, "", "by the test") // or it is gone already
	}
	h.holds(0, 0)
	require.Greater(t, len(chain(t, h.client, h.book())), 1)
	counts, _, _ := metrics.seen()
	require.Zero(t, counts["drift"])
	require.Positive(t, counts["decisions a owner_gone"])
}

// Fault 14: kill a holder while the book's worker is down; on its return the queue
// moves.
func TestHolderDiesWhileTheBookIsDown(t *testing.T) {
	t.Parallel()
	parts := hallParts{limits: brief("a"), wrap: func(a tidemill.Admitter) tidemill.Admitter { return a }}
	h := open(t, parts)
	s := stay{Domain: h.domain, Agent: "a", Timeout: admission.None}
	first := h.code("holds", s)
	h.holds(1, 0)
	second := h.code("holds", s)
	h.holds(1, 1)
	h.books.Stop()
	h.terminate(first)
	h.openBooks()
	h.until("the queue to move", func(v tidemill.AdmissionView) bool {
		return v.Status.Permits == 1 && v.Holders[0].Owner.Workflow == second
	})
	h.tell(second)
	require.NoError(t, h.result(second, nil))
	h.holds(0, 0)
}

// Fault 21: a holder that outlives its lease is replaced only under a new token, and
// its release does nothing to the new one. Fault 57: a renewal after the end, too.
func TestOverdueHolder(t *testing.T) {
	t.Parallel()
	c := open(t, hallParts{limits: brief("a")}).clerk()
	old, young := c.asks("old", flowing("a", "")), c.asks("young", flowing("a", ""))
	first := c.all(old)[0]
	require.Equal(t, admission.AnswerGranted, first.Answer)
	second := c.gets(young) // each question is a sign of life of the one that asks; the other gives none
	require.Greater(t, second.Token, first.Token)
	hold := permits.Hold{Domain: c.domain, ID: old.ID, Token: first.Token}
	require.NoError(t, c.combiner.Release(t.Context(), hold))
	require.NoError(t, c.combiner.Flush(t.Context(), c.domain, old.ID))
	result, err := c.combiner.Extend(t.Context(), hold)
	require.NoError(t, err)
	require.Equal(t, admission.ResultNotFound, result)
	result, err = c.combiner.Extend(t.Context(), permits.Hold{Domain: c.domain, ID: young.ID, Token: second.Token})
	require.NoError(t, err)
	require.Equal(t, admission.ResultOK, result)
}

// Fault 57: a living owner loses nothing, however many leases pass, though it never
// renews anything itself.
func TestLivingOwnerLosesNothing(t *testing.T) {
	t.Parallel()
	h, s := codeHall(t, brief("a"))
	id := h.code("holds", s)
	view := h.holds(1, 0)
	token, lease := view.Holders[0].Token, view.Holders[0].Lease
	h.until("three leases to pass", func(v tidemill.AdmissionView) bool {
		require.Equal(t, 1, v.Status.Permits)
		require.Equal(t, token, v.Holders[0].Token)
		return v.Holders[0].Lease.Sub(lease) > 3*h.made.limits.Lease
	})
	h.tell(id)
	require.NoError(t, h.result(id, nil))
	h.holds(0, 0)
}

// Fault 31: 500 requests racing with continue-as-new: every id is answered exactly
// once. Fault 61: no run of the book grows beyond what it may under the load. Fault
// 60: the same acquire before and after continue-as-new is one entry.
func TestRequestsRaceWithContinueAsNew(t *testing.T) {
	t.Parallel()
	const most = 60
	c := open(t, hallParts{limits: long(tidemill.AdmissionLimits{DefaultAgent: 600, Agents: []admission.KeyLimit{{Key: "one", Limit: 1}}}), events: most}).clerk()
	held, waits := c.asks("x", flowing("one", "")), c.asks("x", flowing("one", ""))
	before := append(c.all(held), c.all(waits)...)
	var crowd []admission.Request
	for range 500 {
		crowd = append(crowd, c.asks("x", flowing("a", "")))
	}
	tokens := map[uint64]bool{}
	for len(crowd) > 0 {
		for _, d := range c.all(crowd[:25]...) {
			require.Equal(t, admission.AnswerGranted, d.Answer)
			require.False(t, tokens[d.Token], "given twice")
			tokens[d.Token] = true
		}
		crowd = crowd[25:]
	}
	view := c.holds(501, 1)
	require.EqualValues(t, 501, view.Grants)
	after := append(c.all(held), c.all(waits)...)
	require.Equal(t, before[0].Token, after[0].Token)
	require.Equal(t, admission.AnswerQueued, after[1].Answer)
	require.EqualValues(t, 501, c.holds(501, 1).Grants)
	runs := chain(t, c.client, c.book())
	require.Greater(t, len(runs), 1)
	for _, run := range runs {
		require.Less(t, temporaltest.Count(temporaltest.History(t, c.client, c.book(), run)), most+40)
	}
}

// Fault 35: 1,000 that wait for a full key stand before one for a free key, which is
// granted in the next turn.
func TestFullKeyBlocksNobodyElse(t *testing.T) {
	t.Parallel()
	limits := long(tidemill.AdmissionLimits{Agents: []admission.KeyLimit{{Key: "full", Limit: 1}, {Key: "free", Limit: 1}}, MaxQueue: 1_100})
	c := open(t, hallParts{limits: limits}).clerk()
	crowd := []admission.Request{}
	for range 1_001 {
		crowd = append(crowd, c.asks("x", flowing("full", "")))
	}
	c.all(crowd...)
	c.holds(1, 1_000)
	require.Equal(t, admission.AnswerGranted, c.all(c.asks("y", flowing("free", "")))[0].Answer)
}

// Fault 48: 25 on one key, and one of them fails: the others run, one at a time.
func TestOneOfManyFails(t *testing.T) {
	t.Parallel()
	document := "version: 1\nid: many\nentry: each\nnodes:\n" +
		"  - {id: each, type: map, items: \"${ input.list }\", max_concurrency: 25, tolerate: {count: 1}, " +
		"item: {run: play, args: {name: \"${ 'item' + item }\", fails: \"${ item == '7' ? 1 : 0 }\"}}, next: end}\n"
	h := open(t, hallParts{limits: ofOne("each/item"), graphs: []string{document}})
	var list []string
	for i := range 25 {
		list = append(list, fmt.Sprint(i))
	}
	h.ends(h.start("many", map[string]any{"list": list}), tidemill.StatusCompleted)
	for _, item := range list {
		require.Equal(t, 1, h.stage.begun("item"+item))
	}
	require.Equal(t, 1, h.stage.most, "one at a time")
	h.holds(0, 0)
}
