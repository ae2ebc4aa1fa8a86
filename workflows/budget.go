package workflows

import (
	"encoding/json"
	"fmt"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/tidemill/tidemill/activities"
	"github.com/tidemill/tidemill/graph"
)

// What one workflow task may hold before it is ended. Until it ends, a killed
// worker repeats everything in it, queries wait, and signals wait.
const (
	taskMarkers  = 250
	taskBytes    = 192 << 10 // of local results; one more batch fits
	taskCommands = 2<<20 - 256<<10
	taskTime     = 500 * time.Millisecond
	taskLocals   = 2 << 20 // of commands, and what the open local actions may yet give
)

// budget counts what the current workflow task holds. It is the one place that
// knows when a task must end.
type budget struct {
	task     int // identifies the workflow task: the history's length when it began
	began    time.Time
	markers  int
	bytes    int
	commands int
	added    int // events, as far as they are counted
	locals   int // local actions that are open, begun in this task or an earlier one
}

// enter begins a new count when a new workflow task has begun.
func (b *budget) enter(ctx workflow.Context) {
	if task := workflow.GetInfo(ctx).GetCurrentHistoryLength(); task != b.task {
		*b = budget{task: task, began: workflow.Now(ctx), locals: b.locals}
	}
}

// spend counts one recorded local result.
func (b *budget) spend(ctx workflow.Context, bytes int) {
	b.enter(ctx)
	b.added++
	b.markers++
	b.bytes += bytes
	b.commands += bytes
}

// command counts the bytes of a command.
func (b *budget) command(ctx workflow.Context, bytes int) {
	b.enter(ctx)
	b.added++
	b.commands += bytes
}

// begin counts a local action that is about to run.
func (b *budget) begin(ctx workflow.Context) {
	b.enter(ctx)
	b.locals++
}

// end counts a local action that has ended, by the bytes it gave.
func (b *budget) end(ctx workflow.Context, bytes int) {
	b.locals--
	b.spend(ctx, bytes)
}

// full reports whether no further local action can be begun before one of the
// open ones has ended, for each may give the most that is allowed.
func (b *budget) full(ctx workflow.Context) bool {
	b.enter(ctx)
	return b.locals > 0 &&
		(b.markers+b.locals >= taskMarkers || b.commands+(b.locals+1)*activities.MaxLocalResult > taskLocals)
}

// crowded reports whether a command of some bytes no longer fits into the task.
// An empty task holds any.
func (b *budget) crowded(ctx workflow.Context, bytes int) bool {
	b.enter(ctx)
	held := b.commands + b.locals*activities.MaxLocalResult
	return held > 0 && held+bytes > taskCommands
}

// spent reports whether the task must end before more is put into it.
func (b *budget) spent(ctx workflow.Context) bool {
	b.enter(ctx)
	return b.markers >= taskMarkers || b.bytes >= taskBytes || b.commands >= taskCommands ||
		workflow.Now(ctx).Sub(b.began) >= taskTime
}

// flush ends the workflow task by an activity that does nothing: when it
// returns, everything before it is durable, and signals have been delivered.
func flush(ctx workflow.Context) error {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: 10 * time.Second,
		Summary:             "ends a long workflow task",
		RetryPolicy:         &temporal.RetryPolicy{InitialInterval: 100 * time.Millisecond, MaximumInterval: 5 * time.Second},
	})
	return workflow.ExecuteActivity(ctx, activities.NameFlush).Get(ctx, nil)
}

// flush ends the workflow task, and looks how long the history has become.
func (r *run) flush(ctx workflow.Context) error {
	err := flush(ctx)
	r.look(ctx)
	return err
}

// advance runs the machine ahead to its next effects. Everything it cannot
// know is evaluated in a local activity, a batch at a time, on a copy of the
// machine; what that decided is recorded and repeated here. A run that is to be
// continued stops where it can be.
func (r *run) advance(ctx workflow.Context) error {
	r.machine.Advance(workflow.Now(ctx), graph.Undecided{})
	for (r.machine.Undecided() || r.machine.Unsettled()) && !r.leaves(ctx) {
		if r.budget.spent(ctx) || r.machine.Unsettled() {
			if err := r.breathe(ctx); err != nil {
				return err
			}
		}
		if !r.machine.Undecided() {
			r.machine.Advance(workflow.Now(ctx), graph.Undecided{})
			continue
		}
		r.decide(ctx)
	}
	return nil
}

// breathe ends the task, and lets what arrived meanwhile have its turn.
func (r *run) breathe(ctx workflow.Context) error {
	if err := r.flush(ctx); err != nil {
		return err
	}
	r.collect(ctx)
	r.apply(ctx)
	r.machine.Advance(workflow.Now(ctx), graph.Undecided{})
	return nil
}

// decide takes one batch of decisions.
func (r *run) decide(ctx workflow.Context) {
	now := workflow.Now(ctx)
	future := workflow.ExecuteLocalActivity(localContext(ctx, 10*time.Second), activities.NameDecide,
		activities.DecideInput{
			Machine: r.machine.Clone(), Now: now, Document: r.pin.Document, Fingerprint: r.pin.Fingerprint,
		})
	var raw json.RawMessage
	var decisions []graph.Decision
	err := future.Get(ctx, &raw)
	if err == nil {
		err = json.Unmarshal(raw, &decisions)
	}
	if err != nil {
		blocked("what comes next cannot be decided", err)
	}
	r.budget.spend(ctx, len(raw))
	r.collect(ctx)
	recorded := graph.NewRecorded(decisions)
	r.machine.Advance(now, recorded)
	if left := recorded.Left(); left > 0 {
		blocked("recorded decisions cannot be repeated", fmt.Errorf("%d are left over", left))
	}
}
