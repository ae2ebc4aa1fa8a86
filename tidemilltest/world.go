package tidemilltest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/tidemill/tidemill/activities"
	"github.com/tidemill/tidemill/graph"
)

// world is one run of a scenario, with a clock of its own.
type world struct {
	*stage

	ctx    context.Context //nolint:containedctx // of the actions that are called; a world lives for one call
	acts   *activities.Activities
	began  time.Time
	now    time.Time
	root   *unit
	inbox  *inbox
	batch  int // decisions at a time
	played *played
	path   []graph.Address
	lines  []string
	token  uint64 // of the latest permit
	fault  error  // what must not happen in any run
}

// noon is when every run begins.
func noon() time.Time { return time.Date(2030, time.January, 2, 12, 0, 0, 0, time.UTC) }

// mostEvents bounds a run that does not end.
const mostEvents = 100_000

func newWorld(ctx context.Context, s *Scenario) (*world, error) {
	w := &world{
		ctx: ctx, began: noon(), now: noon(),
		played: &played{outcomes: map[graph.Address][]outcome{}}, batch: graph.MaxBatchDecisions,
	}
	var err error
	if w.stage, err = newStage(s, w.since); err != nil {
		return nil, err
	}
	registry, catalogue, err := w.app.Parts()
	if err != nil {
		return nil, err
	}
	w.acts, err = activities.New(activities.Options{
		Registry: registry, Catalogue: catalogue, Secrets: secrets(s.Secrets), Limits: s.Limits,
	})
	w.inbox = newInbox(w)
	return w, err
}

// again is a world in which all goes as it went in this one, with decisions taken one
// by one.
func (w *world) again() *world {
	other := &world{
		stage: w.stage, ctx: w.ctx, acts: w.acts, began: w.began, now: w.began,
		played: &played{outcomes: w.played.outcomes, replay: true}, batch: 1,
	}
	other.inbox = newInbox(other)
	return other
}

// since is the virtual time since the run began.
func (w *world) since() time.Duration { return w.now.Sub(w.began) }

// run carries the run on until it has ended, waits for nobody who says anything, or
// can do nothing more.
func (w *world) run() error {
	s := w.scenario
	input, failure := graph.CheckInput(w.compiled.Document, w.input)
	w.root = &unit{w: w, bound: boundTo(w.compiled), start: graph.Start{
		Input: input, Facts: s.facts(w.began, w.compiled), Lineage: runLineage, Limits: s.Limits,
		MaxSteps: s.MaxSteps, Deadline: budget(s.Deadline), Now: w.now, Admission: s.Permits != nil,
	}}
	if failure != nil {
		w.root.refused = failure
		return nil
	}
	if err := w.root.begin(); err != nil {
		return err
	}
	for events := 0; w.err == nil && w.fault == nil; events++ {
		if events > mostEvents {
			return fmt.Errorf("tidemilltest: the run does not end: %d events by %s", events, w.since())
		}
		if !w.step() {
			break
		}
	}
	w.root.close()
	return errors.Join(w.failed(), w.fault)
}

// budget is a length of running time as a run knows it.
func budget(d time.Duration) graph.Duration {
	if d < 0 {
		return graph.None
	}
	return graph.Duration(d)
}

// step lets the next thing happen; false when nothing will.
func (w *world) step() bool {
	if w.root.m.Outcome() != nil {
		return false
	}
	next := &moment{}
	w.inbox.due(next)
	if !w.root.m.Paused() || w.root.hasNews() || w.scenario.ThroughPauses || next.do != nil {
		w.root.due(next)
	}
	if next.do == nil {
		return false
	}
	if next.at.After(w.now) {
		w.now = next.at
	}
	w.root.carry()
	next.do()
	w.inbox.look()
	return true
}

// moment is the next thing to happen. Of several at one instant it is the first that
// was told.
type moment struct {
	at time.Time
	do func()
}

func (m *moment) sooner(at time.Time, do func()) {
	if m.do == nil || at.Before(m.at) {
		m.at, m.do = at, do
	}
}

func (w *world) logf(format string, args ...any) {
	w.lines = append(w.lines, w.since().String()+" "+fmt.Sprintf(format, args...))
}

// broken notes what no run may do, whatever its graph.
func (w *world) broken(format string, args ...any) {
	if w.fault == nil {
		w.fault = fmt.Errorf("tidemilltest: this is a fault of the interpreter, not of the graph: "+format, args...)
	}
}

// secrets are the values of a scenario.
type secrets map[string]string

// Lookup gives a value; a name that the scenario does not have is not allowed.
func (s secrets) Lookup(name string) (string, error) {
	v, known := s[name]
	if !known {
		return "", fmt.Errorf("%w: %q; give it in Secrets of the scenario", activities.ErrSecretNotAllowed, name)
	}
	return v, nil
}

// played is how attempts went the first time, so that the second time they go the same
// way without anything being called.
type played struct {
	outcomes map[graph.Address][]outcome
	replay   bool
}

// outcome is how one scheduling of a node went.
type outcome struct {
	ending graph.Ending
	step   Step
}

// next is the outcome of a scheduling: what was played, or what play gives.
func (p *played) next(address graph.Address, play func() outcome) outcome {
	if !p.replay {
		o := play()
		p.outcomes[address] = append(p.outcomes[address], o)
		return o
	}
	list := p.outcomes[address]
	if len(list) == 0 { // another way than the first time: the transcripts tell
		return outcome{step: Hangs()}
	}
	p.outcomes[address] = slices.Clone(list[1:])
	return list[0]
}
