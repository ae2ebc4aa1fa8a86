package graph_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill/graph"
)

// export is a story as an operator exports it: with the last child of everything that
// ran one, whatever has become of it.
func (s *story) export() graph.Export {
	s.t.Helper()
	e := graph.Export{
		Version: graph.ExportVersion, WorkflowID: s.start.Facts.ID, RunID: s.start.Facts.RunID, Started: s.start.Facts.Started,
		Input: s.start.Input, Checkpoint: s.m.Checkpoint(),
	}
	last := map[graph.Address]*story{}
	for _, child := range s.finished {
		if child.refused == nil {
			last[activationOf(child.start.Child.Address)] = child
		}
	}
	for _, k := range s.kids {
		if k.story.refused == nil {
			last[k.of] = k.story
		}
	}
	for _, of := range slices.Sorted(maps.Keys(last)) {
		e.Children = append(e.Children, graph.ExportedChild{Activation: of, Export: last[of].export()})
	}
	return carriedOver(s.t, e)
}

// activationOf is the activation that an attempt belongs to.
func activationOf(attempt graph.Address) graph.Address {
	if i := strings.LastIndex(string(attempt), "~"); i > strings.LastIndex(string(attempt), "/") {
		return attempt[:i]
	}
	return attempt
}

// carriedOver is an export as it is read again, by whatever it was written.
func carriedOver(t tester, e graph.Export) graph.Export {
	t.Helper()
	written, err := json.Marshal(e) // escapes what canonical text does not
	require.NoError(t, err)
	read, failure := graph.ParseExport(written)
	require.Nil(t, failure)
	require.JSONEq(t, string(written), text(t, read))
	return read
}

// redrive takes a story up in a new one, an hour later, with further plays.
func (s *story) redrive(how graph.Redriving, script plays, change ...func(*story)) (*story, graph.RedrivePlan, *graph.Failure) {
	s.t.Helper()
	return s.redriveFrom(s.export(), how, script, change...)
}

func (s *story) redriveFrom(e graph.Export, how graph.Redriving, script plays, change ...func(*story)) (*story, graph.RedrivePlan, *graph.Failure) {
	s.t.Helper()
	next := &story{
		t: s.t, compiled: s.compiled, now: s.now.Add(time.Hour), plays: map[string][]play{}, closed: map[graph.Address]bool{},
		batch: s.batch, start: s.start, graphs: s.graphs,
	}
	if s.gate != nil {
		next.gate = newGate()
		next.gate.grants = true
	}
	for node, list := range script {
		next.plays[node] = slices.Clone(list)
	}
	for _, c := range change {
		c(next)
	}
	evaluator, err := graph.NewEvaluator(next.compiled.Document, nil)
	require.NoError(s.t, err)
	next.decider = evaluator
	next.start.Now, next.start.Facts.Started, next.start.Facts.RunID = next.now, next.now, "r2"
	next.start.Admission = next.gate != nil
	how.Now = next.now
	before := text(s.t, e)
	redriven, plan, failure := graph.Redrive(next.compiled.Plan, e, how)
	require.Equal(s.t, before, text(s.t, e), "what is redriven stays as it was")
	if failure != nil {
		return nil, plan, failure
	}
	require.Equal(s.t, s.start.Facts.RunID, plan.RedriveOf)
	next.takeUp(carriedOver(s.t, redriven))
	return next, plan, nil
}

// takeUp begins a story where an earlier one stood.
func (s *story) takeUp(e graph.Export) {
	s.t.Helper()
	var failure *graph.Failure
	s.start.Now = s.now
	s.again, s.budget = e.Checkpoint.Steps-s.visits(e.Checkpoint), e.Checkpoint.Steps+e.Checkpoint.StepsLeft
	s.m, failure = graph.Redriven(s.compiled.Plan, e, s.start)
	require.Nil(s.t, failure)
	s.perform(s.m.Effects())
}

// taken redrives a story that must let itself be redriven, to its end.
func (s *story) taken(how graph.Redriving, script plays, change ...func(*story)) *story {
	s.t.Helper()
	next, _, failure := s.redrive(how, script, change...)
	require.Nil(s.t, failure)
	return next.run()
}

// all are the tasks of a story and of everything below it, in no order.
func (s *story) all() []graph.Task {
	tasks := slices.Clone(s.tasks)
	for _, child := range s.finished {
		tasks = append(tasks, child.all()...)
	}
	for _, k := range s.kids {
		tasks = append(tasks, k.story.all()...)
	}
	return tasks
}

// callsOf counts the tasks of stories by their addresses without the epochs of what
// repeats them: how often each was called in all its lives.
func callsOf(stories ...*story) map[string]int {
	count := map[string]int{}
	for _, s := range stories {
		for _, task := range s.all() {
			count[task.Node.ID]++
		}
	}
	return count
}

// keysOf are the idempotency keys of the tasks of a node, in the order of the stories.
func keysOf(node string, stories ...*story) []string {
	var all []string
	for _, s := range stories {
		for _, task := range s.all() {
			if task.Node.ID == node {
				all = append(all, task.Run.Key)
			}
		}
	}
	return all
}

// exports carries a story on for half a minute, and keeps an export of every moment.
func (s *story) exports() []graph.Export {
	s.t.Helper()
	s.advance()
	all := []graph.Export{s.export()}
	until := s.now.Add(30 * time.Second)
	for s.m.Outcome() == nil && (!s.m.Paused() || s.hasNews()) && s.step(until) {
		all = append(all, s.export())
	}
	return all
}

// rewound is an export put back to the last moment at which an address could be
// repeated, at every level that leads there.
func rewound(t tester, moments []graph.Export, from graph.Address) graph.Export {
	t.Helper()
	last := moments[len(moments)-1]
	if i := slices.IndexFunc(last.Children, func(c graph.ExportedChild) bool { return inside(from, c.Activation) }); i >= 0 {
		of := last.Children[i].Activation
		var outer, inner []graph.Export
		for _, e := range moments {
			for _, c := range e.Children {
				if c.Activation == of {
					inner = append(inner, c.Export)
					if e.Checkpoint.Repeats(of) {
						outer = append(outer, e)
					}
				}
			}
		}
		back := rewound(t, append(outer, last), of)
		back.Children = []graph.ExportedChild{{Activation: of, Export: rewound(t, inner, from)}}
		return back
	}
	for _, e := range slices.Backward(moments) {
		if e.Checkpoint.Repeats(from) {
			cp, failure := graph.Rewind(last.Checkpoint, e.Checkpoint)
			require.Nil(t, failure)
			last.Checkpoint, last.Children = cp, asTheyEnded(e.Children, last.Children)
			return carriedOver(t, last)
		}
	}
	require.Fail(t, "no moment before "+string(from))
	return graph.Export{}
}

// asTheyEnded are the children of a moment as they stood last. One that has completed
// since is not taken along.
func asTheyEnded(then, last []graph.ExportedChild) []graph.ExportedChild {
	var all []graph.ExportedChild
	for _, c := range then {
		i := slices.IndexFunc(last, func(l graph.ExportedChild) bool { return l.Activation == c.Activation })
		if i >= 0 {
			c = last[i]
		}
		if how := c.Checkpoint.Outcome; how == nil || how.Status != graph.StatusCompleted {
			all = append(all, c)
		}
	}
	return all
}

func inside(a, above graph.Address) bool {
	rest, under := strings.CutPrefix(string(a), string(above))
	return under && rest != "" && (rest[0] == '/' || rest[0] == '~')
}
