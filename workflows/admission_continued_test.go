package workflows_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"

	"github.com/tidemill/tidemill/activities/permits"
	"github.com/tidemill/tidemill/admission"
	"github.com/tidemill/tidemill/internal/temporaltest"
)

// Five times continued as new under load, a semaphore must answer each id exactly
// once, forget no permit, give no token twice, and never let too many in.
func TestAdmissionContinuesUnderLoad(t *testing.T) {
	t.Parallel()
	const limit, askers, each = 3, 10, 50
	limits := short(limit)
	limits.Lease = time.Minute
	h := newHall(t, limits, func(p *hallParts) { p.maxEvents = 250 })
	o := h.occupant(nil)
	answered := newLedger()
	var all sync.WaitGroup
	for asker := range askers {
		all.Go(func() {
			for n := range each {
				r := admission.Request{
					ID: fmt.Sprintf("%s/%d-%d!1", o.run.GetRunID(), asker, n), Owner: o.owner(),
					Keys: []admission.Units{oneOf("A")}, Overflow: admission.OverflowReject,
				}
				if n%5 == 0 { // these wait, and are told later
					r.Overflow, r.QueueTimeout = admission.OverflowQueue, admission.None
				}
				var result permits.BatchResult
				if !answered.noError(h.try(permits.UpdateBatch, permits.Batch{Calls: []permits.Call{{Submit: &r}}}, &result)) {
					return
				}
				d := result.Answers[0].Decision
				answered.add(r.ID, d.Answer)
				if d.Answer != granted {
					continue
				}
				if !answered.enter(d.Token) {
					answered.noError(fmt.Errorf("token %d was given twice", d.Token))
				}
				renew := permits.Call{Renew: &permits.Named{ID: r.ID, Token: d.Token}}
				if !answered.noError(h.try(permits.UpdateBatch, permits.Batch{Calls: []permits.Call{renew}}, &result)) {
					return
				}
				answered.leave()
				release := permits.Call{Release: &permits.Named{ID: r.ID, Token: d.Token}}
				if !answered.noError(h.try(permits.UpdateBatch, permits.Batch{Calls: []permits.Call{release}}, &result)) {
					return
				}
			}
		})
	}
	stop := h.giveBack(o, answered)
	all.Wait()
	require.NoError(t, answered.err)
	temporaltest.Wait(t, time.Minute, "what waits to be granted and given back", func() bool { return answered.settled() })
	close(stop)
	h.used(0, 0)

	require.Len(t, answered.answers, askers*each)
	require.LessOrEqual(t, answered.peak, limit)
	runs := h.runs()
	require.Greater(t, len(runs), 5, "it was continued as new too seldom")
	t.Logf("%d requests, %d runs, %.2f events per request", askers*each, len(runs), float64(h.events())/askers/each)
	require.EqualValues(t, len(answered.tokens), h.view().Grants, "each grant was heard of")
}

// giveBack releases what the owner is told it has, until the channel is closed.
func (h *hall) giveBack(o *occupant, l *ledger) chan struct{} {
	stop, done := make(chan struct{}), make(chan struct{})
	h.tb.Cleanup(func() { <-done })
	go func() {
		defer close(done)
		seen := 0
		tick := time.NewTicker(50 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-stop:
				return
			case <-h.tb.Context().Done():
				return
			case <-tick.C:
			}
			var told []admission.Decision
			value, err := h.client.QueryWorkflow(h.tb.Context(), o.run.GetID(), "", queryTold)
			if err != nil || value.Get(&told) != nil || len(told) == seen {
				continue
			}
			batch := permits.Batch{}
			for _, d := range told[seen:] {
				if l.hears(d) {
					batch.Calls = append(batch.Calls, permits.Call{Release: &permits.Named{ID: d.ID, Token: d.Token}})
				}
			}
			seen = len(told)
			for range batch.Calls {
				l.leave()
			}
			if len(batch.Calls) > 0 {
				l.noError(h.try(permits.UpdateBatch, batch, nil))
			}
		}
	}()
	return stop
}

// ledger is what a test heard.
type ledger struct {
	mu      sync.Mutex
	err     error
	answers map[string]admission.Answer
	tokens  map[uint64]bool
	active  int // permits that are known to be held
	peak    int
}

func newLedger() *ledger {
	return &ledger{answers: map[string]admission.Answer{}, tokens: map[uint64]bool{}}
}

func (l *ledger) noError(err error) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil && l.err == nil {
		l.err = err
	}
	return err == nil
}

func (l *ledger) add(id string, answer admission.Answer) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if was := l.answers[id]; was != "" && was != granted { // the grant of one that waited may come first
		l.err = fmt.Errorf("%s was answered %s, then %s", id, was, answer)
	}
	if l.answers[id] == "" {
		l.answers[id] = answer
	}
}

// enter takes notice of a permit; false, if it was known.
func (l *ledger) enter(token uint64) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.tokens[token] {
		return false
	}
	l.tokens[token] = true
	l.active++
	l.peak = max(l.peak, l.active)
	return true
}

// leave takes notice that a permit is about to be given back.
func (l *ledger) leave() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.active--
}

// hears takes a decision that was delivered; false if it was delivered before.
func (l *ledger) hears(d admission.Decision) bool {
	if d.Answer != granted {
		l.noError(fmt.Errorf("%s was told %s", d.ID, d.Answer))
		return false
	}
	l.mu.Lock()
	l.answers[d.ID] = granted
	l.mu.Unlock()
	return l.enter(d.Token)
}

func (l *ledger) settled() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, answer := range l.answers {
		if answer == queued {
			return false
		}
	}
	return true
}

// What is held and what waits, live changes, tokens and undelivered decisions all go
// over to the next run.
func TestAdmissionCarriesAll(t *testing.T) {
	t.Parallel()
	d := &deafOwners{}
	limits := short(2)
	limits.Lease = time.Minute
	h := newHall(t, limits, deaf(d), func(p *hallParts) { p.maxEvents = 40 })
	o := h.occupant(nil)
	list := []admission.Request{}
	for range 5 {
		list = append(list, o.wants("", oneOf("A")))
	}
	require.Equal(t, []admission.Answer{granted, granted, queued, queued, queued}, h.ask(list...))
	h.steer(permits.Steer{Action: permits.SteerLimit, Key: "A", Limit: 1})
	h.steer(permits.Steer{Action: permits.SteerPause, Key: "B"})
	d.fail.Store(1_000)
	h.cancel(list[0].ID)
	require.Equal(t, 1, h.view().Status.Permits)
	h.cancel(list[1].ID) // the third is granted, which does not reach its owner
	for len(h.runs()) < 2 {
		h.batch(permits.Call{Renew: &permits.Named{ID: "nobody"}})
	}
	view := h.view()
	require.Equal(t, []int{1, 2}, []int{view.Status.Permits, view.Status.Queued})
	require.Equal(t, []string{"B"}, view.Status.PausedKeys)
	require.Equal(t, keysOf(admission.KeyLimit{Key: "A", Limit: 1}), view.Overrides.Limits)
	require.EqualValues(t, 3, view.Grants)
	d.fail.Store(0)
	grant := o.hears(list[2].ID, granted)
	require.Equal(t, admission.ResultReleased, h.release(list[2].ID, grant.Token))
	require.Equal(t, grant.Token+1, o.hears(list[3].ID, granted).Token, "tokens are carried over too")
}

// A book that cannot be read must not become an empty one, which would give away what
// others hold: the task fails until a worker can read it.
func TestAdmissionBadState(t *testing.T) {
	t.Parallel()
	h := newHall(t, admission.Limits{})
	for i, carried := range [][]byte{[]byte("no gzip"), {0x1f, 0x8b, 8, 0}} {
		id := fmt.Sprintf("%s-bad-%d", h.queue, i)
		run, err := h.client.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: id, TaskQueue: permits.TaskQueue(h.queue)},
			permits.WorkflowType, permits.Start{Domain: id, Carried: carried})
		require.NoError(t, err)
		temporaltest.Wait(t, 30*time.Second, "the task to fail", func() bool {
			history := temporaltest.History(t, h.client, id, run.GetRunID())
			return temporaltest.Count(history, enumspb.EVENT_TYPE_WORKFLOW_TASK_FAILED) > 0
		})
		history := temporaltest.History(t, h.client, id, run.GetRunID()).GetEvents()
		for _, event := range history {
			if failed := event.GetWorkflowTaskFailedEventAttributes(); failed != nil {
				require.Contains(t, failed.GetFailure().GetMessage(), "the book that was carried over cannot be read")
			}
		}
		require.NoError(t, h.client.TerminateWorkflow(t.Context(), id, "", "test"))
	}
}
