package graph_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tidemill/tidemill/graph"
)

// drawDocument makes up a graph of every node type: any edge may lead anywhere.
func drawDocument(t *rapid.T) string {
	n := rapid.IntRange(1, 7).Draw(t, "nodes")
	to := func(label string) string {
		i := rapid.IntRange(0, n).Draw(t, label)
		if i == n {
			return "end"
		}
		return fmt.Sprintf("n%d", i)
	}
	when := func() string {
		return rapid.SampledFrom([]string{
			"state.c % 2 == 0", "state.c % 3 == 1", "state.c < 4", "input == null", "true", "state.none.at > 1",
		}).Draw(t, "when")
	}
	cases := func() string { return fmt.Sprintf(`[{when: "%s", to: %s}]`, when(), to("to")) }
	maybe := func(label, text string) string {
		if rapid.Bool().Draw(t, label) {
			return text
		}
		return ""
	}
	var doc strings.Builder
	fmt.Fprintf(&doc, "entry: n0\nmax_steps: %d\nstate_reducers: {c: sum, list: append}\n", rapid.IntRange(1, 25).Draw(t, "max_steps"))
	doc.WriteString(maybe("limited", "deadline: 20m\n") + maybe("output_schema", "output_schema: {type: object}\n") + "nodes:\n")
	for i := range n {
		kind := rapid.SampledFrom([]string{"action", "action", "foreign", "set", "pause", "wait", "branch", "loop", "fork", "fork", "join"}).Draw(t, "type")
		fields := []string{fmt.Sprintf("id: n%d", i), "type: " + strings.Replace(kind, "foreign", "action", 1), maybe("in", "input_schema: {type: [object, number, 'null']}")}
		switch kind {
		case "action":
			fields = append(fields, "run: act", "max_interruptions: 2",
				maybe("retry", "retry: {max_attempts: 3, backoff: 1m, coefficient: 2, non_retryable: [fatal]}"))
		case "foreign":
			fields = append(fields, "run: {activity: Act, task_queue: q}", `args: ["${ state.c }", "<"]`,
				maybe("retry", "retry: {max_attempts: 2}"), maybe("out", `output: "${ result }"`), maybe("delta", `delta: {c: 1}`))
		case "set":
			fields = append(fields, maybe("out", `output: "${ state.c }"`), maybe("delta", `delta: {c: 1, list: ["<&>"]}`))
		case "pause":
			fields = append(fields, maybe("schema", "resume_schema: {type: number}"), `summary: "${ state.c }"`,
				maybe("expires", "expires: 10m, on_expire: "+to("on_expire")))
		case "wait":
			fields = append(fields, rapid.SampledFrom([]string{"for: 3m", `until: "2030-01-02T12:05:00Z"`}).Draw(t, "wait"))
		case "branch":
			fields = append(fields, "cases: "+cases(), maybe("default", "default: "+to("default")))
		case "loop":
			fields = append(fields, fmt.Sprintf(`while: "%s"`, when()), fmt.Sprintf("max_iterations: %d", rapid.IntRange(0, 3).Draw(t, "max")),
				fmt.Sprintf("body: n%d", rapid.IntRange(0, n-1).Draw(t, "body")), "done: "+to("done"))
		}
		if kind == "fork" {
			own, others := drawFork(t, i, to)
			fields = append(fields, own...)
			doc.WriteString(others)
		}
		if kind != "branch" && kind != "loop" && kind != "fork" {
			fields = append(fields, maybe("on_error", "on_error: "+to("on_error")))
			if rapid.Bool().Draw(t, "routed") {
				fields = append(fields, "next: {cases: "+cases()+", default: "+to("next")+"}")
			} else {
				fields = append(fields, "next: "+to("next"))
			}
		}
		given := fields[:0]
		for _, f := range fields {
			if f != "" {
				given = append(given, f)
			}
		}
		fmt.Fprintf(&doc, "  - {%s}\n", strings.Join(given, ", "))
	}
	return doc.String()
}

// drawEnding makes up how an activity ends.
func drawEnding(t *rapid.T) graph.Ending {
	delta := rapid.SampledFrom([][]string{nil, {`{"c":1}`}, {`{"list":["<"]}`}, {`{"c":"x"}`}}).Draw(t, "delta")
	return rapid.SampledFrom([]play{
		outputs(`1`, delta...), outputs(`{"a":"<&>"}`, delta...), oks(delta...), oks(delta...), stops(`{}`, delta...),
		routes("n0", delta...), routes("end"), routes("zz"), routes(""),
		pauses(graph.PauseRequest{Summary: "?", ResumeSchema: raw(`{"type":"number"}`)}, delta...),
		pauses(graph.PauseRequest{Expires: graph.Duration(4 * time.Minute)}, delta...),
		fails("boom"), fails("fatal"), fails("boom").final(), fails("boom").retryAfter(2 * time.Minute), fails("boom").used(2), timesOut(),
		interrupted(graph.InterruptWorkerLost), interrupted(graph.InterruptNotRegistered), interrupted(graph.InterruptShutdown),
		{ending: graph.Ending{Kind: graph.Cancelled}},
	}).Draw(t, "ending").ending
}

// drawEvent lets something happen, if anything can.
func (s *story) drawEvent(t *rapid.T) {
	var events []func()
	for i := range s.open {
		events = append(events, func() {
			ending := drawEnding(t)
			s.closed[s.open[i].task.Run.Address] = ending.Kind == graph.Returned
			s.open[i].play = play{ending: ending}
			s.end(i)
		})
	}
	for i := range s.timers {
		events = append(events, func() {
			if at := s.timers[i].At; at.After(s.now) {
				s.now = at
			}
			s.fire(i)
		})
	}
	for _, p := range s.m.Pauses() {
		events = append(events, func() {
			input := rapid.SampledFrom([]string{`1`, `null`, `"<x>"`, ``}).Draw(t, "answer")
			id := rapid.SampledFrom([]graph.Address{p.ID, "", "n0#1"}).Draw(t, "pause")
			given := graph.Answer{PauseID: id, Input: canonical(s.t, input), Via: "signal", Checked: rapid.Bool().Draw(t, "checked")}
			open := s.m.Pauses()
			named := slices.ContainsFunc(open, func(p graph.OpenPause) bool { return p.ID == id }) || id == "" && len(open) == 1
			refused := !named || input == ""
			require.Equal(s.t, refused, s.answer(given) != nil)
		})
	}
	if len(events) > 0 {
		events[rapid.IntRange(0, len(events)-1).Draw(t, "event")]()
	}
}

// ignored are events that have nothing to do with what is open: they change
// nothing.
func (s *story) ignored(t *rapid.T) {
	before := text(s.t, s.m.Checkpoint())
	old := []graph.Address{"", "zz#1", "n0#99", "n0#1/n1#1", "../x"}
	for _, task := range s.tasks {
		old = append(old, task.Run.Address)
	}
	address := rapid.SampledFrom(old).Draw(t, "old")
	if s.openIndex(address) < 0 {
		s.m.End(s.now, address, drawEnding(t))
	}
	if s.timerIndex(address) < 0 {
		s.m.Fire(s.now, address)
	}
	require.NotNil(s.t, s.m.Answer(s.now, graph.Answer{PauseID: "zz#1", Input: raw(`1`)}))
	s.m.Expire(s.now)
	require.Equal(s.t, before, text(s.t, s.m.Checkpoint()))
	require.Empty(s.t, s.m.Effects())
}

// Any graph, any events in any order: the run is never stuck, no step is lost,
// no address is used twice, late events change nothing, a machine restored from
// its checkpoint is the machine, and repeating decisions comes to what
// evaluating comes to, however large the batches are. The story checks all of
// that after each event.
func TestAnyGraphAnyEvents(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		s := tell(rt, drawDocument(rt), `{"c":0}`, nil, func(s *story) {
			if rapid.Bool().Draw(rt, "admission") {
				admitting()(s)
			}
		})
		visits := map[string]int{}
		s.advance()
		for range rapid.IntRange(0, 40).Draw(rt, "events") {
			if s.m.Outcome() != nil {
				break
			}
			s.batch = rapid.IntRange(1, graph.MaxBatchDecisions).Draw(rt, "batch")
			s.restores = rapid.Bool().Draw(rt, "restores")
			switch rapid.IntRange(0, 20).Draw(rt, "kind") {
			case 0:
				s.cancel("drawn")
			case 1:
				s.now = s.now.Add(time.Duration(rapid.IntRange(0, 600).Draw(rt, "seconds")) * time.Second)
				s.event("time passes", func() { s.m.Expire(s.now) })
			case 2, 3:
				s.ignored(rt)
			case 4:
				s.drawTogether(rt)
			default:
				s.drawEvent(rt)
			}
			for _, n := range s.m.Checkpoint().Nodes {
				require.GreaterOrEqual(rt, n.Visits, visits[n.Node], "an epoch is never given twice")
				visits[n.Node] = n.Visits
			}
		}
		s.cancel("enough")
		for len(s.open) > 0 {
			s.drawEvent(rt)
		}
		require.NotNil(rt, s.m.Outcome(), "a run that was cancelled ends")
		s.closes(rt)
	})
}

// closes holds what is so of every run that has ended.
func (s *story) closes(t *rapid.T) {
	o := s.m.Outcome()
	require.Equal(t, o.Status, s.m.Status())
	require.Equal(t, o.Status == graph.StatusCompleted, o.Failure == nil)
	require.Equal(t, o.Status == graph.StatusCompleted, o.Output != nil)
	require.True(t, json.Valid([]byte(text(t, s.m.Report()))))
	for _, n := range s.m.Checkpoint().Nodes {
		require.NotContains(t, []graph.NodeStatus{graph.NodeActive, graph.NodePaused, graph.NodeWaiting}, n.Status,
			"node %s of a closed run", n.Node)
	}
	cp := s.m.Checkpoint()
	_, failure := graph.Restore(s.compiled.Plan, cp, s.start)
	if o.Status == graph.StatusCompleted {
		require.Equal(t, "checkpoint_complete", failure.Type)
		return
	}
	require.Nil(t, failure, "what a machine wrote it can read")
}
