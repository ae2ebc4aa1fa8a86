package tidemill

import (
	"context"
	"errors"
	"strings"
	"time"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"

	"github.com/tidemill/tidemill/activities/permits"
	"github.com/tidemill/tidemill/admission"
)

// AdmissionSteer is a live change of a domain. Limits and rates that are set stand
// above the configuration until they are taken back; a pause lets nothing more pass;
// a drain ends what waits and takes nothing new. Permits go on to their end.
type AdmissionSteer = permits.Steer

// The actions of an [AdmissionSteer].
const (
	SteerLimit  = permits.SteerLimit  // the limit of Key; -1 takes the change back
	SteerRate   = permits.SteerRate   // the rate of Key; zero takes the change back
	SteerLimits = permits.SteerLimits // the whole configuration, unless its version is older
	SteerPause  = permits.SteerPause  // Key, or everything
	SteerResume = permits.SteerResume // Key, or everything, and ends a drain
	SteerDrain  = permits.SteerDrain
)

// SteerAdmission makes a live change and returns the numbers after it. A key need not
// be known: its limit may be set ahead. The change needs a book: where nobody has
// asked for a permit yet there is none, the error is of type unknown_domain, and the
// place for limits is the workers' configuration, with which a book begins. A change
// that means nothing is refused as invalid_admission before anything was sent.
// Making a change twice is making it once.
func (c *Client) SteerAdmission(ctx context.Context, domain string, change AdmissionSteer) (admission.Status, error) {
	var status admission.Status
	if err := CheckSteer(change); err != nil {
		return status, err
	}
	s, err := c.semaphore(ctx, domain)
	if err != nil {
		return status, err
	}
	short, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	for {
		err = c.steer(short, s, change, &status)
		var missed *serviceerror.NotFound
		if !errors.As(err, &missed) || short.Err() != nil {
			break
		}
		// It has just continued as new, or ended.
		if s, err = c.semaphore(ctx, domain); err != nil {
			return status, err
		}
		elapse(short, steerAgain)
	}
	var unanswered *RunError
	if err != nil {
		err = c.semaphoreError(ctx, s, short.Err() != nil, err)
	}
	if errors.As(err, &unanswered) && unanswered.Type == ErrTypeNoWorker {
		unanswered.Message += "; whether the change was made is seen in the status"
	}
	return status, err
}

// steerAgain is the pause before a change is sent again.
const steerAgain = 100 * time.Millisecond

func (c *Client) steer(ctx context.Context, s semaphore, change AdmissionSteer, status *admission.Status) error {
	handle, err := c.temporal.UpdateWorkflow(ctx, client.UpdateWorkflowOptions{
		WorkflowID: s.id, UpdateName: permits.UpdateSteer, Args: []any{change},
		WaitForStage: client.WorkflowUpdateStageCompleted,
	})
	if err != nil {
		return err
	}
	return handle.Get(ctx, status)
}

// CheckSteer refuses a change that means nothing as invalid_admission, without a server.
func CheckSteer(change AdmissionSteer) error {
	err := change.Check()
	if err == nil {
		return nil
	}
	return &RunError{Type: ErrTypeInvalidAdmission, Err: err, Message: strings.NewReplacer(
		permits.ErrInvalidSteer.Error()+": ", "", admission.ErrInvalidLimits.Error()+": ", "", "\n", "; ").Replace(err.Error())}
}
