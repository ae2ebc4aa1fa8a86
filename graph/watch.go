package graph

// Moment is a point in the life of an activation at which a [Machine.Watch] is
// called.
type Moment string

// The moments that are watched.
const (
	// Entering is just before a visit takes its step, or an item of a map begins.
	Entering Moment = "entering"
	// Leaving is just before an attempt of a child ends, a fork is judged, which may be
	// the last time, or a map is closed.
	Leaving Moment = "leaving"
)

// Watch has f called at each [Moment], with the address it is about. What
// [Machine.Checkpoint] gives then is the run as it stood just before. A run in a worker is
// never watched: a replay is, to find a moment that the run has left behind, and so are
// the runs of tests. Copies of the machine are not watched.
func (m *Machine) Watch(f func(Moment, Address)) { m.watcher = f }

// entering calls who watches, before the activation has an address of its own.
func (m *Machine) entering(a *Activation) {
	switch {
	case m.watcher == nil:
	case a.Address != "": // of an item
		m.watcher(Entering, a.Address)
	default:
		visits := 0
		if i, visited := m.records[a.Node]; visited {
			visits = m.cp.Nodes[i].Visits
		}
		m.watcher(Entering, m.cp.prefix().Join(Segment{Node: a.Node, Epoch: visits + 1}))
	}
}

// leaving calls who watches. The attempts of a child have addresses of their own.
func (m *Machine) leaving(a *Activation) {
	switch {
	case m.watcher == nil:
	case a.Child != nil:
		m.watcher(Leaving, a.Child.Address)
	case a.Mapping != nil:
		m.watcher(Leaving, a.Mapping.Base)
	case len(a.Branches) > 0:
		m.watcher(Leaving, a.Address)
	}
}
