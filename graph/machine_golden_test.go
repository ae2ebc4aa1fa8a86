package graph_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill/graph"
)

// transcript is the whole of a story as text: effects, events, and how the run
// stands in the end.
func (s *story) transcript() string {
	lines := append([]string{}, s.log...)
	lines = append(lines, fmt.Sprintf("status %s, steps %d, left %d", s.m.Status(), s.m.Checkpoint().Steps, s.m.Checkpoint().StepsLeft))
	for _, n := range s.m.Checkpoint().Nodes {
		lines = append(lines, fmt.Sprintf("node %s: %d visits, %s", n.Node, n.Visits, n.Status))
	}
	for _, a := range s.m.Checkpoint().Answers {
		lines = append(lines, fmt.Sprintf("answer of %s: %s %s", a.PauseID, a.Closed, a.Actor))
	}
	for _, r := range s.m.Checkpoint().Rejected.Last {
		lines = append(lines, fmt.Sprintf("refused: %s: %s", r.Type, r.Message))
	}
	for _, p := range s.m.Pauses() {
		lines = append(lines, fmt.Sprintf("pause %s (%s): %s %s", p.ID, p.Reason, p.Summary, p.Show))
	}
	lines = append(lines, "state "+string(s.m.Checkpoint().State.Raw()))
	if o := s.m.Outcome(); o != nil {
		if o.Failure != nil {
			lines = append(lines, fmt.Sprintf("failure %s at %s: %s", failureTypes(o.Failure), o.Failure.Address, o.Failure.Message))
		} else {
			lines = append(lines, "output "+string(o.Output))
		}
	}
	return strings.Join(lines, "\n") + "\n"
}

// Whole stories of the graph that the documentation shows. A change of any rule
// is seen in their text.
func TestOrderReviewStories(t *testing.T) {
	t.Parallel()
	doc, err := os.ReadFile("testdata/order-review.yaml")
	require.NoError(t, err)
	compiled, found := graph.Compile("order-review.yaml", doc, graph.CompileOptions{})
	require.NotNil(t, compiled, "%v", found)
	order := func(total string) play { return outputs(`{"id":"7","items":["<bolt>"],"total":` + total + `}`) }
	fetched := func(total string) []play {
		p := order(total)
		p.ending.Result.Output = raw(`{"status":200,"headers":{},"body":` + string(p.ending.Result.Output) + `}`)
		return []play{p}
	}
	yes := graph.Answer{PauseID: "approve#1", Input: raw(`{"approved":true}`), Actor: "ann", Via: "update"}
	for _, c := range []struct {
		name  string
		plays plays
		goes  func(*story)
	}{
		{"small", plays{"fetch": fetched("12"), "ship": {outputs(`"shipped"`).lasting(time.Minute)}}, func(*story) {}},
		{"approved", plays{"fetch": fetched("1200"), "ship": {outputs(`"shipped"`)}}, func(s *story) {
			s.run().sleep(26 * time.Hour)
			require.Nil(t, s.answer(graph.Answer{Input: raw(`{"approved":"yes"}`), Via: "signal"}))
			require.NotNil(t, s.answer(graph.Answer{PauseID: "approve#2", Input: raw(`{}`)}))
			require.Nil(t, s.answer(yes))
		}},
		{"refused", plays{"fetch": fetched("1200")}, func(s *story) {
			require.Nil(t, s.run().answer(graph.Answer{Input: raw(`{"approved":false}`), Actor: "bob", Via: "signal"}))
		}},
		{"expired", plays{"fetch": fetched("1200")}, func(s *story) { s.run().sleep(72 * time.Hour) }},
		{"unknown", plays{"fetch": {fails("http_503").retryAfter(4 * time.Second), fails("http_404")}}, func(*story) {}},
		{"broken", plays{
			"fetch":  {fails("http_503"), interrupted(graph.InterruptWorkerLost), timesOut(), fails("http_502")},
			"broken": {fails("order_service_down").final()},
		}, func(*story) {}},
		{"cancelled", plays{"fetch": fetched("12"), "ship": {blocks().lasting(2 * time.Second)}}, func(s *story) {
			s.sleep(time.Hour).cancel("not wanted").sleep(time.Hour)
		}},
		{"cancelled-paused", plays{"fetch": fetched("1200")}, func(s *story) { s.run().cancel("not wanted") }},
		{"timed-out", plays{"fetch": fetched("12"), "ship": times(3000, interrupted(graph.InterruptNotRegistered).lasting(time.Hour))}, func(*story) {}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := tellCompiled(t, compiled, `{"order":"7"}`, c.plays)
			c.goes(s)
			s.run()
			if c.name == "timed-out" { // a week of nobody having the action
				s.log = append(append([]string{}, s.log[:12]...), s.log[len(s.log)-6:]...)
			}
			golden(t, "story-"+c.name+".golden", s.transcript())
		})
	}
}
