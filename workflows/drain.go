package workflows

import (
	"fmt"
	"slices"

	"go.temporal.io/sdk/workflow"

	"github.com/tidemill/tidemill/graph"
)

const (
	// perOpen is how many events an open activity may yet cost.
	perOpen = 5
	// overlong is how many events a run has when something must be wrong that it does
	// not come to rest. Servers end a run at 51,200.
	overlong = 20_000
	// again is how many events later a run that was too large to continue tries again.
	again = 500
)

// drain is the way of a run to its continuation: from when its history is long until
// nothing of it is open, nothing new is started.
type drain struct {
	on    bool
	moved bool // the world has told something since the run began
	steps int  // taken when it began
	size  int  // of what the next run would be given, when that is too large
	after int  // events before which it is not tried again
	why   string
}

// look decides whether the run is to continue as new. It is called where a workflow
// task may have begun. A run that has not come any further since it began does not.
func (r *run) look(ctx workflow.Context) {
	d := &r.drain
	most := r.pin.ContinueAt
	if d.on || most == 0 || !d.moved && r.machine.Steps() == d.steps {
		return
	}
	events := r.events(ctx)
	if events < d.after {
		return
	}
	d.size = 0
	d.on = events+perOpen*len(r.open) >= most || workflow.GetInfo(ctx).GetContinueAsNewSuggested()
}

// events is how many events the run has, with those that its workflow task has added.
func (r *run) events(ctx workflow.Context) int {
	r.budget.enter(ctx)
	return r.budget.task + r.budget.added
}

// draining reports whether nothing new is to be started. A run that is being ended
// closes instead.
func (r *run) draining() bool { return r.drain.on && !r.machine.Stopping() }

// atRest reports whether the run can be continued by another one: nothing is open that
// only this one would hear of, and it has heard everything. Timers are the
// checkpoint's.
func (r *run) atRest(ctx workflow.Context) bool {
	return len(r.open)+len(r.children)+len(r.wanted)+len(r.returning)+r.errands+r.budget.locals == 0 &&
		!r.parent.busy && !r.parent.owes() && !r.due() && !signalled(ctx) && workflow.AllHandlersFinished(ctx)
}

// leaves reports whether a run on its way ahead stops there, to be continued or to hear
// what has happened.
func (r *run) leaves(ctx workflow.Context) bool {
	return r.draining() && (r.due() || r.atRest(ctx))
}

// holds reports whether an effect is not for this run any more but for the one that
// continues it, whose machine wants it again. An attempt that has its permit goes on:
// the permit would be held for nothing.
func (r *run) holds(effect graph.Effect) bool {
	if !r.draining() {
		return false
	}
	switch e := effect.(type) {
	case graph.RunNode:
		return e.Task.Run.Token == 0 && !r.withdrawn(e.Task.Run.Address)
	case graph.StartChild:
		return !r.withdrawn(e.Address)
	case graph.Acquire:
		return !r.forgone(e.Number)
	default:
		return false
	}
}

// forgone reports whether an acquisition is taken back that nobody was asked for yet.
func (r *run) forgone(number uint64) bool {
	return slices.ContainsFunc(r.wanted, func(effect graph.Effect) bool {
		release, ok := effect.(graph.Release)
		return ok && release.Number == number
	})
}

// heldBack is what waits for the continuation, and why.
func (r *run) heldBack() []graph.Waiting {
	var waiting []graph.Waiting
	for _, effect := range r.held {
		w := graph.Waiting{Reason: "the run continues as new first: " + r.drain.why}
		switch e := effect.(type) {
		case graph.RunNode:
			w.Address = e.Task.Run.Address
		case graph.StartChild:
			w.Address = e.Address
		case graph.Acquire:
			w.Address = e.Address
		}
		waiting = append(waiting, w)
	}
	return waiting
}

// explain notes what a run waits for that is to continue as new; nothing when it is
// not.
func (r *run) explain(ctx workflow.Context) {
	r.drain.why = ""
	if !r.draining() && r.drain.size == 0 {
		return
	}
	why := "its history is long, and nothing new starts until " + r.stillOpen()
	if r.drain.size > 0 {
		why = fmt.Sprintf("the next run would be given %d bytes, and at most %d are safe; "+
			"answer or end what is open, or keep large values elsewhere and pass references", r.drain.size, maxHandedOn)
	}
	r.drain.why = alarming(r.events(ctx), why)
}

// alarming is why a run waits, with how near to its end a very long history is.
func alarming(events int, why string) string {
	if events < overlong {
		return why
	}
	return fmt.Sprintf("it has %d events, and servers end a run at 51,200; %s", events, why)
}

// stillOpen says what has to end before a run can be continued.
func (r *run) stillOpen() string {
	children := len(r.children)
	switch activities := len(r.open) - children; {
	case len(r.open) == 0:
		return "what is under way has been heard"
	case children == 0:
		return fmt.Sprintf("what is running has ended (%d activities)", activities)
	default:
		return fmt.Sprintf("what is running has ended (%d activities, %d children)", activities, children)
	}
}
