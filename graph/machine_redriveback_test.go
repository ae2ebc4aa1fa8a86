package graph_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tidemill/tidemill/graph"
)

// repeatable are the addresses at which a redrive of some of the exports can begin, in
// their runs and below them.
func repeatable(moments []graph.Export) []graph.Address {
	var all []graph.Address
	note := func(e graph.Export, address graph.Address) {
		if address != "" && e.Checkpoint.Repeats(address) && !slices.Contains(all, address) {
			all = append(all, address)
		}
	}
	for _, e := range moments {
		for _, a := range e.Checkpoint.Activations {
			note(e, a.Address)
			for _, b := range a.Branches {
				note(e, b.Address)
			}
			if a.Mapping != nil {
				for i := range a.Mapping.Items {
					note(e, a.Mapping.Base.Join(graph.Segment{Item: i}))
				}
			}
		}
		for _, c := range e.Children {
			for _, address := range repeatable([]graph.Export{c.Export}) {
				if !slices.Contains(all, address) {
					all = append(all, address)
				}
			}
		}
	}
	return all
}

// steadilyWatched is steadily, with an export of every moment.
func (s *story) steadilyWatched(most int) []graph.Export {
	s.t.Helper()
	s.advance()
	moments := []graph.Export{s.export()}
	for range most {
		if s.m.Outcome() != nil {
			break
		}
		s.steadily(1)
		moments = append(moments, s.export())
	}
	return moments
}

// A run of any shape that is taken up from any address it has been at comes to what it
// would have come to, and nothing that ran to its end gives its key to anything else.
func TestRedriveFromAnyAddress(t *testing.T) {
	t.Parallel()
	for _, c := range corpus {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			well := tell(t, c.doc, c.input, nil)
			events := well.steadily(10_000)
			rapid.Check(t, func(rt *rapid.T) {
				change := func(s *story) {
					s.restores = rapid.Bool().Draw(rt, "restores")
					if rapid.Bool().Draw(rt, "admission") {
						admitting()(s)
					}
				}
				s := tell(rt, c.doc, c.input, nil, change)
				done := map[string]bool{}
				for range rapid.IntRange(1, 3).Draw(rt, "lives") {
					moments := s.steadilyWatched(rapid.IntRange(1, events).Draw(rt, "events"))
					gone := map[string]bool{}
					s.committed(gone)
					s.stopped(rapid.SampledFrom([]string{"terminated", "cancelled"}).Draw(rt, "way"))
					from := rapid.SampledFrom(append(repeatable(moments), "")).Draw(rt, "from")
					moments = append(moments, s.export())
					last := moments[len(moments)-1]
					if from != "" {
						last = rewound(rt, moments, from)
					} else if s.m.Outcome() != nil && s.m.Outcome().Status == graph.StatusCompleted {
						break
					}
					next, _, failure := s.redriveFrom(last, graph.Redriving{From: from, MaxSteps: 500}, nil, change)
					if failure != nil {
						rt.Fatalf("from %s: %v", from, failure)
					}
					maps.Copy(done, gone)
					s = next
				}
				s.steadily(10_000)
				require.Equal(rt, text(rt, well.m.Outcome().Output), text(rt, s.m.Outcome().Output))
				require.Equal(rt, string(well.m.Report().State), string(s.m.Report().State))
				for _, task := range s.all() {
					require.False(rt, done[task.Run.Key], "%s is repeated", task.Run.Key)
				}
			})
		})
	}
}

// Any graph, stopped anywhere, is taken up with any other one of its id, or that is refused
// with a type: what is let through keeps every rule that a fresh run does.
func TestAnyRunIsCorrected(t *testing.T) {
	t.Parallel()
	accepted := 0
	rapid.Check(t, func(rt *rapid.T) {
		s := tell(rt, drawDocument(rt), `{"c":0}`, nil)
		s.advance()
		for range rapid.IntRange(0, 15).Draw(rt, "events") {
			if s.m.Outcome() == nil {
				s.drawEvent(rt)
			}
		}
		if rapid.Bool().Draw(rt, "cancelled") {
			s.cancel("enough")
			for len(s.open) > 0 {
				s.drawEvent(rt)
			}
		}
		other, found := graph.Compile("story.yaml", []byte("version: 1\nid: story\n"+drawDocument(rt)), graph.CompileOptions{})
		require.NotNil(rt, other, "%v", found)
		next, _, failure := s.redrive(graph.Redriving{MaxSteps: 30, Corrected: true}, nil, func(s *story) { s.compiled = other })
		if failure != nil {
			require.Contains(rt, []string{"checkpoint_complete", "budget_exhausted", "checkpoint_definition_mismatch"}, failure.Type, failure.Message)
			return
		}
		accepted++
		s = next
		s.advance()
		for range rapid.IntRange(0, 10).Draw(rt, "more") {
			if s.m.Outcome() == nil {
				s.drawEvent(rt)
			}
		}
		s.cancel("enough")
		for len(s.open) > 0 {
			s.drawEvent(rt)
		}
		require.NotNil(rt, s.m.Outcome())
		s.closes(rt)
	})
	require.Positive(t, accepted)
}
