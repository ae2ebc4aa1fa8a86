package workflows_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	sdkpb "go.temporal.io/api/sdk/v1"

	"github.com/tidemill/tidemill/activities/permits"
	"github.com/tidemill/tidemill/admission"
	"github.com/tidemill/tidemill/internal/temporaltest"
)

const (
	granted = admission.AnswerGranted
	queued  = admission.AnswerQueued
)

func keysOf(list ...admission.KeyLimit) []admission.KeyLimit { return list }

func oneOf(key string) admission.Units { return admission.Units{Key: key} }

// short are limits of one key with leases that a test can wait for.
func short(limit int) admission.Limits {
	return admission.Limits{
		Keys:     keysOf(admission.KeyLimit{Key: "A", Limit: limit}),
		Overflow: admission.OverflowQueue, Lease: time.Second, Recheck: time.Second,
	}
}

// Conformance 138: what one batch gives back, the next can have, and limits per
// agent and global hold at once.
func TestAdmissionLimitsAndReject(t *testing.T) {
	t.Parallel()
	h := newHall(t, admission.Limits{Global: 2, DefaultAgent: 1})
	o := h.occupant(nil)
	ask := func(agent string) admission.Request {
		r := o.wants(agent)
		r.Overflow = ""
		return r
	}
	a, c := ask("a"), ask("c")
	first := h.submit(a)
	require.Equal(t, granted, first.Answer)
	require.Equal(t, []admission.Answer{admission.AnswerLimitReached, granted, admission.AnswerLimitReached},
		h.ask(ask("a"), ask("b"), c))
	require.Equal(t, admission.ResultReleased, h.release(a.ID, first.Token))
	require.Equal(t, admission.ResultNotFound, h.release(a.ID, first.Token), "once only")
	second := h.submit(ask("c"))
	require.Equal(t, granted, second.Answer)
	require.Equal(t, admission.ResultStale, h.release(second.ID, second.Token+1))
	require.EqualValues(t, 3, h.view().Grants)
	require.Equal(t, 2, h.view().Status.Active)
}

// Conformance 139, 148: the queue is bounded and first in, first out; the grant is
// brought to its owner; the status has the numbers and no ids.
func TestAdmissionBoundedQueue(t *testing.T) {
	t.Parallel()
	h := newHall(t, admission.Limits{Global: 1, MaxQueue: 2, Overflow: admission.OverflowQueue})
	seed, r1, r2 := h.occupant(nil), h.occupant(nil), h.occupant(nil)
	held := h.submit(seed.wants("a"))
	first, second := r1.wants("a"), r2.wants("b")
	require.Equal(t, []admission.Answer{queued, queued, admission.AnswerQueueFull}, h.ask(first, second, h.occupant(nil).wants("c")))

	view := h.view()
	require.Equal(t, []admission.KeyStatus{
		{Name: "a", Active: 1, Queued: 1, Limit: 64}, {Name: "b", Queued: 1, Limit: 64},
	}, view.Status.Agents)
	require.Equal(t, []int{1, 0, 2, 2}, []int{view.Status.Active, view.Status.Available, view.Status.Queued, view.Status.MaxQueue})
	numbers, err := json.Marshal(view.Status)
	require.NoError(t, err)
	require.NotContains(t, string(numbers), seed.run.GetRunID())
	require.Equal(t, held.ID, view.Holders[0].ID, "the operator sees who holds it")

	require.Equal(t, admission.ResultReleased, h.release(held.ID, held.Token))
	grant := r1.hears(first.ID, granted)
	require.Empty(t, r2.told())
	require.Equal(t, admission.ResultReleased, h.release(first.ID, grant.Token))
	r2.hears(second.ID, granted)
	require.Len(t, r1.told(), 1, "nobody is told of what it did itself")
}

// Conformance 147: ten ask for three places at once; each gets one in its turn, and
// no more than three are ever held.
func TestAdmissionBoundedConcurrency(t *testing.T) {
	t.Parallel()
	limits := short(3)
	limits.Lease = time.Minute
	h := newHall(t, limits)
	owners, calls := []*occupant{}, []permits.Call{}
	for range 10 {
		o := h.occupant(nil)
		owners, calls = append(owners, o), append(calls, permits.Call{Submit: new(o.wants("", oneOf("A")))})
	}
	tokens := map[string]uint64{}
	for _, answer := range h.batch(calls...) {
		if answer.Decision.Answer == granted {
			tokens[answer.Decision.ID] = answer.Decision.Token
		}
	}
	require.Len(t, tokens, 3)
	h.used(3, 7)
	for i, o := range owners {
		id := calls[i].Submit.ID
		if tokens[id] == 0 {
			tokens[id] = o.hears(id, granted).Token
		}
		require.LessOrEqual(t, h.view().Status.Permits, 3)
		require.Equal(t, admission.ResultReleased, h.release(id, tokens[id]))
	}
	h.used(0, 0)
}

// Conformance 144: a cancel ends a request in whatever state it is, also one that
// has not come yet, and the owner that asked for it is not told.
func TestAdmissionCancel(t *testing.T) {
	t.Parallel()
	h := newHall(t, short(1))
	o, other := h.occupant(nil), h.occupant(nil)
	held, waits, early := o.wants("", oneOf("A")), o.wants("", oneOf("A")), o.wants("", oneOf("A"))
	require.Equal(t, []admission.Answer{granted, queued}, h.ask(held, waits))
	require.Equal(t, admission.ResultCancelled, h.cancel(waits.ID))
	require.Equal(t, admission.ResultReleased, h.cancel(held.ID))
	require.Equal(t, admission.ResultNotFound, h.release(held.ID, 1))
	require.Equal(t, admission.ResultNotFound, h.cancel(early.ID))
	require.Equal(t, []admission.Answer{admission.AnswerCancelled}, h.ask(early))

	together := o.wants("", oneOf("A"))
	answers := h.batch(permits.Call{Submit: &together}, permits.Call{Cancel: together.ID}, permits.Call{Submit: new(other.wants("", oneOf("A")))})
	require.Equal(t, admission.AnswerCancelled, answers[0].Decision.Answer)
	require.Equal(t, granted, answers[2].Decision.Answer)
	require.Empty(t, o.told())
	h.used(1, 0)
}

// Conformance 143: a deadline ends the wait by the clock alone, and the owner hears
// of it.
func TestAdmissionDeadline(t *testing.T) {
	t.Parallel()
	h := newHall(t, short(1))
	o := h.occupant(nil)
	held, waits := o.wants("", oneOf("A")), o.wants("", oneOf("A"))
	waits.QueueTimeout = 30 * time.Millisecond
	require.Equal(t, []admission.Answer{granted, queued}, h.ask(held, waits))
	o.hears(waits.ID, admission.AnswerDeadlineExceeded)
	h.used(1, 0)
}

// Conformance 145: a malformed update leaves no event behind, and the semaphore
// works on. A request that is wrong by itself spoils nothing for the others.
func TestAdmissionMalformed(t *testing.T) {
	t.Parallel()
	limits := short(1)
	limits.Lease = time.Minute // the clock writes nothing meanwhile
	h := newHall(t, limits)
	o := h.occupant(nil)
	h.submit(o.wants("", oneOf("A")))
	before := h.events()
	good := o.wants("", oneOf("A"))
	for name, batch := range map[string]permits.Batch{
		"no calls":       {},
		"too many calls": {Calls: make([]permits.Call, permits.MaxCalls+1)},
		"an empty call":  {Calls: []permits.Call{{}}},
		"two in one":     {Calls: []permits.Call{{Submit: &good, Cancel: good.ID}}},
		"bad limits":     {Calls: []permits.Call{{Submit: &good}}, Limits: &admission.Limits{Global: -7}},
	} {
		err := h.try(permits.UpdateBatch, batch, nil)
		require.ErrorContains(t, err, "permits: invalid batch", name)
	}
	require.Error(t, h.try(permits.UpdateBatch, "text", nil), "not even a batch")
	for name, steer := range map[string]permits.Steer{
		"no action":      {},
		"unknown action": {Action: "explode"},
		"no key":         {Action: permits.SteerLimit, Limit: 3},
		"bad limit":      {Action: permits.SteerLimit, Key: "A", Limit: -5},
		"bad rate":       {Action: permits.SteerRate, Key: "R", Rate: admission.Rate{Limit: 1, Per: -time.Second}},
		"bad limits":     {Action: permits.SteerLimits, Limits: admission.Limits{Global: -7}},
		"long key":       {Action: permits.SteerPause, Key: strings.Repeat("k", 1_000)},
		"drain of a key": {Action: permits.SteerDrain, Key: "A"},
	} {
		require.ErrorContains(t, h.try(permits.UpdateSteer, steer, nil), "permits: invalid change", name)
	}
	require.Equal(t, before, h.events(), "refused with nothing written")

	bad := o.wants("")
	bad.ID = ""
	foreign := h.occupant(nil).wants("", oneOf("A"))
	foreign.ID = good.ID
	answers := h.batch(permits.Call{Submit: &bad}, permits.Call{Submit: &good}, permits.Call{Submit: &foreign})
	require.Contains(t, answers[0].Refused, "admission: invalid request")
	require.Equal(t, queued, answers[1].Decision.Answer)
	require.True(t, answers[2].Foreign)
	require.Nil(t, answers[2].Decision)
}

// A semaphore that was started with limits that cannot be gives no permit and says
// why; with good ones it begins anew.
func TestAdmissionBadStart(t *testing.T) {
	t.Parallel()
	h := newHall(t, admission.Limits{Global: -7})
	request := h.occupant(nil).wants("a")
	require.Error(t, h.try(permits.UpdateBatch, permits.Batch{Calls: []permits.Call{{Submit: &request}}}, nil))
	h.start.Limits = admission.Limits{}
	require.Equal(t, []admission.Answer{granted}, h.ask(request))
}

// An operator's changes act at once and on what waits already; one of the worker's
// configuration does not undo them.
func TestAdmissionSteer(t *testing.T) {
	t.Parallel()
	limits := short(1)
	limits.Version, limits.Lease = 2, time.Minute
	h := newHall(t, limits)
	o := h.occupant(nil)
	list := []admission.Request{}
	for range 6 {
		list = append(list, o.wants("", oneOf("A")))
	}
	require.Equal(t, []admission.Answer{granted, queued, queued}, h.ask(list[:3]...))
	status := h.steer(permits.Steer{Action: permits.SteerLimit, Key: "A", Limit: 2})
	require.Equal(t, []int{2, 1}, []int{status.Permits, status.Queued})
	o.hears(list[1].ID, granted)
	older, newer := short(9), short(1)
	older.Version, newer.Version = 1, 3
	for _, l := range []*admission.Limits{&older, &newer} {
		var result permits.BatchResult
		require.NoError(t, h.try(permits.UpdateBatch, permits.Batch{Limits: l, Calls: []permits.Call{{Cancel: "nobody"}}}, &result))
	}
	view := h.view()
	require.EqualValues(t, 3, view.Status.Version)
	require.Equal(t, 2, view.Status.Permits)
	require.Equal(t, keysOf(admission.KeyLimit{Key: "A", Limit: 2}), view.Overrides.Limits)

	h.steer(permits.Steer{Action: permits.SteerPause, Key: "A"})
	require.Equal(t, admission.ResultReleased, h.cancel(list[0].ID))
	var standings []permits.Standing
	h.query(h.id(), permits.QueryExplain, &standings, o.run.GetID())
	require.Len(t, standings, 2)
	require.Equal(t, admission.ReasonPaused, standings[1].Explanation.Reason)
	require.Equal(t, "A", standings[1].Explanation.Key)
	h.steer(permits.Steer{Action: permits.SteerResume, Key: "A"})
	o.hears(list[2].ID, granted)

	require.Equal(t, []admission.Answer{queued}, h.ask(list[3]))
	require.True(t, h.steer(permits.Steer{Action: permits.SteerDrain}).Draining)
	o.hears(list[3].ID, admission.AnswerDraining)
	require.Equal(t, []admission.Answer{admission.AnswerDraining}, h.ask(list[4]))
	require.Equal(t, 2, h.view().Status.Permits, "permits go on to their end")
	h.steer(permits.Steer{Action: permits.SteerResume})
	require.Equal(t, []admission.Answer{queued}, h.ask(list[5]))
}

// One timer is armed, however many requests there are: one for each would be most of
// the history.
func TestAdmissionOneTimer(t *testing.T) {
	t.Parallel()
	h := newHall(t, admission.Limits{Keys: keysOf(admission.KeyLimit{Key: "A", Limit: 5})})
	o := h.occupant(nil)
	for range 10 {
		h.ask(o.wants("", oneOf("A")))
	}
	require.Equal(t, 1, h.events(enumspb.EVENT_TYPE_TIMER_STARTED))
	early := o.wants("", oneOf("A"))
	early.QueueTimeout = 10 * time.Second
	h.ask(early, o.wants("", oneOf("A")))
	require.Equal(t, 2, h.events(enumspb.EVENT_TYPE_TIMER_STARTED), "only for what is earlier")
	require.Equal(t, 1, h.events(enumspb.EVENT_TYPE_TIMER_CANCELED))
	require.Zero(t, h.events(enumspb.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED, enumspb.EVENT_TYPE_MARKER_RECORDED))
}

// What the UI shows are numbers by key, in a size that it can carry, and not the
// requests of people.
func TestAdmissionDetails(t *testing.T) {
	t.Parallel()
	h := newHall(t, admission.Limits{Keys: keysOf(admission.KeyLimit{Key: "tenant:*", Limit: 1}), MaxQueue: 300})
	o := h.occupant(nil)
	for name := range strings.SplitSeq(strings.Repeat("x", 120), "") {
		r := o.wants("")
		r.Keys = []admission.Units{oneOf("tenant:" + strings.Repeat(name, 3) + r.ID[len(r.ID)-3:])}
		r.Agent = "writer"
		h.batch(permits.Call{Submit: &r})
	}
	var described sdkpb.WorkflowMetadata
	h.query(h.id(), "__temporal_workflow_metadata", &described)
	require.Contains(t, described.CurrentDetails, "| agent:writer | 64 | 64 | 56 |")
	require.Contains(t, described.CurrentDetails, "more | | | |")
	require.Less(t, len(described.CurrentDetails), 3<<10)
	require.NotContains(t, described.CurrentDetails, o.run.GetRunID())
}

// Asked to cancel, a semaphore must not forget what is held: it ends with the last
// permit.
func TestAdmissionCancelled(t *testing.T) {
	t.Parallel()
	limits := short(1)
	limits.Lease = time.Minute
	h := newHall(t, limits)
	o := h.occupant(nil)
	held, waits := o.wants("", oneOf("A")), o.wants("", oneOf("A"))
	permit := h.submit(held)
	h.ask(waits)
	run := h.runs()[0]
	require.NoError(t, h.client.CancelWorkflow(t.Context(), h.id(), run))
	o.hears(waits.ID, admission.AnswerDraining)
	require.Equal(t, []admission.Answer{admission.AnswerDraining}, h.ask(o.wants("", oneOf("A"))))
	require.Equal(t, admission.ResultReleased, h.release(held.ID, permit.Token))
	temporaltest.Wait(t, 30*time.Second, "the semaphore to close", func() bool {
		description, err := h.client.DescribeWorkflow(t.Context(), h.id(), run)
		return err == nil && description.Status == enumspb.WORKFLOW_EXECUTION_STATUS_CANCELED
	})
}
