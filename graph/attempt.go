package graph

import (
	"fmt"
	"math"
	"slices"
	"time"
)

// End tells the machine how the open activity of an address ended. What counts
// as an attempt, what is tried again and when, is decided here, whoever drove
// the attempts. An address that has no open activity is ignored: its ending
// came too late to matter.
func (m *Machine) End(now time.Time, address Address, e Ending) {
	a := m.find(address)
	if a == nil {
		return
	}
	switch a.Phase {
	case PhaseCancelling:
		m.endPermit(a, e)
		m.endCancelled(a, e)
	case PhaseRunning:
		m.endPermit(a, e)
		m.endRunning(now, a, e)
	case PhaseReady, PhaseDeciding, PhaseAdmission, PhaseBackoff, PhaseInterrupted, PhaseWaiting, PhasePaused,
		PhaseAnswered, PhaseChecking, PhaseRouting, PhaseFailed, PhaseEnding, PhaseForking, PhaseMapping, PhaseSettled, PhaseCancelled:
		return
	}
	m.settle(now)
}

func (m *Machine) endRunning(now time.Time, a *Activation, e Ending) {
	if e.Heartbeat != nil {
		a.Heartbeat = e.Heartbeat
	}
	m.forgetChild(now, a)
	switch e.Kind {
	case Returned:
		m.countAttempt(a, e)
		switch node := m.plan.Node(a.Node); {
		case node.Foreign():
			m.returnForeign(a, e.Result)
		case node.Type == TypeWorkflow || node.Type == TypeMap:
			m.returnChild(a, e.Result)
		default:
			m.commit(now, a, e.Result)
		}
	case Failed, TimedOut:
		m.countAttempt(a, e)
		m.endFailed(now, a, e)
	case Interrupted:
		a.Attempts = max(a.Attempts, e.Used)
		m.interrupt(now, a, e)
	case Cancelled: // by somebody else than this run
		m.fail(a, &Failure{Type: ErrTypeCancelled, Message: "the activity was cancelled from outside", Effect: effectOf(e)})
	}
}

// countAttempt counts the attempt that ended; a driver that made several by
// itself says how many.
func (m *Machine) countAttempt(a *Activation, e Ending) {
	a.Attempts = max(a.Attempts+1, e.Used)
	a.Interrupted = ""
}

// endFailed tries again, or fails the node when the policy or the failure
// itself forbids that.
func (m *Machine) endFailed(now time.Time, a *Activation, e Ending) {
	retry := m.plan.Node(a.Node).Retry
	most := retry.attempts()
	switch {
	case e.Final || most == 1 || slices.Contains(retry.NonRetryable, e.Failure.Type):
		m.fail(a, e.Failure)
	case a.Attempts >= most:
		m.fail(a, &Failure{
			Type: ErrTypeRetryExhausted, Cause: e.Failure, Attempts: a.Attempts, Business: e.Failure.Business,
			Message: fmt.Sprintf("%d attempts failed, the last with %s: %s", a.Attempts, e.Failure.Type, e.Failure.Message),
		})
	default:
		m.backOff(now, a, retry.Delay(a.Attempts, e.RetryAfter))
	}
}

// backOff waits before the next attempt. A local action without any backoff goes
// on at once: a timer would end the workflow task that it is meant to stay in.
func (m *Machine) backOff(now time.Time, a *Activation, delay time.Duration) {
	if delay == 0 && a.Local {
		m.emitRun(now, a)
		return
	}
	m.sleep(a, PhaseBackoff, now.Add(delay))
}

// Delay is the wait after a number of failed attempts: backoff, growing by the
// coefficient, at least as long as the failure asked for, and never above
// max_backoff.
func (r *Retry) Delay(failed int, after time.Duration) time.Duration {
	grown := float64(r.Backoff.Std()) * math.Pow(r.Coefficient, float64(failed-1))
	limit := r.MaxBackoff.Std()
	if limit > 0 {
		grown = min(grown, float64(limit))
	}
	grown = min(grown, float64(maxDuration)) // what is larger has no meaning as a length of time
	delay := max(time.Duration(grown), after)
	if limit > 0 {
		delay = min(delay, limit)
	}
	return delay
}

// longest is the longest wait between two attempts, as far as the policy tells.
func (r *Retry) longest() time.Duration {
	if r.attempts() <= 1 {
		return 0
	}
	return r.Delay(r.MaxAttempts-1, 0)
}

// interrupt schedules the same attempt again. It is no attempt: the action was
// not heard.
func (m *Machine) interrupt(now time.Time, a *Activation, e Ending) {
	a.Interrupted = e.Interruption
	count := &a.Interruptions
	if e.Interruption == InterruptNotRegistered {
		count = &a.Missing
	}
	*count++
	if most := m.plan.Node(a.Node).MaxInterruptions; count == &a.Interruptions && most != nil && *count > *most {
		m.fail(a, &Failure{
			Type:    ErrTypeWorkerLost,
			Message: fmt.Sprintf("interrupted %d times (%s); at most %d are allowed", *count, e.Interruption, *most),
		})
		return
	}
	delay := interruptDelay(*count)
	if delay == 0 {
		m.run(now, a)
		return
	}
	m.sleep(a, PhaseInterrupted, now.Add(delay))
}

// interruptDelay is the wait after the nth interruption: none at first, for a
// worker that only restarts, and at most a minute.
func interruptDelay(n int) time.Duration {
	switch {
	case n <= 1:
		return 0
	case n == 2:
		return time.Second
	case n == 3:
		return 5 * time.Second
	case n == 4:
		return 15 * time.Second
	case n == 5:
		return 30 * time.Second
	default:
		return time.Minute
	}
}

// Fire tells the machine that the timer of an address has fired. A timer of an
// activation that has gone on is ignored.
func (m *Machine) Fire(now time.Time, address Address) {
	a := m.find(address)
	if a == nil || a.At == nil || m.cp.Stopping != nil {
		return
	}
	m.wake(a, false)
	switch a.Phase {
	case PhaseBackoff, PhaseInterrupted:
		m.run(now, a)
	case PhaseAdmission:
		m.askAgain(now, a)
	case PhaseMapping:
		m.cutMap(now, a)
	case PhaseWaiting:
		a.Phase, a.Waited = PhaseDeciding, true
		m.mark(a, NodeActive)
	case PhasePaused:
		m.expire(now, a)
	case PhaseAnswered: // an answer came before: it expires if none of them fits
	case PhaseReady, PhaseDeciding, PhaseRunning, PhaseChecking, PhaseRouting, PhaseFailed,
		PhaseEnding, PhaseForking, PhaseSettled, PhaseCancelling, PhaseCancelled:
	}
	m.settle(now)
}
