package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill"
	"github.com/tidemill/tidemill/graph"
)

// Progress must say each thing once, and nothing of a run that merely has not
// begun.
func TestProgress(t *testing.T) {
	t.Parallel()
	var lines []string
	p := newProgress(func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) })
	report := func(note string, waiting string, nodes ...graph.NodeRecord) tidemill.Report {
		r := tidemill.Report{Note: note, Report: graph.Report{Nodes: nodes}}
		if waiting != "" {
			r.Waiting = []graph.Waiting{{Address: "ship#2", Reason: waiting}}
		}
		return r
	}
	p.see(report("not begun", ""))
	p.see(report("", "", graph.NodeRecord{Node: "fetch", Visits: 1, Status: graph.NodeActive}))
	p.see(report("", "", graph.NodeRecord{Node: "fetch", Visits: 1, Status: graph.NodeActive}))
	p.see(report("", "backing off",
		graph.NodeRecord{Node: "fetch", Visits: 1, Status: graph.NodeCompleted},
		graph.NodeRecord{Node: "ship", Visits: 2, Status: graph.NodeActive}))
	p.see(report("", "backing off"))
	p.see(report("no worker answers", ""))
	p.see(report("no worker answers", ""))
	p.see(report("no worker answers", ""))
	require.Equal(t, []string{
		"  fetch        active",
		"  fetch        completed",
		"  ship#2       active",
		"  ship#2       backing off",
		"  no worker answers",
	}, lines)
}

// A run's words may come from anybody: on a terminal they must not act.
func TestTerminalsObeyNoRun(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	var report tidemill.Report
	var pause tidemill.OpenPause
	pause.ID, pause.Summary = "ask#1", "a\x1b[2Jb\rc\u009bd\u202ee\tf\ng"
	report.Pauses = []tidemill.OpenPause{pause}
	writeReport(&out, report)
	require.Contains(t, out.String(), "a\ufffd[2Jb\ufffdc\ufffdd\ufffde f\n")
	require.NotContains(t, out.String(), "\x1b")
}
