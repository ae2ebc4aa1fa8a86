package permits

import (
	"context"
	"errors"
	"time"

	"github.com/tidemill/tidemill/admission"
)

// DefaultDomain is the domain of rules that name none. A domain has one book: all
// keys of a request are in one domain, and a limit holds within it.
const DefaultDomain = "default"

// AnswerWithin is how long an owner waits for the answer to a submit. What takes
// longer counts as not answered, and is cancelled.
const AnswerWithin = 2 * time.Second

// ErrUnanswered is returned when no answer came in time. The request may have been
// taken all the same: cancel it, and ask again under another id.
var ErrUnanswered = errors.New("permits: admission did not answer in time")

// Admitter is asked for permits. It is safe for concurrent use. Every call may be
// repeated.
type Admitter interface {
	// Submit asks for a permit and returns at once what became of it: granted,
	// queued, or an ending. What follows a queued one is delivered to its owner
	// (see [Owners]); one that cannot be delivered to learns it by asking again
	// with the same request. The error matches ErrUnanswered, or
	// admission.ErrInvalidRequest or admission.ErrForeignRequest.
	Submit(ctx context.Context, ask Ask) (admission.Decision, error)
	// Release gives a permit back. It returns once the release is taken over:
	// from then on it is sent until it is heard, for as long as the process lives.
	Release(ctx context.Context, hold Hold) error
	// Cancel ends a request in whatever state it is, known or not. As Release.
	Cancel(ctx context.Context, hold Hold) error
	// Extend is a sign of life, for owners that are processes. It tells whether
	// the request is still there.
	Extend(ctx context.Context, hold Hold) (admission.Result, error)
	// Explain tells where a request stands; not ok if it is not known.
	Explain(ctx context.Context, domain, id string) (admission.Explanation, bool, error)
}

// Flusher is an [Admitter] whose Release and Cancel return at once: it takes them over
// before they are heard, or hears them in no time. Attempts of graphs give their permits
// back to one by themselves, where they end. One that is none has heard them when it
// returns, however long that takes; there the runs give back.
type Flusher interface {
	// Flush waits until everything that was said about a request so far is heard.
	Flush(ctx context.Context, domain, id string) error
}

// Ask is one request for a permit.
type Ask struct {
	Domain  string // Zero means DefaultDomain.
	Request admission.Request
	// Belief is what the owner believes to have; nil: it does not say.
	Belief *admission.Confirmation
	// Returns are permits of the same domain that are given back with the request:
	// the room they leave is there for it, and one message says both.
	Returns []Hold
}

// Hold names a request or the permit that came of it.
type Hold struct {
	Domain string // Zero means DefaultDomain.
	ID     string
	Token  uint64 // of the permit; Cancel needs none
	Belief *admission.Confirmation
}
