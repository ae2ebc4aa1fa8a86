package graph

import "time"

// Under admission every attempt of a node that runs an activity, ours or another's,
// local or not, needs a permit. The machine asks with [Acquire] and is answered by
// [Machine.Admitted]; it gives back with [Release]. It knows nothing of keys and
// limits: what a node may need is classified where it is asked for.

// Overflow is what a node or a run wants when no permit is free.
type Overflow string

// The overflow choices.
const (
	OverflowQueue  Overflow = "queue"  // wait; also the meaning of no choice
	OverflowReject Overflow = "reject" // fail, with the answer as the failure's type
)

// Acquire asks for a permit. The driver answers with [Machine.Admitted], at once or
// at any time later, and may be asked for the same number again: a number stands
// for one acquisition however often it is asked for.
type Acquire struct {
	Number   uint64  // of the acquisition; counts up over the whole run
	Address  Address // of the activation
	Node     *Node
	Run      RunFacts
	Arrival  time.Time // gives the rank: the start of the run, so that begun work goes before new work
	Overflow Overflow  // never empty
	Deadline time.Time // of the wait; zero: none
}

// Release gives a permit back, or takes back an acquisition that has none yet.
type Release struct {
	Number uint64
	// Address is that of the activation that asked. It is empty for a permit of which
	// the run knows nothing any more: whoever heard of it knows the request.
	Address Address
	// Domain is where the permit is held. It is empty while unknown: the acquisition
	// has no answer yet. Another Release with the domain follows the answer.
	Domain string
	Token  uint64 // zero: withdraw the acquisition, in whatever state it is
}

// Admission is an answer to [Acquire]. Stable: histories hold it.
type Admission struct {
	// Answer is AdmissionGranted, AdmissionQueued, AdmissionFree, or why there is
	// no permit: one of the answers of the book, AdmissionUnclassified or
	// AdmissionUnanswered.
	Answer string `json:"answer"`
	Domain string `json:"domain,omitempty"`
	Token  uint64 `json:"token,omitempty"` // of a permit
	// Lease is when a permit must be known to its holder. Work must not start on
	// a grant that is heard of later.
	Lease     time.Time `json:"lease,omitzero"`
	Reason    string    `json:"reason,omitempty"` // why it waits: limit, rate, paused …
	Key       string    `json:"key,omitempty"`    // the key behind the answer
	NextCheck time.Time `json:"next_check,omitzero"`
	Message   string    `json:"message,omitempty"` // for people; of a failed classification
	// Repeated says that the book knew the acquisition already: what it says may have
	// been so for long. All that is delivered is about what the book knows.
	Repeated bool `json:"repeated,omitempty"`

	// Priority and Flow are the classification's, for Temporal's own dispatch.
	Priority int    `json:"priority,omitempty"` // 1 to 100; zero: none
	Flow     string `json:"flow,omitempty"`
}

// The answers that are not the book's refusals. Stable: histories hold them.
const (
	AdmissionGranted      = "granted"
	AdmissionQueued       = "queued"
	AdmissionFree         = "free"                      // nothing to ask for: the attempt needs no permit
	AdmissionUnclassified = ErrTypeClassificationFailed // nothing is admitted under unknown rules
	AdmissionUnanswered   = "unanswered"                // admission could not be reached in time
)

// Permit is what the run believes of one acquisition. It is part of the checkpoint.
type Permit struct {
	Number  uint64      `json:"number"`
	Address Address     `json:"address"`
	State   PermitState `json:"state"`
	Since   time.Time   `json:"since"` // when this wait began; further acquisitions of the same wait keep it
	Denials int         `json:"denials,omitempty"`
	Looks   int         `json:"looks,omitempty"` // times it was asked for again under its number
	Admission
}

// PermitState is how an acquisition stands.
type PermitState string

// The states of an acquisition.
const (
	PermitAsked  PermitState = "asked"  // no answer yet
	PermitQueued PermitState = "queued" // it has a place in the queue
	PermitDenied PermitState = "denied" // it ended; another will be asked for when the timer fires
	PermitHeld   PermitState = "held"   // also of an attempt that needs none (AdmissionFree)
	// PermitWithdrawn is given up before it had an answer, so that nobody knows yet
	// where to take it back. It belongs to no activation.
	PermitWithdrawn PermitState = "withdrawn"
)

// Belief is what the run believes about its permits, for whoever holds the book.
type Belief struct {
	Upto uint64   // number of the latest acquisition
	Open []Permit // asked, queued or held; not withdrawn, nor those that need no permit
}
