package firetest_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill"
	"github.com/tidemill/tidemill/activities/permits"
	"github.com/tidemill/tidemill/admission"
	"github.com/tidemill/tidemill/internal/temporaltest"
)

// brief is ofOne with leases that a test can outlive.
func brief(agents ...string) tidemill.AdmissionLimits {
	limits := ofOne(agents...)
	limits.Lease, limits.QueueTimeout = 2*time.Second, admission.None
	return limits
}

// ghostly loses the first answer that is a permit, and every withdrawal: what a worker
// does that is lost at the worst moment.
type ghostly struct {
	tidemill.Admitter
	lost atomic.Int64
	deaf bool // also for releases
}

func (g *ghostly) Submit(ctx context.Context, ask permits.Ask) (admission.Decision, error) {
	decision, err := g.Admitter.Submit(ctx, ask)
	if err == nil && decision.Answer == admission.AnswerGranted && g.lost.Add(1) == 1 {
		return admission.Decision{}, permits.ErrUnanswered
	}
	return decision, err
}

func (*ghostly) Cancel(context.Context, permits.Hold) error { return nil }

func (g *ghostly) Release(ctx context.Context, hold permits.Hold) error {
	if g.deaf {
		return nil
	}
	return g.Admitter.Release(ctx, hold)
}

// Issue: an acquire whose caller gave up leaves no permit behind while its run stays
// open. The answer is lost and so is the withdrawal; the run itself waits behind the
// ghost of its own permit, until the book hears what it believes.
func TestUnansweredPermitIsNotKept(t *testing.T) {
	t.Parallel()
	ghost := &ghostly{}
	h := open(t, hallParts{limits: brief("a"), graphs: []string{single("queues", "")}, wrap: func(a tidemill.Admitter) tidemill.Admitter {
		ghost.Admitter = a
		return ghost
	}})
	run := h.start("queues", holding("x"))
	temporaltest.Wait(t, patience, "the answer to be lost", func() bool { return ghost.lost.Load() == 1 })
	h.stage.plays(t, "x", 1)
	view := h.holds(1, 0)
	require.GreaterOrEqual(t, view.Grants, uint64(2), "the first was given, and lost")
	h.stage.let("x")
	h.ends(run, tidemill.StatusCompleted)
	h.holds(0, 0)
}

// Issue: … while its run stays open for a month. No release of this run is ever heard;
// its belief alone must end the permit, within two leases.
func TestUnheardReleaseIsNotKept(t *testing.T) {
	t.Parallel()
	ghost := &ghostly{deaf: true}
	ghost.lost.Store(1) // no answer is lost
	h := open(t, hallParts{limits: brief("a"), graphs: []string{`
version: 1
id: stays
entry: a
nodes:
  - {id: a, run: play, args: {name: x}, next: month}
  - {id: month, type: wait, for: 720h, next: end}
`}, wrap: func(a tidemill.Admitter) tidemill.Admitter {
		ghost.Admitter = a
		return ghost
	}})
	run := h.start("stays", nil)
	temporaltest.Wait(t, patience, "the action", func() bool { return h.stage.begun("x") == 1 })
	h.holds(0, 0)
	require.Equal(t, tidemill.StatusRunning, h.report(run).Status)
}

// Issue: … kill between answer and record. The worker dies with the permit in its
// hand; the next one asks for the same acquisition, which is no second permit, and
// nothing is held while the run waits for a person.
func TestKilledBetweenAnswerAndRecord(t *testing.T) {
	t.Parallel()
	document := `
version: 1
id: asks
entry: eight
nodes:
  - {id: eight, run: work, args: {Agent: eight, For: 10ms}, next: person}
  - {id: person, type: pause, next: end}
`
	server := shared.Server(t)
	queue := server.TaskQueue(t)
	m := manned{
		Server: server.Address(), Queue: queue, Domain: domainOf(queue), Limits: fireLimits, Graphs: []string{document}, Gauge: newGauge(t).URL,
	}
	h := &hall{tb: t, server: server, client: server.Client(t), queue: queue, domain: m.Domain, stage: newStage()}
	h.runs = tidemill.NewClient(h.client, tidemill.ClientOptions{TaskQueue: queue})
	t.Cleanup(h.close)
	books, err := tidemill.NewAdmissionWorker(t.Context(), h.client, tidemill.WorkerOptions{TaskQueue: queue, Admission: m.admission()})
	require.NoError(t, err)
	require.NoError(t, books.Start())
	t.Cleanup(books.Stop)

	doomed := m
	doomed.Mortal = true
	first := doomed.launch(t)
	run := h.start("asks", nil)
	first.Wait() // it dies
	before := h.holds(1, 0).Grants
	m.launch(t)
	temporaltest.Wait(t, patience, "the pause", func() bool { return len(h.report(run).Pauses) == 1 })
	require.Equal(t, before, h.holds(0, 0).Grants, "asked for twice, and given once")
	h.cancel(run)
	h.ends(run, tidemill.StatusCancelled)
}

// slow answers only when it is let go, whatever the book has done meanwhile.
type slow struct {
	tidemill.Admitter
	asked chan struct{}
	let   chan struct{}
}

func (s *slow) Submit(ctx context.Context, ask permits.Ask) (admission.Decision, error) {
	decision, err := s.Admitter.Submit(ctx, ask)
	s.asked <- struct{}{}
	<-s.let
	return decision, err
}

// Issue: … cancel between answer and record. The permit that comes when nobody wants
// it any more is given back, though the run is on its way out.
func TestCancelledBeforeTheAnswer(t *testing.T) {
	t.Parallel()
	late := &slow{asked: make(chan struct{}, 8), let: make(chan struct{})}
	h := open(t, hallParts{limits: brief("a"), graphs: []string{single("queues", "")}, wrap: func(a tidemill.Admitter) tidemill.Admitter {
		late.Admitter = a
		return late
	}})
	run := h.start("queues", playing("x"))
	<-late.asked
	h.cancel(run)
	close(late.let)
	h.ends(run, tidemill.StatusCancelled)
	h.holds(0, 0)
}

// repeater sends every batch twice, and remembers it.
type repeater struct {
	permits.Semaphores
	mu   sync.Mutex
	sent []permits.Batch
}

func (r *repeater) Send(ctx context.Context, domain string, batch permits.Batch) (permits.BatchResult, error) {
	r.mu.Lock()
	r.sent = append(r.sent, batch)
	r.mu.Unlock()
	if _, err := r.Semaphores.Send(ctx, domain, batch); err != nil {
		return permits.BatchResult{}, err
	}
	return r.Semaphores.Send(ctx, domain, batch)
}

// Issue: cancel before acquire; the same message twice, late and out of order. A
// network and a restarted worker say everything again, and nothing may come of it.
func TestMessagesTwiceLateAndOutOfOrder(t *testing.T) {
	t.Parallel()
	limits := brief("a")
	limits.Lease = time.Minute // so long the book keeps in mind what was cancelled before it came
	h := open(t, hallParts{limits: limits, events: 60})
	again := &repeater{Semaphores: permits.TemporalSemaphores(h.client, permits.TaskQueue(h.queue), map[string]admission.Limits{h.domain: limits})}
	c, err := permits.NewCombiner(permits.CombinerOptions{TaskQueue: permits.TaskQueue(h.queue), Semaphores: again})
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close(context.Background()) })
	owner := h.code("idle")
	wants := func(n int) admission.Request {
		first := chain(t, h.client, owner)[0]
		return admission.Request{
			ID: permits.RequestID(first, "x", uint64(n)), Owner: admission.Owner{Workflow: owner, FirstRun: first}, //nolint:gosec // small
			Agent: "a", Overflow: admission.OverflowQueue,
		}
	}
	// One that is cancelled before it comes.
	early := wants(99)
	require.NoError(t, c.Cancel(t.Context(), permits.Hold{Domain: h.domain, ID: early.ID}))
	require.NoError(t, c.Flush(t.Context(), h.domain, early.ID))
	decision, err := c.Submit(t.Context(), permits.Ask{Domain: h.domain, Request: early})
	require.NoError(t, err)
	require.Equal(t, admission.AnswerCancelled, decision.Answer)

	for i := range 12 {
		request := wants(i + 1)
		var decision admission.Decision
		temporaltest.Wait(t, patience, fmt.Sprintf("permit %d", i), func() bool {
			decision, err = c.Submit(t.Context(), permits.Ask{Domain: h.domain, Request: request})
			return err == nil && decision.Answer == admission.AnswerGranted
		})
		require.LessOrEqual(t, h.until("the status", func(permits.View) bool { return true }).Status.Permits, 1)
		require.NoError(t, c.Release(t.Context(), permits.Hold{Domain: h.domain, ID: request.ID, Token: decision.Token}))
	}
	before := h.holds(0, 0).Grants
	require.EqualValues(t, 12, before)
	again.mu.Lock()
	old := slices.Clone(again.sent)
	again.mu.Unlock()
	rand.Shuffle(len(old), func(i, j int) { old[i], old[j] = old[j], old[i] })
	for _, batch := range old {
		_, err := again.Semaphores.Send(t.Context(), h.domain, batch)
		require.NoError(t, err)
	}
	require.Equal(t, before, h.holds(0, 0).Grants, "nothing of what was over began again")
	h.terminate(owner)
}
