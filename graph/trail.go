package graph

// Trace has the machine note every activation that begins, for [Machine.Entered]. It
// is for tests: what is noted is no part of a checkpoint.
func (m *Machine) Trace() { m.tracing = true }

// Entered hands out the addresses of the activations that have begun since the last
// call, in order; of a machine that traces.
func (m *Machine) Entered() []Address {
	entered := m.entered
	m.entered = nil
	return entered
}

func (m *Machine) trace(address Address) {
	if m.tracing {
		m.entered = append(m.entered, address)
	}
}
