package graph_test

import (
	"fmt"
	"strings"

	"pgregory.net/rapid"

	"github.com/tidemill/tidemill/graph"
)

// drawFork makes up the fields of the fork of node i, and its branches and its
// join, which may lead anywhere.
func drawFork(t *rapid.T, i int, to func(string) string) (fields []string, nodes string) {
	n := rapid.IntRange(1, 4).Draw(t, "branches")
	policies := []string{"all", "any", "first_success", "collect", fmt.Sprintf("{quorum: %d}", rapid.IntRange(1, n).Draw(t, "quorum"))}
	var ids []string
	join := fmt.Sprintf("n%dj", i)
	for k := range n {
		id := fmt.Sprintf("n%db%d", i, k)
		ids = append(ids, id)
		nodes += fmt.Sprintf("  - {id: %s, %s, next: %s}\n", id, drawBranch(t), join)
	}
	run := rapid.SampledFrom([]string{"", "run: act, ", "run: act, on_error: end, ", "delta: {c: 1}, output_schema: {type: object}, "}).Draw(t, "join")
	nodes += fmt.Sprintf("  - {id: %s, type: join, %snext: %s}\n", join, run, to("after"))
	return []string{
		"branches: [" + strings.Join(ids, ", ") + "]", "join: " + join,
		"join_policy: " + rapid.SampledFrom(policies).Draw(t, "policy"),
		"merge: " + rapid.SampledFrom([]string{"reject_conflicts", "ordered_last_wins"}).Draw(t, "merge"),
		fmt.Sprintf("max_concurrency: %d", rapid.IntRange(1, 4).Draw(t, "window")),
		rapid.SampledFrom([]string{"", "", "output_schema: {maxProperties: 2}"}).Draw(t, "out"),
	}, nodes
}

// drawBranch makes up the fields of a branch.
func drawBranch(t *rapid.T) string {
	fields := rapid.SampledFrom([]string{
		"run: act", "run: act, retry: {max_attempts: 2, backoff: 1m}", "run: act, max_interruptions: 1, input_schema: {type: number}",
		`run: {activity: Act}, args: ["${ input }"], delta: {k: "${ result }"}`,
		`type: set, output: "${ state.c }", delta: {list: ["${ run.steps_remaining }"]}`, "type: set, input_schema: {type: object}",
		`type: set, output: "${ state.none.at }"`, `type: set, delta: {k: "${ run.node }"}`,
		`type: pause, summary: "${ state.c }"`, "type: pause, expires: 10m, resume_schema: {type: number}", "type: wait, for: 3m",
	}).Draw(t, "branch")
	return fields + rapid.SampledFrom([]string{
		"", "", ", on_error: {output: lost}", `, on_error: {output: "${ error.type }", delta: {c: 1}}`, `, on_error: {delta: "${ input }"}`,
	}).Draw(t, "recovers")
}

// drawTogether lets several activities end in one workflow task.
func (s *story) drawTogether(t *rapid.T) {
	endings := map[graph.Address]graph.Ending{}
	var order []graph.Address
	for _, task := range s.open {
		if address := task.task.Run.Address; rapid.Bool().Draw(t, "ends") {
			ending := drawEnding(t)
			s.closed[address] = ending.Kind == graph.Returned
			endings[address] = wrapped(s.t, task.task, ending)
			order = append(order, address)
		}
	}
	s.restore()
	s.endTogether(endings, order...)
}
