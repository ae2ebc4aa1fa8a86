package expr

import "strings"

// Names is a set of names that an expression may use. What is in scope depends
// on the field of the document that holds the expression.
type Names uint

// The names of the language. Item also brings index, its position.
const (
	State Names = 1 << iota
	Input
	Result
	Failure // the failure being routed, written error in an expression
	Item
	Run
	Secret
	Facts     // of an attempt, in the worker's rules of admission; of run they leave id and lane
	Partition // the attempt's, in the same rules
)

// scopeNames lists the names in the order in which messages give them.
func scopeNames() []scopeName {
	return []scopeName{
		{"state", State, "in every field of a graph that takes expressions"},
		{"input", Input, "in a node's own fields and in the cases of its next"},
		{"result", Result, "in output and delta"},
		{"error", Failure, "in on_error"},
		{"item", Item, "in the item of a map and in its key"},
		{"index", Item, "in the item of a map and in its key"},
		{"run", Run, "in every field of a graph that takes expressions"},
	}
}

type scopeName struct {
	name  string
	bit   Names
	where string
}

// Has reports whether every name of n is in the set.
func (s Names) Has(n Names) bool { return s&n == n }

// list names the members of the set for a message.
func (s Names) list() string {
	var in []string
	for _, sn := range scopeNames() {
		if s.Has(sn.bit) {
			in = append(in, sn.name)
		}
	}
	for _, f := range facts() {
		if s.Has(f.bit) {
			in = append(in, f.name)
		}
	}
	return strings.Join(in, ", ")
}

// fact is one of the facts of an attempt: text, and a name only in rules, so that
// in a document it is free for whatever comes. Expressions reach it under a name
// that none can spell, for CEL knows type as something else.
type fact struct {
	name string
	bit  Names
}

// facts lists the facts in the order in which messages give them.
func facts() []fact {
	return []fact{
		{"graph", Facts},
		{"node", Facts},
		{"type", Facts},
		{"agent", Facts},
		{"tool", Facts},
		{"action", Facts},
		{"trigger", Facts},
		{"partition", Partition},
	}
}

const factPrefix = "@fact_"

// runFields are the fields of run, in the order in which the design gives them.
func runFields() []string {
	return []string{
		"id", "run_id", "graph", "revision", "lane", "deadline", "started", "node",
		"address", "attempt", "key", "steps_remaining",
	}
}

// fieldsOf gives the known fields of a name that is not free-form, nil for one
// that is.
func (s Names) fieldsOf(path string) []string {
	switch path {
	case "run":
		if s.Has(Facts) {
			return []string{"id", "lane"}
		}
		return runFields()
	case "run.lane":
		return []string{"app", "user", "session"}
	case "error":
		return []string{"type", "message", "node", "address", "attempts", "cause", "details"}
	}
	return nil
}

// typeNames are the identifiers that CEL knows as types.
func typeNames() []string {
	return []string{"bool", "bytes", "double", "int", "list", "map", "null_type", "optional_type", "string", "type", "uint"}
}
