package tidemilltest

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/tidemill/tidemill"
	"github.com/tidemill/tidemill/activities"
	"github.com/tidemill/tidemill/graph"
)

// task is a scheduled activity, or a faked child.
type task struct {
	address graph.Address
	node    *graph.Node
	outcome outcome
	due     time.Time // zero: it does not end by itself
	stopped bool
}

// schedule begins an attempt. How it goes is known at once; when its time has passed
// the machine hears of it.
func (u *unit) schedule(e graph.RunNode) {
	run := e.Task.Run
	if u.open(run.Address) {
		u.w.broken("%s is scheduled twice", run.Address)
		return
	}
	o := u.w.played.next(run.Address, func() outcome {
		if e.Task.Node.Foreign() {
			return u.w.foreign(e)
		}
		return u.w.attempt(e)
	})
	u.begun(&task{address: run.Address, node: e.Task.Node, outcome: o})
}

// begun puts a task among those that are open.
func (u *unit) begun(t *task) {
	step, limit := t.outcome.step, t.node.Timeout.Std()
	if t.node.Timeout < 0 {
		limit = 0
	}
	late := limit > 0 && (step.hangs || step.after > limit)
	switch {
	case late && step.interrupt == "":
		t.due = u.w.now.Add(limit)
		t.outcome.ending = graph.Ending{Kind: graph.TimedOut, Failure: graph.Failf(graph.ErrTypeActionTimedOut,
			"the action ran longer than the node's timeout of %s", t.node.Timeout)}
	case !step.hangs:
		t.due = u.w.now.Add(step.after)
	}
	u.tasks = append(u.tasks, t)
}

func (u *unit) open(address graph.Address) bool { return u.taskOf(address) != nil }

func (u *unit) taskOf(address graph.Address) *task {
	i := slices.IndexFunc(u.tasks, func(t *task) bool { return t.address == address })
	if i < 0 {
		return nil
	}
	return u.tasks[i]
}

// attempt makes an attempt of an action, in the wrapper that a worker has around it.
func (w *world) attempt(e graph.RunNode) outcome {
	a := &attempt{}
	ctx := context.WithValue(w.ctx, attemptKey{}, a)
	ending := w.acts.Attempt(ctx, e.Task, e.Local)
	return interrupted(outcome{ending: ending, step: a.step})
}

// interrupted loses the answer of a step whose worker is lost.
func interrupted(o outcome) outcome {
	if o.step.interrupt != "" {
		o.ending = graph.Ending{Kind: graph.Interrupted, Interruption: o.step.interrupt}
	}
	return o
}

// foreign makes an attempt of an activity that has no wrapper.
func (w *world) foreign(e graph.RunNode) outcome {
	call := callOf(e.Task.Node.Run.ActivityType(), e.Task.Run, e.Args)
	step, known, err := w.script.take(call.Name, call.Address)
	if err == nil && !known {
		err = missing(call.Name, call.Address)
	}
	if err != nil {
		_ = w.fail(err) // it ends the run
		return outcome{step: Hangs()}
	}
	call.Worked = !step.idle
	w.record(call)
	return interrupted(outcome{ending: step.foreign(w.ctx, call), step: step})
}

// foreign is how the step ends for an activity without our wrapper.
func (s Step) foreign(ctx context.Context, call Call) graph.Ending {
	v, err := s.output, error(nil)
	switch {
	case s.failure != nil:
		e := *s.failure
		err = &e
	case s.call != nil:
		v, err = s.call(ctx, call)
	case s.result != nil || s.http != nil:
		err = tidemill.NewError("tidemilltest", "an activity only gives an output or an error").NotRetryable()
	}
	if err != nil {
		return activities.EndingOf(nil, nil, err)
	}
	output, err := raw(v)
	if err != nil {
		return graph.Ending{Kind: graph.Failed, Final: true, Failure: graph.Failf(graph.ErrTypeInvalidActionResult, "%v", err)}
	}
	return graph.Ending{Kind: graph.Returned, Result: &graph.Result{Output: output}}
}

// stop asks a task or a child to end.
func (u *unit) stop(address graph.Address) {
	if k := u.kidOf(address); k != nil {
		u.cancelKid(k)
		return
	}
	t := u.taskOf(address)
	if t == nil {
		u.w.broken("%s is to be cancelled and is not open", address)
		return
	}
	t.stopped = true
	over := u.w.now.Add(min(t.outcome.step.late, max(t.node.CancelGrace.Std(), 0)))
	if t.due.IsZero() || over.Before(t.due) {
		t.due = over
	}
}

// end tells the machine how a task ended. What was asked to stop has stopped, whatever
// it gave.
func (u *unit) end(t *task) {
	u.tasks = slices.DeleteFunc(u.tasks, func(other *task) bool { return other == t })
	ending := t.outcome.ending
	if t.stopped {
		effect := t.outcome.step.effect
		if effect == "" {
			effect = "unknown"
		}
		ending = graph.Ending{Kind: graph.Cancelled, Failure: &graph.Failure{
			Type: graph.ErrTypeCancelled, Message: "the node was cancelled", Effect: effect,
		}}
	}
	u.event(fmt.Sprintf("end %s %s", t.address, ending), func() { u.m.End(u.w.now, t.address, ending) })
}
