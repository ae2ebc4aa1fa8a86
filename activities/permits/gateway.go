package permits

import (
	"context"
	"time"

	"go.temporal.io/sdk/activity"

	"github.com/tidemill/tidemill/admission"
)

// The names of the activities by which a semaphore reaches owners. Stable: histories
// hold them.
const (
	NameDeliver     = "tidemill.deliver"
	NameCheckOwners = "tidemill.check_owners"
)

// How long the activities of a [Gateway] take at most.
const (
	DeliverWithin = 3 * time.Second
	CheckWithin   = 20 * time.Second
)

// Registrar is the part of a worker, or of a test environment, that takes activities.
type Registrar interface {
	RegisterActivityWithOptions(a any, options activity.RegisterOptions)
}

// Gateway is how a semaphore reaches the owners of its requests. It is safe for
// concurrent use.
type Gateway struct{ owners Owners }

// NewGateway makes the activities of a worker of semaphores.
func NewGateway(owners Owners) *Gateway { return &Gateway{owners: owners} }

// Register adds the activities to a worker.
func (g *Gateway) Register(r Registrar) {
	r.RegisterActivityWithOptions(g.Deliver, activity.RegisterOptions{Name: NameDeliver})
	r.RegisterActivityWithOptions(g.Check, activity.RegisterOptions{Name: NameCheckOwners})
}

// Deliver tells each owner its decisions.
//
// Repeats: an owner takes a decision once, and ignores one that it is not waiting for.
// Final errors: none; what was not delivered is in the result.
func (g *Gateway) Deliver(ctx context.Context, messages []Message) ([]Delivery, error) {
	ctx, cancel := context.WithTimeout(ctx, DeliverWithin)
	defer cancel()
	return g.owners.Deliver(ctx, messages), nil
}

// Check finds out about owners whose lease ran out.
//
// Repeats: it changes nothing.
// Final errors: none; what could not be found out is unknown.
func (g *Gateway) Check(ctx context.Context, owners []admission.Owner) ([]Finding, error) {
	ctx, cancel := context.WithTimeout(ctx, CheckWithin)
	defer cancel()
	return g.owners.Check(ctx, owners), nil
}
