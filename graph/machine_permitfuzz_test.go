package graph_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill/graph"
)

// permitCheckpoints are the checkpoints of some runs of everyPart under admission,
// after each decision and each event.
func permitCheckpoints(t tester, compiled *graph.Compiled) []string {
	t.Helper()
	var all []string
	script := plays{"m/item": {fails("x"), outputs(`1`).lasting(time.Second), fails("x"), outputs(`2`).lasting(time.Minute)}, "a": {outputs(`1`)}, "b": {outputs(`2`)}, "q": {blocks()}}
	for _, start := range partStarts() {
		for _, answers := range [][]graph.Admission{
			{granted, freely, queued, full, granted, unclear},
			{full, queued},
			{queued, unheard, granted, granted, granted, granted},
			{granted, granted, granted, granted, granted, granted, granted},
		} {
			s := tellCompiled(t, compiled, `{"k":0,"list":["x","<y>","z"]}`, script, start, gated(answers...), func(s *story) {
				s.batch, s.start.QueueTimeout = 1, graph.Duration(time.Hour)
			})
			s.watch = func() { all = append(all, text(t, s.m.Checkpoint())) }
			s.advance()
			for range 30 {
				stopped := s.m.Clone()
				stopped.Cancel(s.now, "over")
				all = append(all, text(t, s.m.Checkpoint()), text(t, stopped.Checkpoint()))
				if s.m.Outcome() != nil || !s.step(time.Time{}) {
					break
				}
			}
			all = append(all, text(t, s.m.Checkpoint()))
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Wherever a run under admission stands, it is restored from its checkpoint to the
// byte while no child is open, and goes on to an end that leaves nothing held.
func TestEveryPermitIsRestored(t *testing.T) {
	t.Parallel()
	compiled := compileStory(t, everyPart)
	evaluator, err := graph.NewEvaluator(compiled.Document, nil)
	require.NoError(t, err)
	seen := map[graph.PermitState]bool{}
	for _, written := range permitCheckpoints(t, compiled) {
		parsed, failure := graph.ParseCheckpoint(json.RawMessage(written))
		require.Nil(t, failure)
		require.Equal(t, written, text(t, parsed))
		open := false
		for _, p := range parsed.Permits {
			seen[p.State] = true
		}
		for _, a := range parsed.Activations {
			open = open || a.Child != nil || a.Phase == graph.PhaseCancelling
		}
		m, failure := graph.Restore(compiled.Plan, parsed, graph.Start{Now: noon, Admission: true})
		require.Nil(t, failure, written)
		if !open {
			require.Equal(t, written, text(t, m.Checkpoint()))
		}
		exercise(t, m, evaluator)
	}
	for _, state := range []graph.PermitState{graph.PermitAsked, graph.PermitQueued, graph.PermitDenied, graph.PermitHeld} {
		require.True(t, seen[state], "no run came through %s", state)
	}
}

// A permit of nobody would be held for ever, and one that two have would be given
// back under the feet of one.
func TestPermitsRefused(t *testing.T) {
	t.Parallel()
	doc := strings.Replace(beside, "join_policy: any", "join_policy: all", 1)
	compiled := compileStory(t, doc)
	checkpoint := func(answers ...graph.Admission) string {
		s := tellCompiled(t, compiled, `{}`, nil, gated(answers...))
		s.advance()
		return text(t, s.m.Checkpoint())
	}
	asked, held := checkpoint(full, queued), checkpoint(granted, granted)
	for _, c := range []struct{ name, cp, from, to string }{
		{"a number that was never given", asked, `"acquisitions":2`, `"acquisitions":1`},
		{"no number", asked, `"number":1`, `"number":0`},
		{"a number twice", asked, `"number":1`, `"number":2`},
		{"an address twice", held, `"address":"a#1","state":"held"`, `"address":"b#1","state":"held"`},
		{"of nothing", held, `"address":"a#1","state":"held"`, `"address":"x#1","state":"held"`},
		{"of a fork", held, `"address":"a#1","state":"held"`, `"address":"f#1","state":"held"`},
		{"an unknown state", held, `"state":"held"`, `"state":"dreamt"`},
		{"held by who waits", asked, `"state":"queued"`, `"state":"held"`},
		{"denied to who runs", held, `"state":"held"`, `"state":"denied"`},
		{"denied without an end", strings.Replace(asked, `"at":`, `"was":`, 1), `"was":`, `"was":`},
		{"a negative count", asked, `"denials":1`, `"denials":-1`},
		{"who waits for nothing", held, `"phase":"running"`, `"phase":"admission"`},
		{"who never asked", strings.Replace(held, `"permits":`, `"were":`, 1), `"phase":"running"`, `"phase":"admission"`},
		{"who runs nothing", held, `"phase":"forking"`, `"phase":"admission"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			require.Contains(t, c.cp, c.from)
			cp, failure := graph.ParseCheckpoint(json.RawMessage(strings.Replace(c.cp, c.from, c.to, 1)))
			require.Nil(t, failure)
			_, failure = graph.Restore(compiled.Plan, cp, graph.Start{Now: noon, Admission: true})
			require.NotNil(t, failure)
			require.Equal(t, graph.ErrTypeInvalidCheckpoint, failure.Type)
		})
	}
	for _, sound := range []string{asked, held} {
		cp, failure := graph.ParseCheckpoint(json.RawMessage(sound))
		require.Nil(t, failure)
		_, failure = graph.Restore(compiled.Plan, cp, graph.Start{Now: noon, Admission: true})
		require.Nil(t, failure)
	}
}
