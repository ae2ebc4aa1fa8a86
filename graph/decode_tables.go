package graph

// fieldSpec is one field of the document format. The decoder knows a field by
// its table, and the schema for editors is made of the same tables, so neither
// has a field that the other lacks.
type fieldSpec struct {
	name     string
	shape    string // name of the definition of its value in [EditorSchema]
	about    string // one line for whoever writes the document
	required bool   // whatever else the object says
	fallback any    // what its absence stands for, as a document writes it; nil: nothing
}

// names are the fields of a table.
func names(table []fieldSpec) []string {
	list := make([]string, 0, len(table))
	for i := range table {
		list = append(list, table[i].name)
	}
	return list
}

// documentTable are the fields of a document.
func documentTable() []fieldSpec {
	return []fieldSpec{
		{name: "version", shape: "version", about: "Version of the document format.", fallback: DocumentVersion},
		{name: "id", shape: "graph_id", about: "The graph's name, and its Temporal workflow type.", required: true},
		{name: "revision", shape: "revision", about: "Yours to set; run.revision shows it. It is part of the fingerprint."},
		{name: "description", shape: "text", about: "Shown on the run's page and by describe."},
		{name: "entry", shape: "id", about: "The first node.", required: true},
		{name: "nodes", shape: "nodes", about: "The nodes. Their order is the declared order wherever an order matters.", required: true},
		{name: "edges", shape: "edges", about: "Where nodes lead: node id to edge. Another place for a node's next."},
		{name: "max_steps", shape: "count", about: "How many steps a run may take. Each visit of a node is one.", fallback: defaultMaxSteps},
		{name: "deadline", shape: "limit", about: "Budget of running time. It does not run while the whole run is paused.", fallback: None},
		{name: "input_schema", shape: "json_schema", about: "Schema of the run's input."},
		{name: "output_schema", shape: "json_schema", about: "Schema of the run's output."},
		{name: "state_reducers", shape: "reducers", about: "How a delta's value meets the value a state key has: state key to reducer."},
	}
}

// edgeTable are the fields of an edge that is an object.
func edgeTable() []fieldSpec {
	return append(choiceTable(), fieldSpec{name: "route", shape: "call", about: "A Go callback that gives the target. It stands alone."})
}

// choiceTable are the fields of a choice among targets.
func choiceTable() []fieldSpec {
	return []fieldSpec{
		{name: "cases", shape: "cases", about: "The first case whose condition holds is taken."},
		{name: "default", shape: "target", about: "Where it leads when no case holds."},
	}
}

// caseTable are the fields of one case.
func caseTable() []fieldSpec {
	return []fieldSpec{
		{name: "when", shape: "condition", about: "The condition: one bare expression that gives a truth value.", required: true},
		{name: "to", shape: "target", about: "Where the case leads.", required: true},
	}
}

// recoveryTable are the fields of an on_error that leads nowhere.
func recoveryTable() []fieldSpec {
	return []fieldSpec{
		{name: "output", shape: "value", about: "The output in spite of the failure, over error, input, state and run."},
		{name: "delta", shape: "delta", about: "The delta in spite of the failure, over error, input, state and run."},
	}
}

// callTable is the one field of a callback's name.
func callTable() []fieldSpec {
	return []fieldSpec{{name: "call", shape: "callback", about: "Name of a Go function that the worker registered.", required: true}}
}

// quorumTable is the one field of a join policy that is an object.
func quorumTable() []fieldSpec {
	return []fieldSpec{{name: "quorum", shape: "count", about: "How many branches must complete.", required: true}}
}

// runTable are the fields of a run that names an activity of any SDK.
func runTable() []fieldSpec {
	return []fieldSpec{
		{name: "activity", shape: "name", about: "The activity's type.", required: true},
		{name: "task_queue", shape: "name", about: "Where it is scheduled; without it on the run's task queue."},
	}
}

// retryTable are the fields of a policy of attempts.
func retryTable() []fieldSpec {
	return []fieldSpec{
		{name: "max_attempts", shape: "count", about: "How many attempts there may be; 1 means no retry.", fallback: 1},
		{name: "backoff", shape: "length_or_zero", about: "The wait before the second attempt.", fallback: defaultBackoff},
		{name: "backoff_ms", shape: "count_from_zero", about: "Another way to write backoff, in milliseconds."},
		{name: "coefficient", shape: "coefficient", about: "By which the wait grows with each further attempt.", fallback: 1},
		{name: "max_backoff", shape: "limit", about: "The longest wait. Without it 1m, or backoff if that is longer."},
		{name: "non_retryable", shape: "names", about: "Error types that are final."},
	}
}
