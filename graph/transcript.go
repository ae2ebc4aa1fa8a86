package graph

import (
	"fmt"
	"time"
)

// EffectLine is an effect as one line of a transcript. Instants are told from began,
// so that two runs can be compared.
func EffectLine(effect Effect, began time.Time) string {
	switch e := effect.(type) {
	case RunNode:
		return fmt.Sprintf("run %s attempt %d of at most %d, input %s, state %s",
			e.Task.Run.Address, e.Task.Run.Attempt, e.Task.Before+e.MaxAttempts, e.Task.Input, e.Task.State.Raw())
	case StartChild:
		return fmt.Sprintf("child %s of %s, input %s", e.Start.Address, e.Graph, e.Input)
	case Forward:
		return fmt.Sprintf("hand %s to %s: %s", e.Request, e.Address, e.Answer.Input)
	case Acquire:
		return fmt.Sprintf("ask %d for %s (%s)", e.Number, e.Address, e.Overflow)
	case Release:
		return fmt.Sprintf("give back %d of %s, token %d", e.Number, e.Address, e.Token)
	case CancelNode:
		return fmt.Sprintf("cancel %s", e.Address)
	case SetTimer:
		return fmt.Sprintf("timer %s at %s (%s)", e.Address, e.At.Sub(began), e.Purpose)
	case StopTimer:
		return fmt.Sprintf("stop timer %s", e.Address)
	default:
		return fmt.Sprintf("%T", effect)
	}
}

// String is the ending as one line of a transcript.
func (e Ending) String() string {
	switch e.Kind {
	case Returned:
		return e.Result.String()
	case Interrupted:
		return "interrupted: " + string(e.Interruption)
	case Failed, TimedOut, Cancelled:
	}
	if e.Failure == nil {
		return string(e.Kind)
	}
	return string(e.Kind) + ": " + e.Failure.Type
}

// String is the result as one line of a transcript.
func (r *Result) String() string {
	line := "returned"
	if r.Control != "" {
		line = string(r.Control)
	}
	if r.Target != "" {
		line += " " + r.Target
	}
	if r.Output != nil {
		line += " " + string(r.Output)
	}
	if r.Delta != nil {
		line += " delta " + string(r.Delta.Raw())
	}
	return line
}
