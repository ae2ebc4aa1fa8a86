package workflows

import (
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/tidemill/tidemill/activities/permits"
	"github.com/tidemill/tidemill/admission"
)

// Admission is the semaphore of a domain: it holds the [admission.Book] of all its
// permits. It is registered as [permits.WorkflowType], under the workflow id
// [permits.WorkflowID], on a task queue that no owner of permits works on.
//
// It is asked by the update [permits.UpdateBatch], which is answered at once; what
// an owner is told later is brought to it by the activity [permits.NameDeliver]. It
// never ends by itself. Asked to cancel, it takes no new work and ends when the last
// permit was given back.
func Admission(ctx workflow.Context, start permits.Start) error {
	s, err := newSemaphore(ctx, start)
	if err != nil {
		return err
	}
	if err := s.setHandlers(ctx); err != nil {
		return err
	}
	s.asked = func() bool { return start.Closing || ctx.Err() != nil }
	// Cancellation is one more thing to be heard: what has to be done about it is
	// done on a context that goes on.
	live, _ := workflow.NewDisconnectedContext(ctx)
	return s.loop(live)
}

// errTypeInvalidLimits is how a semaphore fails that was started with limits that
// cannot be. It has given no permit.
const errTypeInvalidLimits = "invalid_limits"

// semaphore is one run of the semaphore of a domain.
type semaphore struct {
	info   *workflow.Info
	start  permits.Start
	book   *admission.Book
	post   post
	doubts doubts
	alarm  alarm
	shown  shown

	checked time.Time // of the latest turn
	next    time.Time // when the book has something to do by the clock
	updates int       // of this run
	endure  int       // events before which it is not continued as new: the book is too large
	stirred bool      // something happened that the loop has not looked at
	asked   func() bool
	closing bool // it was asked to end
}

// newSemaphore makes the book: an empty one, or the one that was carried over. A
// book that cannot be read blocks the workflow until a worker can: going on with an
// empty one would give away what others hold.
func newSemaphore(ctx workflow.Context, start permits.Start) (*semaphore, error) {
	if start.Domain == "" {
		start.Domain = permits.DefaultDomain
	}
	s := &semaphore{info: workflow.GetInfo(ctx), start: start, post: post{waiting: start.Undelivered}}
	if start.Carried != nil {
		book, err := unpack(start.Carried)
		if err != nil {
			blocked("the book that was carried over cannot be read", err)
		}
		s.book = book
	} else {
		book, err := admission.NewBook(start.Limits)
		if err != nil {
			return nil, temporal.NewNonRetryableApplicationError("the semaphore cannot begin: "+err.Error(), errTypeInvalidLimits, err)
		}
		// A domain whose semaphore was terminated begins anew, and its fence must not fall.
		book.BeginAfter(uint64(max(workflow.Now(ctx).UnixMicro(), 0))) //nolint:gosec // not negative
		s.book = book
	}
	s.shown = newShown(ctx, start.Domain, s.book)
	return s, nil
}

// loop does what follows from what the handlers took, until the run must end.
func (s *semaphore) loop(ctx workflow.Context) error {
	s.decide(ctx)
	for {
		s.stirred = false
		s.hearCancel(ctx)
		full := s.full()
		if !full {
			s.deliver(ctx)
			s.check(ctx)
			s.arm(ctx)
		}
		s.shown.show(ctx, s.book, s.checked)
		if s.done(ctx) {
			return temporal.NewCanceledError()
		}
		if full && !s.post.busy && workflow.AllHandlersFinished(ctx) {
			if err := s.continueAsNew(ctx); err != nil {
				return err
			}
			continue
		}
		if err := workflow.Await(ctx, func() bool { return s.stirred || !s.closing && s.asked() }); err != nil {
			return err
		}
	}
}

// decide lets the book decide by the clock.
func (s *semaphore) decide(ctx workflow.Context) {
	s.take(ctx, permits.Decide(s.book, workflow.Now(ctx)))
}

// take keeps what came of a turn for the loop.
func (s *semaphore) take(ctx workflow.Context, m permits.Moves) {
	s.checked, s.next, s.stirred = workflow.Now(ctx), m.Next, true
	s.post.add(m.Others...)
	s.doubts.add(m.Ask...)
	s.shown.count(s.book, m.Decisions)
}

// hearCancel starts the end that a cancel asks for.
func (s *semaphore) hearCancel(ctx workflow.Context) {
	if s.closing || !s.asked() {
		return
	}
	s.closing = true
	s.book.Drain(workflow.Now(ctx))
	s.decide(ctx)
	s.stirred = false
}

// done reports whether a semaphore that was asked to end may.
func (s *semaphore) done(ctx workflow.Context) bool {
	active, queued := s.book.Load()
	return s.closing && active+queued == 0 && s.post.empty() && workflow.AllHandlersFinished(ctx)
}
