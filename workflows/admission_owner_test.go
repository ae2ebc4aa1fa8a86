package workflows_test

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"

	"github.com/tidemill/tidemill/activities/permits"
	"github.com/tidemill/tidemill/admission"
	"github.com/tidemill/tidemill/internal/temporaltest"
)

// Conformance 141: what an owner holds that has died is free after a lease, and so is
// its place in the queue (142); what comes after is granted.
func TestAdmissionOwnerDies(t *testing.T) {
	t.Parallel()
	h := newHall(t, short(1))
	holds, waits, next := h.occupant(nil), h.occupant(nil), h.occupant(nil)
	held, dead, last := holds.wants("", oneOf("A")), waits.wants("", oneOf("A")), next.wants("", oneOf("A"))
	permit := h.submit(held)
	require.Equal(t, []admission.Answer{queued, queued}, h.ask(dead, last))

	waits.terminate()
	h.used(1, 1)
	require.Equal(t, admission.ResultNotFound, h.cancel(dead.ID))
	holds.terminate()
	grant := next.hears(last.ID, granted)
	require.Equal(t, admission.ResultNotFound, h.release(held.ID, permit.Token))
	h.used(1, 0)
	require.Equal(t, admission.ResultReleased, h.release(last.ID, grant.Token))
	require.Equal(t, []admission.Answer{granted}, h.ask(next.wants("", oneOf("A"))))
}

// An owner that works for longer than a lease keeps its permit, also when it
// continues as new: it is one chain of runs.
func TestAdmissionOwnerContinues(t *testing.T) {
	t.Parallel()
	h := newHall(t, short(1))
	o, next := h.occupant(nil), h.occupant(nil)
	held, waits := o.wants("", oneOf("A")), next.wants("", oneOf("A"))
	permit := h.submit(held)
	require.Equal(t, []admission.Answer{queued}, h.ask(waits))
	o.signal(signalContinue, nil)
	checks := func() int { return h.events(enumspb.EVENT_TYPE_ACTIVITY_TASK_COMPLETED) }
	temporaltest.Wait(t, 30*time.Second, "three checks of the owners", func() bool { return checks() >= 3 })
	require.Empty(t, next.told())
	require.Equal(t, admission.ResultReleased, h.release(held.ID, permit.Token))
	next.hears(waits.ID, granted)
}

// Another chain under the same workflow id is another owner: the permit of the one
// that has ended is free, though a run of that id is open.
func TestAdmissionIDUsedAgain(t *testing.T) {
	t.Parallel()
	h := newHall(t, short(1))
	o, next := h.occupant(nil), h.occupant(nil)
	held, waits := o.wants("", oneOf("A")), next.wants("", oneOf("A"))
	require.Equal(t, []admission.Answer{granted, queued}, h.ask(held, waits))
	o.terminate()
	again, err := h.client.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{TaskQueue: h.queue, ID: o.run.GetID()}, "tenant", tenancy{})
	require.NoError(t, err)
	next.hears(waits.ID, granted)
	require.Empty(t, (&occupant{hall: h, run: again}).told())
}

// What an owner does not name any more ends after a grace: it gave it up, and the
// message about that was lost. What it names stays.
func TestAdmissionBelief(t *testing.T) {
	t.Parallel()
	h := newHall(t, short(2))
	o := h.occupant(&permits.Belief{})
	kept, given := o.wants("", oneOf("A")), o.wants("", oneOf("A"))
	o.signal(signalBelieve, permits.Belief{Upto: 2, Held: []string{kept.ID}})
	require.Equal(t, []admission.Answer{granted, granted}, h.ask(kept, given))
	h.used(1, 0)
	require.Equal(t, kept.ID, h.view().Holders[0].ID)
	o.hears(given.ID, admission.AnswerCancelled)
}

// A process renews its leases itself: it is not asked, and what it holds ends with
// its lease.
func TestAdmissionProcess(t *testing.T) {
	t.Parallel()
	h := newHall(t, short(1))
	o := h.occupant(nil)
	held := o.wants("", oneOf("A"))
	held.ID, held.Owner = "cron/1", admission.Owner{Process: "cron"}
	permit := h.submit(held)
	waits := o.wants("", oneOf("A"))
	require.Equal(t, []admission.Answer{queued}, h.ask(waits))
	answers := h.batch(permits.Call{Renew: &permits.Named{ID: held.ID, Token: permit.Token}}, permits.Call{Renew: &permits.Named{ID: held.ID}})
	require.Equal(t, []admission.Result{admission.ResultOK, admission.ResultStale}, []admission.Result{answers[0].Result, answers[1].Result})
	o.hears(waits.ID, granted)
	require.Equal(t, admission.ResultNotFound, h.release(held.ID, permit.Token))
}

// deafOwners lose messages while they are told to.
type deafOwners struct {
	permits.Owners
	swallow, fail atomic.Int64 // messages that are yet to be lost, unnoticed or noticed
	tried         atomic.Int64
}

func (d *deafOwners) Deliver(ctx context.Context, messages []permits.Message) []permits.Delivery {
	d.tried.Add(1)
	switch {
	case d.swallow.Add(-1) >= 0:
		list := make([]permits.Delivery, len(messages))
		for i := range list {
			list[i] = permits.Delivered
		}
		return list
	case d.fail.Add(-1) >= 0:
		list := make([]permits.Delivery, len(messages))
		for i := range list {
			list[i] = permits.Undelivered
		}
		return list
	}
	return d.Owners.Deliver(ctx, messages)
}

func deaf(d *deafOwners) func(*hallParts) {
	return func(p *hallParts) {
		p.owners = func(inner permits.Owners) permits.Owners {
			d.Owners = inner
			return d
		}
	}
}

// A grant that was lost on its way is found when the lease runs out: the owner still
// waits for what it has. Without that the unit would be held by nobody for ever.
func TestAdmissionLostGrant(t *testing.T) {
	t.Parallel()
	d := &deafOwners{}
	d.swallow.Store(1)
	h := newHall(t, short(1), deaf(d))
	first, o := h.occupant(nil), h.occupant(&permits.Belief{})
	held, waits := first.wants("", oneOf("A")), o.wants("", oneOf("A"))
	o.signal(signalBelieve, permits.Belief{Upto: 1, Waited: []string{waits.ID}})
	permit := h.submit(held)
	require.Equal(t, []admission.Answer{queued}, h.ask(waits))
	require.Equal(t, admission.ResultReleased, h.release(held.ID, permit.Token))
	grant := o.hears(waits.ID, granted)
	require.True(t, grant.Repeated)
	require.Equal(t, permit.Token+1, grant.Token)
	require.GreaterOrEqual(t, d.tried.Load(), int64(2))
}

// What could not be delivered is tried again, and is told as it stands then: a permit
// that was given back meanwhile is not brought any more.
func TestAdmissionUndelivered(t *testing.T) {
	t.Parallel()
	d := &deafOwners{}
	d.fail.Store(2)
	limits := short(2)
	limits.Lease = time.Minute
	h := newHall(t, limits, deaf(d))
	first, o, quick := h.occupant(nil), h.occupant(nil), h.occupant(nil)
	x, y := first.wants("", oneOf("A")), first.wants("", oneOf("A"))
	waits, gone := o.wants("", oneOf("A")), quick.wants("", oneOf("A"))
	h.ask(x, y, waits, gone)
	h.batch(permits.Call{Cancel: x.ID}, permits.Call{Cancel: y.ID}) // both are granted now, and neither hears of it
	h.cancel(gone.ID)
	grant := o.hears(waits.ID, granted)
	require.True(t, grant.Repeated)
	for _, told := range quick.told() {
		require.NotEqual(t, granted, told.Answer, "its owner gave it up before it heard of it")
	}
	require.EqualValues(t, 3, d.tried.Load())
}

// A grant to an owner that has died comes back at once, not after a lease.
func TestAdmissionGrantToTheDead(t *testing.T) {
	t.Parallel()
	limits := short(1)
	limits.Lease = time.Minute
	h := newHall(t, limits)
	first, dead, next := h.occupant(nil), h.occupant(nil), h.occupant(nil)
	held, lost, waits := first.wants("", oneOf("A")), dead.wants("", oneOf("A")), next.wants("", oneOf("A"))
	permit := h.submit(held)
	require.Equal(t, []admission.Answer{queued, queued}, h.ask(lost, waits))
	dead.terminate()
	require.Equal(t, admission.ResultReleased, h.release(held.ID, permit.Token))
	next.hears(waits.ID, granted)
	h.used(1, 0)
}

// A sender that brings decisions to owners itself gets them with its answer, and the
// semaphore writes nothing for them.
func TestAdmissionSenderDelivers(t *testing.T) {
	t.Parallel()
	limits := short(1)
	limits.Lease = time.Minute
	h := newHall(t, limits)
	first, o := h.occupant(nil), h.occupant(nil)
	held, waits := first.wants("", oneOf("A")), o.wants("", oneOf("A"))
	permit := h.submit(held)
	require.Equal(t, []admission.Answer{queued}, h.ask(waits))
	var result permits.BatchResult
	require.NoError(t, h.try(permits.UpdateBatch, permits.Batch{Delivers: true, Calls: []permits.Call{
		{Release: &permits.Named{ID: held.ID, Token: permit.Token}},
	}}, &result))
	require.Len(t, result.Messages, 1)
	require.Equal(t, o.owner(), result.Messages[0].Owner)
	require.Equal(t, []permits.Delivery{permits.Delivered}, permits.TemporalOwners(h.client).Deliver(t.Context(), result.Messages))
	require.Equal(t, permit.Token+1, o.hears(waits.ID, granted).Token)
	require.Zero(t, h.events(enumspb.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED))
}

// What is said of an owner must be true of its chain, not of whoever runs under its
// workflow id; and what could not be found out is not guessed.
func TestTemporalOwnersCheck(t *testing.T) {
	t.Parallel()
	h := newHall(t, admission.Limits{})
	belief := permits.Belief{Upto: 3, Held: []string{"x"}, Waited: []string{"y"}}
	speaks, silent, dead := h.occupant(&belief), h.occupant(nil), h.occupant(nil)
	dead.terminate()
	another := silent.owner()
	another.FirstRun = dead.run.GetRunID()
	owners := []admission.Owner{
		speaks.owner(),
		silent.owner(),
		dead.owner(),
		another,
		{Workflow: h.queue + "-nobody", FirstRun: "run"},
		{Process: "cron"},
	}
	want := []permits.Finding{
		{Owner: owners[0], Life: permits.LifeOpen, Belief: &belief},
		{Owner: owners[1], Life: permits.LifeOpen},
		{Owner: owners[2], Life: permits.LifeClosed},
		{Owner: owners[3], Life: permits.LifeClosed},
		{Owner: owners[4], Life: permits.LifeClosed},
		{Owner: owners[5], Life: permits.LifeUnknown},
	}
	reach := permits.TemporalOwners(h.client)
	temporaltest.Wait(t, 30*time.Second, "the owners to have begun", func() bool {
		return reflect.DeepEqual(want, reach.Check(t.Context(), owners))
	})
	var messages []permits.Message
	for _, o := range owners {
		messages = append(messages, permits.Message{Owner: o, Decisions: []admission.Decision{{ID: "x", Owner: o}}})
	}
	require.Equal(t, []permits.Delivery{
		permits.Delivered, permits.Delivered, permits.OwnerGone, permits.Delivered, permits.OwnerGone, permits.Delivered,
	}, reach.Deliver(t.Context(), messages))

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.Equal(t, permits.LifeUnknown, reach.Check(ctx, owners[:1])[0].Life)
	require.Equal(t, permits.Undelivered, reach.Deliver(ctx, messages[:1])[0])
}

// What one batch frees may be for a thousand others at once. An answer that holds all
// their grants is more than the server takes, and would be the end of the semaphore and
// of all permits in it.
func TestAdmissionManyAtOnce(t *testing.T) {
	t.Parallel()
	const many = 1_200
	limits := short(many)
	limits.MaxQueue, limits.FlowShare, limits.Lease = admission.MaxQueueLength, admission.None, 10*time.Second
	h := newHall(t, limits)
	h.large = true
	all := h.occupant(nil).wants("", admission.Units{Key: "A", Units: many})
	held := h.submit(all)
	for begun := 0; begun < many; begun += 200 {
		calls := make([]permits.Call, 200)
		for i := range calls {
			id := fmt.Sprint(begun + i)
			calls[i].Submit = &admission.Request{
				ID: id, Owner: admission.Owner{Workflow: strings.Repeat("<", 300) + id, FirstRun: "none"}, Keys: []admission.Units{oneOf("A")},
				QueueTimeout: admission.None,
			}
		}
		h.batch(calls...)
	}
	var result permits.BatchResult
	require.NoError(t, h.try(permits.UpdateBatch, permits.Batch{
		Calls: []permits.Call{{Release: &permits.Named{ID: all.ID, Token: held.Token}}}, Delivers: true,
	}, &result))
	require.NotEmpty(t, result.Messages)
	require.Less(t, len(result.Messages), many)
	h.used(0, 0)
}

// What fences by tokens has seen those of a semaphore that was terminated. One that
// begins anew must not give lower ones, or all its work would be turned away.
func TestAdmissionFenceOutlivesTheSemaphore(t *testing.T) {
	t.Parallel()
	h := newHall(t, short(9))
	h.large = true // the first run is terminated
	o := h.occupant(nil)
	first := h.submit(o.wants("", oneOf("A")))
	require.NoError(t, h.client.TerminateWorkflow(t.Context(), h.id(), "", "lost"))
	second := h.submit(o.wants("", oneOf("A")))
	require.Greater(t, second.Token, first.Token)
	require.EqualValues(t, 1, h.view().Grants)
}
