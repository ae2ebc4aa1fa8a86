package graph

import (
	"slices"
	"strconv"
	"time"
)

// forwarded is an answer that was handed to a child and not replied to yet.
type forwarded struct {
	Request  string  `json:"request"`            // what the child is told
	Upstream string  `json:"upstream,omitempty"` // who waits for the reply here
	Address  Address `json:"address"`            // of the activation that runs the child
	PauseID  Address `json:"pause_id"`
	Actor    string  `json:"actor,omitempty"`
	Note     string  `json:"note,omitempty"`
	Via      string  `json:"via,omitempty"`
	UpdateID string  `json:"update_id,omitempty"`
}

// forward hands an answer to the child that holds its pause, whose word decides.
func (m *Machine) forward(a *Activation, answer Answer) {
	m.cp.Requests++
	f := forwarded{
		Request: strconv.Itoa(m.cp.Requests), Upstream: answer.Request, Address: a.Address, PauseID: answer.PauseID,
		Actor: answer.Actor, Note: answer.Note, Via: answer.Via, UpdateID: answer.UpdateID,
	}
	m.cp.Forwards = append(m.cp.Forwards, f)
	answer.Request, answer.Checked = f.Request, false
	m.emit(Forward{Address: a.Address, Request: f.Request, Answer: answer})
}

// replied takes what became of an answer that was handed to a child.
func (m *Machine) replied(now time.Time, r Reply) {
	i := slices.IndexFunc(m.cp.Forwards, func(f forwarded) bool { return f.Request == r.Request })
	if i < 0 {
		return
	}
	f := m.cp.Forwards[i]
	m.cp.Forwards = slices.Delete(slices.Clone(m.cp.Forwards), i, i+1)
	if r.Failure != nil {
		m.Reject(now, f.Via, string(f.PauseID), r.Failure)
	} else {
		m.recordAnswer(AnswerRecord{
			PauseID: f.PauseID, Closed: ClosedAnswered, Actor: f.Actor, Note: f.Note, Via: f.Via, UpdateID: f.UpdateID, At: now,
		})
	}
	m.reply(f.Upstream, r.Failure)
}

// reply keeps the verdict on an answer for the one who waits for it.
func (m *Machine) reply(request string, failure *Failure) {
	if request != "" {
		m.replies = append(m.replies, Reply{Request: request, Failure: failure})
	}
}

// refuse counts a refused answer, and tells who waits for it.
func (m *Machine) refuse(now time.Time, answer Answer, failure *Failure) {
	m.Reject(now, answer.Via, string(answer.PauseID), failure)
	m.reply(answer.Request, failure)
}

// Replied gives the verdict on an answer with a [Answer.Request], once: done is
// false while there is none.
func (m *Machine) Replied(request string) (failure *Failure, done bool) {
	i := slices.IndexFunc(m.replies, func(r Reply) bool { return r.Request == request })
	if i < 0 {
		return nil, false
	}
	failure = m.replies[i].Failure
	m.replies = slices.Delete(m.replies, i, i+1)
	return failure, true
}
