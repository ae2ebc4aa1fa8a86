package main

import (
	"context"
	"fmt"
	"time"

	"github.com/tidemill/tidemill/activities/permits"
	"github.com/tidemill/tidemill/admission"
)

// The kinds of work under permits. The name is that of the graph, of its action and
// of the key.
const (
	plenty = "plenty" // of permits
	wide   = "wide"
	narrow = "narrow"
	alone  = "alone"
)

// handSuffix tells the activity of hand-written owners from the graph's action.
const handSuffix = "ByHand"

// work is something that needs a permit.
type work struct {
	name  string
	gauge *gauge // its limit is that of the key
	do    func(context.Context, input) (int, error)
}

func allWorks() []*work {
	kind := func(name string, limit int, length time.Duration) *work {
		g := &gauge{limit: limit}
		return &work{name: name, gauge: g, do: g.work(length)}
	}
	return []*work{kind(plenty, 1000, 0), kind(wide, 64, 0), kind(narrow, narrowLimit, narrowLength), kind(alone, 1, 0)}
}

// document is the work as a graph of one action.
func (w *work) document() string {
	return fmt.Sprintf("version: 1\nid: %s\nentry: it\nnodes:\n"+
		"  - {id: it, run: %[1]s, args: {count: \"${ state.count }\"}, next: end}\n", w.name)
}

// limits are those of admission for all works.
func limits(works []*work) admission.Limits {
	var l admission.Limits
	for _, w := range works {
		l.Keys = append(l.Keys, admission.KeyLimit{Key: w.name, Limit: w.gauge.limit})
	}
	return l
}

// classify has an attempt ask for the key that is named as its action.
func classify(f permits.Facts) (permits.Class, error) {
	return permits.Class{Keys: []admission.Units{{Key: f.Action}}}, nil
}
