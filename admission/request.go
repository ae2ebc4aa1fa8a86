package admission

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// DefaultPriority is the priority of a request that names none.
const DefaultPriority = 50

// Owner is who holds a permit: a chain of workflow runs, or a process outside
// of Temporal. Exactly one of Workflow and Process is set.
type Owner struct {
	Workflow string `json:"workflow,omitempty"`  // workflow id
	FirstRun string `json:"first_run,omitempty"` // id of the chain's first run; goes with Workflow
	Process  string `json:"process,omitempty"`   // an owner that renews its leases itself
}

// asked tells whether the owner's life is asked for when a lease runs out.
// Other owners must renew.
func (o Owner) asked() bool { return o.Workflow != "" }

func (o Owner) check(f *faults, field string) {
	switch {
	case o.Workflow != "" && o.Process != "":
		f.add(field, "names a workflow and a process; name one")
	case o.Workflow != "":
		checkText(f, field+".workflow", o.Workflow, MaxIDBytes)
		checkText(f, field+".first_run", o.FirstRun, MaxIDBytes)
	case o.FirstRun != "":
		f.add(field+".workflow", "is empty; a run id alone names no owner")
	default:
		checkText(f, field+".process", o.Process, MaxIDBytes)
	}
}

// Units is an amount of one key: units of a concurrency key, or the cost of a
// rate key.
type Units struct {
	Key   string `json:"key"`
	Units int    `json:"units,omitempty"` // Zero means 1.
}

func (u Units) amount() int { return max(u.Units, 1) }

// Request asks for a permit. An id is used for one acquisition and never
// again: the same id is the same request, however often it comes.
type Request struct {
	ID    string `json:"id"` // 1 to MaxIDBytes bytes
	Owner Owner  `json:"owner"`
	// Number counts the acquisitions of the owner, from 1; see [Confirmation].
	// Zero means that the owner does not count.
	Number uint64 `json:"number,omitempty"`

	// Agent takes one unit of `global` and one of `agent:NAME`. A request that
	// names no agent must name a key or a rate.
	Agent string  `json:"agent,omitempty"`
	Keys  []Units `json:"keys,omitempty"`  // concurrency keys, at most MaxKeys, each once
	Rates []Units `json:"rates,omitempty"` // rate keys, at most MaxKeys, each once

	Flow     string `json:"flow,omitempty"`     // fairness key
	Priority *int   `json:"priority,omitempty"` // 0 to 100, orders within the flow. Nil means 50.

	// Arrival is the time that gives the rank, for one that comes back after a
	// sleep or a pause: the arrival of its run. Zero, or later than the submit,
	// means the submit.
	Arrival   time.Time `json:"arrival,omitzero"`
	VisibleAt time.Time `json:"visible_at,omitzero"` // not granted before. Zero means at once.

	Overflow     Overflow      `json:"overflow,omitempty"`      // Zero means that of the limits.
	Deadline     time.Time     `json:"deadline,omitzero"`       // of the wait; wins over QueueTimeout
	QueueTimeout time.Duration `json:"queue_timeout,omitempty"` // longest wait. Zero means that of the limits; None: no end.

	// Parent is the id of a permit that covers this request as well: what it
	// holds is not taken again. Within are ids of permits that the asker keeps
	// while it waits for this one. Beyond the parent's keys it may then only
	// ask for keys that follow all the held ones in the declared order; the
	// answer is otherwise [AnswerWouldDeadlock].
	Parent string   `json:"parent,omitempty"`
	Within []string `json:"within,omitempty"`
}

func (r *Request) priority() int {
	if r.Priority == nil {
		return DefaultPriority
	}
	return *r.Priority
}

// Validate gives all faults, joined; each is a [FieldError] matching
// [ErrInvalidRequest].
func (r *Request) Validate() error {
	f := &faults{kind: ErrInvalidRequest}
	checkText(f, "id", r.ID, MaxIDBytes)
	r.Owner.check(f, "owner")
	if r.Agent != "" {
		checkName(f, "agent", r.Agent)
	}
	if r.Agent == "" && len(r.Keys) == 0 && len(r.Rates) == 0 {
		f.add("agent", "is empty, and no key and no rate is named; name what the request is for")
	}
	checkUnits(f, "keys", r.Keys)
	checkUnits(f, "rates", r.Rates)
	for i, k := range r.Keys {
		if reserved(k.Key) {
			f.add(fmt.Sprintf("keys[%d].key", i), "%q is counted for agents; name the agent instead", k.Key)
		}
	}
	if r.Flow != "" {
		checkName(f, "flow", r.Flow)
	}
	within(f, "priority", r.priority(), 0, 100)
	if r.Overflow != "" && r.Overflow != OverflowReject && r.Overflow != OverflowQueue {
		f.add("overflow", "is %q; write reject or queue", r.Overflow)
	}
	if r.QueueTimeout < None || r.QueueTimeout > maxDuration {
		f.add("queue_timeout", "is %v; it must lie between 0 and 366 days", r.QueueTimeout)
	}
	r.checkTimes(f)
	r.checkNesting(f)
	return f.err()
}

func (r *Request) checkTimes(f *faults) {
	for _, at := range []struct {
		field string
		time  time.Time
	}{{"arrival", r.Arrival}, {"visible_at", r.VisibleAt}, {"deadline", r.Deadline}} {
		if !at.time.IsZero() && !inRange(at.time) {
			f.add(at.field, "is %v; it must lie in the years 1971 to 2199", at.time)
		}
	}
}

func (r *Request) checkNesting(f *faults) {
	if r.Parent != "" {
		checkText(f, "parent", r.Parent, MaxIDBytes)
	}
	if len(r.Within) > MaxKeys {
		f.add("within", "has %d entries; at most %d", len(r.Within), MaxKeys)
	}
	for i, id := range r.Within {
		checkText(f, fmt.Sprintf("within[%d]", i), id, MaxIDBytes)
	}
	if r.Parent == r.ID && r.ID != "" || slices.Contains(r.Within, r.ID) {
		f.add("parent", "is the request itself")
	}
}

func checkUnits(f *faults, list string, units []Units) {
	if len(units) > MaxKeys {
		f.add(list, "has %d entries; at most %d", len(units), MaxKeys)
		return
	}
	for i, u := range units {
		field := fmt.Sprintf("%s[%d]", list, i)
		checkName(f, field+".key", u.Key)
		if strings.HasSuffix(u.Key, "*") {
			f.add(field+".key", "is %q; only limits may stand for many keys", u.Key)
		}
		within(f, field+".units", u.Units, 0, MaxUnits)
		if slices.ContainsFunc(units[:i], func(v Units) bool { return v.Key == u.Key }) {
			f.add(field+".key", "%q stands twice; name it once with the sum", u.Key)
		}
	}
}
