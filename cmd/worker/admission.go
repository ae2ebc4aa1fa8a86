package main

import (
	"fmt"
	"strings"

	"github.com/tidemill/tidemill"
	"github.com/tidemill/tidemill/activities/permits"
	"github.com/tidemill/tidemill/admission"
	"github.com/tidemill/tidemill/graph/source"
)

// admission reads the section of that name. What it says is checked part by part,
// so that each fault is told at its place.
func (r *reader) admission(n *source.Node, at string) *tidemill.AdmissionOptions {
	o := &tidemill.AdmissionOptions{}
	limits, rules := places{"": {n.Pos, at}}, places{"": {n.Pos, at}}
	r.object(n, at, []key{
		{"limits", func(n *source.Node, at string) { r.limitsOf(n, at, &o.Limits, limits) }},
		{"max_queue", func(n *source.Node, at string) {
			o.Limits.MaxQueue = r.countOrNone(n, limits.mark("max_queue", n, at))
		}},
		{"partitions", func(n *source.Node, at string) { o.Rules.Partition = r.partition(n, at, rules) }},
		{"rules", func(n *source.Node, at string) { o.Rules.Rules = r.rules(n, at, rules) }},
		{"domains", func(n *source.Node, at string) { o.Domains = r.domains(n, at) }},
	})
	r.faultsOfLimits(o.Limits, limits)
	for _, e := range found[*permits.RuleError](o.Validate()) {
		p, message := rules.of(e.Field), e.Message
		switch {
		case e.Code == permits.CodeInvalidRule:
			message = strings.Replace(e.Field, "partition.", "partitions.", 1) + ": " + message
		case e.Offset > 0:
			message = fmt.Sprintf("at character %d: %s", e.Offset+1, message)
		}
		r.add(p.Position, e.Code, p.pointer, message, e.Fix)
	}
	return o
}

// domains reads the further domains, in the order of the file.
func (r *reader) domains(n *source.Node, at string) []tidemill.AdmissionDomain {
	var domains []tidemill.AdmissionDomain
	r.entries(n, at, func(m source.Member, at string) {
		d, limits := tidemill.AdmissionDomain{Name: m.Key}, places{"": {m.Value.Pos, at}}
		if err := permits.CheckDomain(m.Key); err != nil {
			r.add(m.KeyPos, "invalid_value", at, fmt.Sprintf("%q is not the name of a domain", m.Key),
				"write at most 64 letters, digits, dots, dashes and underscores")
		}
		if m.Key == permits.DefaultDomain {
			r.add(m.KeyPos, "invalid_value", at, "the limits of the default domain stand in admission.limits", "move them there")
		}
		r.object(m.Value, at, []key{
			{"limits", func(n *source.Node, at string) { r.limitsOf(n, at, &d.Limits, limits) }},
			{"max_queue", func(n *source.Node, at string) {
				d.Limits.MaxQueue = r.countOrNone(n, limits.mark("max_queue", n, at))
			}},
		})
		r.faultsOfLimits(d.Limits, limits)
		domains = append(domains, d)
	})
	return domains
}

// faultsOfLimits reports what the limits of one domain are refused for.
func (r *reader) faultsOfLimits(l admission.Limits, where places) {
	for _, e := range found[*admission.FieldError](l.Validate()) {
		p := where.of(e.Field)
		message, fix, _ := strings.Cut(e.Fault, "; ")
		r.add(p.Position, "invalid_limit", p.pointer, strings.TrimPrefix(p.pointer, "/admission/")+" "+message, fix)
	}
}

// places says where the parts of a value stand, by the names that its checks use.
// The empty name is the whole.
type places map[string]place

type place struct {
	source.Position

	pointer string
}

// mark notes where a part stands, and gives its place.
func (p places) mark(name string, n *source.Node, at string) place {
	p[name] = place{n.Pos, at}
	return p[name]
}

// of is where a part stands, or the whole if that is not known.
func (p places) of(name string) place {
	if at, ok := p[name]; ok {
		return at
	}
	return p[""]
}

// found are the errors of one type behind an error, joined or wrapped.
func found[E error](err error) []E {
	var list []E
	switch e := err.(type) { //nolint:errorlint // every error behind it is looked at
	case nil:
	case E:
		list = append(list, e)
	case interface{ Unwrap() []error }:
		for _, one := range e.Unwrap() {
			list = append(list, found[E](one)...)
		}
	case interface{ Unwrap() error }:
		list = found[E](e.Unwrap())
	}
	return list
}
