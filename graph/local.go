package graph

// runsLocally reports whether the next attempt of an activation is a local
// activity. Beside an open remote one it is not: what a local activity gave is
// durable only when its workflow task ends, and an ending that arrives from
// outside may have the task repeated. Nor is it after a worker did not have the
// action, for a local activity never leaves its worker, and another may have it.
func (m *Machine) runsLocally(a *Activation) bool {
	if m.plan.Node(a.Node).Mode != ModeLocal || a.Missing > 0 {
		return false
	}
	for i := range m.cp.Activations {
		if other := &m.cp.Activations[i]; other.remote() && other.Address != a.Address {
			return false
		}
	}
	return true
}

// remote reports whether an activity or a child of the activation is open.
func (a *Activation) remote() bool {
	return !a.Local && (a.Phase == PhaseRunning || a.Phase == PhaseCancelling)
}
