package graph_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill/graph"
)

// oneAction is a graph of one action with some fields.
func oneAction(fields string) string {
	return `entry: a
nodes:
  - {id: a, run: act, ` + fields + `next: end}
`
}

// Attempts: what counts as one, what is tried again, and what a node that gave
// up says.
func TestAttempts(t *testing.T) {
	t.Parallel()
	const thrice = `retry: {max_attempts: 3}, `
	lost := interrupted(graph.InterruptWorkerLost)
	runRows(t, []row{
		{
			name: "114 the third attempt succeeds", doc: oneAction(`retry: {max_attempts: 3, backoff: 0s}, `),
			plays: plays{"a": {fails("x"), fails("y"), outputs(`1`)}},
			want:  want{status: graph.StatusCompleted, output: `1`, seen: `a {}; a {}; a {}`, steps: 1},
		},
		{
			name: "115 too slow twice", doc: oneAction(`timeout: 25ms, retry: {max_attempts: 2}, `),
			plays: plays{"a": times(2, timesOut())},
			want:  want{status: graph.StatusFailed, failure: "retry_exhausted/action_timed_out", at: "a#1"},
		},
		{
			name: "116 one attempt fails bare", doc: oneAction(``), plays: plays{"a": {fails("boom")}},
			want: want{status: graph.StatusFailed, failure: "boom", at: "a#1", message: "it failed"},
		},
		{
			name: "116 two attempts are exhausted, with the last cause", doc: oneAction(`retry: {max_attempts: 2}, `),
			plays: plays{"a": {fails("first"), fails("boom")}},
			want:  want{status: graph.StatusFailed, failure: "retry_exhausted/boom", at: "a#1", message: "2 attempts"},
		},
		{
			name: "non_retryable fails at once", doc: oneAction(`retry: {max_attempts: 3, non_retryable: [http_404]}, `),
			plays: plays{"a": {fails("http_503"), fails("http_404")}},
			want:  want{status: graph.StatusFailed, failure: "http_404", at: "a#1"},
		},
		{
			name: "a final failure is not tried again", doc: oneAction(thrice), plays: plays{"a": {fails("boom").final()}},
			want: want{status: graph.StatusFailed, failure: "boom", at: "a#1", seen: `a {}`},
		},
		{
			name: "45 an invalid result is not tried again", doc: oneAction(thrice),
			plays: plays{"a": {fails("invalid_action_result").final()}},
			want:  want{status: graph.StatusFailed, failure: "invalid_action_result", at: "a#1", seen: `a {}`},
		},
		{
			name: "45 a control that means nothing", doc: oneAction(thrice),
			plays: plays{"a": {returns(graph.Result{Control: "complete", Delta: object([]string{`{"x":1}`})})}},
			want:  want{status: graph.StatusFailed, failure: "invalid_control", at: "a#1", seen: `a {}`, state: `{}`},
		},
		{
			name: "a route without a target", doc: oneAction(thrice), plays: plays{"a": {routes("")}},
			want: want{status: graph.StatusFailed, failure: "invalid_control", at: "a#1", seen: `a {}`},
		},
		{
			name: "a pause that asks nothing", doc: oneAction(thrice),
			plays: plays{"a": {returns(graph.Result{Control: graph.ControlPause})}},
			want:  want{status: graph.StatusFailed, failure: "invalid_control", at: "a#1"},
		},
		{
			name: "a driver that made several attempts says so", doc: oneAction(thrice),
			plays: plays{"a": {fails("boom").used(3)}},
			want:  want{status: graph.StatusFailed, failure: "retry_exhausted/boom", at: "a#1", message: "3 attempts", seen: `a {}`},
		},
		{
			name: "interruptions are no attempts", doc: oneAction(``),
			plays: plays{"a": {lost, interrupted(graph.InterruptShutdown), interrupted(graph.InterruptReset), outputs(`1`)}},
			want:  want{status: graph.StatusCompleted, output: `1`, steps: 1},
		},
		{
			name: "too many interruptions", doc: oneAction(`max_interruptions: 2, retry: {max_attempts: 3}, `),
			plays: plays{"a": times(3, lost)},
			want:  want{status: graph.StatusFailed, failure: "worker_lost", at: "a#1", seen: `a {}; a {}; a {}`},
		},
		{
			name: "an action that must never start twice", doc: oneAction(`max_interruptions: 0, `), plays: plays{"a": {lost}},
			want: want{status: graph.StatusFailed, failure: "worker_lost", at: "a#1", seen: `a {}`},
		},
		{
			name: "a lost worker can be dealt with", doc: oneAction(`max_interruptions: 0, on_error: end, `), plays: plays{"a": {lost}},
			want: want{status: graph.StatusCompleted, output: `{}`},
		},
		{
			// A missing action waits for a worker that has it, for as long as the run may.
			name: "a missing action is waited for", doc: oneAction(`max_interruptions: 0, `),
			plays: plays{"a": append(times(30, interrupted(graph.InterruptNotRegistered)), outputs(`1`))},
			want:  want{status: graph.StatusCompleted, output: `1`},
		},
		{
			name: "attempts and interruptions are counted apart", doc: oneAction(`max_interruptions: 2, retry: {max_attempts: 2}, `),
			plays: plays{"a": {lost, fails("boom"), lost, outputs(`1`)}},
			want:  want{status: graph.StatusCompleted, output: `1`},
		},
		{
			name: "input is checked where the action runs, for no attempt", doc: oneAction(`input_schema: {type: string}, retry: {max_attempts: 3}, `),
			plays: plays{"a": {outputs(`1`)}},
			want:  want{status: graph.StatusFailed, failure: "node_input_schema_validation_failed", at: "a#1", seen: `a {}`},
		},
		{
			name: "an output that does not fit is not committed", doc: oneAction(`output_schema: {type: string}, retry: {max_attempts: 3}, `),
			plays: plays{"a": {outputs(`1`, `{"x":1}`)}},
			want: want{
				status: graph.StatusFailed, failure: "node_output_schema_validation_failed", at: "a#1", state: `{}`, seen: `a {}`,
			},
		},
	})
}

// Activities of other SDKs: the machine evaluates around them what the wrapper
// of our actions evaluates in it.
func TestForeignActivities(t *testing.T) {
	t.Parallel()
	foreign := func(fields string) string {
		return `entry: a
nodes:
  - {id: a, run: {activity: Py, task_queue: py}, ` + fields + `next: b}
  - {id: b, run: act, next: end}
  - {id: e, type: set, output: "${ input.type }", next: end}
`
	}
	bOK := []play{oks()}
	runRows(t, []row{
		{
			name: "what it gives is the output", doc: foreign(""), plays: plays{"a": {outputs(`{"x":"<"}`)}, "b": bOK},
			want: want{status: graph.StatusCompleted, output: `{"x":"<"}`, seen: `a {}; b {"x":"<"}`, steps: 2},
		},
		{
			name: "null is what it gives", doc: foreign(""), plays: plays{"a": {outputs(`null`)}, "b": bOK},
			want: want{status: graph.StatusCompleted, output: `null`},
		},
		{
			name: "output and delta see it as result", doc: foreign(`output: "${ result.x }", delta: {k: "${ [result.x] }"}, `),
			plays: plays{"a": {outputs(`{"x":1}`)}, "b": bOK},
			want:  want{status: graph.StatusCompleted, output: `1`, state: `{"k":[1]}`, seen: `a {}; b 1`},
		},
		{
			name: "an output that cannot be evaluated fails the node after it has run", doc: foreign(`output: "${ result.none }", on_error: e, `),
			plays: plays{"a": {outputs(`{"x":1}`)}},
			want:  want{status: graph.StatusCompleted, output: `"expression_failed"`},
		},
		{
			name: "an output that does not fit the schema", doc: foreign(`output_schema: {type: string}, retry: {max_attempts: 3}, `),
			plays: plays{"a": {outputs(`1`)}},
			want:  want{status: graph.StatusFailed, failure: "node_output_schema_validation_failed", at: "a#1", seen: `a {}`},
		},
		{
			name: "an input that does not fit costs no step", doc: foreign(`input_schema: {type: string}, on_error: e, `),
			want: want{status: graph.StatusCompleted, output: `"node_input_schema_validation_failed"`, steps: 1},
		},
		{
			name: "args that cannot be evaluated", doc: foreign(`args: ["${ state.none }"], on_error: e, `),
			want: want{status: graph.StatusCompleted, output: `"expression_failed"`, steps: 2},
		},
		{
			name: "it is tried again and waited for like ours", doc: foreign(`args: {k: "${ input.k }"}, retry: {max_attempts: 2}, `), input: `{"k":1}`,
			plays: plays{"a": {interrupted(graph.InterruptNotRegistered), fails("ValueError"), interrupted(graph.InterruptWorkerLost), outputs(`2`)}, "b": bOK},
			want:  want{status: graph.StatusCompleted, output: `2`, steps: 2},
		},
		{
			name: "what it gives can be too large", doc: foreign(`on_error: e, `), plays: plays{"a": {outputs(`"` + strings.Repeat("x", 100) + `"`)}},
			change: func(s *story) { s.start.Limits.Payload = 64 },
			want:   want{status: graph.StatusCompleted, output: `"output_too_large"`},
		},
		{
			name: "so can its args", doc: foreign(`args: ["${ input.k }"], on_error: e, `), input: `{"k":"` + strings.Repeat("x", 100) + `"}`,
			change: func(s *story) { s.start.Limits.Payload = 64 },
			want:   want{status: graph.StatusCompleted, output: `"output_too_large"`},
		},
	})
	s := tell(t, foreign(`args: {k: ["<${ input.k }>", 1]}, `), `{"k":7}`, nil).run()
	require.Equal(t, raw(`{"k":["<7>",1]}`), s.open[0].args)
}

// waits lists when a node was scheduled, as seconds since noon.
func waits(s *story) string {
	var at []string
	for _, line := range s.log {
		if clock, what, _ := strings.Cut(line, " "); strings.HasPrefix(what, "< run ") {
			when, err := time.ParseDuration(clock)
			require.NoError(s.t, err)
			at = append(at, fmt.Sprint(when.Seconds()))
		}
	}
	return strings.Join(at, " ")
}

// When attempts follow each other.
func TestBackoff(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, retry string
		plays       []play
		want        string
	}{
		{"the default is a second", `{max_attempts: 4}`, times(4, fails("x")), "0 1 2 3"},
		{"none at all", `{max_attempts: 3, backoff: 0s}`, times(3, fails("x")), "0 0 0"},
		{"the older spelling", `{max_attempts: 3, backoff_ms: 2000}`, times(3, fails("x")), "0 2 4"},
		{"growing", `{max_attempts: 5, backoff: 2s, coefficient: 2}`, times(5, fails("x")), "0 2 6 14 30"},
		{"growing up to a limit", `{max_attempts: 5, backoff: 2s, coefficient: 3, max_backoff: 7s}`, times(5, fails("x")), "0 2 8 15 22"},
		{"at most a minute by default", `{max_attempts: 4, backoff: 40s, coefficient: 2}`, times(4, fails("x")), "0 40 100 160"},
		{"Retry-After is the least wait", `{max_attempts: 3}`, []play{fails("x").retryAfter(9 * time.Second), fails("x"), fails("x")}, "0 9 10"},
		{"a shorter Retry-After changes nothing", `{max_attempts: 2, backoff: 5s}`, times(2, fails("x").retryAfter(time.Second)), "0 5"},
		{"Retry-After up to max_backoff", `{max_attempts: 2, max_backoff: 20s}`, times(2, fails("x").retryAfter(time.Hour)), "0 20"},
		{"time is counted from the end of the attempt", `{max_attempts: 3}`, times(3, fails("x").lasting(10*time.Second)), "0 11 22"},
		{"the driver has made two", `{max_attempts: 3, backoff: 1s, coefficient: 10}`, []play{fails("x").used(2), fails("x")}, "0 10"},
		{
			"interruptions wait 0, 1, 5, 15, 30 s, then a minute", `{max_attempts: 1}`,
			append(times(8, interrupted(graph.InterruptWorkerLost)), outputs(`1`)), "0 0 1 6 21 51 111 171 231",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for _, restores := range []bool{false, true} {
				s := tell(t, oneAction(`retry: `+c.retry+`, `), "", plays{"a": c.plays}, func(s *story) { s.restores = restores }).run()
				require.NotNil(t, s.m.Outcome())
				require.Equal(t, c.want, waits(s))
			}
		})
	}
}

// A backoff without a limit must not overflow into the past.
func TestBackoffWithoutLimit(t *testing.T) {
	t.Parallel()
	retry := graph.Retry{MaxAttempts: 1000, Backoff: graph.Duration(time.Second), Coefficient: 10, MaxBackoff: graph.None}
	last := time.Duration(0)
	for failed := 1; failed < 1000; failed++ {
		delay := retry.Delay(failed, 0)
		require.GreaterOrEqual(t, delay, last, "after %d", failed)
		last = delay
	}
}

// Attempts have a number, and all of them one idempotency key.
func TestAttemptsShareTheirKey(t *testing.T) {
	t.Parallel()
	s := tell(t, oneAction(`retry: {max_attempts: 3}, `), "", plays{"a": {
		interrupted(graph.InterruptWorkerLost), fails("x"), interrupted(graph.InterruptWorkerLost), fails("x"), outputs(`1`),
	}}).run()
	var numbers []int
	for _, task := range s.tasks {
		require.Equal(t, "first/a#1", task.Run.Key)
		require.Equal(t, graph.Address("a#1"), task.Run.Address)
		require.Equal(t, task.Before+1, task.Run.Attempt)
		numbers = append(numbers, task.Run.Attempt)
	}
	require.Equal(t, []int{1, 1, 2, 2, 3}, numbers)
}

// A task holds the state keys its node reads, and no others.
func TestTaskHoldsWhatIsRead(t *testing.T) {
	t.Parallel()
	state := func(fields string) string {
		s := tell(t, oneAction(fields), `{"a":1,"b":2,"c":3}`, plays{"a": {oks()}}).run()
		return string(s.tasks[0].State.Raw())
	}
	require.Equal(t, `{}`, state(``))
	require.Equal(t, `{"b":2}`, state(`args: {x: "${ state.b }"}, `))
	require.Equal(t, `{"b":2,"c":3}`, state(`args: {x: "${ state.b }"}, reads: [c, missing], `))
	require.Equal(t, `{"a":1,"b":2,"c":3}`, state(`args: "${ {'all': state} }", `))
}

// What a run says it waits for between attempts.
func TestWaitingIsSaid(t *testing.T) {
	t.Parallel()
	missing := interrupted(graph.InterruptNotRegistered)
	s := tell(t, oneAction(``), "", plays{"a": {missing, missing}}).run()
	require.Contains(t, s.m.Report().Waiting[0].Reason, "no worker has action `act`")
	require.Contains(t, s.m.Current()[0].Waiting, "no worker has action `act`")

	s = tell(t, oneAction(`retry: {max_attempts: 2}, `), "", plays{"a": {missing, fails("x")}}).run()
	require.Empty(t, s.m.Report().Waiting, "a worker that answered has the action")

	s = tell(t, oneAction(`retry: {max_attempts: 2}, `), "", plays{"a": {fails("x")}})
	s.advance()
	s.step(time.Time{})
	w := s.m.Report().Waiting
	require.Len(t, w, 1)
	require.Equal(t, graph.Address("a#1"), w[0].Address)
	require.Equal(t, noon.Add(time.Second), *w[0].NextCheck)
	require.Contains(t, w[0].Reason, "backing off")
}
