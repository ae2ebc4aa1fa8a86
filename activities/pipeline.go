package activities

import (
	"context"
	"encoding/json"
	"runtime/debug"
	"slices"

	"go.temporal.io/sdk/activity"

	"github.com/tidemill/tidemill/graph"
	"github.com/tidemill/tidemill/graph/value"
)

// try is one attempt of a node on its way through the pipeline.
type try struct {
	task    *graph.Task
	info    activity.Info
	action  *action
	program *graph.Program
	guard   *guard
	pulse   *pulse
	earlier json.RawMessage // heartbeat details of an earlier attempt
	number  int             // of the attempt, over all schedulings of the activation
	limit   int             // bytes of the result
	local   *local          // set in a local activity
	outside bool            // there is no activity; see [Activities.Attempt]
	args    json.RawMessage
	result  *graph.Result
}

// stage is one step of the pipeline. It returns nil to go on, or how the attempt
// ended.
type stage struct {
	name string
	run  func(context.Context, *try) *graph.Ending
}

// pipeline is what every attempt of every node passes, in this order. Two stages
// come before it: the run classifies the attempt and acquires its permit
// ([Activities.Acquire]). One comes behind it: an attempt that has ended for good gives
// the permit back where it ends, and the run gives back what no attempt did
// ([Activities.Release]), whatever becomes of the worker that makes it.
func (a *Activities) pipeline() []stage {
	return []stage{
		{"check", a.check},
		{"run", a.execute},
		{"size", a.size},
	}
}

// wrap makes an action a Temporal activity.
func (a *Activities) wrap(act *action) func(context.Context, graph.Task) (*graph.Result, error) {
	return func(ctx context.Context, task graph.Task) (*graph.Result, error) {
		info := activity.GetInfo(ctx)
		last := lastBeat(ctx, info, task)
		t := &try{
			task: &task, info: info, action: act, guard: &guard{secrets: a.options.Secrets},
			pulse: newPulse(info, last), earlier: last.Details, number: last.Used + 1,
		}
		if end := a.attempt(ctx, t); end != nil {
			return nil, a.report(ctx, t, end)
		}
		if t.number > task.Before+1 {
			t.result.Attempts = t.number
		}
		t.result.Released = a.handBack(ctx, t)
		return t.result, nil
	}
}

// attempt takes t through the pipeline. It returns nil when t has a result.
func (a *Activities) attempt(ctx context.Context, t *try) *graph.Ending {
	if t.task.Node == nil {
		return failed(graph.Failf(graph.ErrTypeInvalidDocument, "the task has no node"))
	}
	t.task.Limits = t.task.Limits.WithDefaults()
	t.task.Run.Attempt = t.number
	if t.limit = t.task.Limits.Payload; t.local != nil {
		t.limit = min(t.limit, MaxLocalResult)
	}
	for _, s := range a.pipeline() {
		if end := s.run(ctx, t); end != nil {
			return end
		}
	}
	return nil
}

// check evaluates the arguments and refuses those that are too large.
func (a *Activities) check(_ context.Context, t *try) *graph.Ending {
	var failure *graph.Failure
	if t.program, failure = a.program(t.task.Node); failure != nil {
		return failed(failure)
	}
	if failure = a.evaluateArgs(t); failure != nil {
		return t.refusal(failure)
	}
	if limit := t.task.Limits.Payload; len(t.args) > limit {
		return failed(graph.Failf(graph.ErrTypeOutputTooLarge,
			"the node's args have %d bytes; at most %d are allowed", len(t.args), limit))
	}
	return nil
}

// refusal is the ending of an attempt whose args could not be had. A secret the
// worker allows but does not have for now may be there next time.
func (t *try) refusal(failure *graph.Failure) *graph.Ending {
	end := failed(failure)
	if t.guard.refused != nil {
		end.Failure = t.guard.refused
		end.Final = end.Failure.Type == graph.ErrTypeSecretNotAllowed
	}
	return end
}

// evaluateArgs gives the action's arguments in canonical JSON; {} when the node
// has none.
func (a *Activities) evaluateArgs(t *try) *graph.Failure {
	args, failure := t.program.CallArgs(t.task, a.options.Registry, t.guard.lookup)
	t.args = canonical(args)
	return failure
}

// call runs the action and sends what it returned, written as JSON: encoders are
// the author's code as well. A panic is an error, and so is a goroutine that ends
// without returning.
func (t *try) call(ctx context.Context, done chan<- returned) {
	r := returned{err: errNoReturn}
	defer func() {
		if p := recover(); p != nil {
			r = returned{err: &panicError{value: p, stack: string(debug.Stack())}}
		}
		done <- r
	}()
	result, err := t.action.call(ctx, t.args)
	if err != nil {
		r = returned{err: err}
		return
	}
	encoded, failure := result.encode()
	r = returned{result: result, encoded: encoded, failure: failure}
}

// finish turns the action's answer into the node's result: the action's own
// delta first, then what the node's output and delta say.
func (t *try) finish(a returned) *graph.Failure {
	if a.failure != nil {
		return a.failure
	}
	if failure := a.result.checkControl(); failure != nil {
		return failure
	}
	t.result = &graph.Result{Control: a.result.control, Delta: a.encoded.delta}
	switch a.result.control {
	case graph.ControlRoute:
		t.result.Target = a.result.target
		return nil
	case graph.ControlPause:
		t.result.Pause = &a.result.pause
		return nil
	case graph.ControlOutput, graph.ControlOK, graph.ControlStop:
	}
	output, delta, failure := t.program.Finish(t.task, a.encoded.full, a.encoded.output)
	if failure != nil {
		return failure
	}
	for _, m := range delta {
		t.result.Delta.Set(m.Key, m.Value)
	}
	switch {
	case t.result.Control != graph.ControlOK:
		t.result.Output = output
	case t.task.Node.Output != nil: // the node gives the output that the action does not
		t.result.Control, t.result.Output = graph.ControlOutput, output
	}
	return nil
}

// size refuses a result that history could not hold.
func (a *Activities) size(_ context.Context, t *try) *graph.Ending {
	t.guard.scrubResult(t.result)
	raw, err := value.Marshal(t.result)
	if err != nil {
		return failed(graph.Failf(graph.ErrTypeInvalidActionResult, "the result is not JSON: %v", err))
	}
	if len(raw) <= t.limit {
		return nil
	}
	return failed(graph.Failf(graph.ErrTypeOutputTooLarge,
		"the result has %d bytes (output %d, delta %d); at most %d are allowed%s: keep large data elsewhere and pass a reference",
		len(raw), len(t.result.Output), t.result.Delta.Size(), t.limit, t.local.where()))
}

// report is the error an attempt leaves with. An attempt that used up one of the
// node's attempts says so in a last heartbeat, for the server's next one. One that the
// server does not follow by another gives its permit back; whose action was not heard
// out leaves it to the run, which asks for another anyway.
func (a *Activities) report(ctx context.Context, t *try, end *graph.Ending) error {
	t.sign(end)
	retry := t.retry()
	c := circumstances{
		retry: retry, spent: retry == nil || t.number >= retry.MaxAttempts, held: t.task.Run.Token != 0,
		canCancel: ctx.Err() != nil && isCancel(context.Cause(ctx)),
	}
	if (end.Kind == graph.Failed || end.Kind == graph.TimedOut) && !end.Final && !c.spent {
		t.pulse.close(ctx)
	}
	if end.Kind != graph.Interrupted && !c.goesOn(end) {
		end.Released = a.handBack(ctx, t)
	}
	return errorOf(end, c)
}

// sign completes an ending that is not Returned with what the attempt knows, and
// takes secrets out of it.
func (t *try) sign(end *graph.Ending) {
	t.guard.scrubEnding(end)
	end.Used, end.Heartbeat = t.number, t.pulse.details()
	switch end.Kind {
	case graph.Interrupted:
		end.Used = t.number - 1
	case graph.Failed, graph.TimedOut:
		if retry := t.retry(); retry != nil && slices.Contains(retry.NonRetryable, end.Failure.Type) {
			end.Final = true
		}
	case graph.Cancelled, graph.Returned:
	}
}

// retry is the node's policy; nil when it has none.
func (t *try) retry() *graph.Retry {
	if t.task.Node == nil {
		return nil
	}
	return t.task.Node.Retry
}
