package graph

import "encoding/json"

// Recorder is a Decider that asks another one and keeps the answers, until they
// fill a batch of [MaxBatchDecisions] or [MaxBatchBytes]. From then on it has
// no answer, so the machine stops and the next batch begins there.
type Recorder struct {
	decider   Decider
	decisions []Decision
	bytes     int
	full      bool
}

// NewRecorder records what a decider answers.
func NewRecorder(decider Decider) *Recorder { return &Recorder{decider: decider} }

// Decide answers as the recorded decider does, while there is room. A batch
// has at least one decision, however large.
func (r *Recorder) Decide(q Question) (Decision, bool) {
	if r.full {
		return Decision{}, false
	}
	d, ok := r.decider.Decide(q)
	if !ok {
		r.full = true
		return Decision{}, false
	}
	d, size := sized(d)
	if len(r.decisions) > 0 && r.bytes+size > MaxBatchBytes {
		r.full = true
		return Decision{}, false
	}
	r.decisions = append(r.decisions, d)
	r.bytes += size
	r.full = len(r.decisions) >= MaxBatchDecisions
	return d, true
}

// sized measures a decision as history will hold it. One that is too large for
// a history is a failure instead.
func sized(d Decision) (Decision, int) {
	raw, err := json.Marshal(d)
	switch {
	case err != nil:
		d = Decision{Failure: Failf(ErrTypeExpressionFailed, "the decision has no JSON form: %v", err)}
	case len(raw) > MaxDecisionBytes:
		d = Decision{Failure: Failf(ErrTypeOutputTooLarge,
			"a value of %d bytes was evaluated outside an action; at most %d can be: make it in an action", len(raw), MaxDecisionBytes)}
	default:
		return d, len(raw) + 1
	}
	return d, len(d.Failure.Message) + 64
}

// Decisions are the answers given, in order.
func (r *Recorder) Decisions() []Decision { return r.decisions }

// Recorded is a Decider that gives recorded answers again, in order, whatever
// it is asked. When they are used up it has none.
type Recorded struct {
	decisions []Decision
	used      int
}

// NewRecorded replays decisions.
func NewRecorded(decisions []Decision) *Recorded { return &Recorded{decisions: decisions} }

// Decide gives the next recorded answer.
func (r *Recorded) Decide(Question) (Decision, bool) {
	if r.used >= len(r.decisions) {
		return Decision{}, false
	}
	r.used++
	return r.decisions[r.used-1], true
}

// Left is how many answers have not been used. After a replay it is zero, or
// the replay took another way than the recording.
func (r *Recorded) Left() int { return len(r.decisions) - r.used }
