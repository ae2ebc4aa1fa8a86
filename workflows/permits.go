package workflows

import (
	"encoding/json"
	"strings"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/tidemill/tidemill/activities"
	"github.com/tidemill/tidemill/activities/permits"
	"github.com/tidemill/tidemill/admission"
	"github.com/tidemill/tidemill/graph"
)

// admitted reports whether attempts of the run need permits. A run that is bound to
// no admission asks nobody for anything.
func (r *run) admitted() bool { return r.pin.AdmissionDomain != "" }

// setPermits lets admission ask the run what it believes, and tell it what became
// of requests that waited.
func (r *run) setPermits(ctx workflow.Context) error {
	if !r.admitted() {
		return nil
	}
	workflow.GetSignalChannelWithOptions(ctx, permits.SignalPermits, workflow.SignalChannelOptions{
		Description: "For admission only: what became of requests for permits.",
	})
	return workflow.SetQueryHandlerWithOptions(ctx, permits.QueryPermits, r.queryPermits, workflow.QueryHandlerOptions{
		Description: "For admission only: the permits that the run holds or waits for.",
	})
}

// acquire asks for the permit of an attempt and queues the answer. It is asked for
// within the current workflow task, so that a permit that is free costs none.
func (r *run) acquire(ctx workflow.Context, e graph.Acquire) {
	future := workflow.ExecuteLocalActivity(permitContext(ctx, string(e.Address)), activities.NameAcquire, activities.AcquireInput{
		Facts: r.facts(e.Node, e.Run),
		Request: admission.Request{
			ID: r.requestID(e.Address, e.Number), Owner: r.owner(), Number: e.Number, Arrival: e.Arrival,
			Overflow: admission.Overflow(e.Overflow), Deadline: e.Deadline, QueueTimeout: admission.None,
		},
		Belief: r.confirmation(), Returns: r.returning,
	})
	r.returning = nil
	r.errands++
	workflow.GoNamed(ctx, string(e.Address)+" permit", func(ctx workflow.Context) {
		var raw json.RawMessage
		var answer graph.Admission
		err := future.Get(ctx, &raw)
		if err == nil {
			err = json.Unmarshal(raw, &answer)
		}
		if err != nil { // recorded: it ran out of its time
			answer = graph.Admission{Answer: graph.AdmissionUnanswered, Message: err.Error()}
		}
		r.budget.spend(ctx, len(raw))
		r.errands--
		r.note(func(now time.Time) { r.machine.Admitted(now, e.Number, answer) })
	})
}

// forgo ends an acquisition that was held back and is not wanted any more, before
// anybody is asked.
func (r *run) forgo(e graph.Acquire) bool {
	if !r.forgone(e.Number) {
		return false
	}
	r.note(func(now time.Time) {
		r.machine.Admitted(now, e.Number, graph.Admission{Answer: graph.AdmissionUnanswered, Message: "nobody was asked"})
	})
	return true
}

// release gives a permit back, or withdraws a request. The run goes on meanwhile,
// but does not close before it is done. A request whose domain is not known yet has
// not been answered: it is withdrawn when it is.
func (r *run) release(ctx workflow.Context, e graph.Release) {
	if e.Domain == "" {
		return
	}
	hold := permits.Hold{Domain: e.Domain, ID: r.requestID(e.Address, e.Number), Token: e.Token, Belief: r.confirmation()}
	if e.Token != 0 && r.asksNext() {
		r.returning = append(r.returning, hold)
		return
	}
	r.giveBack(ctx, string(e.Address), hold)
}

// returnAll gives back what was to go along with an acquisition that is held back.
func (r *run) returnAll(ctx workflow.Context) {
	for _, hold := range r.returning {
		r.giveBack(ctx, hold.ID, hold)
	}
	r.returning = nil
}

// giveBack hands over that a permit has ended.
func (r *run) giveBack(ctx workflow.Context, summary string, hold permits.Hold) {
	future := workflow.ExecuteLocalActivity(permitContext(ctx, summary), activities.NameRelease, hold)
	r.errands++
	workflow.GoNamed(ctx, summary+" release", func(ctx workflow.Context) {
		if err := future.Get(ctx, nil); err != nil {
			workflow.GetLogger(ctx).Warn("a permit is left to its lease", "permit", summary, "error", err)
		}
		r.budget.spend(ctx, 0)
		r.errands--
	})
}

// asksNext reports whether what is done next is to ask for a permit: what is given
// back goes along.
func (r *run) asksNext() bool {
	for _, effect := range r.wanted {
		switch effect.(type) {
		case graph.Acquire:
			return !r.holds(effect)
		case graph.Release:
		default:
			return false
		}
	}
	return false
}

// permitContext is the context of the local activities of admission.
func permitContext(ctx workflow.Context, summary string) workflow.Context {
	return workflow.WithLocalActivityOptions(ctx, workflow.LocalActivityOptions{
		ScheduleToCloseTimeout: unlimited, // however long others keep it waiting
		StartToCloseTimeout:    10 * time.Second,
		RetryPolicy:            &temporal.RetryPolicy{InitialInterval: 100 * time.Millisecond, MaximumAttempts: 3},
		Summary:                summary,
	})
}

// facts are what a node's attempt is classified by.
func (r *run) facts(node *graph.Node, of graph.RunFacts) permits.Facts {
	facts := permits.Facts{
		Graph: of.Graph, App: of.Lane.App, User: of.Lane.User, Session: of.Lane.Session, WorkflowID: of.ID,
	}
	if node != nil {
		facts.Node, _, _ = strings.Cut(node.ID, "/") // an item has no id but its map's
		facts.Type = string(node.Type)
		if node.Run != nil {
			facts.Action = node.Run.ActivityType()
		}
	}
	return facts
}

// owner is who holds the run's permits: the chain of its runs.
func (r *run) owner() admission.Owner {
	return admission.Owner{Workflow: r.info.WorkflowExecution.ID, FirstRun: r.info.FirstRunID}
}

func (r *run) requestID(address graph.Address, number uint64) string {
	return permits.RequestID(r.info.FirstRunID, string(address), number)
}

// confirmation is what the run believes, as it goes with every message: nil when that
// is more than a message should hold, for the run is asked when a lease runs out.
func (r *run) confirmation() *admission.Confirmation {
	belief := r.machine.Belief()
	if len(belief.Open) > maxBelief {
		return nil
	}
	c := &admission.Confirmation{Owner: r.owner(), Upto: belief.Upto}
	for _, p := range belief.Open {
		c.IDs = append(c.IDs, r.requestID(p.Address, p.Number))
	}
	return c
}

// maxBelief is how many permits a message names.
const maxBelief = 20

// queryPermits is what the run believes, for whoever checks on it.
func (r *run) queryPermits() (permits.Belief, error) {
	if r.machine == nil {
		return permits.Belief{}, r.notBegun()
	}
	belief := r.machine.Belief()
	answer := permits.Belief{Upto: belief.Upto}
	for _, p := range belief.Open {
		id := r.requestID(p.Address, p.Number)
		if p.State == graph.PermitHeld {
			answer.Held = append(answer.Held, id)
		} else {
			answer.Waited = append(answer.Waited, id)
		}
	}
	return answer, nil
}

// receivePermits takes what admission tells later. What concerns an earlier chain of
// this workflow id is none of the run's business.
func (r *run) receivePermits(ctx workflow.Context, payload *commonpb.Payload) {
	var decisions []admission.Decision
	if err := json.Unmarshal(payload.GetData(), &decisions); err != nil {
		workflow.GetLogger(ctx).Warn("a message of admission cannot be read", "error", err)
		return
	}
	for _, d := range decisions {
		number, ours := permits.NumberOf(d.ID, r.info.FirstRunID)
		if !ours || r.machine == nil {
			continue
		}
		answer := activities.AdmissionOf(d)
		answer.Repeated = true
		r.note(func(now time.Time) { r.machine.Admitted(now, number, answer) })
	}
}
