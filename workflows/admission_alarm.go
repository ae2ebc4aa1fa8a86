package workflows

import (
	"time"

	"go.temporal.io/sdk/workflow"
)

// alarmSlack is how much later than it should an alarm may ring before another is
// set: the server rounds timers up to a second anyway.
const alarmSlack = 100 * time.Millisecond

// alarm is the one timer of a semaphore.
type alarm struct {
	at     time.Time // when it rings; zero while there is none
	cancel workflow.CancelFunc
}

// arm sets the alarm to when the next thing is due. One that would ring too early is
// left as it is: it costs less to find nothing due than to set it anew.
func (s *semaphore) arm(ctx workflow.Context) {
	at := earliest(s.next, s.post.retry)
	if at.IsZero() || !s.alarm.at.IsZero() && s.alarm.at.Before(at.Add(alarmSlack)) {
		return
	}
	if s.alarm.cancel != nil {
		s.alarm.cancel()
	}
	timed, cancel := workflow.WithCancel(ctx)
	s.alarm = alarm{at: at, cancel: cancel}
	wait := max(at.Sub(workflow.Now(ctx)), time.Millisecond)
	timer := workflow.NewTimerWithOptions(timed, wait, workflow.TimerOptions{Summary: "what is due by the clock"})
	workflow.GoNamed(ctx, "alarm", func(ctx workflow.Context) {
		if timer.Get(ctx, nil) != nil {
			return // another has taken its place
		}
		s.alarm = alarm{}
		s.decide(ctx)
	})
}

// earliest is the earlier of two times; the zero time stands for never.
func earliest(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}
