package admission

import "time"

// Answer is what became of a request. Stable: histories hold it.
type Answer string

// The answers. Granted and queued are not endings; every other one is.
const (
	AnswerGranted Answer = "granted" // the permit is held, under Decision.Token
	AnswerQueued  Answer = "queued"  // it waits, for Decision.Reason

	AnswerLimitReached     Answer = "concurrency_limit_reached" // no room, and its overflow is reject
	AnswerQueueFull        Answer = "admission_queue_full"      // no room, and no place to wait
	AnswerDeadlineExceeded Answer = "queue_deadline_exceeded"   // it waited until its deadline
	AnswerOwnerGone        Answer = "owner_gone"                // the owner ended, or did not renew
	AnswerCancelled        Answer = "cancelled"                 // cancelled, or no longer named by its owner
	AnswerDraining         Answer = "draining"                  // the book takes no new work
	AnswerInfeasible       Answer = "infeasible"                // a key is unknown, or allows less than was asked for
	AnswerWouldDeadlock    Answer = "would_deadlock"            // the asker holds a key that must be taken later

	AnswerReleased     Answer = "released"      // the permit was given back
	AnswerHoldExceeded Answer = "hold_exceeded" // the permit was held for the longest time allowed
)

// Reason says why a request waits.
type Reason string

// The reasons. Key of the [Decision] or [Explanation] says where.
const (
	ReasonLimit      Reason = "limit"       // the key has too little room
	ReasonReserved   Reason = "reserved"    // the room left on the key is kept for a claim
	ReasonRate       Reason = "rate"        // the rate is not ready
	ReasonPaused     Reason = "paused"      // the key is paused, or the whole book when Key is empty
	ReasonNotVisible Reason = "not_visible" // its time has not come
	ReasonUnknownKey Reason = "unknown_key" // the limits no longer name the key
	ReasonInfeasible Reason = "infeasible"  // the limit was lowered below what was asked for
	ReasonNext       Reason = "next"        // it is to be tried in the next turn
)

// Decision is one answer. It goes to the owner.
type Decision struct {
	ID     string `json:"id"`
	Owner  Owner  `json:"owner"`
	Agent  string `json:"agent,omitempty"`
	Answer Answer `json:"answer"`
	// Token is the fencing token of a permit; it grows with every grant of the
	// book. Release and renew must give it. Not zero exactly when the request
	// holds a permit, or held one when it ended.
	Token uint64 `json:"token,omitempty"`
	// Lease is when the permit must have been confirmed again. Work must not
	// start on a grant that is heard of later.
	Lease time.Time `json:"lease,omitzero"`
	// Waited is the time between submit and answer; for a permit that ended,
	// between grant and end.
	Waited time.Duration `json:"waited"`

	Reason    Reason    `json:"reason,omitempty"`    // of a queued one
	Key       string    `json:"key,omitempty"`       // the key behind the answer, if one is
	NextCheck time.Time `json:"next_check,omitzero"` // when asking again makes sense; not for the final answers
	Repeated  bool      `json:"repeated,omitempty"`  // the request was answered before
}

// Final tells whether the request has ended.
func (d Decision) Final() bool { return d.Answer != AnswerGranted && d.Answer != AnswerQueued }

// Turn is the result of one [Book.Decide].
type Turn struct {
	Decisions []Decision `json:"decisions,omitempty"` // in the order they were made
	// Ask names the owners whose lease ran out: find out whether they still
	// run, then call [Book.Alive] or [Book.Gone]. They are named again after
	// another lease. Their permits stay until then.
	Ask []Owner `json:"ask,omitempty"`
	// More says that GrantsPerTurn stopped the turn: call Decide again.
	More bool `json:"more,omitempty"`
	// Next is when Decide has something to do without another call. Zero
	// means never.
	Next time.Time `json:"next,omitzero"`
}
