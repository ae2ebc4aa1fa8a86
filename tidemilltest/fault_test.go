package tidemilltest_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill"
	"github.com/tidemill/tidemill/graph"
	"github.com/tidemill/tidemill/tidemilltest"
)

type fakes = tidemilltest.Fakes

// A worker that is lost before or after the effect has the same attempt made again,
// under the same key; only what it did before it was lost tells the two apart.
func TestLostWorkers(t *testing.T) {
	t.Parallel()
	for worked, step := range map[bool]tidemilltest.Step{
		false: tidemilltest.Interrupted(graph.InterruptWorkerLost).After(15 * time.Second),
		true:  tidemilltest.Output("unheard").After(15 * time.Second).Lost(),
	} {
		result := simulate(t, tidemilltest.Scenario{
			App: line(""), Fakes: fakes{"ship": tidemilltest.InTurn(step, tidemilltest.Output("heard"))},
		})
		require.Equal(t, `"heard"`, string(result.Output))
		require.Len(t, result.Calls, 2)
		require.Equal(t, worked, result.Calls[0].Worked)
		require.True(t, result.Calls[1].Worked)
		require.Equal(t, 1, result.Calls[1].Attempt, "an interruption is no attempt")
		require.Equal(t, "run/ship#1", result.Calls[1].Key)
		require.Equal(t, result.Calls[0].Key, result.Calls[1].Key)
		require.Equal(t, 15*time.Second, result.Duration)
	}
}

// Workers that are lost for ever end the node, not the test.
func TestLostForEver(t *testing.T) {
	t.Parallel()
	result := simulate(t, tidemilltest.Scenario{
		App: line(", max_interruptions: 2"), Fakes: fakes{"ship": tidemilltest.Always(tidemilltest.Interrupted(graph.InterruptShutdown))},
	})
	require.Equal(t, graph.ErrTypeWorkerLost, result.Error.Type)
	require.Len(t, result.Calls, 3)
}

// A retry waits in virtual time, as long as the policy or the failure says; a final
// failure is not tried again.
func TestFailures(t *testing.T) {
	t.Parallel()
	retry := line(", retry: {max_attempts: 3, backoff: 1s, coefficient: 2, max_backoff: 1m}")
	down := tidemilltest.Fails("down", "")
	result := simulate(t, tidemilltest.Scenario{
		App: retry, Fakes: fakes{"ship": tidemilltest.InTurn(down, down.RetryAfter(30*time.Second), tidemilltest.Output(1))},
	})
	require.Equal(t, 31*time.Second, result.Duration)
	require.Equal(t, 3, result.Calls[2].Attempt)

	result = simulate(t, tidemilltest.Scenario{App: retry, Fakes: fakes{"ship": tidemilltest.InTurn(down.Final())}})
	require.Equal(t, "down", result.Error.Type)
	require.Len(t, result.Calls, 1)
}

// What takes longer than its timeout is timed out when that has passed, and what hangs
// without one leaves the run where it is.
func TestSlow(t *testing.T) {
	t.Parallel()
	for _, step := range []tidemilltest.Step{tidemilltest.Hangs(), tidemilltest.Output(1).After(time.Hour)} {
		result := simulate(t, tidemilltest.Scenario{App: line(", timeout: 1m"), Fakes: fakes{"ship": tidemilltest.InTurn(step)}})
		require.Equal(t, graph.ErrTypeActionTimedOut, result.Error.Type)
		require.Equal(t, time.Minute, result.Duration)
	}
	result := simulate(t, tidemilltest.Scenario{App: line(", timeout: none"), Fakes: fakes{"ship": tidemilltest.InTurn(tidemilltest.Hangs())}})
	require.Equal(t, graph.StatusRunning, result.Status)
}

// The run's deadline cuts what is under way.
func TestDeadline(t *testing.T) {
	t.Parallel()
	result := simulate(t, tidemilltest.Scenario{
		App: line(""), Deadline: 3 * time.Second, Fakes: fakes{"ship": tidemilltest.InTurn(tidemilltest.Hangs())},
	})
	require.Equal(t, graph.StatusTimedOut, result.Status)
	require.Equal(t, 3*time.Second, result.Duration)
}

// Cancelled at a visit or at an instant, an action stops at once, or goes on for as
// long as it is allowed to; what it then completes does not count.
func TestCancel(t *testing.T) {
	t.Parallel()
	hour := tidemilltest.Output(1).After(time.Hour)
	for name, c := range map[string]struct {
		cancel tidemilltest.Cancel
		step   tidemilltest.Step
		took   time.Duration
		effect string
	}{
		"at an instant":    {tidemilltest.Cancel{At: time.Minute}, hour, time.Minute, "unknown"},
		"at a visit":       {tidemilltest.Cancel{When: "ship"}, hour.Effect("none"), 0, "none"},
		"behind a visit":   {tidemilltest.Cancel{When: "ship#1", At: time.Second}, hour, time.Second, "unknown"},
		"late":             {tidemilltest.Cancel{At: time.Minute}, hour.Late(20 * time.Second), 80 * time.Second, "unknown"},
		"later than grace": {tidemilltest.Cancel{At: time.Minute}, hour.Late(50 * time.Second), 90 * time.Second, "unknown"},
		"done meanwhile":   {tidemilltest.Cancel{At: time.Minute}, tidemilltest.Output(1).After(61 * time.Second).Late(time.Minute), 61 * time.Second, "unknown"},
	} {
		result := simulate(t, tidemilltest.Scenario{App: line(""), Cancel: c.cancel, Fakes: fakes{"ship": tidemilltest.InTurn(c.step)}})
		require.Equal(t, graph.StatusCancelled, result.Status, name)
		require.Equal(t, c.took, result.Duration, name)
		require.Equal(t, c.effect, result.Error.Cause.Effect, name)
	}
	require.Contains(t, refused(t, tidemilltest.Scenario{
		App: line(""), Cancel: tidemilltest.Cancel{At: time.Minute}, Fakes: fakes{"ship": tidemilltest.InTurn(tidemilltest.Output(1))},
	}), "the run was not cancelled")
}

// Answers are judged as on a server: too early, in time, twice, too late, to nothing,
// or not as the pause wants them. Silence stops the run as paused, or passes.
func TestAnswers(t *testing.T) {
	t.Parallel()
	yes := tidemilltest.Answer{Pause: "ask", Input: true}
	at := func(a tidemilltest.Answer, d time.Duration) tidemilltest.Answer { a.At = d; return a }
	wrong := tidemilltest.Answer{Pause: "aks", Input: true, At: 2 * time.Minute}
	s := tidemilltest.Scenario{
		App: app(`id: waits
entry: load
nodes:
  - {id: load, run: load, next: ask}
  - {id: ask, type: pause, resume_schema: {type: boolean}, expires: 1h, on_expire: gone, next: end}
  - {id: gone, type: set, output: gone, next: end}
`),
		Fakes: fakes{"load": tidemilltest.Always(tidemilltest.Output(1).After(time.Minute))},
	}
	s.Answers = []tidemilltest.Answer{at(yes, time.Second), wrong, {Input: text(`"yes"`), After: 2 * time.Minute}, {Pause: "ask#1", Input: true, After: 3 * time.Minute}}
	result := simulate(t, s)
	var verdicts []string
	for _, a := range result.Answers {
		verdicts = append(verdicts, a.Verdict)
	}
	require.Equal(t, []string{"unknown_pause", "unknown_pause", "invalid_resume_input", tidemilltest.Accepted}, verdicts)
	require.Equal(t, 4*time.Minute, result.Duration)
	require.Equal(t, graph.StatusCompleted, result.Status)

	s.Answers = []tidemilltest.Answer{at(yes, 2*time.Hour)}
	require.Contains(t, refused(t, s), `the answer to "ask" was never sent: the run stopped before its time`)

	s.Answers = nil
	require.Equal(t, graph.StatusPaused, simulate(t, s).Status)
	s.ThroughPauses = true
	result = simulate(t, s)
	require.Equal(t, `"gone"`, string(result.Output))
	require.Equal(t, graph.ClosedExpired, result.Pauses[0].Closed)

	s.Answers = []tidemilltest.Answer{{Pause: "ask#2", Input: true}}
	require.Contains(t, refused(t, s), `the answer to "ask#2" was never sent: its pause did not open`)
}

// Permits are waited for and given back; a full queue holds the work up, or ends it
// where the node wants that.
func TestPermits(t *testing.T) {
	t.Parallel()
	s := tidemilltest.Scenario{App: line(""), Fakes: fakes{"ship": tidemilltest.Always(tidemilltest.Output(1))}}
	require.Zero(t, simulate(t, s).Calls[0].Token)

	s.Permits = &tidemilltest.Permits{}
	result := simulate(t, s)
	require.Equal(t, uint64(1), result.Calls[0].Token)
	require.Zero(t, result.Duration)

	s.Permits = &tidemilltest.Permits{Wait: 3 * time.Minute}
	require.Equal(t, 3*time.Minute, simulate(t, s).Duration)

	s.Permits = &tidemilltest.Permits{FullFor: 10 * time.Second}
	result = simulate(t, s)
	require.Equal(t, graph.StatusCompleted, result.Status)
	require.GreaterOrEqual(t, result.Duration, 10*time.Second)

	s.App = line(", overflow: reject")
	result = simulate(t, s)
	require.Equal(t, graph.ErrTypeQueueFull, result.Error.Type)
	require.Empty(t, result.Calls)
}

// A callback that does not always answer the same would be a non-determinism error
// one day; the kit says so, with the line where the two runs part.
func TestCallbackThatChangesItsMind(t *testing.T) {
	t.Parallel()
	flips := func(changes bool) *tidemill.App {
		a := app(`id: flips
entry: choose
nodes:
  - {id: choose, type: dynamic, choose: {call: pick}, targets: [left, right]}
  - {id: left, run: ship, args: {way: left}, next: end}
  - {id: right, run: ship, args: {way: right}, next: end}
`)
		asked := 0
		tidemill.Callback(a, "pick", 1, func(tidemill.Scope) (string, error) {
			if asked++; changes && asked > 1 {
				return "right", nil
			}
			return "left", nil
		})
		return a
	}
	ship := fakes{"ship": tidemilltest.Always(tidemilltest.Output(1))}
	simulate(t, tidemilltest.Scenario{App: flips(false), Fakes: ship})
	why := refused(t, tidemilltest.Scenario{App: flips(true), Fakes: ship})
	require.Contains(t, why, "the run goes another way when it is done again")
	require.Contains(t, why, "first: 0s < run left#1")
	require.Contains(t, why, "again: 0s < run right#1")
}

// A test that does not say all, or says what cannot be, is no test: it is told.
func TestWrongScenarios(t *testing.T) {
	t.Parallel()
	one := tidemilltest.InTurn(tidemilltest.Output(1))
	http := app("id: asks\nentry: get\nnodes: [{id: get, run: http, args: {url: \"http://a.b/c\"}, next: end}]\n")
	for want, s := range map[string]tidemilltest.Scenario{
		"the scenario has no App":              {},
		`no graph "lime" (did you mean line?)`: {App: line(""), Graph: "lime"},
		"the App has 0 graphs":                 {App: tidemill.NewApp()},
		`fake for action "shp", and the graph has none of that name (did you mean ship?)`:  {App: line(""), Fakes: fakes{"shp": one}},
		`fake for node "shop#2", and the graph has none of that name (did you mean ship?)`: {App: line(""), Nodes: fakes{"shop#2": one}},
		`fake for child graph "line"`:                  {App: line(""), Children: fakes{"line": one}},
		"its fake has 1 steps and all are used":        {App: line(", retry: {max_attempts: 2}"), Fakes: fakes{"ship": tidemilltest.InTurn(tidemilltest.Fails("x", ""))}},
		"the fake of ship has 2 steps and 1 were used": {App: line(""), Fakes: fakes{"ship": tidemilltest.InTurn(tidemilltest.Output(1), tidemilltest.Output(2))}},
		"its fake has 0 steps and all are used":        {App: line(""), Nodes: fakes{"ship": tidemilltest.InTurn()}},
		"give a fake for http":                         {App: http},
		"the input is not JSON":                        {App: line(""), Input: func() {}},
	} {
		require.Contains(t, refused(t, s), want)
	}
}

// An input that a graph refuses starts nothing, as everywhere.
func TestRefusedInput(t *testing.T) {
	t.Parallel()
	result := simulate(t, tidemilltest.Scenario{App: app("id: strict\nentry: a\ninput_schema: {required: [x]}\nnodes: [{id: a, type: set, next: end}]\n")})
	require.Equal(t, graph.StatusFailed, result.Status)
	require.Equal(t, graph.ErrTypeInputSchema, result.Error.Type)
	require.Empty(t, result.Path)
}

// Real actions of the App run in place of fakes, with all that the wrapper does.
func TestRealActions(t *testing.T) {
	t.Parallel()
	a := app("id: real\nentry: twice\nnodes: [{id: twice, run: twice, args: {size: \"${ input.size }\"}, output: \"${ result + 1 }\", next: end}]\n")
	tidemill.Action(a, "twice", func(ctx context.Context, in struct{ Size int }) (int, error) {
		if tidemill.Info(ctx).Key != "run/twice#1" {
			return 0, tidemill.NewError("no_key", tidemill.Info(ctx).Key)
		}
		return 2 * in.Size, nil
	})
	result := simulate(t, tidemilltest.Scenario{App: a, Input: map[string]int{"size": 20}})
	require.Equal(t, "41", string(result.Output))
	require.JSONEq(t, `{"size":20}`, string(result.Calls[0].Args))

	result = simulate(t, tidemilltest.Scenario{App: a, Input: map[string]int{"size": 20}, Fakes: fakes{"twice": tidemilltest.Always(tidemilltest.Output(1))}})
	require.Equal(t, "2", string(result.Output))
}
