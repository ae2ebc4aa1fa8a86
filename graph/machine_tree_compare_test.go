package graph_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tidemill/tidemill/graph"
)

// compare holds every machine against its model.
func (h *treeTest) compare() string {
	pairs, missing := h.pairs()
	if missing != "" {
		return missing
	}
	for _, p := range pairs {
		if p.s.refused != nil {
			if p.r.outcome == nil || p.r.outcome.status != "refused" {
				return p.r.prefix + " was refused"
			}
			continue
		}
		got, want := p.machine(), p.model()
		for i := range want {
			if got[i] != want[i] {
				return fmt.Sprintf("%q\nmachine %s\nmodel   %s", p.r.prefix, got[i], want[i])
			}
		}
		if different := h.addresses(p); different != "" {
			return different
		}
	}
	return h.verdicts()
}

// addresses makes sure that no address serves two runs.
func (h *treeTest) addresses(p *treePair) string {
	used := []graph.Address{}
	for _, task := range p.s.open {
		used = append(used, task.task.Run.Address)
	}
	for _, k := range p.s.kids {
		used = append(used, k.start.Address)
	}
	for _, address := range used {
		if owner := h.owners[address]; owner != nil && owner != p.s {
			return fmt.Sprintf("address %s is used twice", address)
		}
		h.owners[address] = p.s
	}
	return ""
}

// verdicts makes sure that who asked is told, once, what the model says.
func (h *treeTest) verdicts() string {
	waiting := h.asked[:0]
	for _, a := range h.asked {
		failure, done := a.s.m.Replied(a.request)
		want, told := a.r.verdicts[a.request]
		got := ""
		if failure != nil {
			got = failure.Type
		}
		if done != told || got != want {
			return fmt.Sprintf("verdict on %s: machine %v %q, model %v %q", a.request, done, got, told, want)
		}
		if !done {
			waiting = append(waiting, a)
		}
	}
	h.asked = waiting
	return ""
}

// ended holds what is so when all is over.
func (h *treeTest) ended() string {
	if len(h.asked) > 0 {
		return fmt.Sprintf("nobody told %s what became of the answer", h.asked[0].request)
	}
	h.root.s.closes(h.t)
	h.settled(h.root.s)
	return ""
}

// machine is all that is compared of a run, line by line.
func (p *treePair) machine() []string {
	s, cp := p.s, p.s.m.Checkpoint()
	deadline, _ := s.m.Deadline()
	var open, timers, asking, held []string
	for _, t := range s.open {
		open = append(open, line(t.task.Run.Address, t.task.Before, t.cancelled, plain(t.task.Input), t.task.Run.Key, plain(t.task.Item)))
	}
	for _, t := range s.timers {
		if strings.HasPrefix(t.Purpose, "admission: ") {
			continue // the book decides how long it waits
		}
		timers = append(timers, line(t.Address, t.At.Sub(noon)))
	}
	for _, permit := range cp.Permits {
		if permit.State == graph.PermitWithdrawn {
			continue
		}
		if permit.State == graph.PermitHeld {
			held = append(held, line(permit.Address, permit.Answer == graph.AdmissionFree))
			continue
		}
		asking = append(asking, line(permit.Address))
	}
	var pauses []string
	for _, o := range s.m.Pauses() {
		var expires time.Time
		if o.Expires != nil {
			expires = *o.Expires
		}
		pauses = append(pauses, line(o.ID, o.WorkflowID, o.Alias, o.ResumeSchema != nil, expires.Sub(noon)))
	}
	visits := map[string]int{}
	for _, n := range cp.Nodes {
		if n.Visits > 0 {
			visits[n.Node] = n.Visits
		}
	}
	outcome := "none"
	if o := s.m.Outcome(); o != nil {
		outcome = line(o.Status, plainFailure(o.Failure).value(), plain(o.Output))
	}
	return []string{
		line("status", s.m.Status()), line("open", sorted(open)), line("timers", sorted(timers)), line("pauses", sorted(pauses)),
		line("deadline", deadline.Sub(noon)), line("steps", cp.Steps, cp.StepsLeft), line("visits", visits),
		line("state", plain(cp.State.Raw())), line("output", cp.Output != nil, plain(cp.Output)), line("outcome", outcome),
		line("asking", sorted(asking)), line("held", sorted(held)),
	}
}

func (p *treePair) model() []string {
	r := p.r
	var open, timers, pauses, asking, held []string
	for _, v := range r.all() {
		switch v.phase {
		case "asking":
			asking = append(asking, line(v.addr))
		case "running", "cancelling", "resting":
			if v.permit != "" {
				held = append(held, line(v.addr, v.permit == "free"))
			}
		}
		if (v.phase == "running" || v.phase == "cancelling") && v.child == nil {
			open = append(open, line(v.addr, v.tried, v.phase == "cancelling", v.input, "first/"+v.addr, v.item))
		}
		if !v.due.IsZero() && r.stopping == nil {
			timers = append(timers, line(v.addr, v.due.Sub(noon)))
		}
	}
	for _, o := range r.pauses() {
		pauses = append(pauses, line(o.id, o.workflow, o.alias, o.schema, o.expires.Sub(noon)))
	}
	deadline := r.deadline
	if r.stopping != nil || !r.limited {
		deadline = time.Time{}
	}
	outcome := "none"
	if o := r.outcome; o != nil {
		outcome = line(o.status, o.failure.value(), o.output)
	}
	return []string{
		line("status", r.status()), line("open", sorted(open)), line("timers", sorted(timers)), line("pauses", sorted(pauses)),
		line("deadline", deadline.Sub(noon)), line("steps", r.steps, r.left), line("visits", r.visits),
		line("state", r.state), line("output", r.hasOutput, r.output), line("outcome", outcome),
		line("asking", sorted(asking)), line("held", sorted(held)),
	}
}

// line is values as comparable text, without the words of failures.
func line(values ...any) string {
	raw, err := json.Marshal(values)
	if err != nil {
		return err.Error()
	}
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return string(raw)
	}
	raw, _ = json.Marshal(wordless(v))
	return string(raw)
}

func wordless(v any) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = wordless(v[i])
		}
	case map[string]any:
		delete(v, "message")
		for key := range v {
			v[key] = wordless(v[key])
		}
	}
	return v
}

func sorted(lines []string) []string {
	slices.Sort(lines)
	return lines
}
