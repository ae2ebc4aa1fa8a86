package graph

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/tidemill/tidemill/graph/expr"
)

// slot is one place of a node that holds expressions: a bare condition or a
// value. The compiler checks slots, the evaluator and the wrapper of actions
// make programs of them, so all three agree on which names are in scope.
type slot struct {
	field string // of the node, such as next
	path  string // below the node, such as next/cases/0/when
	names expr.Names
	text  string          // a condition
	to    string          // where the condition leads; empty for while
	raw   json.RawMessage // a value; nil for a condition
	own   bool            // evaluated where the node runs, not where it is routed
}

// literal reports whether a value holds no expression.
func (s slot) literal() bool { return s.raw != nil && !strings.Contains(string(s.raw), "${") }

// inScope are the names in scope of all places of a node.
func (n *Node) inScope() expr.Names {
	if n.IsItem() {
		return ownNames | expr.Item
	}
	return ownNames
}

const ownNames = expr.State | expr.Input | expr.Run

// slots lists the places of a node that hold expressions.
func (n *Node) slots() []slot {
	all := n.valueSlots()
	names := n.inScope()
	if n.While != "" {
		all = append(all, slot{field: "while", path: "while", names: names, text: n.While, own: true})
	}
	all = append(all, caseSlots("cases", "cases", n.Cases, names, true)...)
	if n.OnError != nil {
		all = append(all, caseSlots("on_error", "on_error/cases", n.OnError.Cases, names|expr.Failure, false)...)
		all = append(all, recoverySlots(n.OnError, names|expr.Failure)...)
	}
	if n.Next != nil {
		all = append(all, caseSlots("next", "next/cases", n.Next.Cases, names, false)...)
	}
	return all
}

// valueSlots are the values of a node. Those of a map are evaluated beside the
// run of its items, which is what reads the state.
func (n *Node) valueSlots() []slot {
	var all []slot
	value := func(path string, raw json.RawMessage, names expr.Names) {
		if raw != nil {
			all = append(all, slot{field: path, path: path, names: names, raw: raw, own: n.Type != TypeMap})
		}
	}
	names := n.inScope()
	value("args", n.Args, n.argsNames())
	value("input", n.Input, names)
	value("items", n.Items, names)
	value("key", n.Key, names|expr.Item)
	value("output", n.Output, n.resultNames())
	value("delta", n.Delta, n.resultNames())
	value("summary", n.Summary, names)
	value("show", n.Show, names)
	value("until", n.Until, names)
	return all
}

// recoverySlots are the values that settle a failed branch or item as completed.
func recoverySlots(e *OnError, names expr.Names) []slot {
	var all []slot
	for _, s := range []slot{{field: "on_error/output", raw: e.Output}, {field: "on_error/delta", raw: e.Delta}} {
		if s.raw != nil {
			s.path, s.names = s.field, names
			all = append(all, s)
		}
	}
	return all
}

func caseSlots(field, path string, cases []Case, names expr.Names, own bool) []slot {
	slots := make([]slot, 0, len(cases))
	for i, c := range cases {
		if c.When == "" { // reported when it was read
			continue
		}
		slots = append(slots, slot{
			field: field, path: path + "/" + strconv.Itoa(i) + "/when", names: names, text: c.When, to: c.To, own: own,
		})
	}
	return slots
}

// argsNames are the names in scope of args. Only our own actions evaluate them
// where they run, so only theirs may hold a secret: the arguments of other
// activities are in history.
func (n *Node) argsNames() expr.Names {
	if n.Wrapped() {
		return n.inScope() | expr.Secret
	}
	return n.inScope()
}

// resultNames are the names in scope of output and delta.
func (n *Node) resultNames() expr.Names {
	if n.hasResult() {
		return n.inScope() | expr.Result
	}
	return n.inScope()
}

// hasResult reports whether nodes of the type have a result beside their
// output: what the action gave, the answer to the pause, what the graph gave and
// changed, or what became of the items.
func (n *Node) hasResult() bool {
	switch n.Type {
	case TypeAction, TypeAgent, TypeTool, TypePause, TypeWorkflow, TypeMap:
		return true
	case TypeJoin:
		return n.Runs()
	case TypeSet, TypeWait, TypeBranch, TypeDynamic, TypeLoop, TypeFork:
	}
	return false
}
