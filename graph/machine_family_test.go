package graph_test

import (
	"fmt"
	"slices"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill/graph"
	"github.com/tidemill/tidemill/graph/value"
)

// kid is a child of a story, a story of its own. What it has to say reaches its
// parent as an event of its own, after what it did.
type kid struct {
	of        graph.Address // the activation of the parent
	start     graph.ChildStart
	story     *story
	sequence  int
	told      string            // the last report, without its replies
	said      []graph.OpenPause // what the parent knows of
	waiting   []string
	replies   []graph.Reply
	cancelled bool
}

// startChild begins a child. A parent that was restored asks again for the child
// that it has; it is told anew how that one stands.
func (s *story) startChild(e graph.StartChild) {
	s.t.Helper()
	for _, k := range s.kids {
		if k.start.Address == e.Start.Address {
			k.told, k.said = "", nil
			return
		}
	}
	compiled := s.childGraph(e)
	child := &story{
		t: s.t, compiled: compiled, now: s.now, plays: s.plays, closed: map[graph.Address]bool{}, graphs: s.graphs,
		batch: s.batch, restores: s.restores, gate: s.gate.child(),
		start: graph.Start{
			Input: e.Input, Now: s.now, Child: &e.Start, Limits: s.start.Limits,
			Facts: graph.RunFacts{ID: e.Start.Root + "/" + string(e.Start.Address), RunID: "r", Graph: compiled.Document.ID, Started: s.now},
		},
	}
	k := &kid{of: e.Address, start: e.Start, story: child}
	s.kids = append(s.kids, k)
	if e.Start.Map == nil && e.Start.Redriven == nil {
		if _, failure := graph.CheckInput(compiled.Document, e.Input); failure != nil {
			k.refuse(failure)
			return
		}
	}
	evaluator, err := graph.NewEvaluator(compiled.Document, nil)
	require.NoError(s.t, err)
	child.decider = evaluator
	child.start.Admission = child.gate != nil
	if e.Start.Redriven != nil {
		s.m.Started(e.Address, child.start.Facts.ID, "r")
		child.takeUp(carriedOver(s.t, *e.Start.Redriven))
		child.advance()
		return
	}
	child.m, err = graph.New(compiled.Plan, child.start)
	require.NoError(s.t, err)
	child.perform(child.m.Effects())
	child.advance()
}

// refuse ends a child that could not begin.
func (k *kid) refuse(failure *graph.Failure) { k.story.refused = failure }

// childGraph is the graph that a child runs.
func (s *story) childGraph(e graph.StartChild) *graph.Compiled {
	switch {
	case e.Start.Map != nil:
		return s.compiled
	case e.Document != nil:
		plan, err := graph.NewPlan(e.Document)
		require.NoError(s.t, err)
		return &graph.Compiled{Document: e.Document, Plan: plan, Fingerprint: plan.Fingerprint}
	default:
		compiled := s.graphs[e.Graph]
		require.NotNil(s.t, compiled, "no graph %s", e.Graph)
		return compiled
	}
}

// kidOf is the open child of an activation.
func (s *story) kidOf(address graph.Address) *kid {
	i := slices.IndexFunc(s.kids, func(k *kid) bool { return k.of == address })
	if i < 0 {
		return nil
	}
	return s.kids[i]
}

// cancelKid asks a child to stop.
func (s *story) cancelKid(k *kid) {
	k.cancelled = true
	k.story.now = s.now
	if k.story.refused == nil && k.story.m.Outcome() == nil {
		k.story.cancel("cancelled by its parent")
	}
}

// hand gives a child an answer that its parent was given.
func (s *story) hand(e graph.Forward) {
	s.t.Helper()
	k := s.kidOf(e.Address)
	require.NotNil(s.t, k, "an answer for %s, which has no child", e.Address)
	k.story.now = s.now
	answer := e.Answer
	require.Equal(s.t, e.Request, answer.Request)
	if failure := k.story.answer(answer); failure != nil {
		k.replies = append(k.replies, graph.Reply{Request: e.Request, Failure: failure})
		return
	}
	k.waiting = append(k.waiting, e.Request)
	k.listen()
}

// listen takes the verdicts that the child's machine has on handed answers.
func (k *kid) listen() {
	k.waiting = slices.DeleteFunc(k.waiting, func(request string) bool {
		failure, done := k.story.m.Replied(request)
		if done {
			k.replies = append(k.replies, graph.Reply{Request: request, Failure: failure})
		}
		return done
	})
}

// news is what the child would tell its parent now; nil: nothing.
func (s *story) news(k *kid) func() {
	child := k.story
	switch {
	case child.refused != nil:
		return func() {
			s.endKid(k, graph.Ending{Kind: graph.Failed, Final: true, Failure: &graph.Failure{
				Type: graph.ErrTypeChildStartFailed, Message: child.refused.Message, Cause: child.refused,
			}})
		}
	case child.m.Outcome() != nil && len(k.replies) == 0: // replies are told before the end
		return func() { s.endKid(k, k.ending()) }
	}
	report := child.m.TellsParent()
	line := text(s.t, report)
	if line == k.told && len(k.replies) == 0 {
		return nil
	}
	return func() {
		k.sequence++
		report.Sequence, report.Replies = k.sequence, k.replies
		said := report.Pauses
		report = report.Since(k.said)
		k.told, k.said, k.replies = line, said, nil
		s.event(fmt.Sprintf("told by %s: paused %v, %d pauses", report.Address, report.Paused, len(report.Pauses)), func() {
			s.m.Told(s.now, report)
		})
	}
}

func (s *story) endKid(k *kid, ending graph.Ending) {
	s.kids = slices.DeleteFunc(s.kids, func(other *kid) bool { return other == k })
	s.finished = append(s.finished, k.story)
	s.seen = append(s.seen, k.story.seen...)
	s.event(fmt.Sprintf("end %s %s", k.start.Address, describe(ending)), func() { s.m.End(s.now, k.of, ending) })
}

// ending is how a child's end reaches its parent.
func (k *kid) ending() graph.Ending {
	outcome := k.story.m.Outcome()
	wrap := func(errorType string) *graph.Failure {
		return &graph.Failure{Type: errorType, Message: "the child did not complete", Cause: outcome.Failure}
	}
	switch {
	case outcome.Status == graph.StatusCompleted:
		result := k.story.m.ChildResult()
		changed, err := value.ParseObject(result.Changed)
		require.NoError(k.story.t, err)
		return graph.Ending{Kind: graph.Returned, Result: &graph.Result{Output: result.Output, Delta: changed}}
	case k.cancelled:
		return graph.Ending{Kind: graph.Cancelled, Failure: wrap(graph.ErrTypeChildCancelled)}
	case outcome.Status == graph.StatusCancelled:
		return graph.Ending{Kind: graph.Failed, Failure: wrap(graph.ErrTypeChildCancelled), Final: true}
	case outcome.Status == graph.StatusTimedOut && outcome.Failure.Type == graph.ErrTypeActionTimedOut:
		return graph.Ending{Kind: graph.TimedOut, Failure: outcome.Failure}
	case k.start.Map != nil:
		return graph.Ending{Kind: graph.Failed, Failure: outcome.Failure}
	case outcome.Status == graph.StatusTimedOut:
		return graph.Ending{Kind: graph.TimedOut, Failure: wrap(graph.ErrTypeChildTimedOut)}
	default:
		return graph.Ending{Kind: graph.Failed, Failure: wrap(graph.ErrTypeChildFailed)}
	}
}

// hasNews reports whether a child has something to say, or can go on.
func (s *story) hasNews() bool {
	return slices.ContainsFunc(s.kids, func(k *kid) bool { return s.news(k) != nil || k.story.hasNews() })
}

// nextOfKids is the next thing to happen below.
func (s *story) nextOfKids(sooner func(time.Time, func())) {
	for _, k := range s.kids {
		if news := s.news(k); news != nil {
			sooner(s.now, news)
			continue
		}
		at, happen := k.story.next()
		if happen == nil {
			continue
		}
		sooner(at, func() {
			k.story.now = s.now
			k.story.restore()
			happen()
			k.listen()
		})
	}
}
