package graph_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill/graph"
)

// What graph workflows have always accepted and refused when they are compiled.
// The rows about agents come with that type.
func TestCompileConformance(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		scenario string
		doc      string
		want     string // the code of an error or warning; "": accepted without either
	}{
		{"1: one action, edge to end", "edges: {a: end}\n" + one("{id: a, run: x}"), ""},
		{"3: two nodes with the same id", one(set) + "  - {id: a, type: set, next: end}", "duplicate_id"},
		{"4: action without edge", one("{id: a, run: x}"), "every_node_requires_explicit_edge"},
		{"5: extra edge for a branch", "edges: {a: b}\n" + typed("branch", "cases: [{when: 'true', to: b}]\n    default: b"), "every_node_requires_explicit_edge"},
		{"6: branch to no node", typed("dynamic", "choose: {call: f}\n    targets: [b, nope]"), "unknown_graph_target"},
		{"7: a branch whose edge goes to end", forked(sound, "next: end", toJoin), "invalid_fork_topology"},
		{"8: a branch whose edge is a callback", forked(sound, "next: {route: {call: f}}", toJoin), "invalid_fork_topology"},
		{"9: a fork that lists itself", forked("branches: [b, c, a], join: j", toJoin, toJoin), "invalid_fork_topology"},
		{"9: a fork that lists its join", forked("branches: [b, c, j], join: j", toJoin, toJoin), "invalid_fork_topology"},
		{"10: max_attempts 0", act("retry: {max_attempts: 0}"), "invalid_retry_max_attempts"},
		{"10: timeout -1", act("timeout: -1ms"), "invalid_timeout"},
		{"10: unknown retry key", act("retry: {jitter: 1}"), "invalid_retry_option"},
		{"11: loop without max_iterations", typed("loop", "while: 'true'\n    body: b"), "expected_non_negative_integer"},
		{"11: loop with max_iterations -1", typed("loop", "while: 'true'\n    body: b\n    max_iterations: -1"), "expected_non_negative_integer"},
		{"11: loop with infinite max_iterations", typed("loop", "while: 'true'\n    body: b\n    max_iterations: infinity"), "expected_non_negative_integer"},
		{"11: loop with max_iterations 0", header + "  - {id: a, type: loop, while: 'true', body: b, max_iterations: 0}\n  - {id: b, type: set, next: a}", ""},
		{"13: output schema with an unknown keyword", root("output_schema: {type: object, uniqueItems: true}"), "invalid_json_schema"},
		{"14: unknown root key", root("colour: red"), "unknown_field"},
		{"14: unknown node key", act("colour: red"), "unknown_field"},
		{"15: self-loop edge", one("{id: a, type: set, next: a}"), "cycle_relies_on_global_max_steps"},
		{"15: unreachable node", one(set) + "  - {id: b, type: set, next: end}", "unreachable_node"},
		{"16: a fork that joins on an action", header + "  - {id: a, type: fork, branches: [b], join: j}\n  - {id: b, run: x, next: j}\n  - {id: j, run: z, next: end}\n", "join_must_reference_join_node"},
		{"17: quorum 3 of 2", forked(sound+", join_policy: {quorum: 3}", toJoin, toJoin), "invalid_quorum"},
		{"17: quorum 0", forked(sound+", join_policy: {quorum: 0}", toJoin, toJoin), "invalid_quorum"},
		{"17: unknown policy", forked(sound+", join_policy: most", toJoin, toJoin), "invalid_join_policy"},
		{"18: bad node schema", act("input_schema: {type: nope}"), "invalid_json_schema"},
		{"18: unknown reducer", root("state_reducers: {a: multiply}"), "unsupported_state_reducer"},
		{"19: an orphan cycle", one(set) + "  - {id: b, type: set, next: b}", "cycle_relies_on_global_max_steps"},
		{"19: a cycle at the entry", one("{id: a, type: set, next: a}"), "no_static_terminal_path"},
	} {
		_, found := graph.Compile("", []byte(row.doc), graph.CompileOptions{})
		if row.want == "" {
			require.Empty(t, found, row.scenario)
			continue
		}
		require.True(t, slices.ContainsFunc(found, func(d graph.Diagnostic) bool { return d.Code == row.want }), "%s\n%s", row.scenario, found.Error())
	}
}
