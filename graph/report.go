package graph

import (
	"encoding/json"
	"time"
)

// Report is the outcome document: what status, run and await show of a run,
// open or closed.
type Report struct {
	ID          string          `json:"id"`
	RunID       string          `json:"run_id"`
	Graph       string          `json:"graph"`
	Fingerprint string          `json:"fingerprint"`
	Status      Status          `json:"status"`
	Output      json.RawMessage `json:"output"` // null until completed
	State       json.RawMessage `json:"state"`  // null when left out for its size
	Error       *Failure        `json:"error"`
	Pauses      []OpenPause     `json:"pauses"`
	Waiting     []Waiting       `json:"waiting"`
	Rejected    Rejections      `json:"rejected,omitzero"`
	Nodes       []NodeRecord    `json:"nodes,omitempty"`
	Steps       int             `json:"steps"`
	Started     time.Time       `json:"started"`
	Finished    *time.Time      `json:"finished"`
	Deadline    *time.Time      `json:"deadline"`
	RedriveOf   string          `json:"redrive_of,omitempty"`
	Refused     bool            `json:"refused,omitempty"` // it could not begin: no node has run
}

// Waiting says what an activation waits for besides its own work.
type Waiting struct {
	Address   Address    `json:"address"`
	Reason    string     `json:"reason"`
	NextCheck *time.Time `json:"next_check"`
}

// Report is the outcome document at this moment.
func (m *Machine) Report() Report {
	r := m.Overview()
	r.State = m.cp.State.Raw()
	return r
}

// Overview is the outcome document without the state, which may be large.
func (m *Machine) Overview() Report {
	r := Report{
		ID: m.facts.ID, RunID: m.facts.RunID, Graph: m.cp.Graph, Fingerprint: m.cp.Fingerprint,
		Status: m.Status(), Steps: m.cp.Steps, Started: m.facts.Started,
		Deadline: m.cp.Clock.Deadline, Rejected: m.cp.Rejected, Nodes: m.cp.Nodes,
		RedriveOf: m.cp.RedriveOf,
		Pauses:    append([]OpenPause{}, m.Pauses()...), Waiting: []Waiting{},
	}
	for i := range m.cp.Activations {
		if w, ok := m.waiting(&m.cp.Activations[i]); ok {
			r.Waiting = append(r.Waiting, w)
		}
	}
	if o := m.cp.Outcome; o != nil {
		r.Output, r.Error, r.Finished = o.Output, o.Failure, &o.Finished
	}
	return r
}

// waiting is what an activation waits for.
func (m *Machine) waiting(a *Activation) (Waiting, bool) {
	w := Waiting{Address: a.Address, NextCheck: a.At}
	switch {
	case a.Interrupted == InterruptNotRegistered && (a.Phase == PhaseInterrupted || a.Phase == PhaseRunning):
		w.Reason = "no worker has action `" + m.plan.Node(a.Node).Run.ActivityType() + "`"
	case a.Interrupted == InterruptIDTaken && a.Phase == PhaseInterrupted:
		w.Reason = "an earlier run's child still has the workflow id"
	case a.Phase == PhaseInterrupted:
		w.Reason = "interrupted (" + string(a.Interrupted) + "); scheduled again"
	case a.Phase == PhaseAdmission:
		return m.waitsForPermit(a), true
	case a.Phase == PhaseBackoff:
		w.Reason = "backing off before the next attempt"
	case a.Phase == PhaseWaiting:
		w.Reason = "waiting until its time"
	case a.Phase == PhaseCancelling:
		w.Reason = "asked to stop"
	default:
		return Waiting{}, false
	}
	return w, true
}
