package tidemilltest

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/tidemill/tidemill"
	"github.com/tidemill/tidemill/graph"
)

// Step is how one call of a fake goes. Make one with [Output], [Returns], [Fails],
// [Calls], [Hangs], [HTTP] or [Interrupted]; the zero Step gives null. Its methods
// give changed copies.
type Step struct {
	output    any
	result    *tidemill.Result
	failure   *tidemill.Error
	call      func(context.Context, Call) (any, error)
	http      *httpAnswer
	hangs     bool
	changed   any
	after     time.Duration
	late      time.Duration
	effect    string
	interrupt graph.Interruption
	idle      bool // interrupted before the action did anything
}

// Output gives v: the node's output before its own fields are looked at. Of http it
// is the body of an answer with status 200.
func Output(v any) Step { return Step{output: v} }

// Returns gives a result that does more than an output: a pause, a route, a stop.
func Returns(r tidemill.Result) Step { return Step{result: &r} }

// Fails fails with an error type, for a reason that may pass: the node's retry policy
// decides what follows.
func Fails(errorType, message string) Step {
	return Step{failure: tidemill.NewError(errorType, message)}
}

// Calls asks a Go function, which gives an output, a [tidemill.Result] or an error.
func Calls(fn func(context.Context, Call) (any, error)) Step { return Step{call: fn} }

// Hangs does not end by itself: only the node's timeout or a cancel ends it.
func Hangs() Step { return Step{hangs: true} }

// HTTP answers a request of the action http with a status and a body, which is
// written as JSON.
func HTTP(status int, body any) Step { return Step{http: &httpAnswer{Status: status, Body: body}} }

// Interrupted ends the attempt before the action did anything: its worker was lost or
// stopped, no worker has it, or an operator reset it. It is no attempt; the run
// schedules it again.
func Interrupted(by graph.Interruption) Step { return Step{interrupt: by, idle: true} }

// Lost lets the action do its work and loses its worker before the answer is heard.
func (s Step) Lost() Step {
	s.interrupt, s.idle = graph.InterruptWorkerLost, false
	return s
}

// After makes the call take a length of virtual time.
func (s Step) After(d time.Duration) Step {
	s.after = d
	return s
}

// Late goes on for a length of time after it was asked to stop, at most for the
// node's cancel_grace. What it then completes comes too late to count.
func (s Step) Late(d time.Duration) Step {
	s.late = d
	return s
}

// Effect is what the action says of its effect when it is asked to stop: none, done,
// or words of its own. Without it the effect is unknown.
func (s Step) Effect(effect string) Step {
	s.effect = effect
	return s
}

// Final says of a failure that a retry cannot change the answer.
func (s Step) Final() Step { return s.fails(func(e *tidemill.Error) { e.Final = true }) }

// RetryAfter has a failure ask for a wait before the next attempt.
func (s Step) RetryAfter(d time.Duration) Step {
	return s.fails(func(e *tidemill.Error) { e.RetryAfter = d })
}

func (s Step) fails(change func(*tidemill.Error)) Step {
	if s.failure != nil {
		e := *s.failure
		change(&e)
		s.failure = &e
	}
	return s
}

// Changing gives the state keys that a faked child graph changed: an object, or what
// JSON writes as one.
func (s Step) Changing(keys any) Step {
	s.changed = keys
	return s
}

// httpAnswer is what the other side of a request says.
type httpAnswer struct {
	Status  int
	Headers map[string]string
	Body    any

	handler http.Handler // answers in place of the others
}

// Fake stands in for an action, an activity or a child graph.
type Fake struct {
	steps  []Step
	always bool
}

// Always goes the same way at every call.
func Always(s Step) Fake { return Fake{steps: []Step{s}, always: true} }

// InTurn goes one step a call. A call for which no step is left fails the test.
func InTurn(steps ...Step) Fake { return Fake{steps: steps} }

// Do asks a Go function at every call, written as [tidemill.Action] takes them.
func Do[In, Out any](fn func(context.Context, In) (Out, error)) Fake {
	return Always(Calls(func(ctx context.Context, call Call) (any, error) {
		var in In
		if err := json.Unmarshal(call.Args, &in); err != nil {
			return nil, tidemill.NewError(graph.ErrTypeNodeInputSchema,
				fmt.Sprintf("the arguments do not fit the fake of %q: %v", call.Name, err)).NotRetryable()
		}
		return fn(ctx, in)
	}))
}

// Fakes are fakes by name.
type Fakes map[string]Fake
