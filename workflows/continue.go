package workflows

import (
	"encoding/json"
	"slices"

	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/workflow"

	"github.com/tidemill/tidemill/activities"
	"github.com/tidemill/tidemill/graph"
)

const (
	// maxHandedOn is how many bytes the next run of a chain is given: two thirds of what
	// a server takes as one, for a codec may add half. A server ends a run that asks for
	// more.
	maxHandedOn = 2 << 20 * 2 / 3
	// maxCarriedReplies is how many replies to the parent go along, for an answer that
	// the server brings twice.
	maxCarriedReplies = 200
)

// goesOn reports whether the run is continued by another one now.
func (r *run) goesOn(ctx workflow.Context) bool {
	return r.draining() && r.events(ctx) >= r.drain.after && r.atRest(ctx)
}

// continueAsNew is what the workflow function returns for the next run to continue
// this one; nil when that would be given too much, which would be the end of both.
// Nothing may be waited for between [run.atRest] and the return.
func (r *run) continueAsNew(ctx workflow.Context) error {
	arguments, size := r.nextArguments()
	if size <= maxHandedOn {
		return workflow.NewContinueAsNewError(ctx, r.info.WorkflowType.Name, arguments...)
	}
	events := r.events(ctx)
	r.drain = drain{on: events >= overlong, moved: true, size: size, after: events + again}
	workflow.GetLogger(ctx).Warn("the run is too large to continue as new", "bytes", size, "most", maxHandedOn, "events", events)
	return nil
}

// nextArguments are what the next run is given, and their bytes. The input goes along
// for people to see, when there is room: the machine needs it no more.
func (r *run) nextArguments() (arguments []any, size int) {
	options, child := r.pin.Options, r.child
	options.Spec, options.Checkpoint, options.From = nil, nil, ""
	if child != nil {
		inherited := *child
		inherited.Documents, inherited.Map, inherited.Redriven = nil, nil, nil // in the carry
		child = &inherited
	}
	for _, v := range []any{r.input, options, child, r.carry()} {
		argument, err := activities.Plain(v)
		if err != nil {
			blocked("what the next run needs cannot be written", err)
		}
		arguments, size = append(arguments, argument), size+len(argument.Payload().GetData())
	}
	if size > maxHandedOn {
		size -= len(arguments[0].(converter.RawValue).Payload().GetData())
		arguments[0] = json.RawMessage("null")
	}
	return arguments, size
}

// carry is what the next run needs to know.
func (r *run) carry() activities.Carry {
	return activities.Carry{
		Version: activities.CarryVersion, From: r.info.WorkflowExecution.RunID,
		Runs: r.chain.runs + 1, Started: r.started(), Checkpoint: r.machine.Checkpoint(),
		Documents: append([]*graph.Document{r.pin.Document}, r.pin.Graphs...),
		Requests:  r.requests,
		Shown:     activities.CarriedShown{Status: r.shown.status, Waiting: r.shown.waiting},
		Parent:    r.parent.carry(),
	}
}

// carry is what the next run needs to know of the parent; nil: there is none to tell.
func (p *parent) carry() *activities.CarriedParent {
	if p.execution == nil {
		return nil
	}
	carried := &activities.CarriedParent{Sequence: p.sequence, Paused: p.paused}
	for _, pause := range p.told {
		carried.Told = append(carried.Told, pause.ID)
	}
	carried.Replied = slices.Clone(p.replied[max(len(p.replied)-maxCarriedReplies, 0):])
	return carried
}
