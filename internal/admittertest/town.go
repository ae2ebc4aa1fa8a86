package admittertest

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/tidemill/tidemill/activities/permits"
	"github.com/tidemill/tidemill/admission"
)

// Town is where owners live that need no server. It is the [permits.Owners] of an
// admitter under test.
type Town struct {
	mu       sync.Mutex
	citizens map[admission.Owner]*citizen
	fail     int // deliveries
}

// NewTown makes a town without owners.
func NewTown() *Town { return &Town{citizens: map[admission.Owner]*citizen{}} }

// Begin begins an owner.
func (w *Town) Begin(*testing.T) Owner {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := &citizen{town: w, owner: admission.Owner{Workflow: fmt.Sprint("workflow-", len(w.citizens)), FirstRun: fmt.Sprint("run-", len(w.citizens))}}
	w.citizens[c.owner] = c
	return c
}

// Fail has the next messages not arrive.
func (w *Town) Fail(n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.fail = n
}

// Deliver tells owners their decisions.
func (w *Town) Deliver(_ context.Context, messages []permits.Message) []permits.Delivery {
	w.mu.Lock()
	defer w.mu.Unlock()
	became := make([]permits.Delivery, len(messages))
	for i, m := range messages {
		c := w.citizens[m.Owner]
		switch {
		case w.fail > 0:
			w.fail--
			became[i] = permits.Undelivered
		case c == nil || c.ended:
			became[i] = permits.OwnerGone
		default:
			c.told = append(c.told, m.Decisions...)
			became[i] = permits.Delivered
		}
	}
	return became
}

// Check finds out about owners.
func (w *Town) Check(_ context.Context, owners []admission.Owner) []permits.Finding {
	w.mu.Lock()
	defer w.mu.Unlock()
	found := make([]permits.Finding, len(owners))
	for i, o := range owners {
		found[i] = permits.Finding{Owner: o, Life: permits.LifeClosed}
		if c := w.citizens[o]; c != nil && !c.ended {
			found[i].Life, found[i].Belief = permits.LifeOpen, c.belief
		}
	}
	return found
}

// citizen is an owner in a town.
type citizen struct {
	town   *Town
	owner  admission.Owner
	told   []admission.Decision
	belief *permits.Belief
	ended  bool
}

// Owner is who it is.
func (c *citizen) Owner() admission.Owner { return c.owner }

// Told are the decisions that were delivered to it.
func (c *citizen) Told() []admission.Decision {
	c.town.mu.Lock()
	defer c.town.mu.Unlock()
	return slices.Clone(c.told)
}

// Believe is what it says when it is asked.
func (c *citizen) Believe(b permits.Belief) {
	c.town.mu.Lock()
	defer c.town.mu.Unlock()
	c.belief = &b
}

// End ends it.
func (c *citizen) End() {
	c.town.mu.Lock()
	defer c.town.mu.Unlock()
	c.ended = true
}
