package graph

import "fmt"

// checkPermits makes sure that permits and activations know of each other: a permit
// belongs to an activation that may have it, and who waits for one has asked.
func (cp *Checkpoint) checkPermits(p *Plan) error {
	owners := make(map[Address]*Activation, len(cp.Activations))
	for i := range cp.Activations {
		owners[cp.Activations[i].Address] = &cp.Activations[i]
	}
	numbers := make(map[uint64]bool, len(cp.Permits))
	asked := make(map[Address]bool, len(cp.Permits))
	for i := range cp.Permits {
		permit := &cp.Permits[i]
		if permit.Number == 0 || permit.Number > cp.Acquisitions || numbers[permit.Number] {
			return fmt.Errorf("permit %d of %d acquisitions", permit.Number, cp.Acquisitions)
		}
		if asked[permit.Address] || permit.Denials < 0 || permit.Looks < 0 {
			return fmt.Errorf("permit %d of %q, with %d denials", permit.Number, permit.Address, permit.Denials)
		}
		numbers[permit.Number], asked[permit.Address] = true, true
		if err := permit.check(p, owners[permit.Address]); err != nil {
			return err
		}
	}
	for i := range cp.Activations {
		if a := &cp.Activations[i]; a.Phase == PhaseAdmission && !asked[a.Address] {
			return fmt.Errorf("node %q waits for a permit that nobody asked for", a.Node)
		}
	}
	return nil
}

// check holds a permit against the activation that it belongs to.
func (p *Permit) check(plan *Plan, a *Activation) error {
	if p.State == PermitWithdrawn {
		if a != nil && a.Phase != PhaseFailed && a.Phase != PhaseEnding && a.Phase != PhaseCancelled {
			return fmt.Errorf("permit %d is withdrawn and node %q is %s", p.Number, a.Node, a.Phase)
		}
		return nil
	}
	if a == nil || !plan.Node(a.Node).Runs() {
		return fmt.Errorf("permit %d belongs to nothing", p.Number)
	}
	fits := false
	switch p.State {
	case PermitAsked, PermitQueued:
		fits = a.Phase == PhaseAdmission
	case PermitDenied:
		fits = a.Phase == PhaseAdmission && a.At != nil
	case PermitWithdrawn: // belongs to nobody
	case PermitHeld:
		fits = a.Phase == PhaseRunning || a.Phase == PhaseCancelling || a.Phase == PhaseBackoff || a.Phase == PhaseInterrupted
	}
	if !fits {
		return fmt.Errorf("permit %d is %q and node %q is %s", p.Number, p.State, a.Node, a.Phase)
	}
	return nil
}
