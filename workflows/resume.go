package workflows

import (
	"bytes"
	"encoding/json"
	"strconv"
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
func (r *run) checkResume(ctx workflow.Context, raw json.RawMessage) error {
	if r.machine == nil && r.refused == nil && r.info.ContinuedExecutionRunID != "" {
		return nil // pauses may be open that are not known yet; the handler waits for them
	}
	if r.machine == nil {
		return refusal(graph.Failf(graph.ErrTypeUnknownPause, "the run has not begun; no pause is open"))
	}
	if _, again := r.machine.AnsweredBy(workflow.GetCurrentUpdateInfo(ctx).ID); again {
		return nil
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
// quicker; then this one is refused here. One that an earlier run of the chain has
// taken already, and that is sent again, has the result it had then: the server knows
// the ids of updates only of one run.
func (r *run) resume(ctx workflow.Context, raw json.RawMessage) (ResumeResult, error) {
	checked := r.machine != nil
	if failure := r.whenBegun(ctx); failure != nil {
		return ResumeResult{}, refusal(failure)
	}
	updateID := workflow.GetCurrentUpdateInfo(ctx).ID
	if pauseID, again := r.machine.AnsweredBy(updateID); again {
		return ResumeResult{PauseID: pauseID, Status: "accepted"}, nil
	}
	answer, failure := parseResume(raw)
	if failure != nil {
		return ResumeResult{}, refusal(failure)
	}
	if p, ok := r.machine.Find(answer); ok {
		answer.PauseID = p.ID
	}
	answer.Via, answer.UpdateID, answer.Checked = "update", updateID, checked
	// A cancel of the run is no reason to leave the caller without an answer: what
	// the run has open closes then, and with it the pause.
	live, _ := workflow.NewDisconnectedContext(ctx)
	if failure := r.give(live, answer); failure != nil {
		return ResumeResult{}, refusal(failure)
	}
	return ResumeResult{PauseID: answer.PauseID, Status: "accepted"}, nil
}

// whenBegun waits until the run knows its pauses. An update may come to a run that
// continues another one before it does.
func (r *run) whenBegun(ctx workflow.Context) *graph.Failure {
	live, _ := workflow.NewDisconnectedContext(ctx)
	err := workflow.Await(live, func() bool { return r.machine != nil || r.refused != nil })
	if err != nil || r.machine == nil {
		return graph.Failf(graph.ErrTypePauseClosed, "the run was refused; no pause is open")
	}
	return nil
}

// request is a name for an answer whose verdict somebody waits for.
func (r *run) request() string {
	r.requests++
	return strconv.Itoa(r.requests)
}

// give hands an answer to the machine in its turn, and waits for what became of
// it, here or in the child that has the pause. A machine gives its verdict at the
// latest when the run ends.
func (r *run) give(ctx workflow.Context, answer graph.Answer) (failure *graph.Failure) {
	answer.Request = r.request()
	done := false
	r.push(func(now time.Time) {
		if failure = r.machine.Answer(now, answer); failure != nil {
			done = true
			r.machine.Reject(now, answer.Via, string(answer.PauseID), failure)
		}
	})
	err := workflow.Await(ctx, func() bool {
		if !done {
			failure, done = r.machine.Replied(answer.Request)
		}
		return done
	})
	if err != nil { // the context is never cancelled
		return graph.Failf(graph.ErrTypePauseClosed, "the run ended before the answer was taken")
	}
	return failure
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
