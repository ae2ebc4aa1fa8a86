package workflows

import (
	"encoding/json"
	"slices"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/tidemill/tidemill/activities"
	"github.com/tidemill/tidemill/graph"
	"github.com/tidemill/tidemill/graph/value"
)

// perform starts what the machine wants started, in its order. What one workflow
// task cannot hold is started in instalments; what arrives between two of them
// has its turn first.
func (r *run) perform(ctx workflow.Context) error {
	for r.wanted = append(r.wanted, r.machine.Effects()...); len(r.wanted) > 0; {
		effect := r.wanted[0]
		if room, err := r.makeRoom(ctx, effect); err != nil || !room {
			return err
		}
		r.wanted = r.wanted[1:]
		r.do(ctx, effect)
	}
	return nil
}

// makeRoom sees to it that the workflow task can hold an effect. It reports false
// when something that has happened, or is about to, has its turn first.
func (r *run) makeRoom(ctx workflow.Context, effect graph.Effect) (bool, error) {
	local := r.local(effect)
	tight := (local || errand(effect)) && r.budget.spent(ctx)
	if size := r.commandSize(effect); !local && size > 0 {
		tight = r.budget.crowded(ctx, size)
	}
	if tight {
		if err := flush(ctx); err != nil {
			return false, err
		}
		if r.due() {
			return false, nil
		}
	}
	return !local || !r.budget.full(ctx), nil
}

// local reports whether an effect is a local activity that is still wanted.
func (r *run) local(effect graph.Effect) bool {
	node, ok := effect.(graph.RunNode)
	return ok && node.Local && !r.withdrawn(node.Task.Run.Address)
}

// errand reports whether an effect is a local activity of admission.
func errand(effect graph.Effect) bool {
	switch effect.(type) {
	case graph.Acquire, graph.Release:
		return true
	default:
		return false
	}
}

// commandSize is about how many bytes of the workflow task an effect takes, when
// that matters.
func (r *run) commandSize(effect graph.Effect) int {
	switch e := effect.(type) {
	case graph.RunNode:
		if !r.withdrawn(e.Task.Run.Address) {
			return taskSize(e)
		}
	case graph.StartChild:
		if !r.withdrawn(e.Address) {
			return r.childSize(e)
		}
	case graph.Forward:
		return len(e.Answer.Input)
	}
	return 0
}

// withdrawn reports whether an activity or a child is cancelled that is not
// started yet.
func (r *run) withdrawn(address graph.Address) bool {
	return slices.ContainsFunc(r.wanted, func(effect graph.Effect) bool {
		cancel, ok := effect.(graph.CancelNode)
		return ok && cancel.Address == address
	})
}

// do does one thing that the machine wants done.
func (r *run) do(ctx workflow.Context, effect graph.Effect) {
	switch e := effect.(type) {
	case graph.RunNode:
		switch {
		case r.withdraw(e.Task.Run.Address):
		case e.Local:
			r.runLocally(ctx, e)
		default:
			r.runNode(ctx, e)
		}
	case graph.StartChild:
		if !r.withdraw(e.Address) {
			r.startChild(ctx, e)
		}
	case graph.Acquire:
		r.acquire(ctx, e)
	case graph.Release:
		r.release(ctx, e)
	case graph.Forward:
		r.forward(ctx, e)
	case graph.CancelNode:
		if cancel, ok := r.open[e.Address]; ok {
			cancel()
		}
	case graph.SetTimer:
		r.setTimer(ctx, e)
	case graph.StopTimer:
		if cancel, ok := r.timers[e.Address]; ok {
			cancel()
			delete(r.timers, e.Address)
		}
	}
}

// withdraw ends what is cancelled before it was started.
func (r *run) withdraw(address graph.Address) bool {
	if !r.withdrawn(address) {
		return false
	}
	r.push(func(now time.Time) { r.machine.End(now, address, withdrawnEnding()) })
	return true
}

// withdrawnEnding is how an activity ends that was cancelled before it was scheduled.
func withdrawnEnding() graph.Ending {
	return graph.Ending{Kind: graph.Cancelled, Failure: &graph.Failure{
		Type: graph.ErrTypeCancelled, Message: "the node was cancelled before it began", Effect: "none",
	}}
}

// taskSize is about how many bytes of the workflow task the command of a node
// takes.
func taskSize(e graph.RunNode) int {
	const facts = 2 << 10 // of the run, options and what the server adds
	size := facts + len(e.Args)
	if !e.Task.Node.Foreign() {
		task := e.Task.Sent()
		size += task.Size()
	}
	return size
}

// runNode schedules the activity of a node and queues how it ends.
func (r *run) runNode(ctx workflow.Context, e graph.RunNode) {
	address := e.Task.Run.Address
	if p := e.Task.Permit; p != nil {
		e.Task.Permit = &graph.TaskPermit{Domain: p.Domain, ID: r.requestID(address, p.Number)}
	}
	ctx, cancel := workflow.WithCancel(workflow.WithActivityOptions(ctx, activityOptions(e)))
	r.open[address] = cancel
	r.budget.command(ctx, taskSize(e))
	future := workflow.ExecuteActivity(ctx, e.Task.Node.Run.ActivityType(), argument(e))
	workflow.GoNamed(ctx, string(address), func(ctx workflow.Context) {
		result, err := resultOf(ctx, future, e.Task.Node)
		delete(r.open, address)
		ending := activities.EndingOf(e.Task.Node, result, err)
		r.push(func(now time.Time) { r.machine.End(now, address, ending) })
	})
}

// argument is what a node's activity is given: ours the whole task, another's
// just its arguments.
func argument(e graph.RunNode) any {
	if e.Task.Node.Foreign() {
		return e.Args
	}
	task, err := activities.Plain(e.Task.Sent())
	if err != nil {
		blocked("the task of a node cannot be written", err)
	}
	return task
}

// resultOf waits for a node's activity. What an activity of another make gives
// is its output.
func resultOf(ctx workflow.Context, future workflow.Future, node *graph.Node) (*graph.Result, error) {
	var result graph.Result
	if !node.Foreign() {
		err := future.Get(ctx, &result)
		return &result, err
	}
	var raw json.RawMessage
	err := future.Get(ctx, &raw)
	if err == nil && raw != nil {
		if result.Output, err = value.Canonical(raw); err != nil {
			err = temporal.NewNonRetryableApplicationError("the activity's result is not JSON that can be kept", graph.ErrTypeInvalidOutput, err)
		}
	}
	return &result, err
}

// activityOptions are the options of a node's activity.
func activityOptions(e graph.RunNode) workflow.ActivityOptions {
	node := e.Task.Node
	options := workflow.ActivityOptions{
		ActivityID:          string(e.Task.Run.Address),
		TaskQueue:           node.Run.TaskQueue,
		StartToCloseTimeout: unlimited,
		WaitForCancellation: true,
		RetryPolicy:         retryPolicy(node, e.MaxAttempts),
		Summary:             node.ID,
		Priority:            dispatch(e),
	}
	limited := node.Timeout != graph.None
	if limited {
		options.StartToCloseTimeout = node.Timeout.Std()
	}
	if node.Foreign() {
		return options // without our wrapper nobody beats
	}
	options.HeartbeatTimeout = activities.HeartbeatTimeout
	if e.Task.Permit != nil { // it may be given back: no attempt follows without the run asking anew
		options.RetryPolicy.NonRetryableErrorTypes = append(options.RetryPolicy.NonRetryableErrorTypes, startToCloseTimeout)
	}
	if limited {
		// The wrapper ends an attempt on time. The server's own limit lies a
		// heartbeat behind it, so that a lost worker is always seen as one.
		options.StartToCloseTimeout += activities.Backstop
	}
	return options
}

// The steps of Temporal's priorities, and how long a fairness key may be.
const (
	lowestPriority = 5
	priorityStep   = 25 // of ours, which go from 0 to 100
	maxFairnessKey = 64
)

// dispatch is what the classification says of an attempt in Temporal's words, for
// servers that order their task queues by it: 100 is its highest priority, 0 its
// lowest, and flows are fairness keys.
func dispatch(e graph.RunNode) temporal.Priority {
	var p temporal.Priority
	if e.Priority != 0 {
		p.PriorityKey = lowestPriority - (e.Priority+priorityStep/2)/priorityStep
	}
	if p.FairnessKey = e.Flow; len(e.Flow) > maxFairnessKey {
		p.FairnessKey = value.Digest([]byte(e.Flow))[:maxFairnessKey]
	}
	return p
}

// The timeouts as the server's retry policies call them.
const (
	heartbeatTimeout    = "TemporalTimeout:Heartbeat"
	startToCloseTimeout = "TemporalTimeout:StartToClose"
)

// retryPolicy lets the server drive a node's attempts. An interruption comes
// back at once, for it is no attempt: the machine counts it and schedules the
// attempt again.
func retryPolicy(node *graph.Node, attempts int) *temporal.RetryPolicy {
	retry := node.Retry
	policy := &temporal.RetryPolicy{
		InitialInterval:        time.Millisecond,
		BackoffCoefficient:     1,
		MaximumAttempts:        int32(attempts), //nolint:gosec // the compiler bounds attempts
		NonRetryableErrorTypes: []string{activities.ErrTypeInterrupted, activities.ErrTypeNotRegistered, heartbeatTimeout},
	}
	if retry == nil {
		return policy
	}
	policy.InitialInterval = max(retry.Backoff.Std(), time.Millisecond)
	policy.BackoffCoefficient = max(retry.Coefficient, 1)
	policy.MaximumInterval = unlimited
	if retry.MaxBackoff != graph.None {
		policy.MaximumInterval = max(retry.MaxBackoff.Std(), policy.InitialInterval)
	}
	policy.NonRetryableErrorTypes = append(policy.NonRetryableErrorTypes, retry.NonRetryable...)
	return policy
}

// setTimer starts a timer and queues its firing.
func (r *run) setTimer(ctx workflow.Context, e graph.SetTimer) {
	ctx, cancel := workflow.WithCancel(ctx)
	r.timers[e.Address] = cancel
	future := workflow.NewTimerWithOptions(ctx, max(e.At.Sub(workflow.Now(ctx)), time.Millisecond),
		workflow.TimerOptions{Summary: e.Purpose + ": " + string(e.Address)})
	workflow.GoNamed(ctx, string(e.Address)+" "+e.Purpose, func(ctx workflow.Context) {
		if future.Get(ctx, nil) != nil {
			return // taken back
		}
		delete(r.timers, e.Address)
		r.push(func(now time.Time) { r.machine.Fire(now, e.Address) })
	})
}

// deadlineTimer is the timer of the run's budget of running time. It follows
// the machine's clock, which stands still while the whole run is paused.
type deadlineTimer struct {
	at     time.Time
	cancel workflow.CancelFunc
}

// arm makes the timer agree with the machine's clock.
func (d *deadlineTimer) arm(ctx workflow.Context, r *run) {
	at, running := r.machine.Deadline()
	if !running {
		at = time.Time{}
	}
	if at.Equal(d.at) {
		return
	}
	if d.cancel != nil {
		d.cancel()
	}
	*d = deadlineTimer{at: at}
	if !running {
		return
	}
	var timer workflow.Context
	timer, d.cancel = workflow.WithCancel(ctx)
	future := workflow.NewTimerWithOptions(timer, max(at.Sub(workflow.Now(ctx)), time.Millisecond),
		workflow.TimerOptions{Summary: "deadline"})
	workflow.GoNamed(timer, "deadline", func(timer workflow.Context) {
		if future.Get(timer, nil) == nil {
			r.clock.at = time.Time{} // armed again, should the clock have moved on
			r.push(r.machine.Expire)
		}
	})
}
