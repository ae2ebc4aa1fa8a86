package tidemilltest_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill"
	"github.com/tidemill/tidemill/graph"
	"github.com/tidemill/tidemill/tidemilltest"
)

const parent = `id: parent
entry: review
nodes:
  - {id: review, type: workflow, workflow: review, retry: {max_attempts: 2, backoff: 1s}, on_error: broken, next: end}
  - {id: broken, type: set, output: "${ input.type }", next: end}
`

const review = `id: review
entry: look
nodes:
  - {id: look, run: look, delta: {seen: true}, next: end}
`

// A child is run, or goes as its fake says: its output, the keys it changed, and its
// failures under the name that its parent knows them by.
func TestChildren(t *testing.T) {
	t.Parallel()
	s := tidemilltest.Scenario{App: app(parent, review), Graph: "parent", Fakes: fakes{"look": tidemilltest.Always(tidemilltest.Output("fine"))}}
	result := simulate(t, s)
	require.Equal(t, `"fine"`, string(result.Output))
	require.Equal(t, []graph.Address{"review#1", "review#1/look#1"}, result.Path)
	require.JSONEq(t, `{"seen":true}`, string(result.State))

	s.Fakes = nil
	s.Children = fakes{"review": tidemilltest.InTurn(tidemilltest.Fails("x", ""), tidemilltest.Output(2).Changing(map[string]int{"seen": 1}).After(time.Minute))}
	result = simulate(t, s)
	require.Equal(t, "2", string(result.Output))
	require.JSONEq(t, `{"seen":1}`, string(result.State))
	require.Equal(t, []graph.Address{"review#1"}, result.Path)
	require.Equal(t, time.Minute+time.Second, result.Duration)
	require.Equal(t, 2, result.Calls[1].Attempt)

	s.Children = fakes{"review": tidemilltest.Always(tidemilltest.Fails("x", ""))}
	require.Equal(t, `"retry_exhausted"`, string(simulate(t, s).Output))
	s.Children = fakes{"review": tidemilltest.Always(tidemilltest.Output(1).Changing(7))}
	require.Contains(t, refused(t, s), "what the fake of the graph review changes is no object")
}

// A cancel reaches what a child does, and waits for it.
func TestCancelBelow(t *testing.T) {
	t.Parallel()
	slow := tidemilltest.InTurn(tidemilltest.Hangs().Late(2 * time.Second))
	result := simulate(t, tidemilltest.Scenario{
		App: app(parent, review), Graph: "parent", Cancel: tidemilltest.Cancel{When: "review/look", At: time.Second}, Fakes: fakes{"look": slow},
	})
	require.Equal(t, graph.StatusCancelled, result.Status)
	require.Equal(t, 3*time.Second, result.Duration)
}

// A map that is long enough for a run of its own is one, and items have fakes by the
// address and by the node.
func TestLongMap(t *testing.T) {
	t.Parallel()
	items := make([]int, 300)
	for i := range items {
		items[i] = i
	}
	s := tidemilltest.Scenario{
		App:   app("id: many\nentry: each\nnodes: [{id: each, type: map, items: \"${ input.items }\", max_concurrency: 500, item: {run: ship, args: {at: \"${ item }\"}}, next: end}]\n"),
		Input: map[string]any{"items": items},
		Fakes: fakes{"ship": tidemilltest.Do(func(_ context.Context, in struct{ At int }) (int, error) { return in.At, nil })},
		Nodes: fakes{"each/7": tidemilltest.Always(tidemilltest.Output("seventh"))},
	}
	result := simulate(t, s)
	require.Len(t, result.Calls, 300)
	require.Contains(t, string(result.Output), `[0,1,2,3,4,5,6,"seventh",8,`)
	require.Contains(t, fmt.Sprint(result.Transcript), "child each#1 of many")
	s.Nodes = fakes{"each": tidemilltest.Always(tidemilltest.Output(0))}
	require.NotContains(t, string(simulate(t, s).Output), "7")
}

// Local actions are made like all others, and are bound by the size that they have.
func TestLocal(t *testing.T) {
	t.Parallel()
	local := line(", mode: local, idempotent: true, timeout: 1s")
	require.Equal(t, "1", string(simulate(t, tidemilltest.Scenario{App: local, Fakes: fakes{"ship": tidemilltest.Always(tidemilltest.Output(1))}}).Output))
	large := fakes{"ship": tidemilltest.Always(tidemilltest.Output(string(make([]rune, 60<<10))))}
	require.Equal(t, graph.ErrTypeOutputTooLarge, simulate(t, tidemilltest.Scenario{App: local, Fakes: large}).Error.Type)
	require.Equal(t, graph.StatusCompleted, simulate(t, tidemilltest.Scenario{App: line(""), Fakes: large}).Status)
	small := tidemill.Limits{Payload: 1000}
	require.Equal(t, graph.ErrTypeOutputTooLarge, simulate(t, tidemilltest.Scenario{App: line(""), Limits: small, Fakes: large}).Error.Type)
}

// Results that do more than give an output do it here too.
func TestResults(t *testing.T) {
	t.Parallel()
	a := app("id: ways\nentry: a\nnodes:\n  - {id: a, run: a, next: b}\n  - {id: b, type: set, output: b, next: end}\n  - {id: c, type: set, output: c, next: end}\n")
	run := func(r tidemill.Result) *tidemilltest.Result {
		return simulate(t, tidemilltest.Scenario{App: a, Fakes: fakes{"a": tidemilltest.Always(tidemilltest.Returns(r))}})
	}
	require.Equal(t, []string{"a", "b"}, run(tidemill.OK()).Own())
	require.Equal(t, []string{"a", "c"}, run(tidemill.Route("c")).Own())
	require.Equal(t, []string{"a"}, run(tidemill.Stop(1)).Own())
	paused := run(tidemill.Pause(tidemill.PauseRequest{Summary: "well?"}))
	require.Equal(t, "well?", paused.Pauses[0].Summary)
}

// A request is built, sent to the fake and read by the action http itself.
func TestHTTP(t *testing.T) {
	t.Parallel()
	a := func(more string) *tidemill.App {
		return app("id: asks\nentry: get\nnodes: [{id: get, run: http, args: {url: \"http://a.b/c\"" + more + "}, output: \"${ result }\", next: end}]\n")
	}
	run := func(app *tidemill.App, step tidemilltest.Step) *tidemilltest.Result {
		return simulate(t, tidemilltest.Scenario{App: app, Fakes: fakes{"http": tidemilltest.Always(step)}})
	}
	require.JSONEq(t, `{"status":200,"headers":{"content-type":"application/json"},"body":{"x":1}}`,
		string(run(a(""), tidemilltest.Output(map[string]int{"x": 1})).Output))
	require.Equal(t, "http_404", run(a(""), tidemilltest.HTTP(404, nil)).Error.Type)
	require.Contains(t, string(run(a(", expect: text"), tidemilltest.Output("plain")).Output), `"body":"plain"`)
	require.Equal(t, "http_unreachable", run(a(""), tidemilltest.Fails("http_unreachable", "no network")).Error.Type)
	require.Equal(t, graph.ErrTypeNodeInputSchema, run(a(", nonsense: 1"), tidemilltest.Output(1)).Error.Type)
	require.Equal(t, graph.ErrTypeHTTPHostRefused, run(app("id: asks\nentry: get\nnodes: [{id: get, run: http, args: {url: \"ftp://a.b/c\"}, next: end}]\n"), tidemilltest.Output(1)).Error.Type)
}
