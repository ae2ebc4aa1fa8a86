package workflows_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill/activities"
	"github.com/tidemill/tidemill/graph"
	"github.com/tidemill/tidemill/internal/historytest"
)

// Orders that only look fixed come out otherwise once in a while: a state of fifty keys
// (fault C10) and a cancelled fork of ten (fault C11) replay fifty times.
func TestReplayedFiftyTimes(t *testing.T) {
	t.Parallel()
	var keys, branches []string
	for i := range 50 {
		keys = append(keys, fmt.Sprintf("k%02d: %d", i*37%50, i))
	}
	for i := range 10 {
		branches = append(branches, fmt.Sprintf("b%d: run: block, args: {state: '${ state }'}", i))
	}
	document := "version: 1\nid: often\nentry: keys\nnodes:\n  - {id: keys, type: set, delta: {" + strings.Join(keys, ", ") + "}, next: f}" +
		forkOf("", branches...) + plainJoin + "\n"
	w := setup(t, parts{graphs: []string{document}, register: func(r *activities.Registry) { registerBlock(r) }})
	run := w.run("often")
	w.until(run, "the branches", func(r graph.Report) bool { return r.Steps > 10 })
	w.cancel(run)
	kind, _ := w.failure(run)
	require.Equal(t, "cancelled", kind)
	recording := historytest.Record(t, w.client, run.GetID(), run.GetRunID())
	for range 50 {
		historytest.Replay(t, recording, registerReplay)
	}
}
