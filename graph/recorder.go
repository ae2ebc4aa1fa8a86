package graph

import (
	"encoding/json"
	"errors"
)

// Undecided is the Decider that has no answer: advanced with it, a machine
// goes as far as it gets on static edges and literals.
type Undecided struct{}

// Decide has no answer.
func (Undecided) Decide(Question) (Decision, bool) { return Decision{}, false }

// Recorder keeps what another Decider decides, up to the bounds of one batch.
type Recorder struct {
	decider   Decider
	decisions []Decision
	bytes     int
}

// NewRecorder keeps what decider decides.
func NewRecorder(decider Decider) *Recorder { return &Recorder{decider: decider} }

// Decide passes the question on, until the batch is full. A decision that
// would overfill a batch begins the next one; one that is too large for any is
// a failure.
func (r *Recorder) Decide(q Question) (Decision, bool) {
	if len(r.decisions) >= MaxBatchDecisions || r.bytes >= MaxBatchBytes {
		return Decision{}, false
	}
	d, ok := r.decider.Decide(q)
	if !ok {
		return d, false
	}
	raw, err := json.Marshal(d)
	if err != nil {
		d = Decision{Failure: Failf(ErrTypeExpressionFailed, "a decision cannot be recorded: %v", err)}
		raw = nil
	}
	if len(raw) > MaxDecisionBytes {
		d = Decision{Failure: Failf(ErrTypeOutputTooLarge,
			"a value of %d bytes was evaluated outside an action; at most %d can be. Make it in an action", len(raw), MaxDecisionBytes)}
		raw = nil
	}
	if len(r.decisions) > 0 && r.bytes+len(raw) > MaxBatchBytes {
		return Decision{}, false
	}
	r.decisions = append(r.decisions, d)
	r.bytes += len(raw)
	return d, true
}

// Decisions is the batch, in the order it was decided.
func (r *Recorder) Decisions() []Decision { return r.decisions }

// ErrDecisions is returned by [Recorded.Err] when a batch was not used up:
// the machine that repeats it went another way than the one it was decided
// for.
var ErrDecisions = errors.New("graph: recorded decisions do not fit the run")

// Recorded repeats recorded decisions, in their order.
type Recorded struct{ decisions []Decision }

// NewRecorded repeats a batch.
func NewRecorded(decisions []Decision) *Recorded { return &Recorded{decisions: decisions} }

// Decide gives the next recorded decision; none when the batch is used up.
func (r *Recorded) Decide(Question) (Decision, bool) {
	if len(r.decisions) == 0 {
		return Decision{}, false
	}
	d := r.decisions[0]
	r.decisions = r.decisions[1:]
	return d, true
}

// Err reports a batch that was not used up.
func (r *Recorded) Err() error {
	if len(r.decisions) > 0 {
		return ErrDecisions
	}
	return nil
}
