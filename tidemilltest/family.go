package tidemilltest

import (
	"encoding/json"
	"fmt"
	"slices"

	"go.temporal.io/sdk/temporal"

	"github.com/tidemill/tidemill/activities"
	"github.com/tidemill/tidemill/graph"
	"github.com/tidemill/tidemill/graph/value"
)

// kid is an open child: a unit of its own. What it has to say reaches its parent as
// an event of its own.
type kid struct {
	*unit

	of        graph.Address // the activation of the parent
	begun     graph.StartChild
	sequence  int
	told      string            // the last report, without its replies
	said      []graph.OpenPause // what the parent knows of
	waiting   []string          // requests whose verdict is not known yet
	replies   []graph.Reply
	cancelled bool
}

// startChild begins a child, or takes what the scenario has in its place.
func (u *unit) startChild(e graph.StartChild) {
	if e.Start.Map == nil {
		if o, faked := u.fakeChild(e); faked {
			u.begun(&task{address: e.Address, node: e.Node, outcome: o})
			return
		}
	}
	child, err := u.childGraph(e)
	if err != nil {
		u.w.broken("%v", err)
		return
	}
	facts := u.start.Facts
	facts.ID, facts.Graph, facts.Revision = e.Start.Root+"/"+string(e.Start.Address), child.document.ID, child.document.Revision
	facts.Started = u.w.now
	k := &kid{of: e.Address, begun: e, unit: &unit{w: u.w, bound: child, start: graph.Start{
		Input: e.Input, Now: u.w.now, Child: &e.Start, Limits: u.start.Limits, Facts: facts, Admission: u.start.Admission,
	}}}
	u.kids = append(u.kids, k)
	if e.Start.Map == nil {
		if k.start.Input, k.refused = graph.CheckInput(child.document, e.Input); k.refused != nil {
			return
		}
	}
	if err := k.begin(); err != nil {
		u.w.broken("the child %s cannot begin: %v", e.Start.Address, err)
	}
}

// childGraph is the graph that a child runs.
func (u *unit) childGraph(e graph.StartChild) (bound, error) {
	switch {
	case e.Start.Map != nil:
		return u.bound, nil
	case e.Document != nil:
		named, _ := activities.Closure(e.Document, u.closure)
		plan, err := graph.NewPlan(e.Document, named...)
		if err != nil {
			return bound{}, err
		}
		return bound{document: e.Document, plan: plan, fingerprint: plan.Fingerprint, closure: named}, nil
	}
	compiled, known := u.w.catalogue.Get(e.Graph)
	if !known {
		return bound{}, fmt.Errorf("the graph %q is not linked", e.Graph)
	}
	return boundTo(compiled), nil
}

// fakeChild is how a faked child goes; false when it is run.
func (u *unit) fakeChild(e graph.StartChild) (outcome, bool) {
	if _, known := u.w.scenario.Children[e.Graph]; !known {
		return outcome{}, false
	}
	return u.w.played.next(e.Start.Address, func() outcome {
		step, _, err := u.w.script.child(e.Graph, e.Address)
		if err != nil {
			_ = u.w.fail(err) // it ends the run
			return outcome{step: Hangs()}
		}
		attempt := max(e.Start.Address.Leaf().Attempt, 1)
		call := Call{
			Name: e.Graph, Address: e.Address, Attempt: attempt, Key: e.Start.Lineage + "/" + string(e.Address),
			Args: e.Input, Worked: !step.idle,
		}
		u.w.record(call)
		return interrupted(outcome{ending: step.child(u.w, call), step: step})
	}), true
}

// child is how the step ends for a child graph.
func (s Step) child(w *world, call Call) graph.Ending {
	ending := s.foreign(w.ctx, call)
	if ending.Kind == graph.Failed {
		return activities.EndingOfChild(activities.EndedChild{Graph: call.Name, Err: closedWith(graph.Report{
			Status: graph.StatusFailed, Error: ending.Failure,
		})})
	}
	if s.changed == nil {
		return ending
	}
	changed, err := raw(s.changed)
	if err == nil {
		ending.Result.Delta, err = value.ParseObject(changed)
	}
	if err != nil {
		_ = w.fail(fmt.Errorf("what the fake of the graph %s changes is no object: %w", call.Name, err))
	}
	return ending
}

// closedWith is the error that a run closes with.
func closedWith(r graph.Report) error {
	if r.Status == graph.StatusCancelled {
		return temporal.NewCanceledError(r)
	}
	return temporal.NewApplicationErrorWithOptions(r.Error.Message, r.Error.Type,
		temporal.ApplicationErrorOptions{NonRetryable: true, Details: []any{r}})
}

func (u *unit) kidOf(address graph.Address) *kid {
	i := slices.IndexFunc(u.kids, func(k *kid) bool { return k.of == address })
	if i < 0 {
		return nil
	}
	return u.kids[i]
}

// cancelKid asks a child to stop.
func (u *unit) cancelKid(k *kid) {
	k.cancelled = true
	if k.refused == nil && k.m.Outcome() == nil {
		k.event("cancel", func() { k.m.Cancel(u.w.now, "cancelled by request") })
		k.verdicts()
	}
}

// hand gives a child an answer that its parent was given.
func (u *unit) hand(e graph.Forward) {
	k := u.kidOf(e.Address)
	if k == nil || k.refused != nil {
		u.w.broken("an answer for %s, which has no child", e.Address)
		return
	}
	k.event(fmt.Sprintf("answer %s %s", e.Answer.PauseID, e.Answer.Input), func() {
		if failure := k.m.Answer(u.w.now, e.Answer); failure != nil {
			k.replies = append(k.replies, graph.Reply{Request: e.Request, Failure: failure})
			return
		}
		k.waiting = append(k.waiting, e.Request)
	})
	k.verdicts()
}

// verdicts takes what the child's machine says of handed answers.
func (k *kid) verdicts() {
	k.waiting = slices.DeleteFunc(k.waiting, func(request string) bool {
		failure, done := k.m.Replied(request)
		if done {
			k.replies = append(k.replies, graph.Reply{Request: request, Failure: failure})
		}
		return done
	})
}

// listen takes the verdicts of all children.
func (u *unit) listen() {
	for _, k := range u.kids {
		if k.refused == nil {
			k.verdicts()
		}
	}
}

// news is what a child would tell its parent now; nil: nothing.
func (u *unit) news(k *kid) func() {
	if k.refused != nil || k.m.Outcome() != nil && len(k.replies) == 0 { // replies are told before the end
		return func() { u.endKid(k) }
	}
	report := k.m.TellsParent()
	text, err := json.Marshal(report)
	if err != nil {
		u.w.broken("a report has no JSON form: %v", err)
		return nil
	}
	if string(text) == k.told && len(k.replies) == 0 {
		return nil
	}
	return func() {
		k.sequence++
		said := report.Pauses
		report.Sequence, report.Replies = k.sequence, k.replies
		report = report.Since(k.said)
		k.told, k.said, k.replies = string(text), said, nil
		u.event(fmt.Sprintf("told by %s: paused %v, %d pauses", report.Address, report.Paused, len(report.Pauses)), func() {
			u.m.Told(u.w.now, report)
		})
	}
}

func (u *unit) endKid(k *kid) {
	k.close()
	u.kids = slices.DeleteFunc(u.kids, func(other *kid) bool { return other == k })
	ending := k.ending()
	u.event(fmt.Sprintf("end %s %s", k.begun.Start.Address, ending), func() { u.m.End(u.w.now, k.of, ending) })
}

// ending is how a child's end reaches its parent: as its closed workflow would.
func (k *kid) ending() graph.Ending {
	ended := activities.EndedChild{Graph: k.begun.Graph, Map: k.begun.Start.Map != nil, Asked: k.cancelled}
	switch {
	case k.refused != nil:
		ended.Err = closedWith(graph.Report{Status: graph.StatusFailed, Error: k.refused, Refused: true})
	case k.m.Outcome().Status == graph.StatusCompleted:
		ended.Result = k.m.ChildResult().Raw()
	default:
		ended.Err = closedWith(k.m.Report())
	}
	return activities.EndingOfChild(ended)
}

// hasNews reports whether a child has something to say, or can go on.
func (u *unit) hasNews() bool {
	return slices.ContainsFunc(u.kids, func(k *kid) bool { return u.news(k) != nil || k.refused == nil && k.hasNews() })
}

// dueBelow tells what happens next below the unit.
func (u *unit) dueBelow(next *moment) {
	for _, k := range u.kids {
		if news := u.news(k); news != nil {
			next.sooner(u.w.now, news)
			continue
		}
		k.due(next)
	}
}
