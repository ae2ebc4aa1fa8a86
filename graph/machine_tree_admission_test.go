package graph_test

import (
	"fmt"
	"time"

	"pgregory.net/rapid"

	"github.com/tidemill/tidemill/graph"
)

// admissions are what admission may say to a run now: the answers to what it asked
// for, and what comes late, twice or out of order.
func (h *treeTest) admissions(p *treePair) []treeEvent {
	var list []treeEvent
	for _, permit := range p.s.m.Checkpoint().Permits {
		number, address := permit.Number, string(permit.Address)
		switch permit.State {
		case graph.PermitAsked, graph.PermitQueued:
			answer := treeEvent{fmt.Sprintf("answer %d of %s", number, address), func() { h.answerPermit(p, number, address) }}
			list = append(list, answer, answer)
		case graph.PermitHeld:
			if permit.Answer == graph.AdmissionGranted && rapid.IntRange(0, 30).Draw(h.t, "ends") == 0 {
				list = append(list, treeEvent{fmt.Sprintf("permit %d ends", number), func() { h.endPermit(p, number, address) }})
			}
		case graph.PermitWithdrawn:
			list = append(list, treeEvent{fmt.Sprintf("answer %d, which nobody awaits", number), func() { h.answerWithdrawn(p, number) }})
		case graph.PermitDenied:
		}
	}
	if p.s.gate.numbers() > 0 && rapid.IntRange(0, 8).Draw(h.t, "strays") == 0 {
		list = append(list, treeEvent{"stray answer", func() { h.strayAnswer(p) }})
	}
	return list
}

// answerPermit lets the book say something to an acquisition. Whatever it says but a
// grant, the node goes on waiting.
func (h *treeTest) answerPermit(p *treePair, number uint64, address string) {
	late := granted
	late.Lease = h.world.now.Add(-time.Second)
	answer := rapid.SampledFrom([]graph.Admission{
		granted, granted, granted, granted, freely, queued, late, full, occupied, unclear, unheard,
		refusal(graph.ErrTypeDraining), refusal(graph.ErrTypeInfeasible), refusal(graph.ErrTypeOwnerGone), refusal("cancelled"),
	}).Draw(h.t, "answer")
	h.past = append(h.past, "  "+answer.Answer)
	if p.s.gate.held[number] != 0 && answer.Answer != graph.AdmissionGranted {
		delete(p.s.gate.held, number) // a grant that was heard too late is lost
		if answer.Answer == graph.AdmissionQueued || answer.Answer == graph.AdmissionFree {
			answer = refusal("cancelled")
		}
	}
	if p.s.numbered(number).State == graph.PermitQueued {
		answer.Domain = "" // what is delivered does not say
	}
	p.s.restore()
	p.s.admit(number, answer)
	v := p.r.visitOf(address)
	switch {
	case answer.Answer == graph.AdmissionGranted && answer.Lease.IsZero():
		v.phase, v.permit = "running", "held"
	case answer.Answer == graph.AdmissionFree:
		v.phase, v.permit = "running", "free"
	}
	p.r.settle()
}

// endPermit ends a permit while its work goes on.
func (h *treeTest) endPermit(p *treePair, number uint64, address string) {
	p.s.restore()
	delete(p.s.gate.held, number)
	p.s.admit(number, refusal(rapid.SampledFrom([]string{"hold_exceeded", "owner_gone", "cancelled", "draining"}).Draw(h.t, "how")))
	p.r.visitOf(address).permit = ""
	p.r.settle()
}

// strayAnswer repeats an answer, or gives one that comes too late to matter.
func (h *treeTest) strayAnswer(p *treePair) {
	number := uint64(rapid.IntRange(1, p.s.gate.numbers()).Draw(h.t, "number"))
	for _, permit := range p.s.m.Checkpoint().Permits {
		if permit.Number == number && permit.State != graph.PermitDenied {
			if permit.State == graph.PermitHeld { // all that can only be older
				answer := rapid.SampledFrom([]graph.Admission{queued, freely, unclear, unheard}).Draw(h.t, "older")
				p.s.admit(number, answer)
			}
			return
		}
	}
	answer := rapid.SampledFrom([]graph.Admission{queued, full, freely, unheard, tooLate, granted}).Draw(h.t, "stray")
	if answer.Answer == graph.AdmissionGranted { // late, and taken back meanwhile: it must not leak
		p.s.gate.strays[number]++
		p.s.gate.token++
		answer.Token = p.s.gate.token
		p.s.gate.held[number] = answer.Token
	}
	p.s.restore()
	p.s.admit(number, answer)
}

// answerWithdrawn is the answer to what was given up before it came. A grant may be
// delivered before it, and does not say where.
func (h *treeTest) answerWithdrawn(p *treePair, number uint64) {
	answer := rapid.SampledFrom([]graph.Admission{granted, queued, full, freely, unclear, {Answer: graph.AdmissionUnanswered, Domain: "d"}}).Draw(h.t, "answer")
	if answer.Answer == graph.AdmissionGranted && rapid.Bool().Draw(h.t, "delivered") {
		early := answer
		early.Domain = ""
		p.s.admit(number, early)
	} else if p.s.gate.held[number] != 0 && answer.Answer != graph.AdmissionQueued {
		answer = granted
	}
	p.s.restore()
	p.s.admit(number, answer)
}

// settled holds what is so of every run of a tree that has ended.
func (h *treeTest) settled(s *story) {
	s.gate.settled(s)
	for _, child := range s.finished {
		if child.refused == nil {
			h.settled(child)
		}
	}
}
