package activities

import (
	"context"
	"fmt"

	"go.temporal.io/sdk/activity"

	"github.com/tidemill/tidemill/activities/permits"
)

// handBack gives the permit of an attempt back where the attempt ended for good, and
// gives its token; zero: it did not, and the run will. The way over the run would keep
// the permit until a workflow task has taken in the ending.
//
// It waits for nobody and fails nothing, so it asks only an admitter that takes a
// release over at once, which a [permits.Flusher] does. Should this worker be lost
// before the release is sent, the owner's belief ends the permit when the lease runs
// out, as ever.
func (a *Activities) handBack(ctx context.Context, t *try) uint64 {
	permit, token := t.task.Permit, t.task.Run.Token
	if permit == nil || permit.ID == "" || token == 0 {
		return 0
	}
	if _, atOnce := a.options.Admitter.(permits.Flusher); !atOnce {
		return 0
	}
	hold := permits.Hold{Domain: permit.Domain, ID: permit.ID, Token: token}
	if err := a.giveBack(context.WithoutCancel(ctx), hold); err != nil {
		activity.GetLogger(ctx).Warn("A permit is left to the run to give back.", "Request", hold.ID, "Error", err)
		return 0
	}
	return token
}

// giveBack hands a release over. What an admitter does is not to fail the attempt.
func (a *Activities) giveBack(ctx context.Context, hold permits.Hold) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the admitter panicked: %v", p)
		}
	}()
	return a.options.Admitter.Release(ctx, hold)
}
