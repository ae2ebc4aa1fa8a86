package graph

import (
	"encoding/json"
	"strings"

	"github.com/tidemill/tidemill/graph/source"
)

// workflow reads a node that runs a graph. An inline document is read later,
// with all checks of its own: see [checker.inline].
func (d *decoder) workflow(f field, node *Node) {
	node.Workflow = &Child{}
	if graph, ok := f.member("workflow"); ok {
		node.Workflow.Graph = d.graphName(graph)
	} else {
		d.fail(f.at.key("workflow"), codeInvalidChild, "add workflow: NAME, or workflow: {a whole document}", "the node must say which graph it runs")
	}
	if input, ok := f.member("input"); ok {
		node.Input = d.input(input)
	}
	if deadline, ok := f.member("deadline"); ok {
		node.Deadline = d.duration(deadline, span{code: codeInvalidDeadline, what: "deadline", none: true})
		d.floor(deadline, node.Deadline, "deadline")
	}
	if steps, ok := f.member("max_steps"); ok {
		node.MaxSteps, _ = d.integer(steps, 1, codeExpectedPositive, "max_steps")
	}
	d.attempts(f, node)
}

// graphName reads the id of a graph; it is empty for an inline document.
func (d *decoder) graphName(f field) string {
	switch {
	case f.kind() == source.Object:
		return ""
	case !f.isText():
		d.fail(f.at, codeInvalidChild, "write the id of a graph, or a whole document", "workflow cannot be %s", kindWord(f.kind()))
		return ""
	case strings.Contains(f.node.Text, "${"):
		d.fail(f.at, codeInvalidChild, "write the id itself; a branch can choose between two nodes", "the name of a graph cannot be an expression")
		return ""
	}
	id, ok := d.id(f, "workflow")
	if ok && strings.HasPrefix(id, reservedPrefix) {
		d.fail(f.at, codeReservedID, "choose another graph", "graph ids that begin with %q are reserved", reservedPrefix)
	}
	return id
}

// input reads an object, or text that gives one.
func (d *decoder) input(f field) json.RawMessage {
	if f.kind() != source.Object && !d.expression(f) {
		d.fail(f.at, codeExpectedMap, "write {KEY: VALUE} or one ${…} that gives an object",
			"the input of a graph must be an object, and this is %s", kindWord(f.kind()))
	}
	return f.raw()
}

// attempts reads the bounds of a node that has work below it. Without a timeout
// it has none: what is below has timeouts of its own.
func (d *decoder) attempts(f field, node *Node) {
	node.Retry = d.retry(f)
	node.Timeout = None
	if timeout, ok := f.member("timeout"); ok {
		node.Timeout = d.duration(timeout, span{code: codeInvalidTimeout, what: "timeout", none: true})
		d.floor(timeout, node.Timeout, "timeout")
	}
}
