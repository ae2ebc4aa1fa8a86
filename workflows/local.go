package workflows

import (
	"encoding/json"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/tidemill/tidemill/activities"
	"github.com/tidemill/tidemill/graph"
)

// runLocally makes a node's attempt within the current workflow task and queues
// how it ends. The attempt is durable when the task ends, not before.
func (r *run) runLocally(ctx workflow.Context, e graph.RunNode) {
	address := e.Task.Run.Address
	stop := make(chan struct{})
	r.open[address] = func() {
		delete(r.open, address)
		close(stop)
	}
	r.budget.begin(ctx)
	future := workflow.ExecuteLocalActivity(workflow.WithLocalActivityOptions(ctx, localOptions(e)), activities.NameLocal,
		activities.LocalInput{Task: e.Task, Cancel: stop})
	workflow.GoNamed(ctx, string(address), func(ctx workflow.Context) {
		var raw json.RawMessage
		var end activities.LocalEnd
		err := future.Get(ctx, &raw)
		if err == nil {
			if broken := json.Unmarshal(raw, &end); broken != nil {
				blocked("how a local action ended cannot be read", broken)
			}
		}
		r.budget.end(ctx, len(raw))
		delete(r.open, address)
		ending := activities.EndingOfLocal(e.Task.Node, end, err)
		r.push(func(now time.Time) { r.machine.End(now, address, ending) })
	})
}

// localOptions are the options of a node's local activity. It is tried once: what
// follows from its ending is the machine's to say.
func localOptions(e graph.RunNode) workflow.LocalActivityOptions {
	return workflow.LocalActivityOptions{
		ScheduleToCloseTimeout: unlimited, // however long others keep it waiting
		StartToCloseTimeout:    e.Task.Node.Timeout.Std() + activities.LocalBackstop,
		RetryPolicy:            &temporal.RetryPolicy{MaximumAttempts: 1},
		Summary:                string(e.Task.Run.Address), // its only id: the SDK counts them
	}
}
