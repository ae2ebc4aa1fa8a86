package graph

import (
	"encoding/json"
	"maps"

	"github.com/tidemill/tidemill/graph/value"
)

// object is a JSON object under construction: what documents look like before
// they are compiled.
type object map[string]any

// set adds a field unless it was not given.
func (o object) set(name string, given bool, v any) {
	if given {
		o[name] = v
	}
}

// raw adds a field that is JSON already.
func (o object) raw(name string, raw json.RawMessage) { o.set(name, raw != nil, raw) }

// text adds a text unless it is empty.
func (o object) text(name, text string) { o.set(name, text != "", text) }

// length adds a duration unless it was not given.
func (o object) length(name string, d Duration) { o.set(name, d != 0, d) }

// call is how a document names a callback.
func call(name string) object { return object{"call": name} }

// sourceForm writes a document made in Go the way an author writes one: edges
// as next, callbacks as {call: NAME}. It is the inverse of decoding, so a
// compiled document compiles again to the same fingerprint.
func sourceForm(d *Document) ([]byte, error) { return value.Marshal(documentForm(d)) }

func documentForm(d *Document) object {
	root := object{"nodes": nodeForms(d.Nodes)}
	root.set("version", d.Version != 0, d.Version)
	root.text("id", d.ID)
	root.text("revision", d.Revision)
	root.text("description", d.Description)
	root.text("entry", d.Entry)
	root.set("max_steps", d.MaxSteps != 0, d.MaxSteps)
	root.length("deadline", d.Deadline)
	root.raw("input_schema", d.InputSchema)
	root.raw("output_schema", d.OutputSchema)
	reducers := object{}
	for _, r := range d.Reducers {
		reducers[r.Key] = r.Kind
	}
	root.set("state_reducers", len(reducers) > 0, reducers)
	return root
}

func nodeForms(nodes []Node) []object {
	forms := make([]object, len(nodes))
	for i := range nodes {
		forms[i] = nodeForm(&nodes[i])
	}
	return forms
}

func nodeForm(n *Node) object {
	o := object{}
	o.text("id", n.ID)
	o.text("type", string(n.Type))
	o.raw("input_schema", n.InputSchema)
	o.raw("output_schema", n.OutputSchema)
	if n.Type.EdgeBearing() || n.Type == "" {
		o.set("reads", len(n.Reads) > 0, n.Reads)
	}
	o.raw("output", n.Output)
	o.raw("delta", n.Delta)
	if n.OnError != nil {
		o["on_error"] = onErrorForm(n.OnError)
	}
	if n.Next != nil {
		o["next"] = routeForm(n.Next)
	}
	maps.Copy(o, actionForm(n))
	maps.Copy(o, waitingForm(n))
	maps.Copy(o, flowForm(n))
	maps.Copy(o, forkForm(n))
	maps.Copy(o, childForm(n))
	maps.Copy(o, mapForm(n))
	return o
}

func childForm(n *Node) object {
	o := object{}
	if c := n.Workflow; c != nil {
		o.text("workflow", c.Graph)
		if c.Document != nil {
			o["workflow"] = documentForm(c.Document)
		}
	}
	o.raw("input", n.Input)
	o.length("deadline", n.Deadline)
	o.set("max_steps", n.MaxSteps != 0, n.MaxSteps)
	return o
}

func mapForm(n *Node) object {
	o := object{}
	o.raw("items", n.Items)
	o.raw("key", n.Key)
	if t := n.Tolerate; t != nil {
		tolerate := object{}
		tolerate.set("count", t.Count != 0 || t.Percent == 0, t.Count)
		tolerate.set("percent", t.Percent != 0, t.Percent)
		o["tolerate"] = tolerate
	}
	if n.Item != nil {
		item := nodeForm(n.Item)
		delete(item, "id") // it is made from that of the map
		o["item"] = item
	}
	return o
}

func actionForm(n *Node) object {
	o := object{}
	o.length("timeout", n.Timeout)
	o.length("cancel_grace", n.CancelGrace)
	o.set("max_interruptions", n.MaxInterruptions != nil, n.MaxInterruptions)
	o.raw("args", n.Args)
	o.set("args", n.ArgsCall != "", call(n.ArgsCall))
	o.text("overflow", string(n.Overflow))
	o.length("queue_timeout", n.QueueTimeout)
	o.text("mode", string(n.Mode))
	o.set("idempotent", n.Mode == ModeLocal, true)
	if n.Retry != nil {
		o["retry"] = retryForm(n.Retry)
	}
	switch {
	case n.Run == nil:
	case n.Run.Activity == "" && n.Run.TaskQueue == "":
		o["run"] = n.Run.Name
	default:
		run := object{}
		run.text("activity", n.Run.Activity)
		run.text("task_queue", n.Run.TaskQueue)
		o["run"] = run
	}
	return o
}

func retryForm(r *Retry) object {
	o := object{}
	o.set("max_attempts", r.MaxAttempts != 0, r.MaxAttempts)
	o.set("coefficient", r.Coefficient != 0, r.Coefficient)
	o.length("backoff", r.Backoff)
	o.length("max_backoff", r.MaxBackoff)
	o.set("non_retryable", len(r.NonRetryable) > 0, r.NonRetryable)
	return o
}

func waitingForm(n *Node) object {
	o := object{}
	o.text("reason", n.Reason)
	o.raw("summary", n.Summary)
	o.raw("show", n.Show)
	o.raw("resume_schema", n.ResumeSchema)
	o.length("expires", n.Expires)
	o.text("on_expire", n.OnExpire)
	o.length("for", n.For)
	o.raw("until", n.Until)
	return o
}

func flowForm(n *Node) object {
	o := object{}
	o.set("cases", n.Cases != nil, n.Cases)
	o.text("default", n.Default)
	o.set("choose", n.Choose != "", call(n.Choose))
	o.set("targets", n.Targets != nil, n.Targets)
	o.text("while", n.While)
	o.set("while", n.WhileCall != "", call(n.WhileCall))
	o.text("body", n.Body)
	o.text("done", n.Done)
	o.set("max_iterations", n.Type == TypeLoop || n.MaxIterations != 0, n.MaxIterations)
	o.text("on_exhausted", n.OnExhausted)
	return o
}

func forkForm(n *Node) object {
	o := object{}
	o.set("branches", n.Branches != nil, n.Branches)
	o.text("join", n.Join)
	o.text("merge", string(n.Merge))
	o.set("merge", n.MergeCall != "", call(n.MergeCall))
	o.set("max_concurrency", n.MaxConcurrency != 0, n.MaxConcurrency)
	switch p := n.JoinPolicy; {
	case p == nil:
	case p.Kind == JoinQuorum:
		o["join_policy"] = object{"quorum": p.N}
	default:
		o["join_policy"] = p.Kind
	}
	return o
}

func onErrorForm(e *OnError) any {
	if e.Output == nil && e.Delta == nil {
		return routeForm(&e.Route)
	}
	o := object{}
	o.raw("output", e.Output)
	o.raw("delta", e.Delta)
	return o
}

func routeForm(r *Route) any {
	switch {
	case r.Call != "":
		return object{"route": call(r.Call)}
	case r.Cases == nil && r.Default == "":
		return r.To
	default:
		o := object{"cases": r.Cases}
		o.text("default", r.Default)
		return o
	}
}
