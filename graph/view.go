package graph

import (
	"fmt"
	"time"
)

// Current is one activation as an operator sees it.
type Current struct {
	Node    string  `json:"node"`
	Address Address `json:"address"`
	Phase   Phase   `json:"phase"`
	Attempt int     `json:"attempt"`           // the one under way
	Waiting string  `json:"waiting,omitempty"` // what for
	// Child is the workflow id of the child that is open.
	Child string `json:"child,omitempty"`
	// Expires is when an open pause expires; its id is the Address.
	Expires *time.Time `json:"expires,omitempty"`
}

// Current lists what is active now.
func (m *Machine) Current() []Current {
	var list []Current
	for i := range m.cp.Activations {
		a := &m.cp.Activations[i]
		c := Current{Node: a.Node, Address: a.Address, Phase: a.Phase, Attempt: a.attempt()}
		if c.Address == "" {
			c.Address = Address(a.Node)
		}
		if a.Phase == PhasePaused {
			c.Waiting, c.Expires = "an answer", a.Pause.Expires
		} else if a.Phase == PhaseForking || a.Phase == PhaseMapping {
			c.Waiting = a.progress()
		} else if a.Child != nil && a.Phase == PhaseRunning {
			c.Waiting, c.Child = a.Child.waiting(), a.Child.WorkflowID
		} else if w, ok := m.waiting(a); ok {
			c.Waiting = w.Reason
			if w.NextCheck != nil {
				c.Waiting += ", next at " + w.NextCheck.UTC().Format("15:04:05")
			}
		}
		list = append(list, c)
	}
	return list
}

// attempt is the number of the attempt that is under way or comes next, and of
// the last one when no more will be made.
func (a *Activation) attempt() int {
	if a.Attempts > 0 && (a.Phase == PhaseFailed || a.Phase == PhaseCancelled || a.Phase == PhasePaused) {
		return a.Attempts
	}
	return a.Attempts + 1
}

// waiting says what a child does.
func (c *ChildRun) waiting() string {
	switch {
	case c.Paused:
		return "its child, which is paused"
	case c.WorkflowID == "":
		return "its child to start"
	default:
		return "its child"
	}
}

// progress is how far a fork or a map has come.
func (a *Activation) progress() string {
	if mp := a.Mapping; mp != nil {
		return fmt.Sprintf("its items; %d of %d have ended", len(mp.Items)-mp.count(BranchUnstarted, BranchActive), len(mp.Items))
	}
	settled := 0
	for i := range a.Branches {
		if a.Branches[i].settled() {
			settled++
		}
	}
	return fmt.Sprintf("its branches; %d of %d have ended", settled, len(a.Branches))
}

// RunView is how far a run has come, for pictures.
type RunView struct {
	Nodes   []NodeRecord `json:"nodes"`
	Current []Current    `json:"current"` // activations that are under way
}

// View is how far the run has come.
func (m *Machine) View() *RunView { return &RunView{Nodes: m.cp.Nodes, Current: m.Current()} }
