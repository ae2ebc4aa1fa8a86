package workflows

import (
	"encoding/json"
	"time"

	"github.com/tidemill/tidemill/activities"
	"github.com/tidemill/tidemill/graph"
)

// chain is what a run knows of those that it continues.
type chain struct {
	runs  int       // before this one
	began time.Time // the first of them
}

// started is when the first run of the chain began.
func (r *run) started() time.Time {
	if r.chain.runs > 0 {
		return r.chain.began
	}
	return r.info.WorkflowStartTime
}

// takeUp reads what the earlier run of the chain left, and takes over what is not the
// machine's; nil when this run begins by itself. What cannot be read blocks the run: a
// worker that can read it takes it up, and refusing it would lose the run.
func (r *run) takeUp(raw json.RawMessage) *activities.Carry {
	carry, err := activities.ParseCarry(raw)
	if err != nil {
		blocked("what the earlier run left cannot be read", err)
	}
	if carry == nil || carry.From != r.info.ContinuedExecutionRunID {
		return nil
	}
	r.chain = chain{runs: carry.Runs, began: carry.Started}
	r.pin.Document, r.pin.Graphs = carry.Documents[0], carry.Documents[1:]
	r.requests = carry.Requests
	r.shown = attributes{status: carry.Shown.Status, waiting: carry.Shown.Waiting}
	r.parent.takeUp(carry.Parent)
	return carry
}

// takeUp takes over what the parent has been told; nil: it has closed, or there is
// none.
func (p *parent) takeUp(carried *activities.CarriedParent) {
	if carried == nil {
		*p = parent{}
		return
	}
	p.sequence, p.paused, p.replied = carried.Sequence, carried.Paused, carried.Replied
	for _, id := range carried.Told {
		p.told = append(p.told, graph.OpenPause{Pause: graph.Pause{ID: id}}) // known by its id
	}
}

// goOn makes the machine of a run that continues an earlier one.
func (r *run) goOn(plan *graph.Plan, start graph.Start, carry *activities.Carry) {
	r.keepLane(&start, carry.Checkpoint)
	var failure *graph.Failure
	if r.machine, failure = graph.Restore(plan, carry.Checkpoint, start); failure != nil {
		blocked("the run cannot go on from where the earlier one stood", failure)
	}
}
