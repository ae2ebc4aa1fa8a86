package activities_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill/activities"
	"github.com/tidemill/tidemill/activities/permits"
	"github.com/tidemill/tidemill/admission"
	"github.com/tidemill/tidemill/graph"
)

// desk is a book with one permit that is held for the attempt of a task.
type desk struct {
	t    *testing.T
	book *permits.InProcess
	hold permits.Hold
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	book, err := permits.NewInProcess(permits.InProcessOptions{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, book.Close(context.Background())) })
	d, err := book.Submit(t.Context(), permits.Ask{Request: admission.Request{
		ID: "first/work#1/1", Owner: admission.Owner{Process: "p"}, Agent: "work",
	}})
	require.NoError(t, err)
	require.Equal(t, admission.AnswerGranted, d.Answer)
	return &desk{t: t, book: book, hold: permits.Hold{Domain: permits.DefaultDomain, ID: d.ID, Token: d.Token}}
}

// admits has a worker ask an admitter.
func admits(admitter permits.Admitter) func(*activities.Options) {
	return func(o *activities.Options) {
		o.Admitter = admitter
		o.Classifier = func(permits.Facts) (permits.Class, error) { return permits.Class{}, nil }
	}
}

// task is the task of an attempt that holds the permit.
func (d *desk) task(fields string) graph.Task {
	task := setup(d.t).task(fields)
	task.Run.Token = d.hold.Token
	task.Permit = &graph.TaskPermit{Domain: d.hold.Domain, ID: d.hold.ID}
	return task
}

// gave makes sure that an ending says what is so: the permit is given back, or held.
func (d *desk) gave(back bool, ending graph.Ending) {
	d.t.Helper()
	status, err := d.book.Status("")
	require.NoError(d.t, err)
	if back {
		require.Zero(d.t, status.Permits)
		require.Equal(d.t, d.hold.Token, ending.Released)
	} else {
		require.Equal(d.t, 1, status.Permits)
		require.Zero(d.t, ending.Released)
	}
	if ending.Result != nil {
		require.Zero(d.t, ending.Result.Released, "a result is kept for long")
	}
}

// An attempt that has ended for good gives its permit back before the server hears of
// it. One that the server follows by another keeps it: that one would have none.
func TestAttemptsGiveTheirPermitsBack(t *testing.T) {
	t.Parallel()
	boom := activities.NewError("boom", "it broke")
	for _, c := range []struct {
		name, fields string
		before       int
		out          any
		err          error
		back         bool
	}{
		{"a success", "", 0, 1, nil, true},
		{"a pause", "", 0, activities.Pause(activities.PauseRequest{}), nil, true},
		{"a result that no run could take", "", 0, activities.Route("no node"), nil, true},
		{"a failure without a policy", "", 0, nil, errors.New("x"), true},
		{"a final failure", "retry: {max_attempts: 3, backoff: 1ms}", 0, nil, boom.NotRetryable(), true},
		{"one that is never retried", "retry: {max_attempts: 3, backoff: 1ms, non_retryable: [action_exception]}", 0, nil, errors.New("x"), true},
		{"the last attempt", "retry: {max_attempts: 3, backoff: 1ms}", 2, nil, errors.New("x"), true},
		{"a backoff of a second is the run's", "retry: {max_attempts: 3, backoff: 1s}", 0, nil, errors.New("x"), true},
		{"a shorter one is the server's", "retry: {max_attempts: 3, backoff: 999ms}", 0, nil, errors.New("x"), false},
		{"a shorter one that is longer on demand", "retry: {max_attempts: 3, backoff: 1ms}", 0, nil, activities.NewError("busy", "x").After(time.Second), true},
		{"out of time", "timeout: 1s", 0, nil, context.DeadlineExceeded, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			b := action(setup(t), func(ctx context.Context, _ json.RawMessage) (any, error) {
				if errors.Is(c.err, context.DeadlineExceeded) {
					<-ctx.Done()
				}
				return c.out, c.err
			})
			if result, controls := c.out.(activities.Result); controls {
				b = answers(t, result)
			}
			admits(d.book)(&b.options)
			task := d.task(c.fields)
			task.Before = c.before
			d.gave(c.back, b.run(task))
		})
	}
}

// failing is an admitter that cannot take a release over.
type failing struct {
	permits.Admitter
	panics bool
}

func (f failing) Flush(context.Context, string, string) error { return nil }

func (f failing) Release(context.Context, permits.Hold) error {
	if f.panics {
		panic("no book")
	}
	return permits.ErrClosed
}

// Where a release is not surely taken over the attempt does not say so, and the run
// gives the permit back as it did before. Nothing of it fails the attempt.
func TestWhatIsLeftToTheRun(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		admitter func(d *desk) permits.Admitter
		edit     func(*graph.Task)
	}{
		"no admission":                   {func(*desk) permits.Admitter { return nil }, nil},
		"an admitter that takes a while": {func(d *desk) permits.Admitter { return struct{ permits.Admitter }{d.book} }, nil},
		"one that is closed":             {func(*desk) permits.Admitter { return failing{} }, nil},
		"one that panics":                {func(*desk) permits.Admitter { return failing{panics: true} }, nil},
		"a run of an older worker":       {func(d *desk) permits.Admitter { return d.book }, func(task *graph.Task) { task.Permit = nil }},
		"no permit":                      {func(d *desk) permits.Admitter { return d.book }, func(task *graph.Task) { task.Run.Token = 0 }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			b := returns(t, 1, nil)
			if admitter := c.admitter(d); admitter != nil {
				admits(admitter)(&b.options)
			}
			task := d.task("")
			if c.edit != nil {
				c.edit(&task)
			}
			ending := b.run(task)
			require.Equal(t, graph.Returned, ending.Kind)
			d.gave(false, ending)
		})
	}
}

// A cancelled attempt gives back whether or not its action listened.
func TestCancelledAttemptsGiveTheirPermitsBack(t *testing.T) {
	t.Parallel()
	for name, fn := range map[string]act{
		"it listens":      untilTold,
		"it is left here": func(context.Context) (any, error) { <-t.Context().Done(); return 1, nil },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			s := newStage(t, fn, admits(d.book))
			run := s.startTask(d.task("cancel_grace: 1s"))
			s.attempt(1)
			require.NoError(t, s.client.CancelWorkflow(t.Context(), run.GetID(), ""))
			ending := s.ending(run)
			require.Equal(t, graph.Cancelled, ending.Kind)
			d.gave(true, ending)
		})
	}
}

// An attempt that is interrupted gives nothing back: the run does, and asks anew, for
// it must do so anyway for those that cannot say what became of them.
func TestInterruptedAttemptsKeepTheirPermits(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	s := newStage(t, untilTold, admits(d.book))
	run := s.startTask(d.task("retry: {max_attempts: 1}"))
	s.attempt(1)
	s.operator("reset", run)
	ending := s.ending(run)
	require.Equal(t, graph.InterruptReset, ending.Interruption)
	d.gave(false, ending)
}
