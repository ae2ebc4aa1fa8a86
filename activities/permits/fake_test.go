package permits_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill/activities/permits"
	"github.com/tidemill/tidemill/admission"
)

var errBroken = errors.New("the line is broken")

// fake is a semaphore at the outermost seam: a real book, and a line to it that
// breaks as a test says.
type fake struct {
	// fault is asked before each sending. Nil: all goes well.
	fault func(nth int, b permits.Batch) fault

	mu   sync.Mutex
	book *admission.Book
	sent []permits.Batch
	out  int // being sent
	peak int // of out
	odd  []permits.CallAnswer
}

// fault is what becomes of one sending.
type fault struct {
	gate   chan struct{} // it is held up until this is closed
	before error         // it does not arrive
	after  error         // it arrives, and its answer does not
	late   time.Duration // with after: it arrives so much later
}

func newFake(t *testing.T, l admission.Limits) *fake {
	t.Helper()
	book, err := admission.NewBook(l)
	require.NoError(t, err)
	return &fake{book: book}
}

// combine makes a combiner before the fake.
func combine(t *testing.T, f *fake, limits map[string]admission.Limits) *permits.Combiner {
	t.Helper()
	c, err := permits.NewCombiner(permits.CombinerOptions{Semaphores: f, Limits: limits})
	require.NoError(t, err)
	return c
}

func (f *fake) Send(ctx context.Context, _ string, b permits.Batch) (permits.BatchResult, error) {
	todo := f.begin(b)
	defer f.end()
	if todo.gate != nil {
		select {
		case <-todo.gate:
		case <-ctx.Done():
			return permits.BatchResult{}, ctx.Err()
		}
	}
	switch {
	case todo.before != nil:
		return permits.BatchResult{}, todo.before
	case todo.late > 0:
		time.AfterFunc(todo.late, func() { f.carry(b) })
		return permits.BatchResult{}, todo.after
	}
	return f.carry(b), todo.after
}

func (f *fake) begin(b permits.Batch) fault {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.sent = append(f.sent, b)
	f.out++
	f.peak = max(f.peak, f.out)
	if f.fault == nil {
		return fault{}
	}
	return f.fault(len(f.sent), b)
}

func (f *fake) end() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.out--
}

// carry carries a batch out as one turn of the book.
func (f *fake) carry(b permits.Batch) permits.BatchResult {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := time.Now()
	result := permits.BatchResult{Answers: make([]permits.CallAnswer, len(b.Calls))}
	for i, c := range b.Calls {
		a := &result.Answers[i]
		switch {
		case c.Submit != nil:
			if err := f.book.Submit(now, *c.Submit); err != nil {
				a.Refused, a.Foreign = err.Error(), errors.Is(err, admission.ErrForeignRequest)
			}
		case c.Release != nil:
			a.Result = f.book.Release(now, c.Release.ID, c.Release.Token)
		case c.Renew != nil:
			a.Result = f.book.Renew(now, c.Renew.ID, c.Renew.Token)
		case c.Confirm != nil:
			f.book.Confirm(now, *c.Confirm)
		default:
			a.Result = f.book.Cancel(now, c.Cancel)
		}
		if a.Result == admission.ResultStale {
			f.odd = append(f.odd, *a)
		}
	}
	decisions := map[string]admission.Decision{}
	for _, d := range f.book.Decide(now).Decisions {
		decisions[d.ID] = d
		if b.Delivers && d.Answer == admission.AnswerGranted {
			result.Messages = permits.Address(result.Messages, d)
		}
	}
	for i, c := range b.Calls {
		if d, ok := decisions[submitted(c)]; ok && result.Answers[i].Refused == "" {
			result.Answers[i].Decision = &d
		}
	}
	return result
}

func submitted(c permits.Call) string {
	if c.Submit == nil {
		return ""
	}
	return c.Submit.ID
}

func (f *fake) Standings(_ context.Context, _, id string) ([]permits.Standing, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	x, ok := f.book.Explain(time.Now(), id)
	if !ok {
		return nil, nil
	}
	return []permits.Standing{{Explanation: x}}, nil
}

// batches are those that were sent so far.
func (f *fake) batches() []permits.Batch {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.sent)
}

// sizes are the numbers of calls of the batches.
func (f *fake) sizes() (sizes []int) {
	for _, b := range f.batches() {
		sizes = append(sizes, len(b.Calls))
	}
	return sizes
}

func (f *fake) status() admission.Status {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.book.Status(time.Now())
}

// request is one of a workflow for an agent, that queues.
func request(id, workflow string) admission.Request {
	return admission.Request{
		ID: id, Owner: admission.Owner{Workflow: workflow, FirstRun: "run"},
		Agent: "a", Overflow: admission.OverflowQueue,
	}
}

func ask(id, workflow string) permits.Ask { return permits.Ask{Request: request(id, workflow)} }
