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
	entries  []entry
	commits  map[place][]commit    // what histories say of how it ended: once, or something is wrong
	silences map[place][]time.Time // when the server took its worker for lost, for it was silent
	losses   []loss                // in order
}

// commit is when a history says that a node ended, and for a local action when the
// workflow task before had ended.
type commit struct{ since, at time.Time }

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
// run again. Before that, a remote one runs again only when its worker or the server was
// lost meanwhile, or was silent for so long that it was taken for lost; and a local one
// only within the workflow task that commits it, or because the task before was lost with
// its worker: those that make up for it need not end where it would have ended.
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
	first := runs[0]
	for i, run := range runs {
		if run.Key != first.Key || run.Attempt != first.Attempt {
			v.fault(p, "ran as %s, attempt %d, and as %s, attempt %d", first.Key, first.Attempt, run.Key, run.Attempt)
		}
		switch at, since := commits[0].at, commits[0].since; {
		case run.Begun.After(at.Add(slack)):
			v.fault(p, "ran again %v after it was committed", run.Begun.Sub(at).Round(time.Millisecond))
		case run.Local && run.Begun.Before(since.Add(-slack)) && (i+1 == len(runs) || !e.lost(p, run, runs[i+1])):
			v.fault(p, "ran in an earlier workflow task than the one that committed it")
		case !run.Local && i > 0 && !e.lost(p, runs[i-1], run):
			v.fault(p, "ran again after %v, and nothing was lost meanwhile", run.Begun.Sub(runs[i-1].Begun).Round(time.Millisecond))
		}
	}
}

// lost reports whether between two executions the worker of the first was killed, or
// the server, or the server gave the worker up.
func (e evidence) lost(p place, first, second entry) bool {
	silent := slices.ContainsFunc(e.silences[p], func(at time.Time) bool {
		return at.After(first.Begun) && at.Before(second.Begun.Add(slack))
	})
	return silent || slices.ContainsFunc(e.losses, func(l loss) bool {
		return (l.pid == 0 || l.pid == first.PID) && l.over.After(first.Begun.Add(-slack)) && l.at.Before(second.Begun)
	})
}
