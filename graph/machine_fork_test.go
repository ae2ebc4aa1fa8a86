package graph_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/tidemill/tidemill/graph"
)

// fork is a graph of a fork f with further fields, its branches, which are
// actions unless nodes says otherwise ("b: fields"), and its join j. The run
// ends at s, which shows what the join gave.
func fork(fields, branches string, nodes ...string) string {
	own := map[string]string{}
	for _, node := range nodes {
		id, text, _ := strings.Cut(node, ": ")
		own[id] = text
	}
	var doc strings.Builder
	fmt.Fprintf(&doc, "entry: f\nnodes:\n  - {id: f, type: fork, branches: [%s], join: j%s}\n", branches, fields)
	for branch := range strings.SplitSeq(branches, ", ") {
		text := "run: act"
		if own[branch] != "" {
			text = own[branch]
		}
		fmt.Fprintf(&doc, "  - {id: %s, %s, next: j}\n", branch, text)
	}
	join := "type: join"
	if own["j"] != "" {
		join += ", " + own["j"]
	}
	fmt.Fprintf(&doc, "  - {id: j, %s, next: s}\n  - {id: s, type: set, delta: {got: \"${ input }\"}, next: end}\n", join)
	return doc.String()
}

// after is how long a play takes, in seconds.
func after(seconds int, p play) play { return p.lasting(time.Duration(seconds) * time.Second) }

// The rules of forks by their numbers in the catalogue.
func TestForks(t *testing.T) {
	t.Parallel()
	runRows(t, []row{
		{
			name: "47 the branch declared later wins, whoever was first", doc: fork(", merge: ordered_last_wins", "a, b"),
			plays: plays{"a": {after(2, outputs(`1`, `{"w":"a"}`))}, "b": {after(1, outputs(`2`, `{"w":"b"}`))}},
			want:  want{status: graph.StatusCompleted, state: `{"got":{"a":1,"b":2},"w":"b"}`, output: `{"a":1,"b":2}`, steps: 4},
		},
		{
			name: "48 a join that runs sees both deltas", doc: fork("", "a, b", `j: run: act, args: {}, reads: [x]`),
			plays: plays{"a": {outputs(`1`, `{"x":1}`)}, "b": {outputs(`2`, `{"y":2}`)}, "j": {outputs(`"joined"`, `{"joined":true}`)}},
			want: want{
				status: graph.StatusCompleted, state: `{"got":"joined","joined":true,"x":1,"y":2}`, output: `"joined"`,
				seen: `a {}; b {}; j {"a":1,"b":2}`,
			},
		},
		{
			name: "49 one key, two values", doc: fork("", "a, b"),
			plays: plays{"a": {outputs(`1`, `{"k":1,"x":1}`)}, "b": {outputs(`2`, `{"k":2}`)}},
			want: want{
				status: graph.StatusFailed, failure: graph.ErrTypeForkMergeFailed, at: "f#1", state: `{}`,
				message: `branches a and b set state key "k"`,
			},
		},
		{
			// Ours differs from the reference: there is one kind of number.
			name: "51 one and 1.0 are one value", doc: fork("", "a, b"),
			plays: plays{"a": {outputs(`1`, `{"k":1}`)}, "b": {outputs(`2`, `{"k":1.0}`)}},
			want:  want{status: graph.StatusCompleted, state: `{"got":{"a":1,"b":2},"k":1}`},
		},
		{
			name: "51 no deep merge", doc: fork("", "a, b"),
			plays: plays{"a": {outputs(`1`, `{"k":{"x":1}}`)}, "b": {outputs(`2`, `{"k":{"y":1}}`)}},
			want:  want{status: graph.StatusFailed, failure: graph.ErrTypeForkMergeFailed, at: "f#1"},
		},
		{
			name: "52 a key of the state before", doc: fork("", "a, b"), input: `{"k":1}`,
			plays: plays{"a": {outputs(`1`, `{"k":2}`)}, "b": {outputs(`2`)}},
			want:  want{status: graph.StatusCompleted, state: `{"got":{"a":1,"b":2},"k":2}`},
		},
		{
			name: "56 stop is the branch's output and ends nobody", doc: fork("", "a, b"),
			plays: plays{"a": {stops(`1`)}, "b": {after(1, outputs(`2`))}},
			want:  want{status: graph.StatusCompleted, state: two},
		},
		{
			name: "58 a branch cannot route", doc: fork("", "a, b"),
			plays: plays{"a": {routes("j")}, "b": {after(1, outputs(`2`))}},
			want: want{
				status: graph.StatusFailed, failure: graph.ErrTypeForkBranchFailed + "/" + graph.ErrTypeInvalidControl, at: "f#1",
				message: "branch a failed",
			},
		},
		{
			name: "59 a failure stops its siblings, which are awaited (A14)", doc: fork("", "a, b, c"),
			plays: plays{"a": {blocks().lasting(3 * time.Second)}, "b": {after(1, fails("boom"))}, "c": {after(2, outputs(`1`))}},
			want:  want{status: graph.StatusFailed, failure: graph.ErrTypeForkBranchFailed + "/boom", at: "f#1"},
		},
		{
			name: "64 a join that says ok leaves the run's output", doc: fork("", "a, b", "j: run: act"),
			plays: plays{"a": {outputs(`1`)}, "b": {oks()}, "j": {oks()}},
			want:  want{status: graph.StatusCompleted, output: `{"a":1,"b":null}`, state: `{"got":null}`},
		},
		{
			name: "65 branches get the fork's input",
			doc: "entry: z\nnodes:\n  - {id: z, run: act, next: f}\n" + strings.TrimPrefix(
				fork("", "a, b"), "entry: f\nnodes:\n"),
			plays: plays{"z": {outputs(`"X"`)}, "a": {outputs(`1`)}, "b": {outputs(`2`)}},
			want:  want{status: graph.StatusCompleted, seen: `z {}; a "X"; b "X"`, steps: 5},
		},
		{
			name: "66 any, one at a time: only the first starts", doc: fork(", join_policy: any, max_concurrency: 1", "a, b, c"),
			plays: plays{"a": {outputs(`1`)}},
			want:  want{status: graph.StatusCompleted, seen: `a {}`, state: `{"got":{"a":1}}`, steps: 3},
		},
		{
			name: "68 a quorum of two: the third is cancelled", doc: fork(", join_policy: {quorum: 2}", "a, b, c"),
			plays: plays{"a": {outputs(`1`, `{"x":1}`)}, "b": {after(1, outputs(`2`))}, "c": {blocks()}},
			want:  want{status: graph.StatusCompleted, state: `{"got":{"a":1,"b":2},"x":1}`, steps: 5},
		},
		{
			name: "69 the first success, one at a time", doc: fork(", join_policy: first_success, max_concurrency: 1", "a, b, c"),
			plays: plays{"a": {fails("boom")}, "b": {outputs(`2`)}},
			want:  want{status: graph.StatusCompleted, seen: `a {}; b {}`, state: `{"got":{"b":2}}`},
		},
		{
			name: "70 nobody succeeds", doc: fork(", join_policy: first_success", "a, b"),
			plays: plays{"a": {after(2, fails("late"))}, "b": {fails("boom")}},
			want:  want{status: graph.StatusFailed, failure: graph.ErrTypeForkJoinUnsatisfied + "/late", at: "f#1", message: "first_success"},
		},
		{
			name: "73 an input that does not fit is the branch's failure", doc: fork(", join_policy: first_success", "a, b",
				"a: type: set, output: 1, input_schema: {type: integer}"),
			plays: plays{"b": {outputs(`2`)}},
			want:  want{status: graph.StatusCompleted, seen: `b {}`, state: `{"got":{"b":2}}`, steps: 3},
		},
	})
}

// Forks beyond the catalogue: each row is a rule of this product.
func TestForkRules(t *testing.T) {
	t.Parallel()
	reducers := "state_reducers: {list: append, sum: sum, once: reject_conflict}\n"
	calls := callbacks{
		"pick":  func(s graph.Scope) (any, error) { return keyed("picked", s.Input) },
		"list":  gives([]int{1}),
		"break": func(graph.Scope) (any, error) { return nil, errors.New("no") },
	}
	runRows(t, []row{
		{
			name: "keys that combine are reduced per branch, in declared order", doc: reducers + fork("", "a, b"), input: `{"list":[0]}`,
			plays: plays{"a": {after(1, outputs(`1`, `{"list":[1],"sum":1}`))}, "b": {outputs(`2`, `{"list":[2],"sum":2}`)}},
			want:  want{status: graph.StatusCompleted, state: `{"got":{"a":1,"b":2},"list":[0,1,2],"sum":3}`},
		},
		{
			name: "a reducer refuses, and nothing of the fork is kept", doc: reducers + fork("", "a, b"),
			plays: plays{"a": {outputs(`1`, `{"x":1}`)}, "b": {outputs(`2`, `{"list":2}`)}},
			want:  want{status: graph.StatusFailed, failure: graph.ErrTypeReducerTypeMismatch, at: "f#1", state: `{}`},
		},
		{
			name: "a reducer that rejects sees what wins alone", doc: reducers + fork(", merge: ordered_last_wins", "a, b"), input: `{"once":2}`,
			plays: plays{"a": {outputs(`1`, `{"once":1}`)}, "b": {outputs(`2`, `{"once":2}`)}},
			want:  want{status: graph.StatusCompleted, state: `{"got":{"a":1,"b":2},"once":2}`},
		},
		{
			name: "a callback merges what completed", doc: fork(", join_policy: {quorum: 2}, merge: {call: pick}", "a, b, c"), calls: calls,
			plays: plays{"a": {fails("boom")}, "b": {outputs(`2`, `{"k":1}`)}, "c": {oks(`{"k":2}`)}},
			want: want{
				status: graph.StatusCompleted,
				state:  `{"got":{"b":2,"c":null},"picked":[{"delta":{"k":1},"id":"b","output":2},{"delta":{"k":2},"id":"c","output":null}]}`,
			},
		},
		{
			name: "a callback that gives no object", doc: fork(", merge: {call: list}", "a"), calls: calls, plays: plays{"a": {oks()}},
			want: want{status: graph.StatusFailed, failure: graph.ErrTypeForkMergeFailed, at: "f#1", message: "an object"},
		},
		{
			name: "a callback that fails", doc: fork(", merge: {call: break}", "a"), calls: calls, plays: plays{"a": {oks()}},
			want: want{status: graph.StatusFailed, failure: graph.ErrTypeForkMergeFailed, at: "f#1", message: "no"},
		},
		{
			name: "collect waits for all, and failures are data", doc: fork(", join_policy: collect", "a, b"),
			plays: plays{"a": {fails("boom")}, "b": {after(1, outputs(`2`, `{"k":1}`))}},
			want: want{
				status: graph.StatusCompleted,
				state: `{"got":{"a":{"error":{"address":"a#1","attempts":1,"cause":null,"message":"it failed","node":"a","type":"boom"},` +
					`"output":null,"status":"failed"},"b":{"error":null,"output":2,"status":"completed"}},"k":1}`,
			},
		},
		{
			name: "any takes a failure for its answer", doc: fork(", join_policy: any", "a, b"),
			plays: plays{"a": {after(1, fails("boom"))}, "b": {blocks()}},
			want:  want{status: graph.StatusFailed, failure: graph.ErrTypeForkBranchFailed + "/boom", at: "f#1"},
		},
		{
			name: "a quorum fails only when it cannot be reached", doc: fork(", join_policy: {quorum: 2}", "a, b, c"),
			plays: plays{"a": {fails("one")}, "b": {after(1, fails("two"))}, "c": {blocks()}},
			want:  want{status: graph.StatusFailed, failure: graph.ErrTypeForkJoinUnsatisfied + "/one", at: "f#1", message: "quorum 2"},
		},
		{
			name: "a quorum survives failures", doc: fork(", join_policy: {quorum: 2}", "a, b, c"),
			plays: plays{"a": {fails("one")}, "b": {after(1, outputs(`2`))}, "c": {after(2, outputs(`3`))}},
			want:  want{status: graph.StatusCompleted, state: `{"got":{"b":2,"c":3}}`},
		},
		{
			name: "a branch recovers with an output and a delta", doc: fork("", "a, b",
				`a: run: act, on_error: {output: "${ [error.type, input.n] }", delta: {lost: "${ error.attempts }"}}`), input: `{"n":7}`,
			plays: plays{"a": {fails("boom")}, "b": {outputs(`2`)}},
			want:  want{status: graph.StatusCompleted, state: `{"got":{"a":["boom",7],"b":2},"lost":1,"n":7}`},
		},
		{
			name: "a branch recovers with null and a delta", doc: fork("", "a", `a: run: act, on_error: {delta: {lost: true}}`),
			plays: plays{"a": {fails("boom")}}, want: want{status: graph.StatusCompleted, state: `{"got":{"a":null},"lost":true}`},
		},
		{
			name: "a recovery that fails is the branch's failure", doc: fork("", "a", `a: run: act, on_error: {output: "${ state.none }"}`),
			plays: plays{"a": {fails("boom")}},
			want: want{
				status: graph.StatusFailed, failure: graph.ErrTypeForkBranchFailed + "/" + graph.ErrTypeExpressionFailed, at: "f#1",
				message: "nodes/a/on_error/output",
			},
		},
		{
			name: "nobody recovers from a cancel", doc: fork("", "a", `a: run: act, on_error: {output: 1}`),
			plays: plays{"a": {{ending: graph.Ending{Kind: graph.Cancelled}}}},
			want:  want{status: graph.StatusFailed, failure: graph.ErrTypeForkBranchFailed + "/" + graph.ErrTypeCancelled, at: "f#1"},
		},
		{
			name: "branches of every kind", doc: fork("", "a, b, c, d", `a: type: set, output: "${ input.n + 1 }"`, "b: type: wait, for: 5s",
				"c: run: {activity: Other}, args: [1], delta: {o: '${ result }'}", "d: run: act, retry: {max_attempts: 2, backoff: 3s}"), input: `{"n":1}`,
			plays: plays{"c": {outputs(`"o"`)}, "d": {fails("boom"), outputs(`4`)}},
			want: want{
				status: graph.StatusCompleted, steps: 6,
				state: `{"got":{"a":2,"b":{"n":1},"c":"o","d":4},"n":1,"o":"o"}`,
			},
		},
		{
			// A6: the join waits for the slowest, which backs off for long.
			name: "a retry with a long backoff", doc: fork("", "a, b", "a: run: act, retry: {max_attempts: 2, backoff: 1h, max_backoff: 2h}"),
			plays: plays{"a": {fails("boom"), outputs(`1`)}, "b": {outputs(`2`)}},
			want:  want{status: graph.StatusCompleted, state: two},
		},
		{
			name: "the fork's input is held against its schema", doc: fork(", input_schema: {type: array}", "a"),
			want: want{status: graph.StatusFailed, failure: graph.ErrTypeNodeInputSchema},
		},
		{
			name: "what the fork gives is held against its schema", doc: fork(", output_schema: {required: [b]}, join_policy: any", "a, b"),
			plays: plays{"a": {outputs(`1`, `{"k":1}`)}, "b": {blocks()}},
			want:  want{status: graph.StatusFailed, failure: graph.ErrTypeNodeOutputSchema, at: "f#1", state: `{}`},
		},
		{
			name: "an action cannot route into a fork",
			doc: "entry: z\nnodes:\n  - {id: z, run: act, next: f}\n" + strings.TrimPrefix(
				fork("", "a, b"), "entry: f\nnodes:\n"),
			plays: plays{"z": {routes("a")}},
			want:  want{status: graph.StatusFailed, failure: graph.ErrTypeRouteFailed, at: "z#1", message: "route to f"},
		},
	})
}

const two = `{"got":{"a":1,"b":2}}`
