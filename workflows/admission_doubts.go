package workflows

import (
	"slices"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/tidemill/tidemill/activities/permits"
	"github.com/tidemill/tidemill/admission"
)

// maxDoubts is how many owners one check looks at: with each taking the longest time
// to answer, it is done within the time of a check.
const maxDoubts = 90

// doubts are the owners whose lease ran out. One check is under way at a time.
type doubts struct {
	owners []admission.Owner
	known  map[admission.Owner]bool // those in owners
	busy   bool
}

func (d *doubts) add(owners ...admission.Owner) {
	for _, o := range owners {
		if d.known[o] {
			continue
		}
		if d.known == nil {
			d.known = map[admission.Owner]bool{}
		}
		d.known[o] = true
		d.owners = append(d.owners, o)
	}
}

func (d *doubts) take() []admission.Owner {
	n := min(len(d.owners), maxDoubts)
	taken := slices.Clone(d.owners[:n])
	d.owners = d.owners[n:]
	for _, o := range taken {
		delete(d.known, o)
	}
	return taken
}

// check finds out whether owners still run. Nothing waits for it: the book asks again
// after another lease, so a run that ends meanwhile leaves the check behind.
func (s *semaphore) check(ctx workflow.Context) {
	if s.doubts.busy || len(s.doubts.owners) == 0 {
		return
	}
	owners := s.doubts.take()
	s.doubts.busy = true
	future := workflow.ExecuteActivity(workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout:    permits.CheckWithin + 5*time.Second,
		ScheduleToCloseTimeout: time.Minute,
		RetryPolicy:            &temporal.RetryPolicy{MaximumAttempts: 2},
		Summary:                "finds out whether owners still run",
	}), permits.NameCheckOwners, owners)
	workflow.GoNamed(ctx, "check", func(ctx workflow.Context) {
		var findings []permits.Finding
		if err := future.Get(ctx, &findings); err != nil {
			workflow.GetLogger(ctx).Warn("owners were not checked, and will be later", "error", err)
		}
		s.doubts.busy = false
		s.learn(ctx, findings)
	})
}

// learn takes what was found out about owners.
func (s *semaphore) learn(ctx workflow.Context, findings []permits.Finding) {
	s.post.add(permits.Learn(s.book, workflow.Now(ctx), findings)...)
	s.decide(ctx)
}
