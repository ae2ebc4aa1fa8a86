package workflows

import (
	"bytes"
	"encoding/json"
	"time"

	"go.temporal.io/sdk/workflow"

	"github.com/tidemill/tidemill/graph"
)

// ResumeInput is the argument of the update [UpdateResume].
type ResumeInput struct {
	// PauseID names the pause; empty: the only open one.
	PauseID graph.Address `json:"pause_id,omitempty"`
	// Input is the answer; null is one, absent is not.
	Input json.RawMessage `json:"input"`
	Actor string          `json:"actor,omitempty"` // who answers
	Note  string          `json:"note,omitempty"`
	// Digest, when given, must be that of the pause: what was shown is what is
	// answered.
	Digest string `json:"digest,omitempty"`
}

// ResumeResult is the result of the update [UpdateResume].
type ResumeResult struct {
	PauseID graph.Address `json:"pause_id"`
	Status  string        `json:"status"` // "accepted"
}

// checkResume is the update's validator: it refuses with nothing written. It
// is not run again on replay, so it may hold the answer against the schema.
func (r *run) checkResume(_ workflow.Context, raw json.RawMessage) error {
	if r.machine == nil {
		return refusal(graph.Failf(graph.ErrTypeUnknownPause, "the run has not begun; no pause is open"))
	}
	answer, failure := parseResume(raw)
	if failure == nil {
		failure = r.machine.Judge(answer)
	}
	if failure == nil {
		p, _ := r.machine.Find(answer)
		//workflowcheck:ignore a validator is not run on replay; what it lets through is in history
		failure = graph.CheckSchema(p.ResumeSchema, answer.Input, graph.ErrTypeInvalidResumeInput)
	}
	if failure != nil {
		return refusal(failure)
	}
	return nil
}

// resume takes an answer that the validator let through. Another may have been
// quicker; then this one is refused here.
func (r *run) resume(ctx workflow.Context, raw json.RawMessage) (ResumeResult, error) {
	answer, failure := parseResume(raw)
	if failure != nil {
		return ResumeResult{}, refusal(failure)
	}
	if p, ok := r.machine.Find(answer); ok {
		answer.PauseID = p.ID
	}
	answer.Via, answer.UpdateID, answer.Checked = "update", workflow.GetCurrentUpdateInfo(ctx).ID, true
	if failure, err := r.offer(ctx, answer); err != nil {
		return ResumeResult{}, err
	} else if failure != nil {
		return ResumeResult{}, refusal(failure)
	}
	return ResumeResult{PauseID: answer.PauseID, Status: "accepted"}, nil
}

// offer hands an answer to the machine in its turn. While earlier ones are
// being checked it waits, for the caller is told what became of it.
func (r *run) offer(ctx workflow.Context, answer graph.Answer) (failure *graph.Failure, err error) {
	for taken := false; !taken; {
		heard := false
		r.push(func(now time.Time) {
			heard = true
			if r.machine.Answering(answer.PauseID) {
				return
			}
			taken = true
			if failure = r.machine.Answer(now, answer); failure != nil {
				r.machine.Reject(now, answer.Via, string(answer.PauseID), failure)
			}
		})
		if err := workflow.Await(ctx, func() bool { return heard && !r.machine.Answering(answer.PauseID) }); err != nil {
			return nil, err
		}
	}
	return failure, nil
}

// parseResume reads the update's argument strictly.
func parseResume(raw json.RawMessage) (graph.Answer, *graph.Failure) {
	var in ResumeInput
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&in); err != nil {
		return graph.Answer{}, graph.Failf(graph.ErrTypeInvalidResumeInput,
			"the update takes {pause_id?, input, actor?, note?, digest?}: %v", err)
	}
	answer := graph.Answer{PauseID: in.PauseID, Actor: in.Actor, Note: in.Note, Digest: in.Digest}
	if in.Input == nil {
		return answer, nil
	}
	var failure *graph.Failure
	answer.Input, failure = canonicalAnswer(in.Input)
	return answer, failure
}
