package tidemilltest

import (
	"time"

	"github.com/tidemill/tidemill"
	"github.com/tidemill/tidemill/graph"
)

// Scenario is one run of a graph: what it is given and what happens to it. Only App
// must be set, and Graph where the App has several.
type Scenario struct {
	App   *tidemill.App // has the graph, its child graphs, callbacks and real actions; see [Graphs]
	Graph string        // id. Zero means the App's only one.
	Input any           // anything that JSON writes as an object. Zero means {}.

	// Fakes stand in for actions and activities, by the name that nodes run. An action
	// without a fake is the App's own, which is called for real and takes no virtual
	// time; http always needs one.
	Fakes Fakes
	// Nodes are fakes for single nodes, by id, or for single visits, by address. They
	// win over Fakes.
	Nodes Fakes
	// Children are fakes for child graphs, by id. A child without one is run.
	Children Fakes

	Answers []Answer // in the order in which they are sent when they are due together
	Cancel  Cancel   // Zero means that nobody cancels.
	// ThroughPauses carries the run on when nobody has an answer for what it asks: its
	// time passes until its pauses expire. Zero means that such a run stops as paused.
	ThroughPauses bool

	Permits *Permits          // admission. Nil means none.
	Secrets map[string]string // what secret('NAME') gives
	Limits  tidemill.Limits   // Zero means 1 MiB each.

	Deadline time.Duration // budget of running time. Zero means the graph's; -1 is none.
	MaxSteps int           // Zero means the graph's.
	Lane     tidemill.Lane // Zero means one of the run's own.

	// Carry restores the run from its checkpoint, as JSON, before every event, as if it
	// had been continued or taken over there.
	Carry bool
}

// Graphs is an App with the graphs of files and folders, without any Go function: for
// tests of graphs alone.
func Graphs(paths ...string) *tidemill.App {
	app := tidemill.NewApp()
	app.AddGraphs(paths...)
	return app
}

// Answer is what somebody says to a pause.
type Answer struct {
	// Pause is the pause's address, in which "#1" may be left out: approve,
	// check/ask, each/3. Zero addresses none, as a plain signal does.
	Pause string
	Input any // null is json.RawMessage("null")
	// After is how long after the pause opened the answer comes. At, when set, is an
	// instant of the run, counted from its start, whether the pause is open or not:
	// too early, in time, or too late.
	After, At   time.Duration
	Actor, Note string
	Times       int // how often it is sent. Zero means once.
}

// Cancel is when the run is cancelled: at an instant counted from its start, or as
// soon as the visit of an address has begun.
type Cancel struct {
	At     time.Duration
	When   string // an address, in which "#1" may be left out
	Reason string
}

func (c Cancel) wanted() bool { return c != (Cancel{}) }

// Permits is an admission that is as simple as can be. The zero value grants at once.
type Permits struct {
	Wait    time.Duration // every permit is granted so long after it was asked for
	FullFor time.Duration // until then, counted from the start of the run, the queue is full
}

// The facts of a run in the kit.
const (
	runID      = "test"
	runLineage = "run" // begins idempotency keys: run/ship#1
)

func (s *Scenario) facts(began time.Time, compiled *graph.Compiled) graph.RunFacts {
	lane := s.Lane
	if lane.App == "" {
		lane.App = "tidemill"
	}
	if lane.User == "" {
		lane.User = runID
	}
	if lane.Session == "" {
		lane.Session = runLineage
	}
	return graph.RunFacts{
		ID: runID, RunID: runLineage, Graph: compiled.Document.ID, Revision: compiled.Document.Revision,
		Lane: lane, Started: began,
	}
}
