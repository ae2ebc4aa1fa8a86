package graph_test

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill/graph"
	"github.com/tidemill/tidemill/graph/value"
)

// advance carries the machine on as the workflow does: what it does not know is
// decided on a copy, the decisions go through JSON as through a history, and
// the machine repeats them. A copy that simply evaluates must come to the same
// checkpoint and want the same things done.
func (s *story) advance() {
	s.t.Helper()
	direct := s.m.Clone()
	direct.Advance(s.now, s.decider)
	for direct.Unsettled() {
		direct.Advance(s.now, s.decider)
	}
	s.m.Advance(s.now, graph.Undecided{})
	for s.m.Undecided() || s.m.Unsettled() {
		if s.m.Undecided() {
			before := text(s.t, s.m.Checkpoint())
			s.runAhead()
			require.NotEqual(s.t, before, text(s.t, s.m.Checkpoint()), "a batch of decisions leads nowhere")
			if s.watch != nil {
				s.watch()
			}
			continue
		}
		s.m.Advance(s.now, graph.Undecided{})
	}
	require.Equal(s.t, text(s.t, direct.Checkpoint()), text(s.t, s.m.Checkpoint()))
	effects := s.m.Effects()
	require.Equal(s.t, effectTexts(s.t, direct.Effects()), effectTexts(s.t, effects))
	s.perform(effects)
	if s.gate.deliver(s) {
		return
	}
	s.checkBooks()
}

// runAhead takes one batch of decisions.
func (s *story) runAhead() {
	s.t.Helper()
	recorder := graph.NewRecorder(&spy{story: s, left: s.batch})
	s.m.Clone().Advance(s.now, recorder)
	history, err := json.Marshal(recorder.Decisions())
	require.NoError(s.t, err)
	var decisions []graph.Decision
	require.NoError(s.t, json.Unmarshal(history, &decisions))
	require.NotEmpty(s.t, decisions, "an undecided machine has nothing to decide")
	recorded := graph.NewRecorded(decisions)
	s.m.Advance(s.now, recorded)
	require.Zero(s.t, recorded.Left(), "decisions were recorded that are not repeated")
}

// checkBooks holds what must be so whenever the machine rests.
func (s *story) checkBooks() {
	s.t.Helper()
	cp := s.m.Checkpoint()
	if cp.Child == nil || !cp.Child.Map { // whose one step its parent took
		require.Equal(s.t, s.visits(cp), cp.Steps-s.again, "every step is the visit of a node other than a fork")
	}
	budget := s.compiled.Document.MaxSteps
	if s.start.MaxSteps > 0 {
		budget = s.start.MaxSteps
	}
	if child := s.start.Child; child != nil && child.MaxSteps > 0 {
		budget = child.MaxSteps
	}
	if s.budget > 0 {
		budget = s.budget
	}
	require.Equal(s.t, budget, cp.Steps+cp.StepsLeft, "a step was lost or won")
	s.checkMaps(cp)
	if s.m.Outcome() != nil {
		require.Empty(s.t, cp.Forwards, "an answer is on its way to nobody")
		require.Empty(s.t, s.timers, "a timer is left over")
		require.Empty(s.t, s.open, "an activity is left over")
		require.Empty(s.t, s.kids, "a child is left over")
		s.gate.closes(s)
		return
	}
	deadline, limited := s.m.Deadline()
	require.False(s.t, limited && deadline.Before(s.now), "the deadline has passed unnoticed")
	require.True(s.t, len(s.kids) > 0 || len(s.open) > 0 || len(s.timers) > 0 || len(s.m.Pauses()) > 0 || len(s.gate.waiting(s.m)) > 0,
		"nothing is open, nothing will happen: %s", text(s.t, cp))
}

// visits are those of all nodes but forks.
func (s *story) visits(cp graph.Checkpoint) int {
	visits := 0
	for _, n := range append(cp.Nodes, cp.Gone...) {
		if node := s.compiled.Plan.Node(n.Node); node == nil || node.Type != graph.TypeFork {
			visits += n.Visits
		}
	}
	return visits
}

// checkMaps holds every open map against its window and the order of its list. A redrive
// may repeat an item while later ones go on.
func (s *story) checkMaps(cp graph.Checkpoint) {
	s.t.Helper()
	for _, a := range cp.Activations {
		if a.Mapping == nil {
			continue
		}
		active, unstarted := 0, false
		for i, item := range a.Mapping.Items {
			started := item.Status != graph.BranchUnstarted && item.Status != graph.BranchSkipped
			require.False(s.t, cp.RedriveOf == "" && started && unstarted, "item %d of %s was taken up out of order", i, a.Address)
			unstarted = unstarted || !started
			if item.Status == graph.BranchActive {
				active++
			}
		}
		require.LessOrEqual(s.t, active, s.compiled.Plan.Node(a.Node).MaxConcurrency, "too many items of %s are open", a.Address)
	}
}

// restore puts a machine in place that was made from the checkpoint alone, in a
// story that asks for it. What it wants done again is exactly what is open.
func (s *story) restore() {
	s.t.Helper()
	if cp := s.m.Checkpoint(); !s.restores || cp.Stopping != nil || slices.ContainsFunc(cp.Activations, cancelling) || len(s.kids) > 0 || s.gate.lacks(s) {
		return
	}
	before := text(s.t, s.m.Checkpoint())
	cp, failure := graph.ParseCheckpoint(json.RawMessage(before))
	require.Nil(s.t, failure)
	start := s.start
	start.Now = s.now
	restored, failure := graph.Restore(s.compiled.Plan, cp, start)
	require.Nil(s.t, failure, before)
	require.Equal(s.t, before, text(s.t, restored.Checkpoint()))
	due := s.gate.waiting(s.m)
	for _, task := range s.open {
		due = append(due, graph.RunNode{Task: task.task, Args: task.args, Local: task.local, Priority: task.priority, Flow: task.flow})
	}
	for _, timer := range s.timers {
		due = append(due, timer)
	}
	require.ElementsMatch(s.t, effectTexts(s.t, withoutSteps(due)), effectTexts(s.t, withoutSteps(restored.Effects())))
	s.m = restored
}

// withoutSteps leaves out how many steps are left: its siblings may have taken
// some since a branch was entered.
func withoutSteps(effects []graph.Effect) []graph.Effect {
	for i, effect := range effects {
		switch e := effect.(type) {
		case graph.RunNode:
			e.Task.Run.StepsRemaining = 0
			effects[i] = e
		case graph.Acquire:
			e.Run.StepsRemaining = 0
			effects[i] = e
		}
	}
	return effects
}

// cancelling recognises a loser that is awaited. What was asked to stop went
// with the run that asked, so a restored machine does not wait for it.
func cancelling(a graph.Activation) bool { return a.Phase == graph.PhaseCancelling }

// spy answers as the story's decider does, up to a number of answers, and
// notes what was asked.
type spy struct {
	story *story
	left  int
}

func (d *spy) Decide(q graph.Question) (graph.Decision, bool) {
	if d.left == 0 {
		return graph.Decision{}, false
	}
	d.left--
	if q.Kind == graph.AskBranch || q.Kind == graph.AskWhile {
		d.story.seen = append(d.story.seen, fmt.Sprintf("%s? %s", q.Node.ID, q.Scope.Input))
	}
	return d.story.decider.Decide(q)
}

// text is a value as history holds it.
func text(t tester, v any) string {
	t.Helper()
	raw, err := json.Marshal(v)
	require.NoError(t, err)
	return string(raw)
}

// canonical is JSON in canonical form; empty stays empty.
func canonical(t tester, raw string) json.RawMessage {
	t.Helper()
	if raw == "" {
		return nil
	}
	canonical, err := value.Canonical(json.RawMessage(raw))
	require.NoError(t, err)
	return canonical
}

// effectTexts writes effects in full. How many attempts the driver may make is
// left out: a test compares tasks.
func effectTexts(t tester, effects []graph.Effect) []string {
	t.Helper()
	texts := make([]string, 0, len(effects))
	for _, effect := range effects {
		if run, ok := effect.(graph.RunNode); ok {
			run.MaxAttempts = 0
			effect = run
		}
		texts = append(texts, fmt.Sprintf("%T %s", effect, text(t, effect)))
	}
	return texts
}
