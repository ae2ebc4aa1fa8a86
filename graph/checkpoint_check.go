package graph

import (
	"errors"
	"fmt"
	"math"
)

// maxCount is more than any run counts of anything. What goes on counting from a larger
// number would come to negative ones, which no address has.
const maxCount = math.MaxInt32

// miscounted reports whether one of the counters is out of range.
func miscounted(counters ...int) bool {
	for _, n := range counters {
		if n < 0 || n > maxCount {
			return true
		}
	}
	return false
}

// check refuses a checkpoint that does not belong to the plan or that no
// machine could have written.
func (cp *Checkpoint) check(p *Plan) *Failure {
	switch {
	case cp.Version != CheckpointVersion:
		return Failf(ErrTypeInvalidCheckpoint,
			"checkpoint version is %d; this code reads %d: take it up with the release that wrote it", cp.Version, CheckpointVersion)
	case cp.Graph != p.Document.ID:
		return Failf(ErrTypeCheckpointWorkflow, "the checkpoint is of graph %q, not of %q: redrive it with its own graph, or a corrected one of the same id", cp.Graph, p.Document.ID)
	case cp.Fingerprint != p.Fingerprint:
		return Failf(ErrTypeCheckpointDefinition, "the checkpoint was taken under another version of graph %q: take it up with that version, or redrive it with this one as the spec", cp.Graph)
	case cp.Outcome != nil && cp.Outcome.Status == StatusCompleted:
		return Failf(ErrTypeCheckpointComplete, "the run has completed, and nothing is left to do; to repeat a part of it, say from which address")
	case cp.Steps < 0 || cp.StepsLeft < 0:
		return damaged("negative steps")
	case miscounted(cp.Steps, cp.Requests) || cp.Acquisitions > maxCount:
		return damaged("%d steps, %d requests and %d acquisitions", cp.Steps, cp.Requests, cp.Acquisitions)
	}
	if err := cp.checkEnd(); err != nil {
		return damaged("%v", err)
	}
	visits := map[string]int{}
	for _, n := range cp.Nodes {
		if p.Node(n.Node) == nil || miscounted(n.Visits) {
			return damaged("node %q with %d visits", n.Node, n.Visits)
		}
		if _, twice := visits[n.Node]; twice {
			return damaged("node %q is recorded twice", n.Node)
		}
		visits[n.Node] = n.Visits
	}
	seen := map[Address]bool{}
	for i := range cp.Activations {
		a := &cp.Activations[i]
		if err := a.check(p, cp.Child, visits); err != nil {
			return damaged("activation %d: %v", i, err)
		}
		if cp.Stopping == nil && (a.Phase == PhaseCancelled || a.Phase == PhaseCancelling && a.owner() == "") {
			return damaged("node %q is %s, and the run goes on", a.Node, a.Phase)
		}
		if seen[a.Address] && a.Address != "" {
			return damaged("address %q is there twice", a.Address)
		}
		seen[a.Address] = true
	}
	if err := errors.Join(cp.checkForks(p), cp.checkMaps(p), cp.checkPermits(p), cp.checkResume(p)); err != nil {
		return damaged("%v", err)
	}
	return nil
}

// damaged is a failure of a checkpoint that no machine has written, and says how to get
// one that was.
func damaged(format string, args ...any) *Failure {
	return Failf(ErrTypeInvalidCheckpoint, "%s; the checkpoint is damaged: take it again from the run (starter checkpoint --deep) and do not edit it", fmt.Sprintf(format, args...))
}

// checkEnd makes sure that the run either goes on or has ended in a way that
// can be reported.
func (cp *Checkpoint) checkEnd() error {
	switch {
	case cp.Outcome != nil && cp.Stopping == nil:
		return errors.New("the run has an outcome and was not stopped")
	case cp.Stopping == nil && len(cp.Activations) == 0:
		return errors.New("nothing is active and the run has not ended")
	}
	for _, o := range []*Outcome{cp.Stopping, cp.Outcome} {
		if o == nil {
			continue
		}
		switch o.Status {
		case StatusCompleted:
		case StatusFailed, StatusTimedOut, StatusCancelled:
			if o.Failure == nil {
				return fmt.Errorf("the run is %s without a failure", o.Status)
			}
		case StatusRunning, StatusPaused:
			return fmt.Errorf("%q is not how a run ends", o.Status)
		default:
			return fmt.Errorf("%q is not how a run ends", o.Status)
		}
	}
	return nil
}

func (a *Activation) check(p *Plan, child *ChildState, visits map[string]int) error {
	node := p.Node(a.Node)
	if node == nil {
		return fmt.Errorf("node %q is not in the graph", a.Node)
	}
	if miscounted(a.Checks, a.Attempts, a.Interruptions, a.Missing, a.Earlier) {
		return fmt.Errorf("node %q has a counter that is negative or too large", a.Node)
	}
	// A node whose input was refused has failed, or leads to the end, without
	// its step having been taken.
	if a.Address == "" && (a.Phase != PhaseReady || a.Map != "") && a.Phase != PhaseFailed && a.Phase != PhaseEnding {
		return fmt.Errorf("node %q is %s with address %q", a.Node, a.Phase, a.Address)
	}
	if a.Address != "" && a.Map == "" && !a.addressed(child, visits) {
		return fmt.Errorf("address %q does not belong to node %q", a.Address, a.Node)
	}
	for _, frame := range a.Loops {
		loop := p.Node(frame.Loop)
		if loop == nil || loop.Type != TypeLoop || frame.Turns < 0 || frame.Turns > loop.MaxIterations {
			return fmt.Errorf("%d turns of loop %q", frame.Turns, frame.Loop)
		}
	}
	if a.Local && node.Mode != ModeLocal {
		return fmt.Errorf("node %q cannot be local", a.Node)
	}
	if !node.canBe(a.Phase) {
		return fmt.Errorf("node %q of type %s cannot be %s", a.Node, node.Type, a.Phase)
	}
	return a.checkPhase()
}

// addressed reports whether the address is one of the node's visits. The map that
// a run of its own carries out has the address of the attempt.
func (a *Activation) addressed(child *ChildState, visits map[string]int) bool {
	var prefix Address
	if child != nil {
		prefix = child.Prefix
	}
	if child.runsMap() && a.Address == prefix {
		return a.Address.Leaf().Node == a.Node
	}
	own, below := a.Address.below(prefix)
	segments := own.Segments()
	return below && len(segments) == 1 && segments[0].Attempt == 0 && segments[0].Node == a.Node && segments[0].Epoch <= visits[a.Node]
}

// canBe reports whether an activation of the node can be in a phase.
func (n *Node) canBe(phase Phase) bool {
	switch phase {
	case PhaseReady, PhaseFailed, PhaseEnding, PhaseCancelled:
		return true
	case PhaseDeciding:
		return !n.Wrapped() && n.Type != TypeFork
	case PhaseAdmission:
		return n.Runs()
	case PhaseRunning, PhaseBackoff, PhaseInterrupted, PhaseCancelling:
		return n.Runs() || n.Type == TypeWorkflow || n.Type == TypeMap
	case PhaseForking:
		return n.Type == TypeFork
	case PhaseMapping:
		return n.Type == TypeMap
	case PhaseWaiting:
		return n.Type == TypeWait
	case PhasePaused, PhaseAnswered:
		return n.Type == TypePause || n.Runs()
	case PhaseChecking, PhaseRouting:
		return n.Type.EdgeBearing()
	case PhaseSettled: // never outlives the call that settles
		return false
	default:
		return false
	}
}

// checkPhase makes sure that what the phase needs is there.
func (a *Activation) checkPhase() error {
	missing := ""
	if a.Asked && (a.Pause == nil || a.Pause.ID != a.Address || a.owner() != "") {
		missing = "the pause that it asked for"
	}
	switch a.Phase {
	case PhaseReady, PhaseDeciding, PhaseAdmission, PhaseRunning, PhaseCancelling, PhaseCancelled, PhaseRouting, PhaseEnding,
		PhaseForking, PhaseMapping, PhaseSettled:
	case PhaseBackoff, PhaseInterrupted, PhaseWaiting:
		if a.At == nil {
			missing = "at"
		}
	case PhasePaused, PhaseAnswered:
		if a.Pause == nil || a.Pause.ID != a.Address {
			missing = "its pause"
		} else if a.Phase == PhaseAnswered && len(a.Offered) == 0 {
			missing = "an answer"
		}
	case PhaseChecking:
		if a.Result == nil || a.Result.checkControl() != nil {
			missing = "a result"
		}
	case PhaseFailed:
		if a.Failure == nil {
			missing = "failure"
		}
	}
	if missing != "" {
		return fmt.Errorf("node %q is %s without %s", a.Node, a.Phase, missing)
	}
	return nil
}
