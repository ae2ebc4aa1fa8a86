package graph_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill/graph"
)

// 84: a cancel between the commit of a node and the decision of its route
// leaves the commit, and where the run stood: the node is not to be repeated.
func TestCancelAfterCommit(t *testing.T) {
	t.Parallel()
	s := tell(t, `entry: a
nodes:
  - {id: a, run: act, next: {cases: [{when: "input > 1", to: b}], default: end}}
  - {id: b, run: act, next: end}
`, "", plays{"a": {outputs(`2`, `{"x":1}`)}})
	s.advance()
	s.m.End(noon, "a#1", s.open[0].play.ending)
	s.open = nil
	s.m.Advance(noon, graph.Undecided{})
	require.True(t, s.m.Undecided())
	s.cancel("enough")
	cp := s.m.Checkpoint()
	require.Equal(t, graph.StatusCancelled, s.m.Status())
	require.Equal(t, graph.PhaseRouting, cp.Activations[0].Phase)
	require.Equal(t, graph.Address("a#1"), cp.Activations[0].Address)
	require.Equal(t, raw(`2`), cp.Activations[0].Output)
	require.Equal(t, raw(`2`), cp.Output)
	require.Equal(t, raw(`{"x":1}`), cp.State.Raw())
	require.Equal(t, graph.NodeCompleted, cp.Nodes[0].Status)
}

// 85: a failed run's checkpoint holds the node that failed and what went into
// it, and the steps that are left.
func TestCheckpointOfAFailedRun(t *testing.T) {
	t.Parallel()
	cp := tell(t, "max_steps: 9\n"+abc, "", plays{"a": {outputs(`"in"`, `{"x":1}`)}, "b": {fails("boom")}}).run().m.Checkpoint()
	require.Equal(t, graph.StatusFailed, cp.Outcome.Status)
	require.Equal(t, graph.Address("b#1"), cp.Activations[0].Address)
	require.Equal(t, raw(`"in"`), cp.Activations[0].Input)
	require.Equal(t, "boom", cp.Activations[0].Failure.Type)
	require.Equal(t, []int{2, 7}, []int{cp.Steps, cp.StepsLeft})
	require.Equal(t, raw(`{"x":1}`), cp.State.Raw())
}

// 98: what the checkpoint of a paused run says, by the names that tools read.
func TestCheckpointOfAPausedRun(t *testing.T) {
	t.Parallel()
	s := tell(t, pauseNode(`summary: "<look>", expires: 1h, `), `{"k":1}`, nil).run()
	var cp struct {
		Version     int             `json:"version"`
		Graph       string          `json:"graph"`
		Fingerprint string          `json:"fingerprint"`
		Lineage     string          `json:"lineage"`
		State       json.RawMessage `json:"state"`
		Nodes       []struct{ Node, Status string }
		Activations []struct {
			Address, Phase string
			Pause          struct {
				ID     string `json:"pause_id"`
				Digest string `json:"digest"`
			}
		}
	}
	require.NoError(t, json.Unmarshal([]byte(text(t, s.m.Checkpoint())), &cp))
	require.Equal(t, 1, cp.Version)
	require.Equal(t, "story", cp.Graph)
	require.Regexp(t, "^[0-9a-f]{64}$", cp.Fingerprint)
	require.Equal(t, "first", cp.Lineage)
	require.Equal(t, "paused", cp.Nodes[0].Status)
	require.Equal(t, "p#1", cp.Activations[0].Address)
	require.Equal(t, "paused", cp.Activations[0].Phase)
	require.Equal(t, "p#1", cp.Activations[0].Pause.ID)
	require.Equal(t, s.m.Pauses()[0].Digest, cp.Activations[0].Pause.Digest)
}

// 101: a run restored while an activity is open schedules the same attempt
// again, and no step is charged a second time: a budget of one is enough.
func TestAttemptInFlightIsRestored(t *testing.T) {
	t.Parallel()
	s := tell(t, "max_steps: 1\n"+oneAction(`retry: {max_attempts: 3}, `), "", plays{"a": {fails("x"), blocks()}}).run()
	cp := s.m.Checkpoint()
	m, failure := graph.Restore(s.compiled.Plan, cp, s.start)
	require.Nil(t, failure)
	effects := m.Effects()
	require.Len(t, effects, 1)
	again, ok := effects[0].(graph.RunNode)
	require.True(t, ok)
	require.Equal(t, 2, again.Task.Run.Attempt)
	require.Equal(t, 1, again.Task.Before)
	require.Equal(t, 2, again.MaxAttempts, "of three, one is spent")
	require.Equal(t, "first/a#1", again.Task.Run.Key)
	m.End(noon, "a#1", outputs(`1`).ending)
	m.Advance(noon, graph.Undecided{})
	require.Equal(t, graph.StatusCompleted, m.Status())
	require.Equal(t, 1, m.Checkpoint().Steps)
}

// A restored run's clock goes on: time between is running time, unless the
// whole run was paused.
func TestClockAcrossRestore(t *testing.T) {
	t.Parallel()
	later := func(s *story) graph.Start {
		start := s.start
		start.Now = noon.Add(time.Hour)
		return start
	}
	running := tell(t, oneAction(""), "", plays{"a": {blocks()}}, limited(2*time.Hour))
	running.advance()
	m, failure := graph.Restore(running.compiled.Plan, running.m.Checkpoint(), later(running))
	require.Nil(t, failure)
	at, ok := m.Deadline()
	require.True(t, ok)
	require.Equal(t, noon.Add(2*time.Hour), at)

	paused := tell(t, pauseNode(""), "", nil, limited(2*time.Hour)).run()
	m, failure = graph.Restore(paused.compiled.Plan, paused.m.Checkpoint(), later(paused))
	require.Nil(t, failure)
	_, ok = m.Deadline()
	require.False(t, ok)
	require.Nil(t, m.Answer(noon.Add(time.Hour), graph.Answer{Input: raw(`1`)}))
	at, _ = m.Deadline()
	require.Equal(t, noon.Add(3*time.Hour), at)
}

// A copy goes its own way: what happens to one leaves the other as it was, and
// so does what happens to the machine after its checkpoint was taken.
func TestCopiesAreApart(t *testing.T) {
	t.Parallel()
	s := tell(t, `entry: l
state_reducers: {got: append}
nodes:
  - {id: l, type: loop, while: "true", max_iterations: 5, body: p}
  - {id: p, type: pause, resume_schema: {type: integer}, expires: 1h, delta: {got: "${ [result] }"}, next: l}
`, `{"got":[]}`, nil).run()
	require.Nil(t, s.answer(graph.Answer{Input: raw(`1`)}))
	require.Nil(t, s.m.Answer(noon, graph.Answer{Input: raw(`"x"`)}))
	cp, before := s.m.Checkpoint(), text(t, s.m.Checkpoint())
	copies := []*graph.Machine{s.m.Clone(), s.m.Clone()}
	for i, m := range copies {
		for range 3 {
			if len(m.Pauses()) > 0 {
				require.Nil(t, m.Answer(noon, graph.Answer{Input: raw([]string{`2`, `"no"`}[i])}))
			}
			m.Advance(noon, s.decider)
		}
	}
	copies[1].Cancel(noon, "")
	require.Equal(t, before, text(t, s.m.Checkpoint()))
	require.Equal(t, before, text(t, cp))
	require.NotEqual(t, text(t, copies[0].Checkpoint()), text(t, copies[1].Checkpoint()))
}
