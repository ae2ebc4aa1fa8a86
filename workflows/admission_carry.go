package workflows

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"time"

	"go.temporal.io/sdk/workflow"

	"github.com/tidemill/tidemill/activities/permits"
	"github.com/tidemill/tidemill/admission"
)

// When a run is continued as a new one. The server ends runs at 2,000 updates.
const (
	maxSemaphoreEvents  = 2_000
	maxSemaphoreUpdates = 1_500
)

// How much is carried over, in bytes. With what JSON adds it stays under the two
// megabytes that end a workflow.
const (
	maxCarried     = 1 << 20
	maxUndelivered = 256 << 10
	maxPermits     = 1_300 << 10 // of a book that has nothing to shed
)

// endured is how many events a run goes on for when its book is too large to be
// carried over: the server would end it with all its permits.
const endured = 1_000

// maxUnpacked is the largest book that is read. Permits are never given up, so a book
// of permits alone may grow beyond what is carried as a rule.
const maxUnpacked = 64 << 20

// full reports whether the run should be continued as a new one.
func (s *semaphore) full() bool {
	most := s.start.MaxEvents
	if most == 0 {
		most = maxSemaphoreEvents
	}
	length := s.info.GetCurrentHistoryLength()
	return length >= s.endure &&
		(s.info.GetContinueAsNewSuggested() || length >= most || s.updates >= maxSemaphoreUpdates)
}

// continueAsNew hands everything to the next run. Nothing in it blocks: what comes
// after the last handler has run is not taken, and reaches the next run. It gives no
// error when the run must go on.
func (s *semaphore) continueAsNew(ctx workflow.Context) error {
	s.decide(ctx)
	if drifts := s.book.Recount(); len(drifts) > 0 {
		workflow.GetLogger(ctx).Error("counters of the book were wrong, and were repaired", "drifts", drifts)
		s.shown.drifted(len(drifts))
		s.decide(ctx)
	}
	carried, decisions, err := pack(s.book, workflow.Now(ctx), maxCarried)
	if err != nil {
		blocked("the book cannot be carried over", err)
	}
	if len(decisions) > 0 {
		workflow.GetLogger(ctx).Error("requests were turned away, for the book was too large to be carried over",
			"requests", len(decisions), "bytes", len(carried))
		s.shown.shed(s.book, decisions)
		s.post.add(decisions...)
	}
	if len(carried) > maxPermits {
		workflow.GetLogger(ctx).Error("the permits are too many to be carried over; the run goes on", "bytes", len(carried))
		s.endure = s.info.GetCurrentHistoryLength() + endured
		s.stirred = true
		return nil
	}
	next := permits.Start{
		Domain: s.start.Domain, Configured: s.start.Configured, MaxEvents: s.start.MaxEvents, Closing: s.closing,
		Carried: carried, Undelivered: s.post.carried(),
	}
	return workflow.NewContinueAsNewError(ctx, permits.WorkflowType, next)
}

// carried is what owners have yet to be told, as far as it can be carried over. What
// cannot is found when leases run out.
func (p *post) carried() []permits.Message {
	size := 0
	all := append(p.waiting[:len(p.waiting):len(p.waiting)], p.failed...)
	for i, m := range all {
		raw, err := json.Marshal(m)
		if size += len(raw); err != nil || size > maxUndelivered {
			return all[:i]
		}
	}
	return all
}

// pack writes a book down in at most so many bytes, if it can: it sheds the newest of
// what waits until the rest fits, and gives the decisions about that.
func pack(book *admission.Book, now time.Time, most int) (carried []byte, shed []admission.Decision, err error) {
	for {
		plain, err := json.Marshal(book.State())
		if err != nil {
			return nil, nil, err
		}
		if carried, err = compress(plain); err != nil || len(carried) <= most {
			return carried, shed, err
		}
		// A little less than what should fit, for not all of it shrinks alike.
		target := int(int64(len(plain)) * int64(most) / int64(len(carried)) * 9 / 10)
		reached := book.Shed(now, target)
		turned := permits.Decide(book, now).Decisions
		if reached > target && len(turned) == 0 { // there is nothing left to give
			return carried, shed, nil
		}
		shed = append(shed, turned...)
	}
}

func compress(plain []byte) ([]byte, error) {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write(plain); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// unpack is the inverse of pack.
func unpack(carried []byte) (*admission.Book, error) {
	r, err := gzip.NewReader(bytes.NewReader(carried))
	if err != nil {
		return nil, err
	}
	plain, err := io.ReadAll(io.LimitReader(r, maxUnpacked))
	if err != nil {
		return nil, err
	}
	state, err := admission.ParseState(plain)
	if err != nil {
		return nil, err
	}
	return admission.Restore(state)
}
