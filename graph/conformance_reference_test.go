package graph_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill/graph"
)

// Conformance 2: every way in which the reference refuses a document is refused
// here, at the same field, for the same reason. Where ours differs the row says
// so; the rows about agents and tools come with those types.
func TestReferenceRefusals(t *testing.T) {
	t.Parallel()
	const named = "id: g\nentry: a\n"
	loop := func(fields string) string { return typed("loop", "body: b\n    "+fields) }
	for _, row := range []struct{ rule, doc, want string }{
		{"1", "[]", " expected_map"},
		{"2", root("version: 2"), "/version unsupported_version"},
		{"3", "entry: a\nnodes:\n  - " + set, "/id expected_nonempty_utf8_binary"},
		{"3", "id: ''\nentry: a\nnodes:\n  - " + set, "/id expected_nonempty_utf8_binary"},
		{"3", "id: [x]\nentry: a\nnodes:\n  - " + set, "/id expected_nonempty_utf8_binary"},
		{"4", root("kind: sequential"), "/kind unsupported_kind"},
		{"5", named + "nodes: {}", "/nodes expected_list"},
		{"6", named + "nodes: []", "/nodes empty"},
		{"7", one("a"), "/nodes/0 expected_map"},
		{"8", one("{type: set, next: end}"), "/nodes/0/id expected_nonempty_utf8_binary"},
		{"9", one(set) + "  - " + set, "/nodes/1/id duplicate_id"},
		{"10", one("{id: a, type: lambda, next: end}"), "/nodes/0/type unsupported_graph_node_type"},
		{"11", one("{id: a, next: end}"), "/nodes/0/run invalid_action"},
		{"11, a join", typed("join", "run: ''\n    next: b"), "/nodes/0/run invalid_action"},
		{"13", one("{id: a, type: workflow, next: end}"), "/nodes/0/workflow invalid_nested_workflow_node"},
		{"14", act("timeout: -1ms"), "/nodes/0/timeout invalid_timeout"},
		{"15", act("retry: often"), "/nodes/0/retry invalid_retry_policy"},
		{"16", act("retry: {jitter: 1}"), "/nodes/0/retry/jitter invalid_retry_option"},
		{"17", act("retry: {max_attempts: 0}"), "/nodes/0/retry/max_attempts invalid_retry_max_attempts"},
		{"18", act("retry: {backoff_ms: -1}"), "/nodes/0/retry/backoff_ms invalid_retry_backoff"},
		{"19", typed("dynamic", "targets: [b]"), "/nodes/0/choose invalid_route"},
		{"19, not callable", typed("dynamic", "choose: 7\n    targets: [b]"), "/nodes/0/choose invalid_route"},
		{"20, no list", typed("dynamic", "choose: {call: f}\n    targets: b"), "/nodes/0/targets expected_list"},
		{"20, empty", typed("dynamic", "choose: {call: f}\n    targets: []"), "/nodes/0/targets empty"},
		{"20, a bad member", typed("dynamic", "choose: {call: f}\n    targets: [7]"), "/nodes/0/targets/0 invalid_target"},
		{"20, repeated", typed("dynamic", "choose: {call: f}\n    targets: [b, b]"), "/nodes/0/targets/1 duplicate_target"},
		{"21", typed("dynamic", "choose: {call: f}\n    targets: [zz]"), "/nodes/0/targets/0 unknown_graph_target"},
		{"22", loop("while: 7\n    max_iterations: 1"), "/nodes/0/while invalid_predicate"},
		{"23, the body", typed("loop", "body: 7\n    while: 'true'\n    max_iterations: 1"), "/nodes/0/body invalid_target"},
		{"23, done", loop("while: 'true'\n    done: 7\n    max_iterations: 1"), "/nodes/0/done invalid_target"},
		{"24, missing", loop("while: 'true'"), "/nodes/0/max_iterations expected_non_negative_integer"},
		{"24, negative", loop("while: 'true'\n    max_iterations: -1"), "/nodes/0/max_iterations expected_non_negative_integer"},
		{"24, infinite", loop("while: 'true'\n    max_iterations: infinity"), "/nodes/0/max_iterations expected_non_negative_integer"},
		{"25, the body", typed("loop", "body: zz\n    while: 'true'\n    max_iterations: 1"), "/nodes/0/body unknown_graph_target"},
		{"25, done", loop("while: 'true'\n    done: zz\n    max_iterations: 1"), "/nodes/0/done unknown_graph_target"},
		{"26, no list", forked("branches: b, join: j", toJoin, toJoin), "/nodes/0/branches expected_list"},
		{"26, empty", forked("branches: [], join: j", toJoin, toJoin), "/nodes/0/branches empty"},
		{"26, a bad id", forked("branches: [b, c, 'x y'], join: j", toJoin, toJoin), "/nodes/0/branches/2 invalid_id"},
		{"26, repeated", forked("branches: [b, c, b], join: j", toJoin, toJoin), "/nodes/0/branches/2 duplicate_id"},
		{"27", forked("branches: [b, c], join: 7", toJoin, toJoin), "/nodes/0/join invalid_target"},
		{"28", forked(sound+", merge: newest", toJoin, toJoin), "/nodes/0/merge invalid_merge_policy"},
		{"29", forked(sound+", max_concurrency: 0", toJoin, toJoin), "/nodes/0/max_concurrency expected_positive_integer"},
		{"30, no such join", forked("branches: [b, c], join: zz", toJoin, toJoin), "/nodes/0/join invalid_fork_topology"},
		{"30, no such branch", forked("branches: [b, c, zz], join: j", toJoin, toJoin), "/nodes/0/branches/2 invalid_fork_topology"},
		{"30, itself", forked("branches: [b, c, a], join: j", toJoin, toJoin), "/nodes/0/branches/2 invalid_fork_topology"},
		{"30, its join", forked("branches: [b, c, j], join: j", toJoin, toJoin), "/nodes/0/branches/2 invalid_fork_topology"},
		{"30, an edge elsewhere", forked(sound, "next: end", toJoin), "/nodes/1/next invalid_fork_topology"},
		{"30, an edge by a callback", forked(sound, "next: {route: {call: f}}", toJoin), "/nodes/1/next invalid_fork_topology"},
		{"31, missing", "id: g\nnodes:\n  - " + set, "/entry unknown_graph_entry"},
		{"31, unknown", "id: g\nentry: zz\nnodes:\n  - " + set, "/entry unknown_graph_entry"},
		{"32", root("edges: []"), "/edges expected_map"},
		{"33, missing", one("{id: a, run: x}"), "/nodes/0/next every_node_requires_explicit_edge"},
		{"33, too many", root("edges: {zz: end}"), "/edges/zz every_node_requires_explicit_edge"},
		{"33, of a fork", "edges: {a: j}\n" + forked(sound, toJoin, toJoin), "/edges/a every_node_requires_explicit_edge"},
		{"34", "edges: {a: zz}\n" + one("{id: a, run: x}"), "/edges/a unknown_edge_target"},
		{"35, the type", one("{id: a, run: x, next: []}"), "/nodes/0/next invalid_edge"},
		{"35, not callable", one("{id: a, run: x, next: {route: 7}}"), "/nodes/0/next/route invalid_route"},
		{"36", root("max_steps: 0"), "/max_steps expected_positive_integer"},
		{"37, input", root("input_schema: {type: objekt}"), "/input_schema/type invalid_json_schema"},
		{"37, output", root("output_schema: {type: objekt}"), "/output_schema/type invalid_json_schema"},
		{"38", header + "  - {id: a, type: fork, branches: [b], join: j}\n  - {id: b, run: x, next: j}\n  - {id: j, run: z, next: end}\n", "/nodes/0/join join_must_reference_join_node"},
		{"39, the policy", forked(sound+", join_policy: most", toJoin, toJoin), "/nodes/0/join_policy invalid_join_policy"},
		{"39, the quorum", forked(sound+", join_policy: {quorum: 3}", toJoin, toJoin), "/nodes/0/join_policy/quorum invalid_quorum"},
		{"40", act("output_schema: {type: 7}"), "/nodes/0/output_schema/type invalid_json_schema"},
		{"41, no map", root("state_reducers: []"), "/state_reducers expected_map"},
		{"41, no key", root("state_reducers: {'': sum}"), "/state_reducers/ expected_binary_state_keys"},
		{"41, no reducer", root("state_reducers: {a: multiply}"), "/state_reducers/a unsupported_state_reducer"},
		{"42", root("revision: ''"), "/revision expected_nonempty_binary_or_non_negative_integer"},
		// Accepted there, and not here: a mistake that would only show when it runs.
		{"a misspelt field of a node", act("timout: 1s"), "/nodes/0/timout unknown_field"},
		{"a misspelt field of the root", root("max_step: 1"), "/max_step unknown_field"},
		{"a timeout of zero", act("timeout: 0"), "/nodes/0/timeout invalid_timeout"},
		{"a deadline of zero", root("deadline: 0s"), "/deadline invalid_deadline"},
		{"two forks, one branch", forked(sound, toJoin, toJoin) + "  - {id: d, type: fork, branches: [c], join: j}\n", "/nodes/4/branches/0 shared_fork_branch"},
		{"two forks, one join", forked(sound, toJoin, toJoin) + "  - {id: d, type: fork, branches: [e], join: j}\n  - {id: e, run: x, next: j}\n", "/nodes/4/join shared_fork_join"},
	} {
		compiled, found := graph.Compile("", []byte(row.doc), graph.CompileOptions{})
		require.Nil(t, compiled, row.rule)
		require.True(t, slices.ContainsFunc(found, func(d graph.Diagnostic) bool { return d.Pointer+" "+d.Code == row.want }),
			"%s: want %s\n%s", row.rule, row.want, found.Error())
	}
}

// A28: shapes that other compilers let through and that then hang, each refused or
// warned of under a code of its own.
func TestShapesThatWouldHang(t *testing.T) {
	t.Parallel()
	fork := forked(sound, toJoin, toJoin)
	for shape, row := range map[string]struct{ doc, want string }{
		"a self-loop":                       {one("{id: a, type: set, next: a}"), "cycle_relies_on_global_max_steps"},
		"the entry inside a fork":           {strings.Replace(fork, "entry: a", "entry: b", 1), "invalid_fork_topology"},
		"an edge into a branch":             {fork + "  - {id: d, type: set, next: b}\n", "invalid_fork_topology"},
		"an edge out of a branch":           {forked(sound, "next: end", toJoin), "invalid_fork_topology"},
		"a failure out of a branch":         {forked(sound, "on_error: end, next: j", toJoin), "invalid_on_error"},
		"an edge into a join":               {fork + "  - {id: d, type: set, next: j}\n", "join_has_external_predecessors"},
		"a join with two owners":            {fork + "  - {id: d, type: fork, branches: [e], join: j}\n  - {id: e, run: x, next: j}\n", "shared_fork_join"},
		"a fork in a fork, with one join":   {forked("branches: [b, c, d], join: j", toJoin, toJoin) + "  - {id: d, type: fork, branches: [e], join: j}\n  - {id: e, run: x, next: j}\n", "invalid_fork_topology"},
		"an unreachable node":               {one(set) + "  - {id: d, type: set, next: end}\n", "unreachable_node"},
		"a node named like the end":         {one("{id: end, type: set, next: end}"), "reserved_id"},
		"a node named like the other end":   {one("{id: $end, type: set, next: end}"), "reserved_id"},
		"a join without a fork":             {one("{id: a, type: join, next: end}"), "orphan_join"},
		"the same edge twice":               {"edges: {a: end}\n" + one(set), "duplicate_edge"},
		"the same case twice":               {one("{id: a, type: set, next: {cases: [{when: 'state.x', to: end}, {when: 'state.x', to: end}], default: end}}"), "duplicate_edge"},
		"a join of nothing":                 {forked("branches: [], join: j", toJoin, toJoin), "empty"},
		"a join of null":                    {forked("branches: null, join: j", toJoin, toJoin), "expected_list"},
		"a join of what is missing":         {forked("join: j", toJoin, toJoin), "expected_list"},
		"no way to the end":                 {one("{id: a, type: set, next: a}"), "no_static_terminal_path"},
		"a graph that contains itself":      {child("workflow: g"), "graph_contains_itself"},
		"a branch that may take no way":     {typed("branch", "cases: [{when: 'state.x', to: b}]"), "no_default"},
		"two writers of one key in a fork":  {forked(sound, "delta: {k: 1}, next: j", "delta: {k: 2}, next: j"), "conflicting_writers"},
		"two writers below one key":         {forked(sound, "delta: {k: {x: 1}}, next: j", "delta: {k: 2}, next: j"), "conflicting_writers"},
		"a literal of three megabytes (F1)": {one("{id: a, type: set, next: end, output: " + strings.Repeat("x", 3<<20) + "}"), "document_too_large"},
	} {
		_, found := graph.Compile("", []byte(row.doc), graph.CompileOptions{})
		require.True(t, slices.ContainsFunc(found, func(d graph.Diagnostic) bool { return d.Code == row.want }), "%s: %s", shape, found.Error())
	}
}

// F14: names that look alike and are not are no ids: other scripts, composed and
// decomposed letters, and what cannot be seen at all.
func TestIDsLookLikeWhatTheyAre(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"é", "e\u0301", "\u0430bc", "ab\u200bc", "ab\u202ec", "a\u00a0b", "a.b", "a/b", "a#1", "a~2", "ａ", strings.Repeat("a", 65)} {
		_, found := graph.Compile("", []byte(one("{id: \""+id+"\", type: set, next: end}")), graph.CompileOptions{})
		require.True(t, slices.ContainsFunc(found, func(d graph.Diagnostic) bool { return d.Code == "invalid_id" }), "%q\n%s", id, found.Error())
	}
}
