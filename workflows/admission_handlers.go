package workflows

import (
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/tidemill/tidemill/activities/permits"
	"github.com/tidemill/tidemill/admission"
)

// maxHolders is how many permits the status lists.
const maxHolders = 50

// setHandlers registers what a semaphore answers to, in a fixed order. None of the
// handlers blocks, so none is ever open between two workflow tasks.
func (s *semaphore) setHandlers(ctx workflow.Context) error {
	err := workflow.SetUpdateHandlerWithOptions(ctx, permits.UpdateBatch, s.batch, workflow.UpdateHandlerOptions{
		Validator:   func(b permits.Batch) error { return malformed(b.Check()) },
		Description: "For workers and clients of Tidemill: what they ask of admission, in one go.",
	})
	if err != nil {
		return err
	}
	err = workflow.SetUpdateHandlerWithOptions(ctx, permits.UpdateSteer, s.steer, workflow.UpdateHandlerOptions{
		Validator:   func(change permits.Steer) error { return malformed(change.Check()) },
		Description: "Changes limits, pauses, resumes or drains: {action, key?, limit?, rate?, limits?}.",
	})
	if err != nil {
		return err
	}
	for _, q := range []struct {
		name, description string
		handler           any
	}{
		{permits.QueryStatus, "The keys and queues in numbers, and the oldest permits.", s.queryStatus},
		{permits.QueryExplain, "Where requests stand and why: by the id of a request or of a workflow.", s.queryExplain},
	} {
		options := workflow.QueryHandlerOptions{Description: q.description}
		if err := workflow.SetQueryHandlerWithOptions(ctx, q.name, q.handler, options); err != nil {
			return err
		}
	}
	return nil
}

func malformed(err error) error {
	if err == nil {
		return nil
	}
	return temporal.NewNonRetryableApplicationError(err.Error(), permits.ErrTypeInvalidAdmission, nil)
}

// batch carries out what one process asks for, as one turn of the book.
func (s *semaphore) batch(ctx workflow.Context, b permits.Batch) (permits.BatchResult, error) {
	s.updates++
	result, moves := b.Carry(s.book, workflow.Now(ctx))
	if b.Limits != nil {
		s.start.Configured = true
		s.shown.relabel(s.book)
	}
	result.Bare = !s.start.Configured
	if b.Delivers {
		// The answer leaves when the task is written down, so nothing is heard of
		// that may yet be decided anew. What would make it too large for the server is
		// brought by the semaphore itself.
		n, _ := portion(moves.Others, maxClump, maxAnswered)
		result.Messages, moves.Others = permits.Address(nil, moves.Others[:n]...), moves.Others[n:]
	}
	s.take(ctx, moves)
	return result, nil
}

// steer makes an operator's change. A change may meet what the validator did not: as
// many others as are kept.
func (s *semaphore) steer(ctx workflow.Context, change permits.Steer) (admission.Status, error) {
	s.updates++
	now := workflow.Now(ctx)
	if err := change.Apply(s.book, now); err != nil {
		return admission.Status{}, malformed(err)
	}
	s.start.Configured = s.start.Configured || change.Action == permits.SteerLimits
	s.shown.relabel(s.book)
	s.decide(ctx)
	return s.book.Status(now), nil
}

func (s *semaphore) queryStatus() (permits.View, error) {
	return permits.View{
		Domain: s.start.Domain, Status: s.book.Status(s.checked), Overrides: s.book.Overrides(),
		Holders: s.book.Holders(maxHolders), Grants: s.book.Grants(), Checked: s.checked,
	}, nil
}

func (s *semaphore) queryExplain(name string) ([]permits.Standing, error) {
	return s.book.Standings(s.checked, name), nil
}
