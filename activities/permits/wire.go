package permits

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/tidemill/tidemill/admission"
)

// The names of the semaphore workflow and of what it takes. Stable: histories and
// callers hold them.
const (
	WorkflowType = "tidemill.admission"
	UpdateBatch  = "batch"   // a [Batch]; answered with a [BatchResult]
	UpdateSteer  = "steer"   // a [Steer]; answered with an admission.Status
	QueryStatus  = "status"  // a [View]
	QueryExplain = "explain" // by request id, or by workflow id: a list of [Standing]

	workflowPrefix = "tidemill-admission/"
	queueSuffix    = ".admission"
)

// WorkflowID is the id of the semaphore of a domain.
func WorkflowID(domain string) string {
	if domain == "" {
		domain = DefaultDomain
	}
	return workflowPrefix + domain
}

// DomainOf is the domain whose semaphore has a workflow id.
func DomainOf(workflowID string) string { return strings.TrimPrefix(workflowID, workflowPrefix) }

// TaskQueue is the task queue of the semaphores of a queue of graphs. They have a
// worker of their own there, so that owners that wait can never take its place.
func TaskQueue(graphs string) string { return graphs + queueSuffix }

// Start is what a semaphore begins with: the limits, or, after continue-as-new,
// what was carried. Stable: histories hold it.
type Start struct {
	Domain string           `json:"domain"`
	Limits admission.Limits `json:"limits"`
	// Configured says that somebody has given limits; without, they are the defaults.
	Configured bool `json:"configured,omitempty"`
	// Carried is the gzipped JSON of an admission.State.
	Carried []byte `json:"carried,omitempty"`
	// Undelivered is what owners have yet to be told.
	Undelivered []Message `json:"undelivered,omitempty"`
	// MaxEvents is how long the history of one run may grow. Zero means 2,000.
	MaxEvents int `json:"max_events,omitempty"`
	// Closing says that it was asked to cancel, and ends with its last permit.
	Closing bool `json:"closing,omitempty"`
}

// Batch is what one process asks for in one go. The calls are one turn of the book.
type Batch struct {
	// Limits are the sender's configuration, with its first batch; nil afterwards.
	Limits *admission.Limits `json:"limits,omitempty"`
	Calls  []Call            `json:"calls"`
	// Delivers says that the sender brings the owners what is in the result for
	// them. That costs the semaphore nothing; what the sender loses is found when
	// the lease of the owner runs out.
	Delivers bool `json:"delivers,omitempty"`
}

// MaxCalls is the number of calls of one batch.
const MaxCalls = 200

// Call is one call. Exactly one field is set.
type Call struct {
	Submit  *admission.Request      `json:"submit,omitempty"`
	Release *Named                  `json:"release,omitempty"`
	Renew   *Named                  `json:"renew,omitempty"`
	Cancel  string                  `json:"cancel,omitempty"` // id
	Confirm *admission.Confirmation `json:"confirm,omitempty"`
}

// Named is a permit, by its id and token; token 0 names a request that waits.
type Named struct {
	ID    string `json:"id"`
	Token uint64 `json:"token,omitempty"`
}

// BatchResult has one answer for each call, in their order.
type BatchResult struct {
	Answers []CallAnswer `json:"answers"`
	Waiting int          `json:"waiting,omitempty"` // requests in the queue afterwards
	// Messages are for the sender to deliver, if it said that it does.
	Messages []Message `json:"messages,omitempty"`
	// Bare says that nobody has given the semaphore limits: whoever has some sends them.
	// It may have been lost, and begun anew by a process that has none.
	Bare bool `json:"bare,omitempty"`
}

// CallAnswer is what became of a call.
type CallAnswer struct {
	Decision *admission.Decision `json:"decision,omitempty"` // of a submit that was taken
	Result   admission.Result    `json:"result,omitempty"`   // of release, renew and cancel
	Refused  string              `json:"refused,omitempty"`  // why a submit was not taken
	Foreign  bool                `json:"foreign,omitempty"`  // refused, for the id is another owner's
}

// Steer is what an operator changes. Exactly one action is named.
type Steer struct {
	Action string           `json:"action"` // one of the Steer constants
	Key    string           `json:"key,omitempty"`
	Limit  int              `json:"limit,omitempty"` // SteerLimit; admission.None takes the change back
	Rate   admission.Rate   `json:"rate,omitzero"`   // SteerRate; zero takes the change back
	Limits admission.Limits `json:"limits,omitzero"` // SteerLimits
}

// The actions.
const (
	SteerLimit  = "set-limit"
	SteerRate   = "set-rate"
	SteerLimits = "set-limits" // the whole configuration, unless its version is older
	SteerPause  = "pause"      // a key, or everything
	SteerResume = "resume"     // a key, or everything, and ends a drain
	SteerDrain  = "drain"
)

// View is the answer to [QueryStatus].
type View struct {
	Domain    string              `json:"domain"`
	Status    admission.Status    `json:"status"`
	Overrides admission.Overrides `json:"overrides"`
	Holders   []admission.Holder  `json:"holders,omitempty"` // the oldest; for an operator
	Grants    uint64              `json:"grants"`            // since the domain began
	Checked   time.Time           `json:"checked"`           // the time of the latest turn
}

// Standing is where one request of an owner stands.
type Standing = admission.Standing

// ErrUnknownDomain is returned where a domain has no semaphore: nobody has asked it
// for anything yet.
var ErrUnknownDomain = errors.New("permits: nothing was ever asked for in this domain")

// RequestID is the id of an acquisition: of the owner's first run, what it is for,
// and the acquisition's number. One that would be too long is shortened.
func RequestID(firstRun, what string, number uint64) string {
	return fmt.Sprintf("%s/%s!%d", firstRun, shorten(what), number)
}
