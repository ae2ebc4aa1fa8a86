package main

import (
	"cmp"
	"fmt"
	"strconv"
	"time"

	"github.com/tidemill/tidemill/admission"
	"github.com/tidemill/tidemill/graph"
	"github.com/tidemill/tidemill/graph/source"
)

// limitsOf reads the limits of one domain. A zero in a Limits means something else
// than nothing, so where the file says zero it must be allowed to.
func (r *reader) limitsOf(n *source.Node, at string, l *admission.Limits, where places) {
	number := func(name string, into *int) key {
		return key{name, func(n *source.Node, at string) { *into = r.count(n, where.mark(name, n, at)) }}
	}
	span := func(name string, into *time.Duration, none bool) key {
		return key{name, func(n *source.Node, at string) { *into = r.span(n, where.mark(name, n, at), none) }}
	}
	list := func(name string, into *[]admission.KeyLimit) key {
		return key{name, func(n *source.Node, at string) { *into = r.keyLimits(n, at, name, where) }}
	}
	r.object(n, at, []key{
		{"version", func(n *source.Node, at string) { l.Version = int64(r.whole(n, where.mark("version", n, at), 0)) }},
		number("global", &l.Global),
		number("default_agent", &l.DefaultAgent),
		list("agents", &l.Agents),
		list("keys", &l.Keys),
		{"rates", func(n *source.Node, at string) { l.Rates = r.rates(n, at, where) }},
		list("queues", &l.Queues),
		{"flows", func(n *source.Node, at string) { l.Flows = r.flows(n, at, where) }},
		{"flow_share", func(n *source.Node, at string) { l.FlowShare = r.countOrNone(n, where.mark("flow_share", n, at)) }},
		{"overflow", func(n *source.Node, at string) {
			where.mark("overflow", n, at)
			l.Overflow = admission.Overflow(r.text(n, at))
		}},
		span("queue_timeout", &l.QueueTimeout, true),
		span("boost", &l.Boost, true),
		span("patience", &l.Patience, true),
		span("lease", &l.Lease, false),
		span("max_hold", &l.MaxHold, true),
	})
}

// entries reads an object whose keys are names.
func (r *reader) entries(n *source.Node, at string, each func(m source.Member, at string)) {
	if n.Kind != source.Object {
		r.add(n.Pos, "expected_map", at, "an object was needed here", "write {name: value}")
		return
	}
	for _, m := range n.Members {
		each(m, at+"/"+m.Key)
	}
}

func (r *reader) keyLimits(n *source.Node, at, list string, where places) []admission.KeyLimit {
	var limits []admission.KeyLimit
	r.entries(n, at, func(m source.Member, at string) {
		field := fmt.Sprintf("%s[%d]", list, len(limits))
		where[field+".key"] = place{m.KeyPos, at}
		limits = append(limits, admission.KeyLimit{Key: m.Key, Limit: r.whole(m.Value, where.mark(field+".limit", m.Value, at), 0)})
	})
	return limits
}

func (r *reader) rates(n *source.Node, at string, where places) []admission.KeyRate {
	var rates []admission.KeyRate
	r.entries(n, at, func(m source.Member, at string) {
		rate, field := admission.KeyRate{Key: m.Key}, fmt.Sprintf("rates[%d]", len(rates))
		where[field+".key"] = place{m.KeyPos, at}
		for _, part := range []string{".limit", ".per", ".burst"} {
			where.mark(field+part, m.Value, at)
		}
		r.object(m.Value, at, []key{
			{"limit", func(n *source.Node, at string) { rate.Limit = r.whole(n, where.mark(field+".limit", n, at), 0) }},
			{"per", func(n *source.Node, at string) { rate.Per = r.span(n, where.mark(field+".per", n, at), false) }},
			{"burst", func(n *source.Node, at string) { rate.Burst = r.count(n, where.mark(field+".burst", n, at)) }},
		})
		for _, part := range []string{"limit", "per"} {
			if m.Value.Kind == source.Object && m.Value.Get(part) == nil {
				r.add(m.Value.Pos, "missing_field", at, "a rate needs "+part, "write {limit: 100, per: 1s}")
			}
		}
		rate.Per = cmp.Or(rate.Per, time.Second) // that it is missing was said
		rates = append(rates, rate)
	})
	return rates
}

func (r *reader) flows(n *source.Node, at string, where places) []admission.FlowWeight {
	var flows []admission.FlowWeight
	r.entries(n, at, func(m source.Member, at string) {
		field := fmt.Sprintf("flows[%d]", len(flows))
		where[field+".flow"] = place{m.KeyPos, at}
		flows = append(flows, admission.FlowWeight{Flow: m.Key, Weight: r.count(m.Value, where.mark(field+".weight", m.Value, at))})
	})
	return flows
}

// whole reads a whole number of at least so much.
func (r *reader) whole(n *source.Node, at place, least int) int { return r.wholeOr(n, at, least, "") }

func (r *reader) wholeOr(n *source.Node, at place, least int, or string) int {
	v, err := strconv.ParseInt(n.Text, 10, 32)
	if n.Kind != source.Number || err != nil || int(v) < least {
		r.add(n.Pos, "invalid_number", at.pointer, "a whole number was needed here", fmt.Sprintf("write a number from %d%s", least, or))
		return max(least, 1)
	}
	return int(v)
}

// count reads a number of at least one.
func (r *reader) count(n *source.Node, at place) int { return r.whole(n, at, 1) }

// countOrNone reads a number of at least one, or none.
func (r *reader) countOrNone(n *source.Node, at place) int {
	if n.Kind == source.String && n.Text == "none" {
		return admission.None
	}
	return r.wholeOr(n, at, 1, ", or none")
}

// span reads a length of time that is not zero.
func (r *reader) span(n *source.Node, at place, none bool) time.Duration {
	fix := "write for example 30s or 5m"
	if none {
		fix += ", or none"
	}
	d, err := graph.ParseDuration(n.Text)
	switch {
	case n.Kind != source.String || err != nil || d == 0 || d == graph.None && !none:
		r.add(n.Pos, "invalid_duration", at.pointer, "a length of time was needed here", fix)
		return time.Second // what is wrong with it was said
	case d == graph.None:
		return admission.None
	}
	return d.Std()
}
