package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A soak that finds nothing is worth only as much as what would be found: each promise,
// broken once.
func TestJudge(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	at := func(seconds int) time.Time { return start.Add(time.Duration(seconds) * time.Second) }
	here := place{"run", "a#1"}
	ran := func(second, pid int) entry {
		return entry{Workflow: "run", Address: "a#1", Key: "k", Attempt: 1, PID: pid, Begun: at(second)}
	}
	ended := func(seconds ...int) map[place][]commit {
		var times []commit
		for _, second := range seconds {
			times = append(times, commit{since: start, at: at(second)})
		}
		return map[place][]commit{here: times}
	}
	local := func(second, pid int) entry {
		one := ran(second, pid)
		one.Local = true
		return one
	}
	other := ran(5, 2)
	other.Key = "l"
	for _, c := range []struct {
		name string
		evidence
		want string // empty: all is well
	}{
		{"once", evidence{entries: []entry{ran(1, 1)}, commits: ended(2)}, ""},
		{"again, for its worker was killed", evidence{
			entries: []entry{ran(1, 1), ran(5, 2)}, commits: ended(6), losses: []loss{{pid: 1, at: at(3), over: at(3)}},
		}, ""},
		{"again, for the server was lost", evidence{
			entries: []entry{ran(3, 1), ran(9, 1)}, commits: ended(10), losses: []loss{{at: at(2), over: at(5)}},
		}, ""},
		{"again, and nothing was lost", evidence{entries: []entry{ran(1, 1), ran(5, 1)}, commits: ended(6)}, "nothing was lost meanwhile"},
		{"again, and another worker was killed", evidence{
			entries: []entry{ran(1, 1), ran(5, 2)}, commits: ended(6), losses: []loss{{pid: 2, at: at(3), over: at(3)}},
		}, "nothing was lost meanwhile"},
		{"again, and its worker was killed later", evidence{
			entries: []entry{ran(1, 1), ran(5, 2)}, commits: ended(6), losses: []loss{{pid: 1, at: at(7), over: at(7)}},
		}, "nothing was lost meanwhile"},
		{"again after it was committed", evidence{
			entries: []entry{ran(1, 1), ran(5, 2)}, commits: ended(2), losses: []loss{{pid: 1, at: at(3), over: at(3)}},
		}, "ran again 3s after it was committed"},
		{"again, for its worker was silent", evidence{
			entries: []entry{ran(1, 1), ran(20, 1)}, commits: ended(21), silences: map[place][]time.Time{here: {at(18)}},
		}, ""},
		{"again, and its worker was silent later", evidence{
			entries: []entry{ran(1, 1), ran(5, 1)}, commits: ended(21), silences: map[place][]time.Time{here: {at(18)}},
		}, "nothing was lost meanwhile"},
		{"locally, and again in the same task", evidence{entries: []entry{local(1, 1), local(5, 1)}, commits: ended(6)}, ""},
		{"locally again after the task", evidence{entries: []entry{local(1, 1), local(5, 1)}, commits: ended(2)}, "ran again 3s after"},
		{"locally again in another task", evidence{
			entries: []entry{local(1, 1), local(5, 1)}, commits: map[place][]commit{here: {{since: at(3), at: at(6)}}},
		}, "ran in an earlier workflow task"},
		{"locally again in another task, for its worker was killed", evidence{
			entries: []entry{local(1, 1), local(5, 2)}, commits: map[place][]commit{here: {{since: at(3), at: at(6)}}},
			losses: []loss{{pid: 1, at: at(2), over: at(2)}},
		}, ""},
		{"locally in another task only", evidence{
			entries: []entry{local(1, 1)}, commits: map[place][]commit{here: {{since: at(3), at: at(6)}}},
			losses: []loss{{pid: 1, at: at(2), over: at(2)}},
		}, "ran in an earlier workflow task"},
		{"committed twice", evidence{entries: []entry{ran(1, 1)}, commits: ended(2, 3)}, "ended 2 times"},
		{"never committed", evidence{entries: []entry{ran(1, 1)}}, "never ended"},
		{"never begun", evidence{commits: ended(2)}, "never begun"},
		{"under another key", evidence{
			entries: []entry{ran(1, 1), other}, commits: ended(6), losses: []loss{{pid: 1, at: at(3), over: at(3)}},
		}, "ran as k, attempt 1, and as l, attempt 1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			v := judge(c.evidence)
			if c.want == "" {
				require.Empty(t, v.faults)
				require.Equal(t, len(c.entries)-1, v.remote.repeated+v.local.repeated)
				return
			}
			require.Len(t, v.faults, 1)
			require.Contains(t, v.faults[0], c.want)
			require.Error(t, (&result{verdict: v}).err(), "it would be said that all held")
		})
	}
}
