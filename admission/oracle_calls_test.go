package admission_test

import (
	"slices"
	"strings"
	"time"

	"github.com/tidemill/tidemill/admission"
)

// The calls of the oracle, in the words of the rules.

func nano(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}

func (w *world) find(id string) *ask {
	for _, a := range w.live {
		if a.ID == id {
			return a
		}
	}
	return nil
}

// clock does what time alone does.
func (w *world) clock() {
	for _, a := range slices.Clone(w.live) {
		switch {
		case a.token == 0 && !a.waits: // not answered yet
			if a.from <= w.now && len(a.keys)+len(a.rates) == 0 {
				w.give(a)
			}
		case a.doubt > 0 && a.doubt <= w.now:
			w.finish(a, admission.AnswerCancelled)
		case a.lease <= w.now && a.Owner.Process != "":
			w.finish(a, admission.AnswerOwnerGone)
		case a.token > 0 && a.end > 0 && a.end <= w.now:
			w.finish(a, admission.AnswerHoldExceeded)
		case a.token == 0 && a.deadline > 0 && a.deadline <= w.now:
			w.finish(a, admission.AnswerDeadlineExceeded)
		default:
			if a.lease <= w.now {
				a.lease = w.now + int64(w.limits.Lease)
			}
			if a.token == 0 && a.from <= w.now && len(a.keys)+len(a.rates) == 0 {
				w.give(a)
			}
		}
	}
}

func (w *world) submit(now int64, r admission.Request) {
	w.now = max(w.now, now)
	if a := w.find(r.ID); a != nil {
		a.lease, a.doubt = w.now+int64(w.limits.Lease), 0
		w.repeats = append(w.repeats, a)
		return
	}
	for _, e := range slices.Backward(w.ended) {
		if e.id == r.ID && w.now < e.at+600*second {
			w.say(r.ID, e.answer, true)
			return
		}
	}
	if w.now < w.cancelled[r.ID] {
		w.say(r.ID, admission.AnswerCancelled, true)
		return
	}
	w.submits++
	a := &ask{
		Request: r, seq: w.submits, keys: map[string]int{}, rates: map[string]int{},
		at: w.now, from: max(w.now, nano(r.VisibleAt)), deadline: nano(r.Deadline), overflow: r.Overflow,
		lease: w.now + int64(w.limits.Lease),
	}
	arrival := nano(r.Arrival)
	if arrival == 0 || arrival > w.now {
		arrival = w.now
	}
	priority := 50
	if r.Priority != nil {
		priority = *r.Priority
	}
	a.order = arrival - int64(priority-50)*(int64(w.limits.Boost)/50)
	if a.overflow == "" {
		a.overflow = w.limits.Overflow
	}
	if a.deadline == 0 && r.QueueTimeout != admission.None {
		timeout := r.QueueTimeout
		if timeout == 0 {
			timeout = w.limits.QueueTimeout
		}
		a.deadline = w.now + int64(timeout)
	}
	if bad := w.keysOf(a); bad != "" {
		w.say(r.ID, bad, false)
		w.ended = append(w.ended, ended{r.ID, bad, w.now})
		return
	}
	w.live = append(w.live, a)
	if len(a.keys)+len(a.rates) == 0 && a.from <= w.now {
		w.give(a)
	} else {
		w.unheard = append(w.unheard, a)
	}
}

// keysOf finds what the request takes and what it inherits.
func (w *world) keysOf(a *ask) admission.Answer {
	wanted := map[string]int{}
	for _, k := range a.Keys {
		wanted[k.Key] = max(k.Units, 1)
	}
	if a.Agent != "" {
		wanted["global"], wanted["agent:"+a.Agent] = 1, 1
	}
	for _, k := range a.Rates {
		a.rates[k.Key] = max(k.Units, 1)
	}
	var parent, held []*grip
	if p := w.find(a.Parent); p != nil && p.token > 0 {
		parent = p.leans
	}
	held = append(held, parent...)
	for _, id := range a.Within {
		if p := w.find(id); p != nil && p.token > 0 {
			held = append(held, p.leans...)
		}
	}
	for k, n := range wanted {
		if i := slices.IndexFunc(parent, func(g *grip) bool { return g.keys[k] >= n }); i >= 0 {
			a.leans = append(a.leans, parent[i])
			continue
		}
		a.keys[k] = n
	}
	for k := range a.keys {
		for _, g := range held {
			for h := range g.keys {
				if !follows(k, h) {
					return admission.AnswerWouldDeadlock
				}
			}
		}
	}
	if w.drain && len(a.keys)+len(a.rates) > 0 {
		return admission.AnswerDraining
	}
	for k := range a.keys {
		if _, ok := w.limit(k); !ok {
			return admission.AnswerInfeasible
		}
	}
	for k := range a.rates {
		if _, ok := w.rate(k); !ok {
			return admission.AnswerInfeasible
		}
		w.keepStep(k)
	}
	if !w.small(a) {
		return admission.AnswerInfeasible
	}
	return ""
}

// follows tells that key k comes after key h in the default declared order.
func follows(k, h string) bool {
	class := func(s string) int {
		for i, p := range []string{"trigger:", "lane:", "global", "agent:"} {
			if strings.HasPrefix(s, p) {
				return i
			}
		}
		return 4
	}
	if class(k) != class(h) {
		return class(k) > class(h)
	}
	return k > h
}

// keepStep notes the step of a rate that is not 0.
func (w *world) keepStep(k string) {
	r, ok := w.rate(k)
	if ok {
		w.last[k] = r
	}
	if r.Limit > 0 {
		w.step[k] = stepOf(r)
	}
}

// reply answers what was asked since the last turn.
func (w *world) reply() {
	for _, a := range w.unheard {
		if a.over || a.token > 0 {
			continue
		}
		if answer := w.overflowed(a); answer != "" {
			w.finish(a, answer)
			w.grantAll()
			continue
		}
		a.waits = true
		w.say(a.ID, admission.AnswerQueued, false)
	}
	w.unheard = nil
	for _, a := range w.repeats {
		switch {
		case a.over:
		case a.token > 0:
			w.say(a.ID, admission.AnswerGranted, true)
		default:
			w.say(a.ID, admission.AnswerQueued, true)
		}
	}
	w.repeats = nil
}

func (w *world) overflowed(a *ask) admission.Answer {
	all, mine := 0, 0
	byKey := map[string]int{}
	for _, o := range w.live {
		if !o.waits {
			continue
		}
		all++
		if o.Flow == a.Flow {
			mine++
		}
		for k := range o.keys {
			byKey[k]++
		}
	}
	if a.overflow == admission.OverflowReject {
		return admission.AnswerLimitReached
	}
	if all >= w.limits.MaxQueue || all > mine && mine >= max(16, w.limits.MaxQueue*w.limits.FlowShare/100) {
		return admission.AnswerQueueFull
	}
	for _, bound := range w.limits.Queues {
		if a.keys[bound.Key] > 0 && byKey[bound.Key] >= bound.Limit {
			return admission.AnswerQueueFull
		}
	}
	if a.deadline > 0 && a.deadline <= w.now {
		return admission.AnswerDeadlineExceeded
	}
	return ""
}

func (w *world) release(now int64, id string, token uint64) admission.Result {
	w.now = max(w.now, now)
	a := w.find(id)
	switch {
	case a == nil || a.token == 0:
		return admission.ResultNotFound
	case a.token != token:
		return admission.ResultStale
	}
	w.finish(a, admission.AnswerReleased)
	return admission.ResultReleased
}

func (w *world) cancel(now int64, id string) admission.Result {
	w.now = max(w.now, now)
	w.cancelled[id] = max(w.cancelled[id], w.now+int64(w.limits.Lease))
	a := w.find(id)
	switch {
	case a == nil:
		return admission.ResultNotFound
	case a.token > 0:
		w.finish(a, admission.AnswerCancelled)
		return admission.ResultReleased
	}
	w.finish(a, admission.AnswerCancelled)
	return admission.ResultCancelled
}

func (w *world) confirm(now int64, c admission.Confirmation) {
	w.now = max(w.now, now)
	lease := w.now + int64(w.limits.Lease)
	for _, a := range w.live {
		if a.Owner != c.Owner {
			continue
		}
		switch {
		case slices.Contains(c.IDs, a.ID):
			a.lease, a.doubt = lease, 0
		case a.doubt == 0 && (c.Upto == 0 || a.Number <= c.Upto):
			a.doubt = lease
		}
	}
}

func (w *world) alive(now int64, o admission.Owner) {
	w.now = max(w.now, now)
	for _, a := range w.live {
		if a.Owner == o {
			a.lease = w.now + int64(w.limits.Lease)
		}
	}
}

func (w *world) gone(now int64, o admission.Owner) {
	w.now = max(w.now, now)
	for _, a := range slices.Clone(w.live) {
		if a.Owner == o {
			w.finish(a, admission.AnswerOwnerGone)
		}
	}
}

func (w *world) drained(now int64) {
	w.now = max(w.now, now)
	w.drain = true
	for _, a := range slices.Clone(w.live) {
		if a.token == 0 {
			w.finish(a, admission.AnswerDraining)
		}
	}
}

// change carries out a change of limits. Rates keep what was used: the same
// number of units, at most the burst. A claim that paid under a rate that
// changes is paid back first.
func (w *world) change(now int64, do func()) {
	w.now = max(w.now, now)
	was := map[string]int64{}
	for _, k := range []string{"R", "S"} {
		w.keepStep(k)
		was[k] = w.step[k]
	}
	do()
	changed := func(k string) bool {
		r, ok := w.rate(k)
		return ok && r != w.last[k]
	}
	for _, c := range w.claims {
		for k := range c.rates {
			if c.armed && changed(k) {
				w.disarm(c)
			}
		}
	}
	for k := range was {
		if changed(k) {
			w.rerate(k, was[k])
		}
	}
}

// rerate brings what is owed under an earlier step of a rate in line.
func (w *world) rerate(k string, was int64) {
	w.keepStep(k)
	r, _ := w.rate(k)
	debt := w.tat[k] - w.now
	if debt <= 0 || r.Limit == 0 {
		return
	}
	if w.step[k] != was {
		units := debt / was
		if units*was < debt {
			units++
		}
		debt = units * w.step[k]
	}
	w.tat[k] = w.now + min(debt, burst(r)*w.step[k])
}
