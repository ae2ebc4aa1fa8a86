package workflows

import (
	"fmt"
	"slices"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/tidemill/tidemill/activities"
	"github.com/tidemill/tidemill/graph"
)

// How much the search attribute of waiting pauses holds: the server ends a run
// whose attribute has more than 2,048 bytes.
const (
	maxWaiting      = 20    // pause ids
	maxWaitingBytes = 1_900 // of them as JSON; a number of further ones fits behind
)

// attributes is what the search attributes of the run say.
type attributes struct {
	status  graph.Status
	waiting []string
}

// publish shows how the run stands: live details, which cost nothing, and the
// search attributes when they have changed, which cost an event.
func (r *run) publish(ctx workflow.Context) {
	r.explain(ctx)
	workflow.SetCurrentDetails(ctx, details(r.machine.Overview(), r.machine.Current(), r.chain, r.drain.why))
	if r.machine.Outcome() != nil {
		return
	}
	now := attributes{status: r.machine.Status(), waiting: waitingIDs(r.machine.Pauses())}
	if now.status == r.shown.status && slices.Equal(now.waiting, r.shown.waiting) {
		return
	}
	r.shown = now
	if updates := r.updates(now); len(updates) > 0 {
		if err := workflow.UpsertTypedSearchAttributes(ctx, updates...); err != nil {
			workflow.GetLogger(ctx).Warn("search attributes were not written", "error", err)
		}
	}
}

// updates are the writes for the attributes that the pin has.
func (r *run) updates(now attributes) []temporal.SearchAttributeUpdate {
	var updates []temporal.SearchAttributeUpdate
	has := func(name string) bool { return slices.Contains(r.pin.SearchAttributes, name) }
	if has(activities.AttributeGraph) {
		updates = append(updates, temporal.NewSearchAttributeKeyKeyword(activities.AttributeGraph).ValueSet(r.info.WorkflowType.Name))
	}
	if has(activities.AttributeStatus) {
		updates = append(updates, temporal.NewSearchAttributeKeyKeyword(activities.AttributeStatus).ValueSet(string(now.status)))
	}
	if has(activities.AttributeWaiting) {
		updates = append(updates, temporal.NewSearchAttributeKeyKeywordList(activities.AttributeWaiting).ValueSet(now.waiting))
	}
	return updates
}

// waitingIDs are the ids of open pauses as the attribute lists them.
func waitingIDs(pauses []graph.OpenPause) []string {
	const frame = len(`"",`)
	ids, size := []string{}, 0
	for i, p := range pauses {
		if size += len(p.ID) + frame; i == maxWaiting || size > maxWaitingBytes {
			return append(ids, fmt.Sprintf("+%d", len(pauses)-i))
		}
		ids = append(ids, string(p.ID))
	}
	return ids
}
