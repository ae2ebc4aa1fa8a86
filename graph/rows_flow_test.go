package graph_test

// brokenEdges are the faults of an edge.
func brokenEdges() []broken {
	return []broken{
		{one("{id: a, type: set}"), []string{"4:5 /nodes/0/next every_node_requires_explicit_edge"}},
		{one("{id: a, type: set, next: b}"), []string{"4:30 /nodes/0/next unknown_edge_target"}},
		{one("{id: a, type: set, next: ''}"), []string{"4:30 /nodes/0/next invalid_target"}},
		{one("{id: a, type: set, next: []}"), []string{"4:30 /nodes/0/next invalid_edge"}},
		{one("{id: a, type: set, next: {}}"), []string{"4:30 /nodes/0/next invalid_edge"}},
		{one("{id: a, type: set, next: {default: end}}"), []string{"4:30 /nodes/0/next invalid_edge"}},
		{one("{id: a, type: set, next: {cases: [], default: end}}"), []string{"4:38 /nodes/0/next/cases empty"}},
		{one("{id: a, type: set, next: {cases: [{to: end}], default: end}}"), []string{"4:39 /nodes/0/next/cases/0 invalid_route"}},
		{one("{id: a, type: set, next: {cases: [{when: 'true'}], default: end}}"), []string{"4:39 /nodes/0/next/cases/0 invalid_target"}},
		{one("{id: a, type: set, next: {cases: [{when: true, to: end}], default: end}}"), []string{"4:46 /nodes/0/next/cases/0/when expected_text"}},
		{one("{id: a, type: set, next: {cases: [{when: 'true', too: end, to: end}], default: end}}"), []string{"4:54 /nodes/0/next/cases/0/too unknown_field"}},
		{one("{id: a, type: set, next: {cases: [x], default: end}}"), []string{"4:39 /nodes/0/next/cases/0 expected_map"}},
		{one("{id: a, type: set, next: {cases: [{when: 'state.x >', to: end}], default: end}}"), []string{"4:56 /nodes/0/next/cases/0/when invalid_expression"}},
		{one("{id: a, type: set, next: {cases: [{when: 'error.type == \"x\"', to: end}], default: end}}"), []string{"4:46 /nodes/0/next/cases/0/when wrong_scope"}},
		{one("{id: a, type: set, next: {cases: [{when: 'state.x', to: end}, {when: 'state.x', to: $end}], default: end}}"), []string{"4:67 /nodes/0/next/cases/1 duplicate_edge"}},
		{one("{id: a, type: set, next: {route: pick}}"), []string{"4:38 /nodes/0/next/route invalid_route"}},
		{one("{id: a, type: set, next: {route: {call: pick}, default: end}}"), []string{"4:52 /nodes/0/next/default invalid_edge"}},
		{one("{id: a, type: set, output: '${ result }', next: end}"), []string{"4:36 /nodes/0/output wrong_scope"}},
		{one("{id: a, type: set, run: x, next: end}"), []string{"4:24 /nodes/0/run unknown_field"}},
		{one("{id: a, type: set, next: end, output_schema: {typ: x}}"), []string{"4:56 /nodes/0/output_schema/typ invalid_json_schema"}},
		{root("edges: []"), []string{"1:8 /edges expected_map"}},
		{root("edges: {b: end}"), []string{"1:9 /edges/b every_node_requires_explicit_edge"}},
		{root("edges: {a: end}"), []string{"1:9 /edges/a duplicate_edge"}},
		{"edges: {a: b}\n" + one("{id: a, type: set}"), []string{"1:12 /edges/a unknown_edge_target"}},
	}
}

// brokenWaits are the faults of a pause, a wait or a join.
func brokenWaits() []broken {
	return []broken{
		{typed("pause", "next: b\n    reason: ''"), []string{"7:13 /nodes/0/reason expected_nonempty_utf8_binary"}},
		{typed("pause", "next: b\n    summary: {a: 1}"), []string{"7:14 /nodes/0/summary expected_text"}},
		{typed("pause", "next: b\n    expires: 0s\n    on_expire: b"), []string{"7:14 /nodes/0/expires invalid_expires"}},
		{typed("pause", "next: b\n    on_expire: b"), []string{"7:16 /nodes/0/on_expire invalid_expires"}},
		{typed("pause", "next: b\n    expires: 1h\n    on_expire: c"), []string{"8:16 /nodes/0/on_expire unknown_graph_target"}},
		{typed("pause", "next: b\n    resume_schema: {type: x}"), []string{"7:27 /nodes/0/resume_schema/type invalid_json_schema"}},
		{typed("wait", "next: b"), []string{"4:5 /nodes/0 invalid_wait"}},
		{typed("wait", "next: b\n    for: none"), []string{"7:10 /nodes/0/for invalid_wait"}},
		{typed("wait", "next: b\n    for: 0s"), []string{"7:10 /nodes/0/for invalid_wait"}},
		{typed("wait", "next: b\n    for: 1s\n    until: '2030-01-01T00:00:00Z'"), []string{"8:5 /nodes/0/until conflicting_fields"}},
		{typed("wait", "next: b\n    until: tomorrow"), []string{"7:12 /nodes/0/until invalid_wait"}},
		{typed("wait", "next: b\n    until: 5"), []string{"7:12 /nodes/0/until invalid_wait"}},
		{typed("join", "next: b\n    args: {}"), []string{"7:5 /nodes/0/args conflicting_fields"}},
		{typed("join", "next: b\n    mode: local"), []string{"7:5 /nodes/0/mode conflicting_fields"}},
	}
}

// brokenBranches are the faults of a branch.
func brokenBranches() []broken {
	return []broken{
		{typed("branch", "default: b"), []string{"4:5 /nodes/0/choose invalid_route"}},
		{typed("branch", "cases: []\n    default: b"), []string{"6:12 /nodes/0/cases empty"}},
		{typed("branch", "cases: b\n    default: b"), []string{"6:12 /nodes/0/cases expected_list"}},
		{typed("branch", "cases: [{when: 'true', to: c}]\n    default: b"), []string{"6:32 /nodes/0/cases/0/to unknown_graph_target"}},
		{typed("branch", "cases: [{when: 'true', to: b}]\n    default: bb"), []string{"7:14 /nodes/0/default unknown_graph_target"}},
		{typed("branch", "cases: [{when: 'true', to: b}]\n    default: b\n    next: b"), []string{"8:5 /nodes/0/next every_node_requires_explicit_edge"}},
		{typed("branch", "cases: [{when: 'true', to: b}]\n    default: b\n    output: 1"), []string{"8:5 /nodes/0/output unknown_field"}},
		{typed("branch", "cases: [{when: 'true', to: b}]\n    default: b\n    choose: {call: x}"), []string{"8:5 /nodes/0/choose conflicting_fields"}},
		{typed("branch", "cases: [{when: 'true', to: b}]\n    default: b\n    targets: [b]"), []string{"8:5 /nodes/0/targets conflicting_fields"}},
		{typed("dynamic", "choose: pick\n    targets: [b]"), []string{"6:13 /nodes/0/choose invalid_route"}},
		{typed("dynamic", "choose: {call: pick}"), []string{"4:5 /nodes/0/targets expected_list"}},
		{typed("dynamic", "choose: {call: pick}\n    targets: b"), []string{"7:14 /nodes/0/targets expected_list"}},
		{typed("dynamic", "choose: {call: pick}\n    targets: []"), []string{"7:14 /nodes/0/targets empty"}},
		{typed("dynamic", "choose: {call: pick}\n    targets: [1]"), []string{"7:15 /nodes/0/targets/0 invalid_target"}},
		{typed("dynamic", "choose: {call: pick}\n    targets: [end, $end]"), []string{"7:20 /nodes/0/targets/1 duplicate_target"}},
		{typed("dynamic", "choose: {call: pick}\n    targets: [c]"), []string{"7:15 /nodes/0/targets/0 unknown_graph_target"}},
		{typed("dynamic", "choose: {call: pick}\n    targets: [b]\n    default: b"), []string{"8:5 /nodes/0/default conflicting_fields"}},
		{"edges: {a: b}\n" + typed("branch", "cases: [{when: 'true', to: b}]\n    default: b"), []string{"1:9 /edges/a every_node_requires_explicit_edge"}},
	}
}

// brokenLoops are the faults of a loop.
func brokenLoops() []broken {
	return []broken{
		{typed("loop", "body: b\n    max_iterations: 1"), []string{"4:5 /nodes/0/while invalid_predicate"}},
		{typed("loop", "while: true\n    body: b\n    max_iterations: 1"), []string{"6:12 /nodes/0/while invalid_predicate"}},
		{typed("loop", "while: {calls: x}\n    body: b\n    max_iterations: 1"), []string{"6:12 /nodes/0/while invalid_predicate"}},
		{typed("loop", "while: state.x\n    max_iterations: 1"), []string{"4:5 /nodes/0/body invalid_target"}},
		{typed("loop", "while: state.x\n    body: end\n    max_iterations: 1"), []string{"7:11 /nodes/0/body invalid_target"}},
		{typed("loop", "while: state.x\n    body: 1\n    max_iterations: 1"), []string{"7:11 /nodes/0/body invalid_target"}},
		{typed("loop", "while: state.x\n    body: c\n    max_iterations: 1"), []string{"7:11 /nodes/0/body unknown_graph_target"}},
		{typed("loop", "while: state.x\n    body: b\n    done: c\n    max_iterations: 1"), []string{"8:11 /nodes/0/done unknown_graph_target"}},
		{typed("loop", "while: state.x\n    body: b\n    on_exhausted: c\n    max_iterations: 1"), []string{"8:19 /nodes/0/on_exhausted unknown_graph_target"}},
		{typed("loop", "while: state.x\n    body: b"), []string{"4:5 /nodes/0/max_iterations expected_non_negative_integer"}},
		{typed("loop", "while: state.x\n    body: b\n    max_iterations: -1"), []string{"8:21 /nodes/0/max_iterations expected_non_negative_integer"}},
		{typed("loop", "while: state.x\n    body: b\n    max_iterations: none"), []string{"8:21 /nodes/0/max_iterations expected_non_negative_integer"}},
		{typed("loop", "while: state.x +\n    body: b\n    max_iterations: 1"), []string{"6:21 /nodes/0/while invalid_expression"}},
		{typed("loop", "while: state.x\n    body: b\n    max_iterations: 1\n    next: b"), []string{"9:5 /nodes/0/next every_node_requires_explicit_edge"}},
	}
}
