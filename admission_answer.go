package tidemill

import (
	"fmt"
	"time"

	"github.com/tidemill/tidemill/admission"
)

// conclude says the whole in one sentence: why it waits, or what it does instead.
func (x *AdmissionExplanation) conclude() {
	for _, r := range x.Runs {
		x.Waits = x.Waits || len(r.Waiting) > 0
	}
	var first *AdmissionRequest
	for i := range x.Requests {
		if x.Requests[i].Explanation.Answer == admission.AnswerQueued {
			x.Waits, first = true, &x.Requests[i]
			break
		}
	}
	switch {
	case first != nil:
		x.Answer = fmt.Sprintf("%s waits for a permit: %s", x.who(first), first.Why())
	case x.Waits:
		r := x.waiter()
		x.Answer = fmt.Sprintf("%s %s; no book has a request of it in its queue", r.ID, r.Does)
	case len(x.Runs) == 0:
		x.Answer = fmt.Sprintf("%s %s", x.ID, x.Requests[0].Why())
	case len(x.Domains) == 0:
		x.Answer = fmt.Sprintf("%s does not wait for a permit: it %s; no domain has a book, so nobody has asked for one yet", x.ID, x.Runs[0].Does)
	default:
		x.Answer = fmt.Sprintf("%s does not wait for a permit: it %s", x.ID, x.Runs[0].Does)
	}
}

// who is the run that a request is of, or what was asked about.
func (x *AdmissionExplanation) who(r *AdmissionRequest) string {
	if r.Owner.Workflow != "" && len(x.Runs) > 0 {
		return r.Owner.Workflow
	}
	return x.ID
}

// waiter is the first run that waits.
func (x *AdmissionExplanation) waiter() AdmissionRun {
	for _, r := range x.Runs {
		if len(r.Waiting) > 0 {
			return r
		}
	}
	return AdmissionRun{}
}

// Why says in words why a request waits, or what became of it.
func (r *AdmissionRequest) Why() string {
	e := &r.Explanation
	switch e.Answer { //nolint:exhaustive // the others are ends, which speak for themselves
	case admission.AnswerQueued:
		return whyQueued(e)
	case admission.AnswerGranted:
		return fmt.Sprintf("holds a permit since %s", e.Since.UTC().Format(time.RFC3339))
	default:
		return "has ended: " + string(e.Answer)
	}
}

func whyQueued(e *admission.Explanation) string {
	switch e.Reason {
	case admission.ReasonLimit:
		return fmt.Sprintf("%s has too little room, %d of %d in use", e.Key, e.Used, e.Limit) + ifWide(e)
	case admission.ReasonReserved:
		return fmt.Sprintf("the room left on %s is kept for one that has waited longer, %d of %d in use and %d kept",
			e.Key, e.Used, e.Limit, e.Reserved) + ifWide(e)
	case admission.ReasonRate:
		return fmt.Sprintf("the rate of %s is not ready", e.Key)
	case admission.ReasonPaused:
		if e.Key == "" {
			return "the whole domain is paused"
		}
		return e.Key + " is paused"
	case admission.ReasonNotVisible:
		return "its time has not come"
	case admission.ReasonUnknownKey:
		return fmt.Sprintf("no limit stands for %s any more", e.Key)
	case admission.ReasonInfeasible:
		return fmt.Sprintf("the limit of %s is %d, less than the %d it asks for", e.Key, e.Limit, e.Wants)
	case admission.ReasonNext:
		return "it is tried in the next turn"
	default:
		return string(e.Reason)
	}
}

// ifWide says how much a request asks for that asks for more than one.
func ifWide(e *admission.Explanation) string {
	if e.Wants < 2 {
		return ""
	}
	return fmt.Sprintf(", %d wanted", e.Wants)
}
