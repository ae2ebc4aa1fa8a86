package graph

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/tidemill/tidemill/graph/value"
)

// Branch is how one branch of an active fork stands.
type Branch struct {
	ID      string          `json:"id"`
	Status  BranchStatus    `json:"status"`
	Address Address         `json:"address,omitempty"` // absent until its step is taken
	Output  json.RawMessage `json:"output,omitempty"`
	Delta   value.Object    `json:"delta,omitempty"`
	Failure *Failure        `json:"failure,omitempty"`
	// Mapping is what has become of the items of a map that did not complete, and
	// Earlier the attempts of a child or a map: for a redrive.
	Mapping *Mapping `json:"mapping,omitempty"`
	Earlier int      `json:"earlier,omitempty"`
	// Judged is set once the fork's policy has taken the branch's end into
	// account.
	Judged bool `json:"judged,omitempty"`
}

func cloneBranches(branches []Branch) []Branch {
	c := slices.Clone(branches)
	for i := range c {
		c[i].Mapping = c[i].Mapping.clone()
	}
	return c
}

// settled reports whether the branch has ended.
func (b *Branch) settled() bool { return b.Status != BranchUnstarted && b.Status != BranchActive }

// BranchStatus is how a branch stands.
type BranchStatus string

// The statuses of a branch. All but the first two are settled.
const (
	BranchUnstarted BranchStatus = "unstarted"
	BranchActive    BranchStatus = "active"
	BranchCompleted BranchStatus = "completed"
	BranchFailed    BranchStatus = "failed"
	BranchCancelled BranchStatus = "cancelled"
	BranchSkipped   BranchStatus = "skipped" // the fork was decided before it started
)

// node is the status of the branch's node once the branch has ended.
func (s BranchStatus) node() NodeStatus {
	switch s {
	case BranchCompleted:
		return NodeCompleted
	case BranchFailed:
		return NodeFailed
	case BranchCancelled, BranchSkipped:
		return NodeCancelled
	case BranchUnstarted, BranchActive:
		return NodeActive
	default:
		return NodeActive
	}
}

// dismiss ends what a decided fork still has open, and what it never started.
func (m *Machine) dismiss(now time.Time, fork *Activation) {
	for i := range m.cp.Activations {
		if a := &m.cp.Activations[i]; a.Fork == fork.Address && a.Phase != PhaseSettled {
			m.dismissInner(now, a)
		}
	}
	for i := range fork.Branches {
		if fork.Branches[i].Status == BranchUnstarted {
			fork.Branches[i].Status = BranchSkipped
		}
	}
}

// dismissInner cancels a loser. An activity or a child is asked to stop, and
// awaited; a pause closes as expired, for nobody needs its answer any more.
func (m *Machine) dismissInner(now time.Time, a *Activation) {
	switch a.Phase {
	case PhaseRunning:
		m.forgetChild(now, a)
		a.Phase = PhaseCancelling
		m.emit(CancelNode{Address: a.Address})
		return
	case PhaseMapping:
		m.dismissMap(now, a, MapDismissed)
		return
	case PhaseCancelling: // an item of a map that was ending already
		return
	case PhasePaused, PhaseAnswered:
		for _, late := range a.Offered {
			m.refuse(now, late, Failf(ErrTypePauseClosed, "pause %s closed before the answer was taken", a.Pause.ID))
		}
		m.recordAnswer(AnswerRecord{PauseID: a.Pause.ID, Closed: ClosedExpired, At: now})
	case PhaseReady, PhaseDeciding, PhaseAdmission, PhaseBackoff, PhaseInterrupted, PhaseWaiting, PhaseChecking,
		PhaseRouting, PhaseFailed, PhaseEnding, PhaseForking, PhaseSettled, PhaseCancelled:
	}
	m.settleInner(a, lost(m.locate(a, decidedWithout())))
}

// decidedWithout is why a loser was cancelled.
func decidedWithout() *Failure {
	return &Failure{Type: ErrTypeCancelled, Message: "the fork or map was decided without it"}
}

// lost is how a branch or an item ends that nobody wants any more.
func lost(f *Failure) Branch { return Branch{Status: BranchCancelled, Failure: f} }

// settleInner puts how a branch or an item ended into its fork or map. Its
// activation is done; it is dropped when the call that settled it returns.
func (m *Machine) settleInner(a *Activation, ended Branch) {
	m.wake(a, true)
	if owner := m.find(a.owner()); a.Map != "" {
		owner.Mapping.Items[a.Index].settle(a, ended)
	} else {
		for i := range owner.Branches {
			if b := &owner.Branches[i]; b.ID == a.Node {
				ended.ID, ended.Address, ended.Earlier = b.ID, a.Address, a.Earlier
				if ended.Status != BranchCompleted {
					ended.Mapping = a.Mapping
				}
				*b = ended
			}
		}
	}
	m.mark(a, ended.Status.node())
	*a = Activation{Node: a.Node, Address: a.Address, Fork: a.Fork, Map: a.Map, Phase: PhaseSettled}
}

// commitInner keeps the result of a branch for its join, and that of an item
// for its map. Ending a run or choosing a way is not theirs to do: stop counts as
// the output, route fails them. An item's delta is not applied, so not kept.
func (m *Machine) commitInner(now time.Time, a *Activation, r *Result) {
	if a.Map != "" {
		kept := *r
		kept.Delta = nil
		r = &kept
	}
	switch r.Control {
	case ControlRoute:
		m.fail(a, Failf(ErrTypeInvalidControl, "a branch or an item cannot route; its way is its fork's join or its map"))
	case ControlPause:
		if failure := m.carry(a, m.cp.State, r.Delta.Size(), len(m.cp.Output)); failure != nil {
			m.fail(a, failure)
			return
		}
		a.Delta = r.Delta
		m.openPause(now, a, r.Pause)
	case ControlOutput, ControlOK, ControlStop:
		if failure := m.keep(a, r.Output, r.Delta); failure != nil {
			m.fail(a, failure)
		}
	}
}

// keep settles a branch or an item as completed, if the run can carry what it gave.
func (m *Machine) keep(a *Activation, output json.RawMessage, delta value.Object) *Failure {
	if failure := m.carry(a, m.cp.State, len(output)+delta.Size(), len(m.cp.Output)); failure != nil {
		return failure
	}
	m.settleInner(a, Branch{Status: BranchCompleted, Output: orNull(output), Delta: delta})
	return nil
}

// recover settles a failed branch or item: as completed with what its on_error
// gives, or as failed. One that somebody cancelled has nothing to recover from.
func (m *Machine) recover(a *Activation, onError *OnError, decider Decider) bool {
	if onError == nil || a.Failure.Type == ErrTypeCancelled {
		m.settleFailed(a, a.Failure)
		return true
	}
	d := Decision{Output: onError.Output}
	if !literal(onError.Output) || onError.Delta != nil {
		var ok bool
		if d, ok = m.ask(a, decider, Question{Kind: AskRecover, Scope: Scope{Input: a.Input, Error: a.Failure}}); !ok {
			return false
		}
	}
	if a.Map != "" {
		d.Delta = nil
	}
	if d.Failure == nil {
		d.Failure = m.keep(a, d.Output, d.Delta)
	}
	if d.Failure == nil {
		return true
	}
	m.settleFailed(a, m.locate(a, d.Failure))
	return true
}

// settleFailed settles a branch or an item as failed. An item's failure that the
// run cannot carry is kept in short: thousands may fail, and all are tolerated.
func (m *Machine) settleFailed(a *Activation, f *Failure) {
	if a.Map != "" && m.carry(a, m.cp.State, f.size(), len(m.cp.Output)) != nil {
		f = f.bare()
	}
	m.settleInner(a, Branch{Status: BranchFailed, Failure: f})
}

// purge drops the activations of settled branches.
func (m *Machine) purge() {
	kept := m.cp.Activations[:0]
	for i := range m.cp.Activations {
		if m.cp.Activations[i].Phase != PhaseSettled {
			kept = append(kept, m.cp.Activations[i])
		}
	}
	clear(m.cp.Activations[len(kept):])
	m.cp.Activations = kept
}
