package admission

import (
	"fmt"
	"slices"
	"time"
	"unicode/utf8"
)

// The longest durations that a book can reckon with.
const (
	maxDuration = 366 * 24 * time.Hour
	maxList     = 10_000 // entries of one list of limits
)

// Validate gives all faults, joined; each is a [FieldError] matching
// [ErrInvalidLimits].
func (l Limits) Validate() error {
	f := &faults{kind: ErrInvalidLimits}
	if l.Version < 0 {
		f.add("version", "is negative; count versions up from 0")
	}
	within(f, "global", l.Global, 0, MaxUnits)
	within(f, "default_agent", l.DefaultAgent, 0, MaxUnits)
	within(f, "max_queue", l.MaxQueue, None, MaxQueueLength)
	within(f, "flow_share", l.FlowShare, None, 100)
	checkLimits(f, "agents", l.Agents, 1, MaxUnits)
	checkLimits(f, "keys", l.Keys, 0, MaxUnits)
	checkLimits(f, "queues", l.Queues, 0, MaxQueueLength)
	for i, k := range l.Keys {
		if reserved(k.Key) {
			f.add(fmt.Sprintf("keys[%d].key", i), "%q is counted for agents; set global, default_agent or agents", k.Key)
		}
	}
	checkRates(f, "rates", l.Rates)
	l.checkFlows(f)
	if l.Overflow != "" && l.Overflow != OverflowReject && l.Overflow != OverflowQueue {
		f.add("overflow", "is %q; write reject or queue", l.Overflow)
	}
	l.checkDurations(f)
	for i, o := range l.Order {
		checkName(f, fmt.Sprintf("order[%d]", i), o)
	}
	if len(l.Order) > maxList {
		f.add("order", "has %d entries; at most %d", len(l.Order), maxList)
	}
	return f.err()
}

func (l Limits) checkDurations(f *faults) {
	for _, d := range []struct {
		field string
		value time.Duration
		least time.Duration
	}{
		{"queue_timeout", l.QueueTimeout, None},
		{"boost", l.Boost, None},
		{"patience", l.Patience, None},
		{"lease", l.Lease, 0},
		{"max_hold", l.MaxHold, None},
		{"recheck", l.Recheck, 0},
	} {
		if d.value < d.least || d.value > maxDuration {
			f.add(d.field, "is %v; it must lie between 0 and 366 days", d.value)
		}
	}
}

func checkRates(f *faults, list string, rates []KeyRate) {
	keys := make([]string, 0, len(rates))
	for i, r := range rates {
		field := fmt.Sprintf("%s[%d]", list, i)
		checkName(f, field+".key", r.Key)
		r.check(f, field)
		keys = append(keys, r.Key)
	}
	checkList(f, list, keys)
}

func (r Rate) check(f *faults, field string) {
	within(f, field+".limit", r.Limit, 0, MaxUnits)
	within(f, field+".burst", r.Burst, 0, MaxUnits)
	switch {
	case r.Per <= 0 || r.Per > maxDuration:
		f.add(field+".per", "is %v; it must lie between 1 ns and 366 days", r.Per)
	case r.Limit > 0 && time.Duration(r.Limit) > r.Per:
		f.add(field+".limit", "is more than one per nanosecond")
	case r.Limit > 0 && r.Burst > 0 && r.step() > int64(maxDuration)/int64(r.Burst):
		f.add(field+".burst", "takes more than 366 days to earn; lower it")
	}
}

func (l Limits) checkFlows(f *faults) {
	keys := make([]string, 0, len(l.Flows))
	for i, w := range l.Flows {
		field := fmt.Sprintf("flows[%d]", i)
		if w.Flow != "" {
			checkName(f, field+".flow", w.Flow)
		}
		within(f, field+".weight", w.Weight, 1, MaxWeight)
		keys = append(keys, w.Flow)
	}
	checkList(f, "flows", keys)
}

func checkLimits(f *faults, list string, limits []KeyLimit, least, most int) {
	keys := make([]string, 0, len(limits))
	for i, k := range limits {
		field := fmt.Sprintf("%s[%d]", list, i)
		checkName(f, field+".key", k.Key)
		within(f, field+".limit", k.Limit, least, most)
		keys = append(keys, k.Key)
	}
	checkList(f, list, keys)
}

// checkList reports keys that stand twice, and lists without end.
func checkList(f *faults, list string, keys []string) {
	if len(keys) > maxList {
		f.add(list, "has %d entries; at most %d", len(keys), maxList)
	}
	slices.Sort(keys)
	for i := 1; i < len(keys); i++ {
		if keys[i] == keys[i-1] && (i == 1 || keys[i-2] != keys[i]) {
			f.add(list, "%q stands twice; keep one entry", keys[i])
		}
	}
}

func within(f *faults, field string, v, least, most int) {
	if v < least || v > most {
		f.add(field, "is %d; it must lie between %d and %d", v, least, most)
	}
}

func checkName(f *faults, field, name string) { checkText(f, field, name, MaxNameBytes) }

func checkText(f *faults, field, text string, most int) {
	switch {
	case text == "":
		f.add(field, "is empty")
	case len(text) > most:
		f.add(field, "has %d bytes; at most %d", len(text), most)
	case !utf8.ValidString(text):
		f.add(field, "is not valid UTF-8")
	}
}
