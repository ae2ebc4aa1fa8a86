package main

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill"
	"github.com/tidemill/tidemill/graph"
)

func reviewed() tidemill.Report {
	return tidemill.Report{Report: graph.Report{
		ID: "order-7", Graph: "order-review", Fingerprint: "0123456789abcdef", Status: tidemill.StatusPaused, Steps: 3,
		Nodes: []graph.NodeRecord{
			{Node: "fetch", Visits: 2, Status: graph.NodeActive},
			{Node: "approve", Visits: 1, Status: graph.NodePaused},
		},
		Pauses: []graph.OpenPause{{WorkflowID: "order-7", Pause: graph.Pause{
			ID: "approve#1", Reason: "approval", Summary: "Order 7\n\x1b[2Jis large",
		}}},
		Waiting: []graph.Waiting{{Address: "fetch#2", Reason: "backing off before the next attempt"}},
	}}
}

// The tree must show each thing below the node it belongs to, and nothing that a
// node says may steer the terminal.
func TestTree(t *testing.T) {
	t.Parallel()
	require.Equal(t, []string{
		"order-7  order-review@01234567  paused, 3 steps",
		"├─ fetch    active ×2",
		"│  └─ fetch#2: backing off before the next attempt",
		"└─ approve  paused",
		"   ├─ approve#1 is open: approval: Order 7  [2Jis large",
		"   └─ answer it with: starter resume 'order-7' --pause 'approve#1' --input JSON",
	}, tree(reviewed()))
}

// What waits in a child graph hangs below the node that started it.
func TestTreeHangsDeepThingsUp(t *testing.T) {
	t.Parallel()
	r := reviewed()
	r.Pauses[0].ID, r.Pauses[0].WorkflowID = "approve#1/ask#3", "it's"
	r.Pauses[0].Summary = ""
	r.Waiting = []graph.Waiting{{Address: "5", Reason: "activity ship, attempt 1"}}
	require.Equal(t, []string{
		"├─ fetch    active ×2",
		"├─ approve  paused",
		"│  ├─ approve#1/ask#3 is open: approval",
		`│  └─ answer it with: starter resume 'it'\''s' --pause 'approve#1/ask#3' --input JSON`,
		"└─ 5: activity ship, attempt 1",
	}, tree(r)[1:])
}

// A tree that is higher than the screen cannot be drawn over, so old news are
// left out, and then what is too much.
func TestTreeFitsTheScreen(t *testing.T) {
	t.Parallel()
	var r tidemill.Report
	r.Status = tidemill.StatusRunning
	for i := range 40 {
		r.Nodes = append(r.Nodes, graph.NodeRecord{Node: fmt.Sprintf("n%d", i), Visits: 1, Status: graph.NodeCompleted})
	}
	r.Nodes[0].Status = graph.NodeActive
	lines := tree(r)
	require.LessOrEqual(t, len(lines), maxRows+3)
	require.Contains(t, lines[1], "26 nodes completed")
	require.Contains(t, lines[2], "n0")
	require.Contains(t, lines[len(lines)-1], "n39")

	for i := range r.Nodes {
		r.Nodes[i].Status = graph.NodeActive
	}
	lines = tree(r)
	require.Len(t, lines, maxLines)
	require.Contains(t, lines[maxLines-1], "20 lines more")
}

// The screen is drawn over as many lines as it has, and left alone while nothing
// changes.
func TestScreen(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	s := screen{out: &out}
	s.show(reviewed())
	first := out.Len()
	s.show(reviewed())
	require.Equal(t, first, out.Len())
	changed := reviewed()
	changed.Steps = 4
	s.show(changed)
	require.Equal(t, 1, strings.Count(out.String(), "\x1b[6A\r\x1b[J"))
	require.Equal(t, 12, strings.Count(out.String(), "\n"))
	require.Equal(t, strings.Count(out.String(), noWrap), strings.Count(out.String(), wrapAgain))
}

// A file or a pipe is no terminal.
func TestTerminal(t *testing.T) {
	t.Parallel()
	require.False(t, terminal(&bytes.Buffer{}))
}
