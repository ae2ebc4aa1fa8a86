package activities

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"

	"github.com/tidemill/tidemill/activities/permits"
	"github.com/tidemill/tidemill/admission"
	"github.com/tidemill/tidemill/graph"
)

// The first stages of an attempt, classify and acquire, and the last one, release,
// are local activities of the run: a permit must outlive the worker that makes the
// attempt, and an answer that comes at once costs no workflow task.

// AcquireInput is handed to the local activity as Go values; nothing of it is
// serialised or recorded.
type AcquireInput struct {
	Facts   permits.Facts
	Request admission.Request // without what the classification says
	Belief  *admission.Confirmation
	Returns []permits.Hold // given back by the way
}

// Acquire is the local activity that asks for the permit of an attempt. Whatever
// comes of it is an answer, so that only the run decides what follows.
//
// Repeats: the same id is the same request.
// Final errors: none.
func (a *Activities) Acquire(ctx context.Context, in AcquireInput) (graph.Admission, error) {
	class, err := a.classify(in.Facts)
	in.Returns = a.returnElsewhere(ctx, in.Returns, class, err)
	if err != nil {
		activity.GetLogger(ctx).Warn("An attempt cannot be classified.", "Request", in.Request.ID, "Error", err)
		return graph.Admission{Answer: graph.AdmissionUnclassified, Message: cut(err.Error(), maxSummary)}, nil
	}
	if class.Free() {
		return graph.Admission{Answer: graph.AdmissionFree, Priority: priorityOf(class), Flow: class.Flow}, nil
	}
	answer := a.ask(ctx, in, class)
	answer.Domain, answer.Priority, answer.Flow = domainOf(class), priorityOf(class), class.Flow
	return answer, nil
}

// returnElsewhere gives back what cannot travel with the request: there is none, or
// it goes to another domain. It gives the rest.
func (a *Activities) returnElsewhere(ctx context.Context, holds []permits.Hold, class permits.Class, unclear error) (rest []permits.Hold) {
	for _, hold := range holds {
		if unclear == nil && !class.Free() && hold.Domain == domainOf(class) {
			rest = append(rest, hold)
			continue
		}
		if err := a.Release(ctx, hold); err != nil {
			activity.GetLogger(ctx).Warn("A permit is left to its lease.", "Request", hold.ID, "Error", err)
		}
	}
	return rest
}

// ask puts the request.
func (a *Activities) ask(ctx context.Context, in AcquireInput, class permits.Class) graph.Admission {
	request := in.Request
	request.Agent, request.Keys, request.Rates = class.Agent, class.Keys, class.Rates
	request.Flow, request.Priority = class.Flow, class.Priority
	ctx, cancel := context.WithTimeout(ctx, permits.AnswerWithin)
	defer cancel()
	decision, err := a.options.Admitter.Submit(ctx, permits.Ask{
		Domain: domainOf(class), Request: request, Belief: in.Belief, Returns: in.Returns,
	})
	if err != nil {
		return refusedBy(err)
	}
	return AdmissionOf(decision)
}

// refusedBy is the answer that an error of an Admitter stands for.
func refusedBy(err error) graph.Admission {
	answer := graph.Admission{Answer: graph.AdmissionUnanswered, Message: cut(err.Error(), maxSummary)}
	if errors.Is(err, admission.ErrInvalidRequest) || errors.Is(err, admission.ErrForeignRequest) {
		answer.Answer = graph.AdmissionUnclassified
	}
	return answer
}

// Submit is the local activity that asks for a permit in workflow code. The ask is
// handed over as a Go value.
//
// Repeats: the same id is the same request.
// Final errors: classification_failed for a request that is malformed, unanswered
// when no answer came in time.
func (a *Activities) Submit(ctx context.Context, ask permits.Ask) (admission.Decision, error) {
	if a.options.Admitter == nil {
		return admission.Decision{}, errNoAdmission
	}
	ctx, cancel := context.WithTimeout(ctx, permits.AnswerWithin)
	defer cancel()
	decision, err := a.options.Admitter.Submit(ctx, ask)
	if err != nil {
		answer := refusedBy(err)
		return decision, temporal.NewNonRetryableApplicationError(answer.Message, answer.Answer, nil)
	}
	return decision, nil
}

// errNoAdmission is tried again by the run: another worker may have what it needs.
var errNoAdmission = errors.New("this worker has no admission; give it WorkerOptions.Admission")

// AdmissionOf is a decision of the book in the words of the machine.
func AdmissionOf(d admission.Decision) graph.Admission {
	return graph.Admission{
		Answer: string(d.Answer), Token: d.Token, Lease: d.Lease,
		Reason: string(d.Reason), Key: d.Key, NextCheck: d.NextCheck, Repeated: d.Repeated,
	}
}

// classify asks the worker's rules. Nothing is admitted under rules that fail.
func (a *Activities) classify(facts permits.Facts) (class permits.Class, err error) {
	if a.options.Classifier == nil || a.options.Admitter == nil {
		return class, errNoAdmission
	}
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the classification panicked: %v", p)
		}
	}()
	return a.options.Classifier(facts)
}

func domainOf(class permits.Class) string {
	if class.Domain == "" {
		return permits.DefaultDomain
	}
	return class.Domain
}

// priorityOf is the priority as [graph.Admission] has it: 0 stands for none, so the
// lowest is 1.
func priorityOf(class permits.Class) int {
	if class.Priority == nil {
		return 0
	}
	return max(*class.Priority, 1)
}

// Release is the local activity that gives a permit back, or withdraws a request,
// which has no token. The hold is handed over as a Go value.
// It returns once the release is taken over. Should this worker be lost before it is
// sent, the owner's belief ends the permit when the lease runs out.
//
// Repeats: a permit is given back once.
// Final errors: none.
func (a *Activities) Release(ctx context.Context, hold permits.Hold) error {
	if a.options.Admitter == nil {
		return errNoAdmission
	}
	ctx, cancel := context.WithTimeout(ctx, takeOver)
	defer cancel()
	if hold.Token == 0 {
		return a.options.Admitter.Cancel(ctx, hold)
	}
	return a.options.Admitter.Release(ctx, hold)
}

// takeOver is how long it may take to hand a release over.
const takeOver = 5 * time.Second
