package graph

import (
	"strings"

	"github.com/tidemill/tidemill/graph/source"
)

// endSpelling is the other way to write [End] in a document.
const endSpelling = "$end"

// target reads a node id or end. That the node exists is checked later, when
// all nodes are known.
func (d *decoder) target(f field, what string) string {
	if !f.isText() || f.node.Text == "" {
		d.fail(f.at, codeInvalidTarget, "write a node id, or end", "%s must be a node id or end", what)
		return ""
	}
	return spellEnd(f.node.Text)
}

func spellEnd(target string) string {
	if target == endSpelling {
		return End
	}
	return target
}

// route reads an edge: a target, {cases, default} or {route: {call: NAME}}.
func (d *decoder) route(f field) *Route {
	switch {
	case f.isText():
		return &Route{To: d.target(f, "an edge")}
	case f.kind() != source.Object:
		d.fail(f.at, codeInvalidEdge, "write a node id, end, {cases, default} or {route: {call: NAME}}",
			"an edge cannot be %s", kindWord(f.kind()))
		return nil
	}
	if call, ok := f.member("route"); ok {
		d.fields(f, codeInvalidEdge, "an edge with a route", []string{"route"})
		return &Route{Call: d.call(call, codeInvalidRoute, "route")}
	}
	return d.choice(f, codeInvalidEdge, "an edge")
}

// choice reads {cases, default}.
func (d *decoder) choice(f field, code, what string) *Route {
	d.fields(f, code, what, names(choiceTable()))
	var route Route
	if cases, ok := f.member("cases"); ok {
		route.Cases = d.cases(cases)
	} else {
		d.fail(f.at, code, "write {cases: [{when, to}], default}", "%s needs cases", what)
	}
	if f, ok := f.member("default"); ok {
		route.Default = d.target(f, "default")
	}
	return &route
}

// cases reads a list of {when, to}.
func (d *decoder) cases(f field) []Case {
	var cases []Case
	seen := map[Case]bool{}
	for _, item := range d.items(f, "cases") {
		if !d.members(item, codeExpectedMap, "a case") {
			cases = append(cases, Case{})
			continue
		}
		d.fields(item, codeUnknownField, "a case", names(caseTable()))
		one := Case{When: d.when(item), To: d.caseTarget(item)}
		if seen[one] && one.To != "" {
			d.fail(item.at, codeDuplicateEdge, "remove one of the two cases",
				"the edge to %s under the same condition is given before", one.To)
		}
		seen[one] = true
		cases = append(cases, one)
	}
	return cases
}

func (d *decoder) when(item field) string {
	f, ok := item.member("when")
	if !ok {
		d.fail(item.at, codeInvalidRoute, "write when: CONDITION; a case without one is the default", "the case has no when")
		return ""
	}
	text, _ := d.text(f, codeExpectedText, "when")
	return strings.TrimSpace(text)
}

func (d *decoder) caseTarget(item field) string {
	f, ok := item.member("to")
	if !ok {
		d.fail(item.at, codeInvalidTarget, "write to: NODE, or to: end", "the case has no target")
		return ""
	}
	return d.target(f, "to")
}

// call reads {call: NAME}. A bare name is refused, so that a misspelt
// condition is never taken for a callback.
func (d *decoder) call(f field, code, what string) string {
	name, ok := callName(f)
	if !ok {
		d.fail(f.at, code, "write {call: NAME}", "%s must name a callback as {call: NAME}", what)
	}
	return name
}

// callName is the name in {call: NAME}, and whether f has that form.
func callName(f field) (string, bool) {
	if f.kind() != source.Object || len(f.node.Members) != 1 {
		return "", false
	}
	call, ok := f.member("call")
	if !ok || !call.isText() || call.node.Text == "" || strings.Contains(call.node.Text, "${") {
		return "", false
	}
	return call.node.Text, true
}

// onError reads NODE, {cases, default}, or for a branch of a fork {output,
// delta}.
func (d *decoder) onError(f field) *OnError {
	switch {
	case f.isText():
		return &OnError{Route: Route{To: d.target(f, "on_error")}}
	case f.kind() != source.Object:
		d.fail(f.at, codeInvalidOnError, "write a node id, end or {cases, default}", "on_error cannot be %s", kindWord(f.kind()))
		return nil
	}
	if f.node.Get("cases") == nil && (f.node.Get("output") != nil || f.node.Get("delta") != nil) {
		return d.recovery(f)
	}
	if _, ok := f.member("route"); ok {
		d.fail(f.at, codeInvalidOnError, "write {cases: [{when, to}], default}", "on_error cannot be a callback")
		return nil
	}
	return &OnError{Route: *d.choice(f, codeInvalidOnError, "on_error")}
}

// recovery reads {output, delta}. That the node is a branch is checked later,
// when all nodes are known.
func (d *decoder) recovery(f field) *OnError {
	d.fields(f, codeInvalidOnError, "on_error with output or delta", names(recoveryTable()))
	e := &OnError{}
	if output, ok := f.member("output"); ok {
		e.Output = output.raw()
	}
	if delta, ok := f.member("delta"); ok {
		e.Delta = d.delta(delta)
	}
	return e
}
