package permits

import (
	"context"

	"github.com/tidemill/tidemill/admission"
)

// SignalPermits is what an owner that is a workflow is told later: a list of
// admission.Decision. Stable: histories hold it.
const SignalPermits = "tidemill.permits"

// QueryPermits asks an owner that is a workflow what it believes to have: a [Belief].
const QueryPermits = "tidemill.permits"

// Belief is the answer to [QueryPermits]: the requests that the owner holds, waits
// for or has asked for.
type Belief struct {
	Upto   uint64   `json:"upto"`             // number of its latest acquisition
	Held   []string `json:"held,omitempty"`   // ids
	Waited []string `json:"waited,omitempty"` // ids without an answer, or queued
}

// Owners reaches the owners of requests.
type Owners interface {
	// Deliver tells each owner its decisions. It gives, in the order of the
	// messages, what became of each.
	Deliver(ctx context.Context, messages []Message) []Delivery
	// Check finds out about each owner whether it still runs and what it believes.
	// What could not be found out is left unknown.
	Check(ctx context.Context, owners []admission.Owner) []Finding
}

// Message is what one owner is told.
type Message struct {
	Owner     admission.Owner      `json:"owner"`
	Decisions []admission.Decision `json:"decisions"`
}

// Delivery is what became of a message. Stable: histories hold it.
type Delivery string

// The deliveries.
const (
	Delivered   Delivery = "delivered"
	OwnerGone   Delivery = "gone"   // the chain of runs has ended
	Undelivered Delivery = "failed" // to be tried again
)

// Finding is what was found out about an owner. Stable: histories hold it.
type Finding struct {
	Owner  admission.Owner `json:"owner"`
	Life   Life            `json:"life,omitempty"`
	Belief *Belief         `json:"belief,omitempty"` // nil: it did not say
}

// Life says whether an owner still runs.
type Life string

// The lives. Nothing is known of an owner that could not be asked.
const (
	LifeUnknown Life = ""
	LifeOpen    Life = "open"
	LifeClosed  Life = "closed"
)
