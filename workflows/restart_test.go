package workflows_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill/activities"
	"github.com/tidemill/tidemill/graph"
)

// calls counts the calls of nodes, in this process.
type calls struct {
	mu   sync.Mutex
	keys map[string][]string // of each call, by node
}

// register adds the action "work", which fails, or lasts at its first call until it
// is told to end, or gives the number of its attempt.
func (c *calls) register(r *activities.Registry) {
	activities.Register(r, "work", func(ctx context.Context, in struct{ As string }) (int, error) {
		before := c.note(ctx)
		switch {
		case in.As == "failure":
			return 0, errors.New("no luck")
		case in.As == "slow" && before == 0:
			return 0, beatUntilDone(ctx)
		}
		return activities.Info(ctx).Attempt, nil
	})
}

// note writes a call down and gives how many calls of its activation came before.
func (c *calls) note(ctx context.Context) int {
	info := activities.Info(ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	before := 0
	for _, key := range c.keys[info.Node] {
		if key == info.Key {
			before++
		}
	}
	c.keys[info.Node] = append(c.keys[info.Node], info.Key)
	return before
}

func (c *calls) of(node string) []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]string{}, c.keys[node]...)
}

// Rows 72, 96 and 101: a run goes on elsewhere when its worker stops in the
// middle. What had committed is not repeated, nor is a branch that had failed;
// what was under way is called again as the same attempt, under the same key,
// and costs no second step: the budget is exactly enough.
func TestWorkerStopsInAFork(t *testing.T) {
	t.Parallel()
	counted := &calls{keys: map[string][]string{}}
	doc := "version: 1\nid: restarted\nentry: first\nmax_steps: 5\nnodes:\n  - {id: first, run: work, args: {as: ok}, next: f}" +
		forkOf(", join_policy: first_success", "a: run: work, args: {as: failure}", "b: run: work, args: {as: slow}, max_interruptions: 1") + plainJoin + "\n"
	p := parts{graphs: []string{doc}, register: counted.register}
	w := setup(t, p)
	run := w.run("restarted")
	w.until(run, "the failure of a, while b is under way", func(graph.Report) bool {
		return len(counted.of("b")) == 1 && w.branchStands(run, "a", graph.BranchFailed)
	})
	w.worker.Stop()
	w.worker = w.start(p)

	require.JSONEq(t, `{"b":1}`, w.output(run), "the same attempt")
	require.Len(t, counted.of("first"), 1)
	require.Len(t, counted.of("a"), 1)
	key := run.GetRunID() + "/b#1"
	require.Equal(t, []string{key, key}, counted.of("b"))
	require.Equal(t, 5, w.status(run).Steps)
}

// Rows 96 and 101 below a run: a worker that stops while children and items are at
// work costs neither them nor the run above an attempt, and what had committed in
// them is not repeated.
func TestWorkerStopsBelow(t *testing.T) {
	t.Parallel()
	counted := &calls{keys: map[string][]string{}}
	doc := "version: 1\nid: below\nentry: f\nnodes:" + forkOf("",
		"a: "+inside("{id: first, run: work, args: {as: ok}, next: last}, {id: last, run: work, args: {as: slow}, retry: {max_attempts: 1}, next: end}")+", retry: {max_attempts: 1}",
		"b: type: map, items: [ok, slow], item: {run: work, args: {as: '${ item }'}}") + plainJoin + "\n"
	p := parts{graphs: []string{doc}, register: counted.register}
	w := setup(t, p)
	run := w.run("below")
	w.until(run, "both slow ones to be at work", func(graph.Report) bool {
		return len(counted.of("last")) == 1 && len(counted.of("b/item")) == 2
	})
	w.worker.Stop()
	w.worker = w.start(p)

	require.JSONEq(t, `{"a":1,"b":[1,1]}`, w.output(run), "the same attempts")
	require.Equal(t, []string{run.GetRunID() + "/a#1/first#1"}, counted.of("first"))
	last := run.GetRunID() + "/a#1/last#1"
	require.Equal(t, []string{last, last}, counted.of("last"))
	items := map[string]int{}
	for _, key := range counted.of("b/item") {
		items[key]++
	}
	require.Equal(t, map[string]int{run.GetRunID() + "/b#1/0": 1, run.GetRunID() + "/b#1/1": 2}, items)
}
