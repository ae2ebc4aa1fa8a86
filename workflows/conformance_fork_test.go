package workflows_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"

	"github.com/tidemill/tidemill/activities"
	"github.com/tidemill/tidemill/graph"
)

// forkOf is a fork f of branches with further fields, "id: fields" each, that
// ends at the join j and the node s, which shows what the join gave.
func forkOf(fields string, branches ...string) string {
	var ids []string
	var nodes strings.Builder
	for _, branch := range branches {
		id, text, _ := strings.Cut(branch, ": ")
		ids = append(ids, id)
		fmt.Fprintf(&nodes, "\n  - {id: %s, %s, next: j}", id, text)
	}
	return fmt.Sprintf("\n  - {id: f, type: fork, branches: [%s], join: j%s}%s\n  - {id: s, type: set, output: \"${ input }\", next: end}",
		strings.Join(ids, ", "), fields, nodes.String())
}

const plainJoin = "\n  - {id: j, type: join, next: s}"

// gives is a branch that gives an output and a delta.
func gives(id, output, delta string) string {
	return fmt.Sprintf("%s: run: act, args: {output: %s, delta: %s}", id, output, delta)
}

// forkScenarios are the numbered rules of forks, seen from outside.
func forkScenarios(peak *crowd) []scenario {
	const fails = "run: act, args: {fail: boom}"
	return []scenario{
		{
			name:   "row 47, the branch declared later wins, though it was first",
			nodes:  forkOf(", merge: ordered_last_wins", "a: run: act, args: {fail: late, until: 1, output: 1, delta: {w: a}}, retry: {max_attempts: 2, backoff: 500ms}", gives("b", "2", "{w: b}")) + plainJoin,
			output: `{"a":1,"b":2}`, state: `{"w":"b"}`,
		},
		{
			name:   "row 48, a join that runs sees both deltas",
			nodes:  forkOf("", gives("a", "1", "{k: 1}"), gives("b", "2", "{l: 2}")) + "\n  - {id: j, run: act, type: join, args: {output: '${ [input.a, state.l] }', delta: {joined: true}}, next: s}",
			output: `[1,2]`, state: `{"joined":true,"k":1,"l":2}`,
		},
		{
			name:    "row 49, one key, two values",
			nodes:   forkOf("", gives("a", "1", "{k: 1}"), gives("b", "2", "{k: 2}")) + plainJoin,
			failure: graph.ErrTypeForkMergeFailed, state: `{}`,
		},
		{
			name:   "row 56, stop is the branch's output",
			nodes:  forkOf("", "a: run: act, args: {control: stop, output: 1}", gives("b", "2", "{}")) + plainJoin,
			output: `{"a":1,"b":2}`,
		},
		{
			name:    "row 58, a branch cannot route",
			nodes:   forkOf("", "a: run: act, args: {control: route, target: j}", "b: type: set, output: 2") + plainJoin,
			failure: graph.ErrTypeForkBranchFailed + "/" + graph.ErrTypeInvalidControl,
		},
		{
			name:    "row 59, a failure stops its siblings",
			nodes:   forkOf("", "a: run: block", "b: "+fails) + plainJoin,
			failure: graph.ErrTypeForkBranchFailed + "/" + graph.ErrTypeActionException,
		},
		{
			name:   "row 64, a join that says ok leaves the run's output",
			nodes:  forkOf("", gives("a", "1", "{}"), "b: run: act, args: {control: ok}") + "\n  - {id: j, type: join, run: act, args: {control: ok}, next: end}",
			output: `{"a":1,"b":null}`,
		},
		{
			name:   "row 66, any, one at a time",
			nodes:  forkOf(", join_policy: any, max_concurrency: 1", gives("a", "1", "{}"), "b: "+fails) + plainJoin,
			output: `{"a":1}`,
		},
		{
			name:   "row 68, a quorum cancels the rest and awaits it",
			nodes:  forkOf(", join_policy: {quorum: 2}", gives("a", "1", "{}"), gives("b", "2", "{}"), "c: run: block") + plainJoin,
			output: `{"a":1,"b":2}`,
		},
		{
			name:   "row 69, the first success, one at a time",
			nodes:  forkOf(", join_policy: first_success, max_concurrency: 1", "a: "+fails, gives("b", "2", "{}"), gives("c", "3", "{}")) + plainJoin,
			output: `{"b":2}`,
		},
		{
			name:    "row 70, nobody succeeds",
			nodes:   forkOf(", join_policy: first_success", "a: "+fails, "b: "+fails) + plainJoin,
			failure: graph.ErrTypeForkJoinUnsatisfied + "/" + graph.ErrTypeActionException,
		},
		{
			name:   "row 73, an input that does not fit is the branch's failure",
			nodes:  forkOf(", join_policy: first_success", "a: run: act, input_schema: {type: integer}", gives("b", "2", "{}")) + plainJoin,
			output: `{"b":2}`,
		},
		{
			// The reference has two kinds of number; here there is one.
			name:   "row 51, one and 1.0 are one value",
			nodes:  forkOf("", gives("a", "1", "{k: 1}"), gives("b", "2", "{k: 1.0}")) + plainJoin,
			output: `{"a":1,"b":2}`, state: `{"k":1}`,
		},
		{
			name:    "row 51, objects are not merged",
			nodes:   forkOf("", gives("a", "1", "{k: {l: 1}}"), gives("b", "2", "{k: {m: 1}}")) + plainJoin,
			failure: graph.ErrTypeForkMergeFailed, state: `{}`,
		},
		{
			name:   "row 52, a key of the state before",
			nodes:  forkOf("", gives("a", "1", "{k: 2}"), gives("b", "2", "{}")) + plainJoin,
			input:  `{"k":1}`,
			output: `{"a":1,"b":2}`, state: `{"k":2}`,
		},
		{
			// The reference starts one at a time by default; here all at once.
			name:   "row 54, all branches at once by default",
			nodes:  forkOf("", meets("a", 4), meets("b", 4), meets("c", 4), meets("d", 4)) + plainJoin,
			output: `{"a":"a","b":"b","c":"c","d":"d"}`,
			verify: func(w *world, run client.WorkflowRun) { require.Equal(w.tb, 4, peak.of(run)) },
		},
		{
			name:   "row 55, at most two at once",
			nodes:  forkOf(", max_concurrency: 2", meets("a", 2), meets("b", 2), meets("c", 2), meets("d", 2)) + plainJoin,
			output: `{"a":"a","b":"b","c":"c","d":"d"}`,
			verify: func(w *world, run client.WorkflowRun) { require.Equal(w.tb, 2, peak.of(run)) },
		},
		{
			name:    "row 62, the deadline keeps what had committed out of the state and in the checkpoint",
			head:    "deadline: 10s",
			nodes:   forkOf(", max_concurrency: 1", gives("a", "1", "{k: 1}"), "b: run: beat", gives("c", "3", "{}")) + plainJoin,
			failure: graph.ErrTypeDeadlineExceeded + "/" + graph.ErrTypeCancelled, state: `{}`, calls: []string{"a#1"},
			verify: func(w *world, run client.WorkflowRun) {
				require.Contains(w.tb, string(forkedBranches(w, run)), `"id":"a","status":"completed"`)
				require.Contains(w.tb, string(forkedBranches(w, run)), `"id":"c","status":"unstarted"`)
			},
		},
		{
			name: "row 65, branches are given the fork's input",
			nodes: "\n  - {id: z, type: set, output: X, next: f}" +
				forkOf("", "a: run: act, args: {output: '${ input }'}", "b: type: set, output: '${ [input] }'") + plainJoin,
			output: `{"a":"X","b":["X"]}`,
		},
		{
			name:  "row 81, one at a time: the sibling of a paused branch waits for its place",
			nodes: forkOf(", max_concurrency: 1", "a: run: act, args: {control: pause, delta: {asked: true}}", gives("b", "2", "{k: 1}")) + plainJoin,
			drive: func(w *world, run client.WorkflowRun) {
				report := w.paused(run)
				require.Equal(w.tb, graph.Address("a#1"), report.Pauses[0].ID)
				require.JSONEq(w.tb, `{}`, string(report.State), "a branch's delta waits for its join")
				require.Equal(w.tb, 1, report.Steps)
			},
			answer: `{"approved":true}`,
			output: `{"a":{"approved":true},"b":2}`, state: `{"asked":true,"k":1}`, calls: []string{"a#1", "b#1"},
		},
		{
			// In the reference a pause kills its siblings, which run again after it.
			name: "row 82, the siblings of a paused branch go on and commit once",
			nodes: forkOf("", "a: run: act, args: {control: pause, delta: {asked: true}}",
				"b: run: act, args: {fail: late, until: 1, output: 2, delta: {k: 1}}, retry: {max_attempts: 2, backoff: 1s}") + plainJoin,
			drive: func(w *world, run client.WorkflowRun) {
				w.paused(run)
				require.Contains(w.tb, string(forkedBranches(w, run)), `"id":"b","status":"completed"`)
			},
			answer: `1`,
			output: `{"a":1,"b":2}`, state: `{"asked":true,"k":1}`,
		},
		{
			name: "a callback merges, and branches of every kind",
			nodes: forkOf(", merge: {call: merge}", "a: type: set, output: '${ run.node }', delta: {k: 1}", "b: type: wait, for: 1s",
				"c: run: act, args: {fail: boom}, on_error: {output: '${ error.type }', delta: {k: 3}}") + plainJoin,
			output: `{"a":"a","b":{},"c":"action_exception"}`, state: `{"a":{"k":1},"b":{},"c":{"k":3}}`,
		},
		{
			name:   "an answer of a branch is its output",
			nodes:  forkOf("", gives("a", "1", "{}"), "b: run: act, args: {control: pause, delta: {asked: true}}") + plainJoin,
			answer: `{"yes":true}`,
			output: `{"a":1,"b":{"yes":true}}`, state: `{"asked":true}`,
		},
	}
}

// meets is a branch whose action stays until so many were there at once.
func meets(id string, of int) string {
	return fmt.Sprintf("%s: run: meet, args: {of: %d}, output: '${ run.node }'", id, of)
}

// crowd is the action "meet", which stays for a fifth of a second and until as many
// calls of its run were there at once as it is told, and knows how many there were
// at most.
type crowd struct {
	mu   sync.Mutex
	here map[string]int // by workflow id
	most map[string]int
}

func (c *crowd) register(r *activities.Registry) {
	c.here, c.most = map[string]int{}, map[string]int{}
	activities.Register(r, "meet", func(ctx context.Context, in struct {
		Of int `json:"of"`
	},
	) (int, error) {
		id := activities.Info(ctx).ID
		c.come(id, 1)
		defer c.come(id, -1)
		tick := time.NewTicker(10 * time.Millisecond)
		defer tick.Stop()
		for i := 0; i < 20 || i < 3000 && c.at(id) < in.Of; i++ {
			<-tick.C
		}
		return in.Of, nil
	})
}

func (c *crowd) come(id string, n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.here[id] += n
	c.most[id] = max(c.most[id], c.here[id])
}

// at is how many were there at once by now.
func (c *crowd) at(id string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.most[id]
}

func (c *crowd) of(run client.WorkflowRun) int { return c.at(run.GetID()) }

// registerBlock adds an action that goes on until it is asked to stop.
func registerBlock(r *activities.Registry) {
	activities.Register(r, "block", func(ctx context.Context, _ struct{}) (int, error) {
		<-ctx.Done()
		return 0, ctx.Err()
	})
}

// mergeByID puts the delta of each branch under the branch's id.
func mergeByID(s activities.Scope) (map[string]any, error) {
	var branches []struct {
		ID    string         `json:"id"`
		Delta map[string]any `json:"delta"`
	}
	if err := s.Input(&branches); err != nil {
		return nil, err
	}
	merged := map[string]any{}
	for _, b := range branches {
		merged[b.ID] = b.Delta
	}
	return merged, nil
}
