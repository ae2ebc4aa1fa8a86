package permits

import (
	"fmt"
	"time"

	"github.com/tidemill/tidemill/admission"
)

// call is one call on its way to a semaphore.
type call struct {
	wire   Call
	id     string                  // of the request
	belief *admission.Confirmation // goes along; nil: none
	seq    uint64                  // order of arrival
	made   time.Time               // arrival
	alone  bool                    // a batch with it was refused: it goes by itself
	left   bool                    // a submit whose caller waits no more

	heard  chan struct{} // closed once answer and err stand
	answer CallAnswer
	err    error
}

// newCall makes a call. A belief that fills a batch by itself stays at home: an update
// too large would block the semaphore, and owners are asked all the same when a lease
// runs out.
func newCall(wire Call, belief *admission.Confirmation) *call {
	c := &call{wire: wire, id: wire.id(), belief: belief, heard: make(chan struct{})}
	if c.size() > maxBytes {
		c.belief = nil
	}
	return c
}

// id is the id of the request that the call is about; empty for a confirmation.
func (c *Call) id() string {
	switch {
	case c.Submit != nil:
		return c.Submit.ID
	case c.Release != nil:
		return c.Release.ID
	case c.Renew != nil:
		return c.Renew.ID
	}
	return c.Cancel
}

// settle ends the call.
func (c *call) settle(answer CallAnswer, err error) {
	c.answer, c.err = answer, err
	close(c.heard)
}

// decision reads the answer to a submit.
func (a *CallAnswer) decision() (admission.Decision, error) {
	switch {
	case a.Foreign:
		return admission.Decision{}, admission.ErrForeignRequest
	case a.Refused != "":
		return admission.Decision{}, fmt.Errorf("%w: %s", admission.ErrInvalidRequest, a.Refused)
	case a.Decision == nil:
		return admission.Decision{}, fmt.Errorf("%w: the answer holds no decision", ErrUnanswered)
	}
	return *a.Decision, nil
}

// same tells whether a call that waits says all that another says: a repeated
// release, renewal or cancel.
func (c *call) same(o *call) bool {
	if c.id != o.id || c.wire.Submit != nil || o.wire.Submit != nil || c.alone {
		return false
	}
	named := func(x, y *Named) bool { return x == y || x != nil && y != nil && *x == *y }
	return c.wire.Cancel == o.wire.Cancel && named(c.wire.Release, o.wire.Release) && named(c.wire.Renew, o.wire.Renew)
}

// newer is the belief that says more of two of one owner: the one that knows of
// more acquisitions, else the later one.
func newer(older, later *admission.Confirmation) *admission.Confirmation {
	if older == nil || later != nil && later.Upto >= older.Upto {
		return later
	}
	return older
}

// size is about how many bytes the call takes in a batch.
func (c *call) size() int {
	n := 64 + len(c.id)
	if r := c.wire.Submit; r != nil {
		n += 256 + len(r.Owner.Workflow) + len(r.Owner.Process) + len(r.Agent) + len(r.Flow) + len(r.Parent)
		for _, list := range [][]admission.Units{r.Keys, r.Rates} {
			for _, u := range list {
				n += 32 + len(u.Key)
			}
		}
		for _, id := range r.Within {
			n += 4 + len(id)
		}
	}
	if b := c.belief; b != nil {
		n += 128 + len(b.Owner.Workflow)
		for _, id := range b.IDs {
			n += 4 + len(id)
		}
	}
	return n
}
