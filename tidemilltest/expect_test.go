package tidemilltest_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill/graph"
	"github.com/tidemill/tidemill/tidemilltest"
)

// asked is a graph that calls, asks, and calls again where it was told to.
const asked = `id: asked
entry: price
nodes:
  - {id: price, run: price, args: {item: "${ input.item }"}, delta: {price: "${ result }"}, next: ask}
  - {id: ask, type: pause, reason: approval, summary: "Pay ${ state.price }?", show: {price: "${ state.price }"}, expires: 1d, next: pay}
  - {id: pay, run: pay, args: {price: "${ state.price }"}, next: end}
`

func askedScenario() tidemilltest.Scenario {
	return tidemilltest.Scenario{
		App: app(asked), Input: map[string]any{"item": "lamp"},
		Fakes: tidemilltest.Fakes{
			"price": tidemilltest.Always(tidemilltest.Output(7)),
			"pay":   tidemilltest.InTurn(tidemilltest.Output("receipt").After(time.Minute)),
		},
		Answers: []tidemilltest.Answer{{Pause: "ask", Input: true, After: time.Hour, Times: 2}},
	}
}

// Each expectation must be met by what happened, and each must be seen to fail: one
// that holds of everything makes every test pass.
func TestExpect(t *testing.T) {
	t.Parallel()
	result := simulate(t, askedScenario())
	type expect = tidemilltest.Expect
	calls := func(name string, count int, each ...tidemilltest.ExpectCall) []tidemilltest.ExpectCalls {
		return []tidemilltest.ExpectCalls{{Name: name, Count: count, Each: each}}
	}
	pause := func(p tidemilltest.ExpectPause) []tidemilltest.ExpectPause { return []tidemilltest.ExpectPause{p} }
	for what, c := range map[string]struct{ holds, fails expect }{
		"status":        {expect{Status: graph.StatusCompleted}, expect{Status: graph.StatusPaused}},
		"output":        {expect{Output: "receipt"}, expect{Output: "another"}},
		"state price":   {expect{State: map[string]any{"price": 7.0}}, expect{State: map[string]any{"price": nil}}},
		"state none":    {expect{}, expect{State: map[string]any{"none": 1}}},
		"state item":    {expect{State: map[string]any{"price": 7, "item": "lamp"}, WholeState: true}, expect{State: map[string]any{"price": 7}, WholeState: true}},
		"path":          {expect{Path: []string{"price", "ask#1", "pay"}}, expect{Path: []string{"price", "pay", "ask"}}},
		"calls of pay":  {expect{Calls: calls("pay", 1)}, expect{Calls: calls("pay", 2)}},
		"calls of none": {expect{Calls: calls("none", 0)}, expect{Calls: calls("none", 1)}},
		"call 1 of pay args": {
			expect{Calls: calls("pay", 0, tidemilltest.ExpectCall{Args: text(`{"price":7}`)})},
			expect{Calls: calls("pay", 0, tidemilltest.ExpectCall{Args: text(`{"price":8}`)})},
		},
		"call 1 of pay key": {
			expect{Calls: calls("pay", 0, tidemilltest.ExpectCall{Key: "run/pay#1"})},
			expect{Calls: calls("pay", 0, tidemilltest.ExpectCall{Key: "run/pay#2"})},
		},
		"call 1 of pay address": {
			expect{Calls: calls("pay", 0, tidemilltest.ExpectCall{Address: "pay"})},
			expect{Calls: calls("pay", 0, tidemilltest.ExpectCall{Address: "pay#2"})},
		},
		"call 1 of pay attempt": {
			expect{Calls: calls("pay", 0, tidemilltest.ExpectCall{Attempt: 1})},
			expect{Calls: calls("pay", 0, tidemilltest.ExpectCall{Attempt: 2})},
		},
		"pauses":            {expect{Pauses: pause(tidemilltest.ExpectPause{Pause: "ask"})}, expect{Pauses: []tidemilltest.ExpectPause{}}},
		"pause ask reason":  {expect{Pauses: pause(tidemilltest.ExpectPause{Pause: "ask", Reason: "approval"})}, expect{Pauses: pause(tidemilltest.ExpectPause{Pause: "ask", Reason: "no"})}},
		"pause ask summary": {expect{Pauses: pause(tidemilltest.ExpectPause{Pause: "ask", Summary: "Pay 7?"})}, expect{Pauses: pause(tidemilltest.ExpectPause{Pause: "ask", Summary: "Pay 8?"})}},
		"pause ask show":    {expect{Pauses: pause(tidemilltest.ExpectPause{Pause: "ask", Show: text(`{"price":7}`)})}, expect{Pauses: pause(tidemilltest.ExpectPause{Pause: "ask", Show: 7})}},
		"pause ask closed":  {expect{Pauses: pause(tidemilltest.ExpectPause{Pause: "ask", Closed: graph.ClosedAnswered})}, expect{Pauses: pause(tidemilltest.ExpectPause{Pause: "ask", Closed: tidemilltest.StillOpen})}},
		"answers":           {expect{Answers: []string{"accepted", "pause_closed"}}, expect{Answers: []string{"accepted"}}},
		"steps":             {expect{Steps: 3}, expect{Steps: 4}},
		"took":              {expect{Took: time.Hour + time.Minute}, expect{Took: time.Hour}},
		"error":             {expect{}, expect{Error: &tidemilltest.ExpectError{Type: "boom"}}},
	} {
		require.Empty(t, c.holds.Check(result), what)
		found := c.fails.Check(result)
		require.Len(t, found, 1, what)
		require.Equal(t, what, found[0].What)
		require.NotEqual(t, found[0].Want, found[0].Got)
	}
}

// A failure is told by type, place and cause, each of which must be seen to fail.
func TestExpectError(t *testing.T) {
	t.Parallel()
	result := simulate(t, tidemilltest.Scenario{
		App:   line(", retry: {max_attempts: 2, backoff: 3s}"),
		Fakes: tidemilltest.Fakes{"ship": tidemilltest.Always(tidemilltest.Fails("no_courier", "all are ill"))},
	})
	right := tidemilltest.ExpectError{
		Type: "retry_exhausted", Message: "2 attempts", Node: "ship", Address: "ship",
		Cause: &tidemilltest.ExpectError{Type: "no_courier", Message: "ill"},
	}
	require.Empty(t, tidemilltest.Expect{Status: graph.StatusFailed, Error: &right, Took: 3 * time.Second}.Check(result))
	for what, change := range map[string]func(*tidemilltest.ExpectError){
		"error":         func(e *tidemilltest.ExpectError) { e.Type = "other" },
		"error message": func(e *tidemilltest.ExpectError) { e.Message = "3 attempts" },
		"error node":    func(e *tidemilltest.ExpectError) { e.Node = "fetch" },
		"error address": func(e *tidemilltest.ExpectError) { e.Address = "ship#2" },
		"error cause":   func(e *tidemilltest.ExpectError) { e.Cause = &tidemilltest.ExpectError{Type: "other"} },
	} {
		wrong := right
		change(&wrong)
		found := tidemilltest.Expect{Error: &wrong}.Check(result)
		require.Len(t, found, 1, what)
		require.Equal(t, what, found[0].What)
	}
	found := tidemilltest.Expect{}.Check(result) // a run that should complete and does not says why
	require.Len(t, found, 1)
	require.Contains(t, found[0].Got, "retry_exhausted at ship#1")
}

// Require must fail the test it is called in, with every difference, and Play a
// scenario that cannot be run.
func TestPlay(t *testing.T) {
	t.Parallel()
	w := watch(t, func(tb testing.TB) {
		tb.Helper()
		tidemilltest.Play(tb, askedScenario()).Require(tidemilltest.Expect{Output: "receipt", Steps: 3})
	})
	require.False(t, w.failed, "%v", w.said)
	w = watch(t, func(tb testing.TB) {
		tb.Helper()
		tidemilltest.Play(tb, askedScenario()).Require(tidemilltest.Expect{Output: "another", Steps: 4})
	})
	require.True(t, w.failed)
	require.Equal(t, []string{`output: want "another", got "receipt"`, "steps: want 4, got 3"}, w.said)
	w = watch(t, func(tb testing.TB) {
		tb.Helper()
		tidemilltest.Play(tb, tidemilltest.Scenario{App: line("")})
	})
	require.True(t, w.failed)
	require.Contains(t, w.said[0], `ship#1 runs the action "ship", for which there is no fake`)
}
