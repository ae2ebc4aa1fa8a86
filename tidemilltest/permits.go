package tidemilltest

import (
	"fmt"
	"slices"
	"time"

	"github.com/tidemill/tidemill/graph"
)

// permits is the admission of one run.
type permits struct {
	answers []permitAnswer // due, in order
	asked   map[uint64]graph.Acquire
	held    map[uint64]uint64 // token by number
}

type permitAnswer struct {
	number uint64
	at     time.Time
	answer graph.Admission
}

// domain is where the kit's permits are held.
const domain = "test"

// lease is how long a grant may be on its way.
const lease = time.Minute

// ask takes an acquisition. One that is asked for again gets the same answer.
func (p *permits) ask(u *unit, e graph.Acquire) {
	if p.asked == nil {
		p.asked, p.held = map[uint64]graph.Acquire{}, map[uint64]uint64{}
	}
	_, repeated := p.asked[e.Number]
	p.asked[e.Number] = e
	if p.waits(e.Number) {
		return
	}
	now, policy := u.w.now, u.w.scenario.Permits
	reply := func(at time.Time, a graph.Admission) {
		a.Domain, a.Repeated = domain, repeated
		p.answers = append(p.answers, permitAnswer{number: e.Number, at: at, answer: a})
	}
	granted := graph.Admission{Answer: graph.AdmissionGranted}
	full := now.Before(u.w.began.Add(policy.FullFor))
	switch {
	case full:
		reply(now, graph.Admission{Answer: graph.ErrTypeQueueFull})
	case policy.Wait > 0 && p.held[e.Number] == 0 && e.Overflow == graph.OverflowReject:
		reply(now, graph.Admission{Answer: graph.ErrTypeLimitReached, Key: domain})
	case policy.Wait > 0 && p.held[e.Number] == 0:
		reply(now, graph.Admission{Answer: graph.AdmissionQueued, Reason: "limit", Key: domain})
		reply(now.Add(policy.Wait), granted)
	default:
		reply(now, granted)
	}
}

// waits reports whether an answer for the number is on its way.
func (p *permits) waits(number uint64) bool {
	return slices.ContainsFunc(p.answers, func(a permitAnswer) bool { return a.number == number })
}

func (p *permits) knows(e graph.Acquire) bool {
	_, known := p.asked[e.Number]
	return known && p.waits(e.Number)
}

// due tells of the next answers.
func (p *permits) due(u *unit, next *moment) {
	for i, a := range p.answers {
		next.sooner(a.at, func() {
			p.answers = slices.Delete(p.answers, i, i+1)
			p.deliver(u, a)
		})
	}
}

func (p *permits) deliver(u *unit, a permitAnswer) {
	answer := p.answer(u, a)
	line := fmt.Sprintf("admission of %d: %s", a.number, answer.Answer)
	u.event(line, func() { u.m.Admitted(u.w.now, a.number, answer) })
}

// answer is an answer with what is known when it is given.
func (p *permits) answer(u *unit, a permitAnswer) graph.Admission {
	answer := a.answer
	if answer.Answer == graph.AdmissionGranted {
		if p.held[a.number] == 0 {
			u.w.token++
			p.held[a.number] = u.w.token
		}
		answer.Token, answer.Lease, answer.Repeated = p.held[a.number], u.w.now.Add(lease), false
	}
	return answer
}

// release gives a permit back, or takes a place in the queue back. Where nobody knows
// yet where it is held, another release follows the answer.
func (p *permits) release(e graph.Release) {
	if e.Domain == "" {
		return
	}
	p.answers = slices.DeleteFunc(p.answers, func(a permitAnswer) bool { return a.number == e.Number })
	delete(p.held, e.Number)
}

// settle gives the last answers of a run that has ended, and makes sure that it holds
// nothing.
func (p *permits) settle(u *unit) {
	for len(p.answers) > 0 {
		a := p.answers[0]
		p.answers = p.answers[1:]
		u.m.Admitted(u.w.now, a.number, p.answer(u, a))
		u.perform(u.m.Effects())
	}
	if u.w.failed() == nil && len(p.held) > 0 {
		u.w.broken("%d permits were not given back", len(p.held))
	}
}
