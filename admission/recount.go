package admission

import (
	"cmp"
	"slices"
)

// Drift is a counter that was not what the permits and the queue say.
type Drift struct {
	Counter string `json:"counter"` // used, reserved or queued
	Key     string `json:"key"`     // a key; `rate:KEY`; `flow:NAME`; `queue` for the whole
	Was     int    `json:"was"`
	Is      int    `json:"is"`
}

// tally is what one gate or flow should count.
type tally struct{ used, reserved, queued int }

// Recount counts everything anew, repairs every counter that is wrong, and
// reports it. A sound book gives nothing. What a wrong counter held back is
// granted in the next turn.
func (b *Book) Recount() []Drift {
	gates := map[*gate]*tally{}
	for _, g := range b.gates.list {
		gates[g] = &tally{}
	}
	flows := map[*flow]int{}
	queued := 0
	for _, h := range b.holds {
		for _, u := range h.uses {
			gates[u.gate].used += u.units
		}
	}
	for _, e := range b.all {
		if e.armed {
			for _, u := range e.uses {
				gates[u.gate].reserved += u.units
			}
		}
		if e.seated {
			queued++
			flows[e.lane.flow]++
			for _, g := range e.lane.gates {
				gates[g].queued++
			}
		}
	}
	var d drifts
	for _, g := range b.gates.list {
		was, n, name := len(d), gates[g], g.name
		if g.meter != nil {
			name = "rate:" + name
		}
		d.repair("used", name, &g.used, n.used)
		d.repair("reserved", name, &g.reserved, n.reserved)
		d.repair("queued", name, &g.queued, n.queued)
		if len(d) > was {
			b.touch(g)
		}
	}
	for _, f := range b.flows {
		d.repair("queued", "flow:"+f.name, &f.queued, flows[f])
	}
	d.repair("queued", "queue", &b.queued, queued)
	slices.SortFunc(d, func(x, y Drift) int { return cmp.Or(cmp.Compare(x.Key, y.Key), cmp.Compare(x.Counter, y.Counter)) })
	return d
}

type drifts []Drift

func (d *drifts) repair(counter, key string, v *int, is int) {
	if *v != is {
		*d = append(*d, Drift{Counter: counter, Key: key, Was: *v, Is: is})
		*v = is
	}
}
