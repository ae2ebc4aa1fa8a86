package main

import (
	"cmp"
	"fmt"

	"github.com/tidemill/tidemill"
	"github.com/tidemill/tidemill/graph/source"
)

// What stands in for a text that could not be read, so that its fault is told once.
const (
	someText      = "${ node }"
	someCondition = "true"
)

// partition reads how runs are told apart.
func (r *reader) partition(n *source.Node, at string, where places) tidemill.AdmissionPartition {
	var p tidemill.AdmissionPartition
	where.mark("partition.from", n, at)
	where.mark("partition.known", n, at)
	r.object(n, at, []key{
		{"from", func(n *source.Node, at string) {
			where.mark("partition.from", n, at)
			p.From = cmp.Or(r.text(n, at), someText)
		}},
		{"known", func(n *source.Node, at string) {
			where.mark("partition.known", n, at)
			r.texts(n, at, func(n *source.Node, at string) {
				where.mark(fmt.Sprintf("partition.known[%d]", len(p.Known)), n, at)
				p.Known = append(p.Known, n.Text)
			})
		}},
	})
	return p
}

// rules reads the list of rules.
func (r *reader) rules(n *source.Node, at string, where places) []tidemill.AdmissionRule {
	if n.Kind != source.Array {
		r.add(n.Pos, "expected_list", at, "a list was needed here", "write a list of rules, each with a dash before it")
		return nil
	}
	rules := make([]tidemill.AdmissionRule, len(n.Items))
	for i, item := range n.Items {
		field := fmt.Sprintf("rules[%d]", i)
		pointer := fmt.Sprintf("%s/%d", at, i)
		where.mark(field+".when", item, pointer)
		r.rule(item, pointer, &rules[i], func(part string, n *source.Node, at string) { where.mark(field+"."+part, n, at) })
	}
	return rules
}

// rule reads one rule; mark notes where its parts stand.
func (r *reader) rule(n *source.Node, at string, rule *tidemill.AdmissionRule, mark func(part string, n *source.Node, at string)) {
	text := func(name string, into *string) key {
		return key{name, func(n *source.Node, at string) {
			mark(name, n, at)
			*into = r.text(n, at)
		}}
	}
	r.object(n, at, []key{
		{"when", func(n *source.Node, at string) {
			mark("when", n, at)
			rule.When = cmp.Or(r.text(n, at), someCondition)
		}},
		text("domain", &rule.Domain),
		text("agent", &rule.Agent),
		{"keys", func(n *source.Node, at string) { rule.Keys = r.amounts(n, at, "keys", "units", mark) }},
		{"rates", func(n *source.Node, at string) { rule.Rates = r.amounts(n, at, "rates", "cost", mark) }},
		text("flow", &rule.Flow),
		{"priority", func(n *source.Node, at string) {
			mark("priority", n, at)
			priority := r.whole(n, place{n.Pos, at}, 0)
			rule.Priority = &priority
		}},
	})
}

// amounts reads a list of keys, each alone or with how much of it is needed.
func (r *reader) amounts(
	n *source.Node, at, list, unit string, mark func(part string, n *source.Node, at string),
) []tidemill.AdmissionUnits {
	if n.Kind != source.Array {
		r.add(n.Pos, "expected_list", at, "a list was needed here", fmt.Sprintf("write [first, {key: second, %s: 2}]", unit))
		return nil
	}
	mark(list, n, at)
	amounts := make([]tidemill.AdmissionUnits, len(n.Items))
	for i, item := range n.Items {
		field, pointer, a := fmt.Sprintf("%s[%d]", list, i), fmt.Sprintf("%s/%d", at, i), &amounts[i]
		mark(field+".key", item, pointer)
		if item.Kind != source.Object {
			a.Key = cmp.Or(r.text(item, pointer), someText)
			continue
		}
		r.object(item, pointer, []key{
			{"key", func(n *source.Node, at string) {
				mark(field+".key", n, at)
				a.Key = cmp.Or(r.text(n, at), someText)
			}},
			{unit, func(n *source.Node, at string) {
				mark(field+".units", n, at)
				a.Units = r.count(n, place{n.Pos, at})
			}},
		})
	}
	return amounts
}
