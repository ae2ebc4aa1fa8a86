package graph

// Steps is how many steps the run has taken.
func (m *Machine) Steps() int { return m.cp.Steps }

// Stopping reports whether the run is being ended, or has ended: nothing new is begun.
func (m *Machine) Stopping() bool { return m.cp.Stopping != nil || m.cp.Outcome != nil }

// AnsweredBy is the pause that an update has answered, as far as the run remembers: an
// update that is sent again, to a later run of the chain, has the result it had.
func (m *Machine) AnsweredBy(updateID string) (Address, bool) {
	for _, r := range m.cp.Answers {
		if r.Closed == ClosedAnswered && updateID != "" && r.UpdateID == updateID {
			return r.PauseID, true
		}
	}
	return "", false
}
