package tidemilltest

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/tidemill/tidemill/graph"
)

// bound is a graph that a run is bound to.
type bound struct {
	document    *graph.Document
	plan        *graph.Plan
	fingerprint string
	closure     []*graph.Document // every graph that it names
}

func boundTo(c *graph.Compiled) bound {
	return bound{document: c.Document, plan: c.Plan, fingerprint: c.Fingerprint, closure: c.Closure}
}

// unit is the run of one machine: the scenario's, or that of a child.
type unit struct {
	bound

	w         *world
	start     graph.Start
	m         *graph.Machine
	evaluator *graph.Evaluator
	refused   *graph.Failure // it could not begin
	tasks     []*task        // open, in the order in which they were scheduled
	timers    []graph.SetTimer
	kids      []*kid
	permits   permits
}

// begin makes the machine and carries it on as far as it gets.
func (u *unit) begin() error {
	var err error
	if u.evaluator, err = u.w.acts.Evaluator(u.document, u.fingerprint); err != nil {
		return err
	}
	u.start.Now = u.w.now
	if u.m, err = graph.New(u.plan, u.start); err != nil {
		return err
	}
	u.watch()
	u.perform(u.m.Effects())
	u.advance()
	return nil
}

// watch keeps the path of the run.
func (u *unit) watch() {
	u.m.Watch(func(moment graph.Moment, address graph.Address) {
		if moment == graph.Entering {
			u.w.path = append(u.w.path, address)
		}
	})
}

// advance carries the machine on as a workflow does: a copy runs ahead and decides,
// and the machine takes the same way by what was recorded.
func (u *unit) advance() {
	u.m.Advance(u.w.now, graph.Undecided{})
	for u.w.fault == nil && (u.m.Undecided() || u.m.Unsettled()) {
		if u.m.Undecided() {
			u.runAhead()
			continue
		}
		u.m.Advance(u.w.now, graph.Undecided{})
	}
	u.perform(u.m.Effects())
}

// runAhead takes one batch of decisions.
func (u *unit) runAhead() {
	recorder := graph.NewRecorder(&limited{decider: u.evaluator, left: u.w.batch})
	u.m.Clone().Advance(u.w.now, recorder)
	history, err := json.Marshal(recorder.Decisions())
	var decisions []graph.Decision
	if err == nil {
		err = json.Unmarshal(history, &decisions)
	}
	recorded := graph.NewRecorded(decisions)
	u.m.Advance(u.w.now, recorded)
	if err != nil || len(decisions) == 0 || recorded.Left() > 0 {
		u.w.broken("of %d decisions %d were not used (%v)", len(decisions), recorded.Left(), err)
	}
}

// limited is a decider that answers so many questions.
type limited struct {
	decider graph.Decider
	left    int
}

// Decide answers while questions are left.
func (l *limited) Decide(q graph.Question) (graph.Decision, bool) {
	if l.left == 0 {
		return graph.Decision{}, false
	}
	l.left--
	return l.decider.Decide(q)
}

// event tells the machine something and carries it on.
func (u *unit) event(line string, tell func()) {
	u.w.logf("> %s", line)
	tell()
	u.perform(u.m.Effects())
	u.advance()
	u.listen()
}

// due tells what happens next in the unit and below it.
func (u *unit) due(next *moment) {
	w := u.w
	u.permits.due(u, next)
	for _, t := range u.tasks {
		if !t.due.IsZero() {
			next.sooner(t.due, func() { u.end(t) })
		}
	}
	for _, timer := range u.timers {
		next.sooner(timer.At, func() { u.fire(timer) })
	}
	u.dueBelow(next)
	if deadline, ok := u.m.Deadline(); ok {
		next.sooner(deadline, func() { u.event("deadline", func() { u.m.Expire(w.now) }) })
	}
}

func (u *unit) fire(timer graph.SetTimer) {
	u.dropTimer(timer.Address)
	u.event(fmt.Sprintf("fire %s (%s)", timer.Address, timer.Purpose), func() { u.m.Fire(u.w.now, timer.Address) })
}

func (u *unit) dropTimer(address graph.Address) {
	u.timers = slices.DeleteFunc(u.timers, func(t graph.SetTimer) bool { return t.Address == address })
}

// perform does what the machine wants done.
func (u *unit) perform(effects []graph.Effect) {
	for _, effect := range effects {
		u.w.logf("< %s", graph.EffectLine(effect, u.w.began))
		switch e := effect.(type) {
		case graph.Acquire:
			u.permits.ask(u, e)
		case graph.Release:
			u.permits.release(e)
		case graph.RunNode:
			u.schedule(e)
		case graph.StartChild:
			u.startChild(e)
		case graph.Forward:
			u.hand(e)
		case graph.CancelNode:
			u.stop(e.Address)
		case graph.SetTimer:
			u.dropTimer(e.Address)
			u.timers = append(u.timers, e)
		case graph.StopTimer:
			u.dropTimer(e.Address)
		default:
			u.w.broken("the kit does not know the effect %T", effect)
		}
	}
}

// close settles what a run that has ended still has with admission.
func (u *unit) close() {
	if u.m == nil || u.m.Outcome() == nil {
		return
	}
	u.permits.settle(u)
}
