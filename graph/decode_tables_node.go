package graph

import "slices"

// nodeTable are the fields of every node.
func nodeTable() []fieldSpec {
	return []fieldSpec{
		{name: "id", shape: "id", about: "The node's id, unique in the document.", required: true},
		{name: "type", shape: "node_type", about: "What the node does. Without it the node is an action."},
		{name: "input_schema", shape: "json_schema", about: "Schema of the node's input. What does not fit fails the node before it does anything."},
		{name: "output_schema", shape: "json_schema", about: "Schema of the node's output, checked before output and delta are committed."},
	}
}

// leavingTable are the fields of the nodes that leave by an edge.
func leavingTable() []fieldSpec {
	return []fieldSpec{
		{name: "output", shape: "value", about: "What the successor gets as input, and what becomes the run's output."},
		{name: "delta", shape: "delta", about: "State keys to replace, each through its reducer."},
		{name: "on_error", shape: "on_error", about: "Where a failure of the node leads. Without it the run fails."},
		{name: "reads", shape: "names", about: "State keys that the node's Go callback looks at. Those that expressions name are found by the compiler."},
		{name: "next", shape: "edge", about: "Where the node leads; it may stand under the document's edges instead."},
	}
}

// ownTable are the fields that the type has beside those of all nodes.
func ownTable(t NodeType) []fieldSpec {
	switch t {
	case TypeAction:
		return actionTable()
	case TypeJoin:
		return joinTable()
	case TypeAgent:
		return agentTable()
	case TypeTool:
		return toolTable()
	case TypeWorkflow:
		return workflowTable()
	case TypePause:
		return pauseTable()
	case TypeWait:
		return waitTable()
	case TypeMap:
		return mapTable()
	case TypeBranch, TypeDynamic:
		return branchTable()
	case TypeLoop:
		return loopTable()
	case TypeFork:
		return forkTable()
	case TypeSet:
		return nil
	}
	return nil
}

func actionTable() []fieldSpec {
	return append([]fieldSpec{
		{name: "run", shape: "run", about: "What to run: a registered action, or an activity of any SDK.", required: true},
		{name: "args", shape: "value", about: "The arguments: a value, or {call: NAME}. Without them {}."},
		{name: "timeout", shape: "limit", about: "Limit of each attempt.", fallback: defaultTimeout},
		{name: "retry", shape: "retry", about: "Policy of attempts. Without it there is one."},
		{name: "max_interruptions", shape: "count_from_zero", about: "How often one attempt may lose its worker before the node fails.", fallback: defaultMaxInterruptions},
		{name: "cancel_grace", shape: "length_or_zero", about: "How long the action may go on once cancel was asked.", fallback: defaultCancelGrace},
		{name: "mode", shape: "mode", about: "Write local for a local activity. It needs idempotent and a timeout of at most a second."},
		{name: "idempotent", shape: "truth", about: "Says that running it twice is harmless."},
	}, admissionFields()...)
}

// admissionFields say how a node waits for a permit. They mean nothing to a run
// without admission.
func admissionFields() []fieldSpec {
	return []fieldSpec{
		{name: "overflow", shape: "overflow", about: "What becomes of the node when no permit is free: queue waits, reject fails it. Without it the run's choice, or queue."},
		{name: "queue_timeout", shape: "limit", about: "How long the node may wait for a permit before it fails. Without it the run's choice, or none."},
	}
}

// joinTable are those of an action; without run a join does nothing.
func joinTable() []fieldSpec {
	table := actionTable()
	for i := range table {
		if table[i].name == "run" {
			table[i].required = false
			table[i].about = "What to run where the branches meet. Without it the join passes its input on."
		}
	}
	return table
}

// policyFields are the limit and the policy of attempts of a node without an
// action's limit.
func policyFields() []fieldSpec {
	return []fieldSpec{
		{name: "timeout", shape: "limit", about: "Limit of each attempt.", fallback: None},
		{name: "retry", shape: "retry", about: "Policy of attempts. Without it there is one."},
	}
}

func agentTable() []fieldSpec {
	return slices.Concat([]fieldSpec{
		{name: "agent", shape: "name", about: "Which agent to ask.", required: true},
		{name: "prompt", shape: "value", about: "What to ask it."},
		{name: "decide", shape: "call", about: "A Go callback that decides by the answer."},
	}, policyFields(), admissionFields())
}

func toolTable() []fieldSpec {
	return slices.Concat([]fieldSpec{
		{name: "tool", shape: "name", about: "Which tool to use.", required: true},
		{name: "args", shape: "value", about: "The arguments. Without them {}."},
		{name: "result_key", shape: "name", about: "State key that takes the result."},
	}, policyFields(), admissionFields())
}

func workflowTable() []fieldSpec {
	return append([]fieldSpec{
		{name: "workflow", shape: "child", about: "The graph to run: its id in the catalogue, or a document written here.", required: true},
		{name: "input", shape: "object_value", about: "The child's input, an object. Without it the whole state."},
		{name: "deadline", shape: "limit", about: "The child's budget of running time. Without it its document's."},
		{name: "max_steps", shape: "count", about: "How many steps the child may take. Without it as many as its document says."},
	}, policyFields()...)
}

func pauseTable() []fieldSpec {
	return []fieldSpec{
		{name: "reason", shape: "name", about: "A word for machines: what kind of question it is.", fallback: defaultPauseReason},
		{name: "summary", shape: "name", about: "The question. Text in which every ${…} is an expression."},
		{name: "show", shape: "value", about: "Data to decide by, at most 2 KB."},
		{name: "resume_schema", shape: "json_schema", about: "Schema of the answer."},
		{name: "expires", shape: "limit", about: "How long the pause stays open.", fallback: None},
		{name: "on_expire", shape: "target", about: "Where it leads when nobody answered in time. It needs expires."},
	}
}

func waitTable() []fieldSpec {
	return []fieldSpec{
		{name: "for", shape: "length", about: "How long to wait. Either this or until."},
		{name: "until", shape: "time", about: "Until when to wait, in RFC 3339 form. Either this or for."},
	}
}

func mapTable() []fieldSpec {
	return append([]fieldSpec{
		{name: "items", shape: "list_value", about: "The list: literal, or one ${…} that gives it.", required: true},
		{name: "item", shape: "item", about: "The node that is run for each item; item and index are in scope.", required: true},
		{name: "key", shape: "name", about: "A label for each item: in the result, and in place of its number when a pause is named."},
		{name: "max_concurrency", shape: "window", about: "How many items are under way at once.", fallback: defaultConcurrency},
		{name: "tolerate", shape: "tolerance", about: "How many items may fail before the map does: {count: N} or {percent: P}."},
	}, policyFields()...)
}

// toleranceTable are the two ways to say how many items of a map may fail.
func toleranceTable() []fieldSpec {
	return []fieldSpec{
		{name: "count", shape: "count_from_zero", about: "So many items may fail."},
		{name: "percent", shape: "percent", about: "So many of a hundred items may fail."},
	}
}

// barredField is a field that a map's item does not have, and what to do
// instead.
type barredField struct{ name, fix string }

// notInItems are the fields of nodes that have a place in the graph.
func notInItems() []barredField {
	return []barredField{
		{"id", "remove it; an item has the address of its map and its number"},
		{"next", "remove it; the map goes on when its items have ended"},
		{"on_expire", "write on_error: {output: VALUE}, which takes pause_expired too"},
	}
}

// itemTable are the fields of a node of the type that a map runs for each item.
// Its failure leads nowhere.
func itemTable(t NodeType) []fieldSpec {
	table := slices.DeleteFunc(tableOf(t), func(f fieldSpec) bool {
		return slices.ContainsFunc(notInItems(), func(b barredField) bool { return b.name == f.name })
	})
	for i := range table {
		switch f := &table[i]; f.name {
		case "type":
			f.shape = "item_type"
		case "delta":
			f.about = "Is not applied: let the item give an output, and let the map's delta keep it."
		case "on_error":
			f.shape, f.about = "recovery", "What the item gives in spite of its failure. It then counts as completed."
		}
	}
	return table
}

func branchTable() []fieldSpec {
	return append(choiceTable(),
		fieldSpec{name: "choose", shape: "call", about: "A Go callback that gives the target, instead of cases."},
		fieldSpec{name: "targets", shape: "targets", about: "What the callback may choose."},
	)
}

func loopTable() []fieldSpec {
	return []fieldSpec{
		{name: "while", shape: "condition_or_call", about: "The condition, evaluated before each turn.", required: true},
		{name: "body", shape: "id", about: "The first node of a turn.", required: true},
		{name: "done", shape: "target", about: "Where it leads when the condition no longer holds.", fallback: End},
		{name: "max_iterations", shape: "count_from_zero", about: "The most turns, counted from 0 whenever the loop is entered from outside.", required: true},
		{name: "on_exhausted", shape: "target", about: "Where it leads when the turns are used up. Without it where done leads."},
	}
}

func forkTable() []fieldSpec {
	return []fieldSpec{
		{name: "branches", shape: "branches", about: "The nodes to run side by side, in declared order.", required: true},
		{name: "join", shape: "id", about: "The node of type join where the branches meet.", required: true},
		{name: "join_policy", shape: "join_policy", about: "When the fork is decided.", fallback: JoinAll},
		{name: "merge", shape: "merge", about: "How the deltas of the branches become one.", fallback: MergeReject},
		{name: "max_concurrency", shape: "window", about: "How many branches are under way at once. Without it all, at most 500."},
	}
}
