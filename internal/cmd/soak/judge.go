package main

import (
	"fmt"
	"slices"
	"time"
)

// place is one visit of one node of one run; it is never visited again.
type place struct{ workflow, address string }

// evidence is what a soak left behind.
type evidence struct {
	entries []entry
	commits map[place][]time.Time // when histories say that it ended: once, or something is wrong
	losses  []loss                // in order
}

// loss is a worker that was killed, or the server.
type loss struct {
	pid      int // 0: the server
	at, over time.Time
}

// slack is what two clocks of one machine may differ by, and a message may take.
const slack = 100 * time.Millisecond

// sums are what is counted of a kind of actions.
type sums struct{ executions, repeated int }

// verdict is what the evidence says.
type verdict struct {
	remote, local sums
	faults        []string
}

// judge holds the evidence against what is promised: a node that was committed does not
// run again, and a node runs again before that only when a worker or the server was
// lost meanwhile. For a local action the commit is the end of its workflow task, so one
// that is repeated is repeated within that task.
func judge(e evidence) verdict {
	var v verdict
	runs, order := map[place][]entry{}, []place{}
	for _, one := range e.entries {
		p := place{one.Workflow, one.Address}
		if runs[p] == nil {
			order = append(order, p)
		}
		runs[p] = append(runs[p], one)
	}
	for _, p := range order {
		v.judge(p, runs[p], e)
	}
	for p, commits := range e.commits {
		if runs[p] == nil {
			v.fault(p, "ended in its history and was never begun")
		} else if len(commits) > 1 {
			v.fault(p, "ended %d times in its history", len(commits))
		}
	}
	slices.Sort(v.faults)
	return v
}

func (v *verdict) fault(p place, format string, args ...any) {
	v.faults = append(v.faults, fmt.Sprintf("%s %s: %s", p.workflow, p.address, fmt.Sprintf(format, args...)))
}

// judge judges the executions of one place.
func (v *verdict) judge(p place, runs []entry, e evidence) {
	count := &v.remote
	if runs[0].Local {
		count = &v.local
	}
	count.executions += len(runs)
	count.repeated += len(runs) - 1
	commits := e.commits[p]
	if len(commits) == 0 {
		v.fault(p, "was begun and never ended in its history")
		return
	}
	for i, run := range runs {
		if run.Key != runs[0].Key || run.Attempt != runs[0].Attempt {
			v.fault(p, "ran as %s, attempt %d, and as %s, attempt %d", runs[0].Key, runs[0].Attempt, run.Key, run.Attempt)
		}
		if run.Begun.After(commits[0].Add(slack)) {
			v.fault(p, "ran again %v after it was committed", run.Begun.Sub(commits[0]).Round(time.Millisecond))
		}
		if i > 0 && !e.lost(runs[i-1], run) {
			v.fault(p, "ran again after %v, and nothing was lost meanwhile", run.Begun.Sub(runs[i-1].Begun).Round(time.Millisecond))
		}
	}
}

// lost reports whether between two executions the worker of the first was killed, or
// the server.
func (e evidence) lost(first, second entry) bool {
	return slices.ContainsFunc(e.losses, func(l loss) bool {
		return (l.pid == 0 || l.pid == first.PID) && l.over.After(first.Begun.Add(-slack)) && l.at.Before(second.Begun)
	})
}
