package graph

import (
	"encoding/json"
	"strings"

	"github.com/tidemill/tidemill/graph/source"
)

// nodes reads the list of nodes.
func (d *decoder) nodes(root field, out *decoded) {
	f, ok := root.member("nodes")
	if !ok {
		d.fail(root.at.key("nodes"), codeExpectedList, "add a list of nodes", "the document has no nodes")
		return
	}
	for _, item := range d.items(f, "nodes") {
		if !d.members(item, codeExpectedMap, "a node") {
			continue
		}
		node, from := d.node(item, out)
		out.document.Nodes = append(out.document.Nodes, node)
		out.origins = append(out.origins, from)
	}
}

// node reads one node: its id, its type, and the fields of its type.
func (d *decoder) node(f field, out *decoded) (Node, origin) {
	node := Node{ID: d.nodeID(f, out), Type: d.nodeType(f)}
	from := origin{field: f}
	if !node.Type.runs() {
		from.skipped = true
		return node, from
	}
	d.nodeFields(f, node.Type)
	d.typeFields(f, &node, &from)
	return node, from
}

// typeFields reads the fields that nodes of the type have.
func (d *decoder) typeFields(f field, node *Node, from *origin) {
	node.InputSchema = d.schema(f, "input_schema")
	node.OutputSchema = d.schema(f, "output_schema")
	switch node.Type {
	case TypeAction:
		d.action(f, node)
	case TypeWorkflow:
		d.workflow(f, node)
	case TypeMap:
		d.mapping(f, node, from)
	case TypePause:
		d.pause(f, node)
	case TypeWait:
		d.wait(f, node)
	case TypeBranch, TypeDynamic:
		d.branch(f, node)
	case TypeLoop:
		d.loop(f, node)
	case TypeFork:
		d.fork(f, node)
	case TypeJoin:
		d.joinAction(f, node)
	case TypeSet, TypeAgent, TypeTool:
	}
	if node.Type.EdgeBearing() {
		d.edgeFields(f, node, from)
	}
}

func (d *decoder) nodeID(f field, out *decoded) string {
	id, ok := f.member("id")
	if !ok {
		d.fail(f.at.key("id"), codeExpectedNonempty, "add id: NAME", "the node has no id")
		return ""
	}
	name, ok := d.id(id, "id")
	if !ok {
		name = id.node.Text
	}
	if first, taken := out.index[name]; taken && name != "" {
		d.fail(id.at, codeDuplicateID, "give it another id", "node %d has the id %q too", first+1, name)
	} else if name != "" {
		out.index[name] = len(out.document.Nodes)
	}
	return name
}

// nodeType is the node's type, or "" when it is none. Types that this version
// does not run are reported here.
func (d *decoder) nodeType(node field) NodeType {
	f, given := node.member("type")
	if !given {
		return TypeAction
	}
	t := NodeType(f.node.Text)
	known := make([]string, 0, len(nodeTypes()))
	for _, each := range nodeTypes() {
		if each == t && t.runs() {
			return t
		}
		if each == t {
			d.fail(f.at, codeUnsupportedType, "", "this version does not run nodes of type %s yet", t)
			return t
		}
		known = append(known, string(each))
	}
	fix := didYouMean(f.node.Text, known)
	if fix == "" {
		fix = "write one of " + strings.Join(known, ", ")
	}
	if !f.isText() {
		d.fail(f.at, codeUnsupportedType, fix, "a node's type must be text, and this is %s", kindWord(f.kind()))
	} else {
		d.fail(f.at, codeUnsupportedType, fix, "%q is not a node type", f.node.Text)
	}
	return ""
}

// edgeFields reads what all nodes that leave by an edge have.
func (d *decoder) edgeFields(f field, node *Node, from *origin) {
	if output, ok := f.member("output"); ok {
		node.Output = output.raw()
	}
	if delta, ok := f.member("delta"); ok {
		node.Delta = d.delta(delta)
	}
	if way, ok := f.member("on_error"); ok {
		node.OnError = d.onError(way)
	}
	if reads, ok := f.member("reads"); ok {
		node.Reads = d.texts(reads, "reads")
	}
	if next, ok := f.member("next"); ok {
		from.edge = next.at
		node.Next = d.route(next)
	}
}

// delta reads an object of state keys, or text that gives one.
func (d *decoder) delta(f field) json.RawMessage {
	if f.kind() != source.Object && !d.expression(f) {
		d.fail(f.at, codeExpectedMap, "write {KEY: VALUE} or one ${…} that gives an object",
			"delta must be an object, and this is %s", kindWord(f.kind()))
	}
	return f.raw()
}

// expression reports whether a field is text that holds an expression.
func (d *decoder) expression(f field) bool {
	return f.isText() && strings.Contains(f.node.Text, "${")
}

func (d *decoder) action(f field, node *Node) {
	node.Run = d.run(f)
	node.Retry = d.retry(f)
	node.Timeout, node.CancelGrace = defaultTimeout, defaultCancelGrace
	if timeout, ok := f.member("timeout"); ok {
		node.Timeout = d.duration(timeout, span{code: codeInvalidTimeout, what: "timeout", none: true})
		if node.Timeout == None {
			d.warn(timeout.at, codeNoTimeout, "give a length, however generous", "without a timeout an action that hangs is never noticed")
		}
	}
	if grace, ok := f.member("cancel_grace"); ok {
		node.CancelGrace = d.duration(grace, span{code: codeInvalidGrace, what: "cancel_grace", zero: true})
	}
	interruptions := defaultMaxInterruptions
	if f, ok := f.member("max_interruptions"); ok {
		interruptions, _ = d.integer(f, 0, codeExpectedNonNegative, "max_interruptions")
	}
	node.MaxInterruptions = &interruptions
	d.mode(f, node)
	d.admission(f, node)
	if args, ok := f.member("args"); ok {
		if name, ok := callName(args); ok {
			node.ArgsCall = name
		} else {
			node.Args = args.raw()
		}
	}
}

// run reads a registered action's name, or {activity, task_queue}.
func (d *decoder) run(node field) *Run {
	f, ok := node.member("run")
	if !ok {
		d.fail(node.at.key("run"), codeInvalidAction, "add run: NAME", "an action must say what it runs")
		return &Run{}
	}
	if f.kind() != source.Object {
		return &Run{Name: d.actionName(f)}
	}
	d.fields(f, codeUnknownField, "run", names(runTable()))
	run := &Run{}
	if activity, ok := f.member("activity"); ok {
		run.Activity, _ = d.text(activity, codeInvalidAction, "activity")
	} else {
		d.fail(f.at, codeInvalidAction, "add activity: TYPE", "run needs the type of the activity")
	}
	if queue, ok := f.member("task_queue"); ok {
		run.TaskQueue, _ = d.text(queue, codeInvalidAction, "task_queue")
	}
	return run
}

func (d *decoder) actionName(f field) string {
	name, ok := d.text(f, codeInvalidAction, "run")
	switch {
	case !ok:
		return ""
	case strings.Contains(name, "${"):
		d.fail(f.at, codeInvalidAction, "write the name itself", "the name of an action cannot be an expression")
	case strings.HasPrefix(name, reservedPrefix+"."):
		d.fail(f.at, codeInvalidAction, "choose another name", "names that begin with %q are reserved", reservedPrefix+".")
	}
	return name
}
