package graph_test

import (
	"strings"

	"github.com/tidemill/tidemill/graph"
)

// listed is a document of one map with further fields from 5:5 on.
func listed(fields string) string {
	return header + "  - id: a\n    " + fields + "\n    item: {run: x}\n    type: map\n    next: end\n"
}

// mapped is a document of one map whose item has the fields from 6:12 on.
func mapped(item string) string {
	return header + "  - id: a\n    type: map\n    item: {" + item + "}\n    items: [1, 2]\n    next: end\n"
}

// brokenMaps are the faults of a map's own fields.
func brokenMaps() []broken {
	return []broken{
		{listed("timeout: 1m"), []string{"4:5 /nodes/0/items map_items_invalid"}},
		// A21: a map over something that is no list.
		{listed("items: 3"), []string{"5:12 /nodes/0/items map_items_invalid"}},
		{listed("items: {a: 1}"), []string{"5:12 /nodes/0/items map_items_invalid"}},
		{listed("items: state.list"), []string{"5:12 /nodes/0/items map_items_invalid"}},
		{listed("items: null"), []string{"5:12 /nodes/0/items map_items_invalid"}},
		{listed("items: [" + strings.Repeat("1,", graph.MaxItems) + "1]"), []string{"5:12 /nodes/0/items map_items_invalid"}},
		{listed("items: '${ stat }'"), []string{"5:16 /nodes/0/items unknown_name"}},
		{listed("items: '${ item }'"), []string{"5:16 /nodes/0/items wrong_scope"}},
		{listed("items: [{password: hunter2}]"), []string{"5:24 /nodes/0/items/0/password secret_literal"}},
		{listed("items: [\"${ secret('X') }\"]"), []string{"5:17 /nodes/0/items/0 secret_not_allowed"}},
		{listed("items: [1]\n    key: 7"), []string{"6:10 /nodes/0/key expected_text"}},
		{listed("items: [1]\n    key: '${ result }'"), []string{"6:14 /nodes/0/key wrong_scope"}},
		{listed("items: [1]\n    max_concurrency: 0"), []string{"6:22 /nodes/0/max_concurrency expected_positive_integer"}},
		{listed("items: [1]\n    max_concurrency: 501"), []string{"6:22 /nodes/0/max_concurrency expected_positive_integer"}},
		{listed("items: [1]\n    tolerate: 3"), []string{"6:15 /nodes/0/tolerate invalid_tolerance"}},
		{listed("items: [1]\n    tolerate: {}"), []string{"6:15 /nodes/0/tolerate invalid_tolerance"}},
		{listed("items: [1]\n    tolerate: {share: 3}"), []string{"6:16 /nodes/0/tolerate/share invalid_tolerance"}},
		{listed("items: [1]\n    tolerate: {count: -1}"), []string{"6:23 /nodes/0/tolerate/count invalid_tolerance"}},
		{listed("items: [1]\n    tolerate: {count: 1.5}"), []string{"6:23 /nodes/0/tolerate/count invalid_tolerance"}},
		{listed("items: [1]\n    tolerate: {percent: 100.5}"), []string{"6:25 /nodes/0/tolerate/percent invalid_tolerance"}},
		{listed("items: [1]\n    tolerate: {percent: '5'}"), []string{"6:25 /nodes/0/tolerate/percent invalid_tolerance"}},
		{listed("items: [1]\n    tolerate: {count: 1, percent: 1}"), []string{"6:26 /nodes/0/tolerate/percent conflicting_fields"}},
		{listed("items: [1]\n    timeout: 0"), []string{"6:14 /nodes/0/timeout invalid_timeout"}},
		{listed("items: [1]\n    output: '${ item }'"), []string{"6:17 /nodes/0/output wrong_scope"}},
		{listed("items: [1]\n    on_error: {output: 1}"), []string{"6:15 /nodes/0/on_error invalid_on_error"}},
		{listed("items: [1]\n    run: x"), []string{"6:5 /nodes/0/run unknown_field"}},
		{one("{id: a, type: map, items: [1], next: end}"), []string{"4:5 /nodes/0/item invalid_map_item"}},
		{one("{id: a, type: map, items: [1], item: x, next: end}"), []string{"4:42 /nodes/0/item invalid_map_item"}},
	}
}

// brokenItems are the faults of what a map does for each item.
func brokenItems() []broken {
	return []broken{
		{mapped(""), []string{"6:11 /nodes/0/item/run invalid_action"}},
		{mapped("type: set"), []string{"6:18 /nodes/0/item/type invalid_map_item"}},
		{mapped("type: map, items: [1], item: {run: x}"), []string{"6:18 /nodes/0/item/type invalid_map_item"}},
		{mapped("type: branch, default: a"), []string{"6:18 /nodes/0/item/type invalid_map_item"}},
		{mapped("type: agent, agent: x"), []string{"6:18 /nodes/0/item/type unsupported_graph_node_type"}},
		{mapped("type: paus"), []string{"6:18 /nodes/0/item/type unsupported_graph_node_type"}},
		{mapped("run: x, id: b"), []string{"6:20 /nodes/0/item/id invalid_map_item"}},
		{mapped("run: x, next: a"), []string{"6:20 /nodes/0/item/next invalid_map_item"}},
		{mapped("type: pause, expires: 1h, on_expire: a"), []string{"6:38 /nodes/0/item/on_expire invalid_map_item"}},
		// B21: the failure of an item leads nowhere by itself.
		{mapped("run: x, on_error: a"), []string{"6:30 /nodes/0/item/on_error invalid_on_error"}},
		{mapped("run: x, on_error: {cases: [{when: 'true', to: a}]}"), []string{"6:30 /nodes/0/item/on_error invalid_on_error"}},
		{mapped("run: x, on_error: {output: '${ result }'}"), []string{"6:43 /nodes/0/item/on_error/output wrong_scope"}},
		{mapped("run: x, timout: 1s"), []string{"6:20 /nodes/0/item/timout unknown_field"}},
		{mapped("run: x, args: {a: '${ itme }'}"), []string{"6:34 /nodes/0/item/args/a unknown_name"}},
		{mapped("run: x, args: {token: abc}"), []string{"6:34 /nodes/0/item/args/token secret_literal"}},
		{mapped("run: x, args: {token: 'Bearer ${ item.t }'}"), []string{"6:34 /nodes/0/item/args/token secret_literal"}},
		{mapped("run: x, output: \"${ secret('X') }\""), []string{"6:32 /nodes/0/item/output secret_not_allowed"}},
		{mapped("run: x, output_schema: {typ: x}"), []string{"6:41 /nodes/0/item/output_schema/typ invalid_json_schema"}},
		{mapped("run: x, retry: {max_attempts: 0}"), []string{"6:42 /nodes/0/item/retry/max_attempts invalid_retry_max_attempts"}},
		{mapped("type: workflow, workflow: g"), []string{"6:38 /nodes/0/item/workflow graph_contains_itself"}},
	}
}

// warnedMaps are maps that compile, with every warning they give.
func warnedMaps() []broken {
	return []broken{
		{listed("items: []"), []string{"5:12 /nodes/0/items no_items"}},
		{mapped("run: x, delta: {k: 1}"), []string{"6:27 /nodes/0/item/delta item_delta_ignored"}},
		{mapped("run: x, on_error: {delta: {k: 1}}"), []string{"6:38 /nodes/0/item/on_error/delta item_delta_ignored"}},
		{mapped("run: x, timeout: none"), []string{"6:29 /nodes/0/item/timeout no_timeout"}},
		{mapped("run: x, args: {call: make}"), []string{"6:26 /nodes/0/item/args unknown_callback"}},
		{mapped("type: pause, expires: 1h"), []string{"6:34 /nodes/0/item/expires no_on_expire"}},
		{listed("items: [1]\n    timeout: 10ms"), []string{"6:14 /nodes/0/timeout timer_floor"}},
		{
			inlined("type: set, next: {route: {call: pick}}"),
			[]string{"5:78 /nodes/0/workflow/nodes/0/next/route unknown_callback"},
		},
		{
			child("workflow: {id: i, entry: b, nodes: [{id: b, type: set, next: end}, {id: c, type: set, next: end}]}"),
			[]string{"5:72 /nodes/0/workflow/nodes/1 unreachable_node"},
		},
	}
}
