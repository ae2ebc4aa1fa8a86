package admission

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// The keys that a request for an agent takes without naming them.
const (
	KeyGlobal      = "global" // one unit of every request that names an agent
	KeyAgentPrefix = "agent:" // followed by the agent's name
)

// reserved tells the keys that only naming an agent takes.
func reserved(key string) bool { return key == KeyGlobal || strings.HasPrefix(key, KeyAgentPrefix) }

// table finds what stands for a name: the exact entry, or the longest prefix.
type table[T any] struct {
	exact    map[string]T
	prefixes []prefix[T] // longest first
}

type prefix[T any] struct {
	text  string
	value T
}

// put sets what stands for a name; the last to speak is right.
func (t *table[T]) put(name string, v T) {
	if text, ok := strings.CutSuffix(name, "*"); ok {
		t.prefixes = slices.DeleteFunc(t.prefixes, func(p prefix[T]) bool { return p.text == text })
		t.prefixes = append(t.prefixes, prefix[T]{text, v})
		slices.SortStableFunc(t.prefixes, func(a, b prefix[T]) int { return cmp.Compare(len(b.text), len(a.text)) })
		return
	}
	if t.exact == nil {
		t.exact = map[string]T{}
	}
	t.exact[name] = v
}

func (t *table[T]) find(name string) (T, bool) {
	if v, ok := t.exact[name]; ok {
		return v, true
	}
	for _, p := range t.prefixes {
		if strings.HasPrefix(name, p.text) {
			return p.value, true
		}
	}
	var zero T
	return zero, false
}

// rules is a configuration, and what was changed live over it, as the book
// looks things up.
type rules struct {
	Limits // with defaults
	keys   table[int]
	rates  table[Rate]
	queues table[int]
	flows  map[string]int
}

func compile(l Limits, over Overrides) rules {
	r := rules{Limits: l.WithDefaults(), flows: map[string]int{}}
	r.keys.put(KeyAgentPrefix+"*", r.DefaultAgent)
	for _, a := range l.Agents {
		r.keys.put(KeyAgentPrefix+a.Key, a.Limit)
	}
	r.keys.put(KeyGlobal, r.Global)
	for _, k := range l.Keys {
		r.keys.put(k.Key, k.Limit)
	}
	for _, k := range over.Limits {
		r.keys.put(k.Key, k.Limit)
	}
	for _, k := range l.Rates {
		r.rates.put(k.Key, k.Rate)
	}
	for _, k := range over.Rates {
		r.rates.put(k.Key, k.Rate)
	}
	for _, k := range l.Queues {
		r.queues.put(k.Key, k.Limit)
	}
	for _, w := range l.Flows {
		r.flows[w.Flow] = w.Weight
	}
	return r
}

func (r *rules) weight(flow string) int { return max(r.flows[flow], 1) }

// share is how much of the queue one flow may fill while another waits.
func (r *rules) share() int {
	if r.FlowShare == None {
		return math.MaxInt
	}
	return max(16, r.MaxQueue*r.FlowShare/100)
}

// boost is how much earlier a priority makes a request, in nanoseconds.
func (r *rules) boost(priority int) int64 {
	if r.Boost == None {
		return 0
	}
	return int64(priority-DefaultPriority) * (int64(r.Boost) / (100 - DefaultPriority))
}

// before tells whether a holder of key a may wait for key b.
func (r *rules) before(a, b string) bool {
	return cmp.Or(cmp.Compare(r.class(a), r.class(b)), strings.Compare(a, b)) < 0
}

func (r *rules) class(key string) int {
	best, length := len(r.Order), -1
	for i, o := range r.Order {
		if len(o) > length && strings.HasPrefix(key, o) {
			best, length = i, len(o)
		}
	}
	return best
}
