package permits_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"

	"github.com/tidemill/tidemill/activities/permits"
	"github.com/tidemill/tidemill/admission"
	"github.com/tidemill/tidemill/internal/temporaltest"
)

// view is the semaphore of a domain in numbers.
func (h *house) view(t *testing.T, domain string) (view permits.View) {
	t.Helper()
	var value converter.EncodedValue
	require.Eventually(t, func() (done bool) { // a run that has just begun cannot be asked yet
		var err error
		value, err = h.client.QueryWorkflow(t.Context(), permits.WorkflowID(domain), "", permits.QueryStatus)
		return err == nil
	}, 30*time.Second, 50*time.Millisecond)
	require.NoError(t, value.Get(&view))
	return view
}

// continued tells whether the semaphore of a domain has continued as new.
func (h *house) continued(t *testing.T, domain string) bool {
	t.Helper()
	description, err := h.client.DescribeWorkflow(t.Context(), permits.WorkflowID(domain), "")
	require.NoError(t, err)
	info := description.RawResponse.GetWorkflowExecutionInfo()
	return info.GetFirstRunId() != info.GetExecution().GetRunId()
}

// labour acquires, works and releases so many times, as owners do.
func labour(c *permits.Combiner, domain, name string, times int, work func()) error {
	ctx := context.Background()
	for i := range times {
		r := admission.Request{
			ID: fmt.Sprintf("%s/%d", name, i), Owner: admission.Owner{Process: name}, Agent: "a", Overflow: admission.OverflowQueue,
		}
		for granted := false; !granted; {
			d, err := c.Submit(ctx, permits.Ask{Domain: domain, Request: r})
			switch {
			case err != nil && !errors.Is(err, permits.ErrUnanswered):
				return err
			case err != nil: // a busy machine: the book knows what it has
			case d.Answer == admission.AnswerGranted:
				work()
				if err := c.Release(ctx, permits.Hold{Domain: domain, ID: r.ID, Token: d.Token}); err != nil {
					return err
				}
				granted = true
			case d.Final():
				return fmt.Errorf("%s: %s", r.ID, d.Answer)
			default:
				<-time.After(20 * time.Millisecond)
			}
		}
	}
	return nil
}

// A semaphore continues as new while batches are on their way, from two processes.
// A permit lost then would be held for ever, one given twice would break the limit.
func TestCombinersSurviveContinueAsNew(t *testing.T) {
	t.Parallel()
	const limit, workers, times = 4, 12, 12
	h := newHouse(t)
	domain := temporal.Server(t).TaskQueue(t)
	limits := admission.Limits{Global: limit, QueueTimeout: admission.None}
	_, err := h.client.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{
		ID: permits.WorkflowID(domain), TaskQueue: permits.TaskQueue(h.queue),
	}, permits.WorkflowType, permits.Start{Domain: domain, Limits: limits, MaxEvents: 60})
	require.NoError(t, err)

	combiners := []*permits.Combiner{h.combiner(t, domain, limits), h.combiner(t, domain, limits)}
	var now, peak atomic.Int64
	work := func() {
		n := now.Add(1)
		for p := peak.Load(); n > p && !peak.CompareAndSwap(p, n); {
			p = peak.Load()
		}
		<-time.After(5 * time.Millisecond)
		now.Add(-1)
	}
	failures := make(chan error, workers)
	var all sync.WaitGroup
	for w := range workers {
		all.Go(func() { failures <- labour(combiners[w%2], domain, fmt.Sprint("worker-", w), times, work) })
	}
	all.Wait()
	for range workers {
		require.NoError(t, <-failures)
	}
	require.LessOrEqual(t, peak.Load(), int64(limit))
	require.True(t, h.continued(t, domain))
	temporaltest.Wait(t, 30*time.Second, "every release to be heard", func() bool { return h.view(t, domain).Status.Permits == 0 })
	require.Zero(t, h.view(t, domain).Status.Queued)
	require.Equal(t, uint64(workers*times), h.view(t, domain).Grants)
}

// A semaphore that was terminated begins anew with the limits of whoever asks next,
// and needs no hand to do it.
func TestCombinerStartsASemaphoreAnew(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	domain := temporal.Server(t).TaskQueue(t)
	c := h.combiner(t, domain, admission.Limits{Global: 7})
	stranger, err := permits.NewCombiner(permits.CombinerOptions{Client: h.client, TaskQueue: permits.TaskQueue(h.queue)})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, stranger.Close(context.Background())) })
	ask := func(c *permits.Combiner, id string) {
		d, err := c.Submit(t.Context(), permits.Ask{Domain: domain, Request: request(id, "w")})
		require.NoError(t, err)
		require.Equal(t, admission.AnswerGranted, d.Answer)
	}

	ask(stranger, "w/1")
	require.Equal(t, 1024, h.view(t, domain).Status.GlobalLimit)
	ask(c, "w/2")
	require.Equal(t, 7, h.view(t, domain).Status.GlobalLimit)
	ask(stranger, "w/3")
	require.Equal(t, 7, h.view(t, domain).Status.GlobalLimit, "who configures nothing changes nothing")
	require.Equal(t, 3, h.view(t, domain).Status.Permits)

	require.NoError(t, h.client.TerminateWorkflow(t.Context(), permits.WorkflowID(domain), "", "by the test"))
	ask(c, "w/4")
	require.Equal(t, 7, h.view(t, domain).Status.GlobalLimit)
	require.Equal(t, 1, h.view(t, domain).Status.Permits)
}

// An update that is larger than the server takes would fail each workflow task of
// the semaphore.
func TestCombinerKeepsABeliefThatIsTooLarge(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	domain := temporal.Server(t).TaskQueue(t)
	c := h.combiner(t, domain, admission.Limits{})
	long := make([]string, 30_000) // more than an update may hold
	for i := range long {
		long[i] = fmt.Sprintf("%0100d", i)
	}
	belief := &admission.Confirmation{Owner: admission.Owner{Workflow: "w", FirstRun: "run"}, Upto: 1, IDs: long}
	require.NoError(t, c.Cancel(t.Context(), permits.Hold{Domain: domain, ID: "x", Belief: belief}))
	require.NoError(t, c.Flush(t.Context(), domain, "x"))
	x, known, err := c.Explain(t.Context(), domain, "x")
	require.NoError(t, err)
	require.True(t, known, "the cancel itself was heard")
	require.Equal(t, admission.AnswerCancelled, x.Answer)
}

// A batch that a semaphore refuses must be told from one that got lost: it would be
// sent for ever.
func TestTemporalSemaphoresTellARefusal(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	domain := temporal.Server(t).TaskQueue(t)
	semaphores := permits.TemporalSemaphores(h.client, permits.TaskQueue(h.queue), nil)
	for range 2 { // the first starts it
		_, err := semaphores.Send(t.Context(), domain, permits.Batch{})
		require.ErrorIs(t, err, permits.ErrRefused)
	}
	result, err := semaphores.Send(t.Context(), domain, permits.Batch{Calls: []permits.Call{{Cancel: "x"}}})
	require.NoError(t, err)
	require.Len(t, result.Answers, 1)
}
