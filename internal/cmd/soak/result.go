package main

import (
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/tidemill/tidemill/internal/temporaltest"
)

// result is what came of a soak.
type result struct {
	seed     uint64
	took     time.Duration
	kills    int
	restarts int
	ended    map[string]int // runs, by graph
	verdict  verdict
	worst    temporaltest.Task
	replayed int
	faults   []string // beside those of the verdict
}

// shownFaults is how many faults are printed.
const shownFaults = 20

func (r *result) print(out io.Writer) {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	line := func(what, format string, args ...any) {
		_, _ = fmt.Fprintf(table, "%s\t%s\n", what, fmt.Sprintf(format, args...))
	}
	total := 0
	for _, k := range kinds() {
		line("runs of "+k.id, "%d", r.ended[k.id])
		total += r.ended[k.id]
	}
	line("runs in all", "%d in %v, seed %d", total, r.took.Round(time.Second), r.seed)
	line("workers killed", "%d", r.kills)
	line("servers restarted", "%d", r.restarts)
	line("executions of remote actions", "%d, of them %d again before they were committed", r.verdict.remote.executions, r.verdict.remote.repeated)
	line("executions of local actions", "%d, of them %d again within their workflow task", r.verdict.local.executions, r.verdict.local.repeated)
	line("histories replayed and audited", "%d", r.replayed)
	line("largest workflow task", "%d of %d markers, %d of %d KiB, %v of %v of local work", r.worst.Markers, temporaltest.TaskMarkers,
		r.worst.MarkerBytes>>10, temporaltest.TaskMarkerBytes>>10, r.worst.Local.Round(time.Millisecond), temporaltest.TaskLocal)
	faults := r.all()
	for _, fault := range faults[:min(shownFaults, len(faults))] {
		line("FAULT", "%s", fault)
	}
	_ = table.Flush()
}

func (r *result) all() []string { return slices.Concat(r.faults, r.verdict.faults) }

// err is nil when everything held.
func (r *result) err() error {
	if faults := r.all(); len(faults) > 0 {
		return fmt.Errorf("%d things did not hold, the first: %s", len(faults), faults[0])
	}
	return nil
}
