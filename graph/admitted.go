package graph

import (
	"cmp"
	"fmt"
	"time"
)

// The waits between two acquisitions after a denial: the first, and the longest.
const (
	firstDenied = 5 * time.Second
	mostDenied  = time.Minute
)

// purposeAdmission begins the purpose of a timer that a wait for a permit sets, and
// maxPurpose is how much of the reason follows, in bytes: the history shows why a node
// waits when no worker is there to say so.
const (
	purposeAdmission = "admission: "
	maxPurpose       = 100
)

// maxAdmissionMessage is how much of a message about admission is kept, in bytes.
const maxAdmissionMessage = 500

// Admitted tells the machine what became of an acquisition: the answer to
// [Acquire], or what was heard later. Answers may come twice, late and out of order.
// A number that is not open any more is ignored, but for a permit of it, which is
// given back.
func (m *Machine) Admitted(now time.Time, number uint64, a Admission) {
	a.Message = cutText(a.Message, maxAdmissionMessage)
	switch p := m.numbered(number); {
	case p == nil:
		m.returnStray(Release{Number: number}, a)
	case p.State == PermitDenied: // given up, and perhaps taken back
		m.returnStray(Release{Number: number, Address: p.Address, Domain: p.Domain}, a)
	case p.State == PermitWithdrawn:
		m.takeBack(p, a)
	case p.State == PermitHeld:
		m.heardOfHeld(p, a)
	default:
		m.answered(now, p, a)
	}
	m.settle(now)
}

// returnStray gives back a permit that nobody waits for any more.
func (m *Machine) returnStray(r Release, a Admission) {
	if a.Answer == AdmissionGranted {
		r.Domain, r.Token = cmp.Or(a.Domain, r.Domain), a.Token
		m.emitRelease(r)
	}
}

// takeBack takes back an acquisition that was given up before it had an answer, once
// it is known where. A grant that is delivered may be heard of before that.
func (m *Machine) takeBack(p *Permit, a Admission) {
	p.learn(a)
	p.Token = max(p.Token, a.Token)
	if a.Answer == AdmissionGranted && p.Domain == "" {
		return
	}
	taken := p.Token != 0 || a.Answer == AdmissionQueued || a.Answer == AdmissionUnanswered
	if taken && p.Domain != "" {
		m.emitRelease(Release{Number: p.Number, Address: p.Address, Domain: p.Domain, Token: p.Token})
	}
	m.forgetPermit(p.Number)
}

// learn keeps what an answer says of the classification. What is delivered later
// does not say it again.
func (p *Permit) learn(a Admission) {
	p.Domain = cmp.Or(p.Domain, a.Domain)
	p.Priority, p.Flow = cmp.Or(p.Priority, a.Priority), cmp.Or(p.Flow, a.Flow)
}

// take makes an answer what is known of an acquisition.
func (p *Permit) take(state PermitState, a Admission) {
	known := p.Admission
	p.State, p.Admission = state, a
	p.learn(known)
}

// heardOfHeld takes what is heard of a permit that is held. When it has ended there
// is nothing to give back, and the attempt goes on: only the next one asks again.
//
// Of two grants the later one counts, which has the higher token: the book knows
// none but the last, and the other could not be given back. Answers that can only be
// older than the grant say nothing.
func (m *Machine) heardOfHeld(p *Permit, a Admission) {
	if !p.free() {
		p.learn(a)
	}
	switch a.Answer {
	case AdmissionGranted:
		if p.free() {
			m.returnStray(Release{Number: p.Number, Address: p.Address}, a)
			return
		}
		if a.Token > p.Token {
			p.Token = a.Token
		}
	case AdmissionQueued, AdmissionFree, AdmissionUnclassified, AdmissionUnanswered:
	default:
		m.forgetPermit(p.Number)
	}
}

// forgetPermit drops what is known of a permit that has ended.
func (m *Machine) forgetPermit(number uint64) {
	var kept []Permit
	for _, p := range m.cp.Permits {
		if p.Number != number {
			kept = append(kept, p)
		}
	}
	m.cp.Permits = kept
}

// answered takes the answer to an acquisition that an activation waits for.
func (m *Machine) answered(now time.Time, p *Permit, answer Admission) {
	a := m.find(p.Address)
	late := !answer.Lease.IsZero() && !now.Before(answer.Lease)
	switch {
	case answer.Answer == AdmissionGranted && late:
		p.learn(answer)
		m.wake(a, true)
		m.await(a, p, Admission{Domain: p.Domain, Priority: p.Priority, Flow: p.Flow}) // the book answers from what it knows
	case p.State == PermitQueued && (answer.Answer == AdmissionUnanswered || answer.Answer == AdmissionUnclassified):
		m.watch(now, a, p) // it was asked again; it has its place until somebody knows better
	case answer.Answer == AdmissionGranted, answer.Answer == AdmissionFree:
		m.leaveOther(p, answer)
		number := p.Number
		m.bookIsNew(p, answer)
		p.take(PermitHeld, answer)
		m.wake(a, true)
		m.mark(a, NodeActive)
		m.run(now, a)
		m.nextOfMany(now, number)
	case answer.Answer == AdmissionQueued:
		m.leaveOther(p, answer)
		m.bookIsNew(p, answer)
		p.take(PermitQueued, answer)
		m.watch(now, a, p)
		m.nextOfMany(now, p.Number)
	default:
		m.deny(now, a, p, answer)
	}
}

// The waits before a request that is queued is made again under its id, by graphs and
// by Go code: the first, and the longest.
const (
	FirstLook = time.Minute
	MostLook  = 10 * time.Minute
)

// watch sees to it that a queued acquisition is asked for again some time, and that
// its wait ends when it must. The grant is told; but a book that is gone tells nobody.
func (m *Machine) watch(now time.Time, a *Activation, p *Permit) {
	if a.At != nil {
		return
	}
	at := now.Add(m.spread(p, min(FirstLook<<min(p.Looks, 4), MostLook)))
	if end, ends := m.queueEnd(m.plan.Node(a.Node), p); ends && end.Before(at) {
		at = end
	}
	m.sleep(a, PhaseAdmission, at)
}

// deny ends an acquisition. The wait goes on with another one after a while, unless
// the node or the run wanted otherwise.
func (m *Machine) deny(now time.Time, a *Activation, p *Permit, answer Admission) {
	m.wake(a, true)
	if answer.Answer == AdmissionUnanswered { // it may have been taken all the same
		m.emitRelease(Release{Number: p.Number, Address: p.Address, Domain: cmp.Or(answer.Domain, p.Domain)})
	}
	waited := p.reason()
	p.take(PermitDenied, answer)
	p.Denials++
	node := m.plan.Node(a.Node)
	end, ends := m.queueEnd(node, p)
	switch {
	case m.overflow(node) == OverflowReject && answer.refuses():
		m.fail(a, refused(answer))
	case answer.Answer == ErrTypeQueueTimeout && !answer.Repeated || ends && !now.Before(end):
		if waited == string(PermitAsked) {
			waited = p.reason()
		}
		m.fail(a, waitedTooLong(waited))
	default:
		at := now.Add(m.spread(p, deniedDelay(p.Denials)))
		if answer.NextCheck.After(at) {
			at = answer.NextCheck
		}
		if ends && end.Before(at) {
			at = end
		}
		m.sleep(a, PhaseAdmission, at)
	}
}

// refuses reports whether an answer is a refusal, which ends the wait of whoever
// chose not to queue. The others say nothing about room: what could not be
// classified or asked is tried again, and so is what was lost on the way.
func (a Admission) refuses() bool {
	if a.Repeated { // it was true of another time
		return false
	}
	switch a.Answer {
	case AdmissionUnclassified, AdmissionUnanswered, admissionCancelled, admissionReleased, admissionHoldExceeded:
		return false
	default:
		return true
	}
}

// The answers of a book about a request that it no longer has.
const (
	admissionCancelled    = "cancelled"
	admissionReleased     = "released"
	admissionHoldExceeded = "hold_exceeded"
)

// reasonRate is the reason of a book that knows when what waits may go on.
const reasonRate = "rate"

// refused is the failure of an activation that chose not to queue.
func refused(a Admission) *Failure {
	f := Failf(a.Answer, "no permit is free, and the node does not wait for one")
	if a.Key != "" {
		f.Message = fmt.Sprintf("no permit of %s is free, and the node does not wait for one", a.Key)
	}
	if a.Message != "" {
		f.Message += ": " + a.Message
	}
	return f
}

// waitedTooLong is the failure of an activation whose queue_timeout is spent.
func waitedTooLong(reason string) *Failure {
	return Failf(ErrTypeQueueTimeout, "there was no permit within the queue_timeout, because of: %s", reason)
}

// deniedDelay is the wait after a number of denials.
func deniedDelay(denials int) time.Duration {
	delay := firstDenied
	for range denials - 1 {
		if delay *= 2; delay >= mostDenied {
			return mostDenied
		}
	}
	return delay
}

// askAgain takes up a wait whose timer has fired.
func (m *Machine) askAgain(now time.Time, a *Activation) {
	p := m.permitOf(a.Address)
	end, ends := m.queueEnd(m.plan.Node(a.Node), p)
	switch {
	case ends && !now.Before(end):
		m.fail(a, waitedTooLong(p.reason()))
	case p.State == PermitDenied:
		m.acquire(now, a)
	default:
		p.Looks++
		m.emitAcquire(a, p)
	}
}

// waitsForPermit says what an activation waits for.
func (m *Machine) waitsForPermit(a *Activation) Waiting {
	w := Waiting{Address: a.Address, Reason: "admission", NextCheck: a.At}
	p := m.permitOf(a.Address)
	if p == nil {
		return w
	}
	w.Reason += ": " + p.reason()
	if p.State == PermitQueued && p.Reason == reasonRate && !p.NextCheck.IsZero() {
		at := p.NextCheck // the book knows when; of all else nobody does
		w.NextCheck = &at
	}
	return w
}

// reason is what a permit waits for, in words.
func (p *Permit) reason() string {
	switch {
	case p.State == PermitAsked:
		return string(PermitAsked)
	case p.State == PermitQueued && p.Reason == "":
		return AdmissionQueued
	case p.State == PermitQueued && p.Key == "":
		return p.Reason
	case p.State == PermitQueued:
		return p.Reason + " of " + p.Key
	}
	text := p.Answer
	if p.Key != "" {
		text += " of " + p.Key
	}
	if p.Message != "" {
		text += ": " + p.Message
	}
	return text
}
