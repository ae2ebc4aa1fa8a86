package graph_test

// child is a document of one workflow node with further fields from 5:5 on.
func child(fields string) string {
	return header + "  - id: a\n    " + fields + "\n    type: workflow\n    next: end\n"
}

// brokenModes are the faults of an action that runs inside the workflow task.
func brokenModes() []broken {
	const local = "mode: local\n    idempotent: true\n    timeout: "
	return []broken{
		{act("mode: remote"), []string{"5:11 /nodes/0/mode invalid_mode"}},
		{act("mode: true"), []string{"5:11 /nodes/0/mode invalid_mode"}},
		{act("mode: local\n    timeout: 1s"), []string{"5:11 /nodes/0/mode invalid_mode"}},
		{act("mode: local\n    timeout: 1s\n    idempotent: false"), []string{"5:11 /nodes/0/mode invalid_mode"}},
		{act("mode: local\n    timeout: 1s\n    idempotent: certainly"), []string{"5:11 /nodes/0/mode invalid_mode", "7:17 /nodes/0/idempotent invalid_mode"}},
		{act("mode: local\n    idempotent: true"), []string{"5:11 /nodes/0/mode invalid_mode"}},
		{act(local + "1001ms"), []string{"7:14 /nodes/0/timeout invalid_mode"}},
		{act(local + "none"), []string{"7:14 /nodes/0/timeout invalid_mode"}},
		{one("{id: a, run: {activity: X}, mode: local, idempotent: true, timeout: 1s, next: end}"), []string{"4:39 /nodes/0/mode invalid_mode"}},
		{mapped("run: x, mode: local, timeout: 1s"), []string{"6:26 /nodes/0/item/mode invalid_mode"}},
	}
}

// brokenChildren are the faults of a node that runs a graph.
func brokenChildren() []broken {
	return []broken{
		{child("timeout: 1m"), []string{"4:5 /nodes/0/workflow invalid_nested_workflow_node"}},
		{child("workflow: 1"), []string{"5:15 /nodes/0/workflow invalid_nested_workflow_node"}},
		{child("workflow: [b]"), []string{"5:15 /nodes/0/workflow invalid_nested_workflow_node"}},
		{child("workflow: ''"), []string{"5:15 /nodes/0/workflow expected_nonempty_utf8_binary"}},
		{child("workflow: '${ state.graph }'"), []string{"5:15 /nodes/0/workflow invalid_nested_workflow_node"}},
		{child("workflow: a b"), []string{"5:15 /nodes/0/workflow invalid_id"}},
		{child("workflow: end"), []string{"5:15 /nodes/0/workflow reserved_id"}},
		{child("workflow: tidemill-x"), []string{"5:15 /nodes/0/workflow reserved_id"}},
		{child("workflow: {}"), []string{
			"5:15 /nodes/0/workflow/id expected_nonempty_utf8_binary", "5:15 /nodes/0/workflow/nodes expected_list",
			"5:15 /nodes/0/workflow/entry unknown_graph_entry",
		}},
		// A23: a graph that runs itself never ends.
		{child("workflow: g"), []string{"5:15 /nodes/0/workflow graph_contains_itself"}},
		{child("workflow: b\n    input: [1]"), []string{"6:12 /nodes/0/input expected_map"}},
		{child("workflow: b\n    input: all"), []string{"6:12 /nodes/0/input expected_map"}},
		{child("workflow: b\n    input: {a: '${ result }'}"), []string{"6:20 /nodes/0/input/a wrong_scope"}},
		{child("workflow: b\n    input: {a: '${ item }'}"), []string{"6:20 /nodes/0/input/a wrong_scope"}},
		{child("workflow: b\n    input: {a: \"${ secret('X') }\"}"), []string{"6:20 /nodes/0/input/a secret_not_allowed"}},
		{child("workflow: b\n    input: {password: hunter2}"), []string{"6:23 /nodes/0/input/password secret_literal"}},
		{child("workflow: b\n    deadline: 0"), []string{"6:15 /nodes/0/deadline invalid_deadline"}},
		{child("workflow: b\n    max_steps: 0"), []string{"6:16 /nodes/0/max_steps expected_positive_integer"}},
		{child("workflow: b\n    timeout: 0"), []string{"6:14 /nodes/0/timeout invalid_timeout"}},
		{child("workflow: b\n    retry: {max_attempts: 0}"), []string{"6:27 /nodes/0/retry/max_attempts invalid_retry_max_attempts"}},
		{child("workflow: b\n    output: '${ result.changd }'\n    on_error: b"), []string{"7:15 /nodes/0/on_error unknown_graph_target"}},
		{child("workflow: b\n    args: {}"), []string{"6:5 /nodes/0/args unknown_field"}},
		{child("workflow: b\n    idempotent: true"), []string{"6:5 /nodes/0/idempotent unknown_field"}},
	}
}

// inlined is a child with an inline document of one node, whose fields begin at
// 5:47.
func inlined(node string) string {
	return child("workflow: {id: inner, entry: b, nodes: [{id: b, " + node + "}]}")
}

// brokenInlines are the faults inside inline documents: what is wrong in them is
// told at its place in the whole file.
func brokenInlines() []broken {
	return []broken{
		{inlined("type: sett, next: end"), []string{"5:59 /nodes/0/workflow/nodes/0/type unsupported_graph_node_type"}},
		{inlined("type: set, next: a"), []string{"5:70 /nodes/0/workflow/nodes/0/next unknown_edge_target"}},
		{inlined("type: set, output: 'x ${ stat }', next: end"), []string{"5:78 /nodes/0/workflow/nodes/0/output unknown_name"}},
		{inlined("run: x, args: {token: abc}, next: end"), []string{"5:75 /nodes/0/workflow/nodes/0/args/token secret_literal"}},
		{inlined("type: workflow, workflow: g, next: end"), []string{"5:79 /nodes/0/workflow/nodes/0/workflow graph_contains_itself"}},
		{inlined("type: workflow, workflow: inner, next: end"), []string{"5:79 /nodes/0/workflow/nodes/0/workflow graph_contains_itself"}},
		{
			child("workflow: {id: inner, entry: b, colour: red, nodes: [{id: b, type: set, next: {cases: [{when: imput, to: end}], default: end}}]}"),
			[]string{"5:37 /nodes/0/workflow/colour unknown_field", "5:99 /nodes/0/workflow/nodes/0/next/cases/0/when unknown_name"},
		},
		{child("workflow: {id: g, entry: b, nodes: [{id: b, type: set, next: end}]}"), []string{"5:20 /nodes/0/workflow/id graph_contains_itself"}},
		{child("workflow: {id: tidemill.x, entry: b, nodes: [{id: b, type: set, next: end}]}"), []string{"5:20 /nodes/0/workflow/id invalid_id"}},
		{
			child("input: {k: many}\n    workflow: {id: i, entry: b, input_schema: {properties: {k: {type: integer}}}, nodes: [{id: b, type: set, next: end}]}"),
			[]string{"5:16 /nodes/0/input/k input_schema_validation_failed"},
		},
		{mapped("type: workflow, workflow: {id: i, entry: b, nodes: [{id: b, type: set, next: c}]}"), []string{"6:89 /nodes/0/item/workflow/nodes/0/next unknown_edge_target"}},
	}
}

// soundChildren are child graphs and maps that nothing is to be said about.
func soundChildren() []string {
	return []string{
		child("workflow: b"),
		child("workflow: b\n    input: '${ state }'\n    deadline: none\n    timeout: none\n    max_steps: 3\n    output: '${ result.output }'\n    delta: '${ result.changed }'"),
		inlined("type: set, next: end"),
		header +
			"  - {id: a, type: fork, branches: [b, c], join: j}\n  - {id: b, type: workflow, workflow: x, on_error: {output: 1}, next: j}\n" +
			"  - {id: c, type: map, items: [1], item: {run: x}, next: j}\n  - {id: j, type: join, next: end}\n",
		mapped("run: x, args: {k: '${ item.k + index }'}, output: '${ result }', on_error: {output: '${ error.type + item.id }'}"),
		mapped("type: pause, summary: '${ item }', expires: 1h, on_error: {output: late}"),
		mapped("type: workflow, workflow: b, input: '${ item }'"),
		mapped("run: {activity: X}, args: ['${ item }']"),
		act("mode: local\n    idempotent: true\n    timeout: 1s"),
		act("idempotent: true"),
		listed("items: '${ state.list }'\n    key: '${ item.id }'\n    tolerate: {percent: 12.5}\n    max_concurrency: 500\n    output: '${ result.items.map(i, i.status) }'"),
	}
}
