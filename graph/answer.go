package graph

import (
	"encoding/json"
	"time"
)

// Answer is what somebody says to a pause.
type Answer struct {
	PauseID Address         `json:"pause_id,omitempty"` // empty: the only open one
	Input   json.RawMessage `json:"input"`              // canonical; absent is refused, null is an answer
	Actor   string          `json:"actor,omitempty"`
	Note    string          `json:"note,omitempty"`
	Digest  string          `json:"digest,omitempty"` // of the pause, as it was shown
	// Via is how it came: "signal" or "update"; UpdateID is the update's.
	Via      string `json:"via,omitempty"`
	UpdateID string `json:"update_id,omitempty"`
	// Request names who waits for the verdict; see [Machine.Replied]. Empty: nobody.
	Request string `json:"request,omitempty"`
	// Checked is set when the input is known to fit the pause's schema.
	Checked bool `json:"checked,omitempty"`
}

// AnswerRecord is what a run remembers of a pause that has closed.
type AnswerRecord struct {
	PauseID  Address     `json:"pause_id"`
	Closed   PauseClosed `json:"closed"`
	Actor    string      `json:"actor,omitempty"`
	Note     string      `json:"note,omitempty"`
	Via      string      `json:"via,omitempty"`
	UpdateID string      `json:"update_id,omitempty"`
	At       time.Time   `json:"at"`
}

// PauseClosed is how a pause closed.
type PauseClosed string

// The ways a pause closes.
const (
	ClosedAnswered  PauseClosed = "answered"
	ClosedExpired   PauseClosed = "expired"
	ClosedCancelled PauseClosed = "cancelled"
	ClosedBelow     PauseClosed = "below" // in a child, which knows how
)

// Rejections counts the answers that were refused, and keeps the last few.
type Rejections struct {
	Count int         `json:"count,omitempty"`
	Last  []Rejection `json:"last,omitempty"` // the last maxRejections, oldest first
}

// Rejection is one refused answer. It never holds the answer itself.
type Rejection struct {
	At      time.Time `json:"at"`
	Via     string    `json:"via"`
	PauseID string    `json:"pause_id,omitempty"` // as given
	Type    string    `json:"type"`
	Message string    `json:"message"`
}

// How much a run remembers of answers and refusals.
const (
	maxAnswers    = 200
	maxRejections = 10
	maxSaid       = 1 << 10 // bytes of an answer's actor, and of its note
)

// Judge says whether an answer can be taken now; nil when it can. It changes
// nothing and does not look at the schema.
func (m *Machine) Judge(answer Answer) *Failure {
	open := m.Pauses()
	p, failure := m.addressed(open, answer.PauseID)
	switch {
	case failure != nil:
		return failure
	case answer.Input == nil:
		return Failf(ErrTypeResumeInputRequired, "an answer needs an input; null is one")
	case len(answer.Input) > m.limits.Payload:
		return Failf(ErrTypeInvalidResumeInput, "the answer has %d bytes; at most %d are taken", len(answer.Input), m.limits.Payload)
	case len(answer.Actor) > maxSaid || len(answer.Note) > maxSaid:
		return Failf(ErrTypeInvalidResumeInput, "actor and note are remembered, with at most %d bytes each; write less", maxSaid)
	case answer.Digest != "" && answer.Digest != p.Digest:
		return Failf(ErrTypePauseDigestMismatch, "pause %s shows something else than what was answered; look at it again", p.ID)
	}
	return nil
}

// addressed is the open pause that an id names, or the only one when the id is
// empty.
func (m *Machine) addressed(open []OpenPause, id Address) (OpenPause, *Failure) {
	if id == "" {
		switch len(open) {
		case 1:
			return open[0], nil
		case 0:
			return OpenPause{}, Failf(ErrTypeUnknownPause, "no pause is open")
		default:
			return OpenPause{}, Failf(ErrTypePauseAmbiguous, "several pauses are open; name one (%s)", openIDs(open))
		}
	}
	var alike []OpenPause
	for _, p := range open {
		if p.ID == id {
			return p, nil
		}
		if p.Alias == string(id) {
			alike = append(alike, p)
		}
	}
	switch {
	case len(alike) == 1:
		return alike[0], nil
	case len(alike) > 1:
		return OpenPause{}, Failf(ErrTypePauseAmbiguous, "several items have the key of %s; name one by its number (%s)", id, openIDs(open))
	case m.wasPause(id):
		return OpenPause{}, Failf(ErrTypePauseClosed, "pause %s is closed (%s)", id, openIDs(open))
	}
	return OpenPause{}, Failf(ErrTypeUnknownPause, "there is no pause %s (%s)", id, openIDs(open))
}

// wasPause reports whether an address that is not open has been a pause: it is
// remembered, or it is an earlier visit of a pause node.
func (m *Machine) wasPause(id Address) bool {
	for _, record := range m.cp.Answers {
		if record.PauseID == id {
			return true
		}
	}
	own, below := id.below(m.cp.prefix())
	segments := own.Segments()
	if !below || len(segments) != 1 { // not of this run itself
		return false
	}
	visit := segments[0]
	node := m.plan.Node(visit.Node)
	if node == nil || node.Type != TypePause {
		return false
	}
	i, visited := m.records[visit.Node]
	return visited && visit.Epoch <= m.cp.Nodes[i].Visits
}

// Find returns the open pause that an answer is for; false when Judge would
// refuse it.
func (m *Machine) Find(answer Answer) (OpenPause, bool) {
	p, failure := m.addressed(m.Pauses(), answer.PauseID)
	return p, failure == nil
}

// Answering reports whether answers of a pause are being checked.
func (m *Machine) Answering(id Address) bool {
	a := m.find(id)
	return a != nil && a.Phase == PhaseAnswered
}

// Answer takes an answer, or says why not. An answer whose fit to the schema
// is not known yet is taken provisionally, and so is one that comes behind it:
// the next Advance checks them in order, takes the first that fits, and refuses
// the others. When none fits the pause stays open. An answer to a pause of a
// child is handed on, and the child's word decides.
func (m *Machine) Answer(now time.Time, answer Answer) *Failure {
	if failure := m.Judge(answer); failure != nil {
		return failure
	}
	p, _ := m.addressed(m.Pauses(), answer.PauseID)
	answer.PauseID = p.ID
	a := m.find(p.ID)
	if a == nil || a.Pause == nil {
		m.forward(m.holder(p.ID), answer)
		return nil
	}
	if a.Phase == PhaseAnswered || p.ResumeSchema != nil && !answer.Checked {
		a.Phase, a.Offered = PhaseAnswered, append(a.Offered, answer)
		m.settle(now) // the run can move, so its clock runs
		return nil
	}
	m.accept(now, a, answer)
	m.settle(now)
	return nil
}

// checkAnswer holds the next provisional answer against the pause's schema.
func (m *Machine) checkAnswer(now time.Time, a *Activation, decider Decider) bool {
	answer, rest := a.Offered[0], a.Offered[1:]
	if schema := a.Pause.ResumeSchema; schema != nil && !answer.Checked {
		d, ok := m.ask(a, decider, Question{Kind: AskSchema, Schema: schema, Subject: answer.Input})
		if !ok {
			return false
		}
		if d.Failure != nil {
			m.refuse(now, answer, Failf(ErrTypeInvalidResumeInput, "%s", d.Failure.Message))
			if a.Offered = rest; len(rest) > 0 {
				return true
			}
			a.Phase, a.Offered = PhasePaused, nil
			if a.At == nil && a.Pause.Expires != nil { // its time came meanwhile
				m.expire(now, a)
			}
			return true
		}
	}
	for _, late := range rest {
		m.refuse(now, late, Failf(ErrTypePauseClosed, "pause %s has been answered", late.PauseID))
	}
	m.accept(now, a, answer)
	return true
}

// holder is the activation whose child holds an open pause.
func (m *Machine) holder(id Address) *Activation {
	for i := range m.cp.Activations {
		a := &m.cp.Activations[i]
		if a.Child != nil && holdsPause(a.Child.Pauses, id) {
			return a
		}
	}
	return nil
}

// accept closes a pause with its answer. The answer is what the successor
// gets; it is never the run's output by itself.
func (m *Machine) accept(now time.Time, a *Activation, answer Answer) {
	m.wake(a, true)
	m.recordAnswer(AnswerRecord{
		PauseID: a.Pause.ID, Closed: ClosedAnswered, Actor: answer.Actor, Note: answer.Note,
		Via: answer.Via, UpdateID: answer.UpdateID, At: now,
	})
	m.reply(answer.Request, nil)
	m.mark(a, NodeActive)
	a.closePause()
	if m.plan.Node(a.Node).Type == TypePause {
		a.Phase, a.Answer = PhaseDeciding, &answer
		return
	}
	a.Phase, a.Result = PhaseChecking, &Result{Control: ControlOK, Output: answer.Input, Delta: a.Delta}
}

func (m *Machine) recordAnswer(r AnswerRecord) {
	m.cp.Answers = appendLast(m.cp.Answers, r, maxAnswers)
}

// Reject counts an answer that was refused, so that it can be seen.
func (m *Machine) Reject(now time.Time, via, pauseID string, f *Failure) {
	m.cp.Rejected.Count++
	m.cp.Rejected.Last = appendLast(m.cp.Rejected.Last, Rejection{
		At: now, Via: via, PauseID: cutText(pauseID, 200), Type: f.Type, Message: cutText(f.Message, 500),
	}, maxRejections)
}

// appendLast appends to a list that keeps its last most elements.
func appendLast[T any](list []T, v T, most int) []T {
	if len(list) >= most {
		list = list[len(list)-most+1:]
	}
	return append(list[:len(list):len(list)], v)
}
