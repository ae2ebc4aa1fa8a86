package admission

import (
	"slices"
	"time"
)

// answer says to everybody who asked since the last turn what became of it.
// What was not granted now meets its overflow: it is refused, or finds a place
// in the queue, or none. One that is refused may have stood before others, who
// are then granted before the next is answered. It reports whether no grants
// are left for that.
func (b *Book) answer(t int64, left *int) (more bool) {
	for i, e := range b.newcomers {
		if e.ended || e.phase == phaseHeld {
			continue
		}
		if answer := b.overflow(t, e); answer != "" {
			b.resolve(t, e, answer)
			if b.grantAll(t, left) {
				b.newcomers = slices.Delete(b.newcomers, 0, i+1)
				return true
			}
			continue
		}
		b.seat(e)
		b.arrange(e)
		b.out = append(b.out, b.queuedAnswer(t, e))
	}
	clear(b.newcomers)
	b.newcomers = b.newcomers[:0]
	b.answerAgain(t)
	return false
}

// answerAgain says to those who asked again how they stand.
func (b *Book) answerAgain(t int64) {
	for _, e := range b.again {
		if e.ended {
			continue
		}
		d := b.queuedAnswer(t, e)
		if e.phase == phaseHeld {
			d = b.granted(t, e)
		}
		d.Repeated = true
		b.out = append(b.out, d)
	}
	b.again = nil
}

// overflow is why an entry that cannot be granted now cannot wait either; empty
// if it can.
func (b *Book) overflow(t int64, e *entry) Answer {
	f := e.lane.flow
	switch {
	case e.overflow == OverflowReject:
		return AnswerLimitReached
	case b.queued >= b.rules.MaxQueue:
		return AnswerQueueFull
	case b.queued > f.queued && f.queued >= b.rules.share():
		return AnswerQueueFull
	}
	for _, g := range e.lane.gates {
		if g.bound != None && g.queued >= g.bound {
			return AnswerQueueFull
		}
	}
	if e.deadline <= t {
		return AnswerDeadlineExceeded
	}
	return ""
}

func (b *Book) queuedAnswer(t int64, e *entry) Decision {
	why := b.why(t, e)
	return Decision{
		ID: e.id, Owner: e.owner, Agent: e.agent, Answer: AnswerQueued, Lease: moment(e.lease),
		Waited: time.Duration(t - e.submitted), Reason: why.reason, Key: why.key, NextCheck: moment(why.next),
	}
}
