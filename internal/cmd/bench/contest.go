package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
	"golang.org/x/sync/errgroup"
)

// side is one of the two that a contest compares.
type side struct {
	label     string // in front of its figures
	workflow  string // type
	queue     string
	below     string // what the workflow id of the graph's own child ends with; empty: it has none
	semaphore string // id of the workflow that gives permits, one to a run; empty: it has none
}

// contest is one piece of work, done by Tidemill and done otherwise.
type contest struct {
	title        string
	ours, theirs side
	batch        int    // runs in a batch
	width        int    // runs under way at once
	want         string // the result of both, as JSON
	ratio        float64
	events       string // what is wanted of them
	permits      string // what is wanted of the semaphore
}

// versus is a graph and the same work by hand.
func versus(graph, hand string) (ours, theirs side) {
	return side{label: "graph", workflow: graph, queue: queue}, side{label: "by hand", workflow: hand, queue: queue}
}

func (c contest) rate(d time.Duration) float64 { return float64(c.batch) / d.Seconds() }

// bench runs batches of workflows.
type bench struct {
	client  client.Client
	server  int // process id
	tally   *tally
	calls   bool
	started int
	works   []*work
	served  map[string]bool // queues
	workers []worker.Worker
}

func newBench(c client.Client, server int, tally *tally, calls bool) *bench {
	return &bench{client: c, server: server, tally: tally, calls: calls, works: allWorks(), served: map[string]bool{}}
}

// figures are what one side of a contest came to.
type figures struct {
	cpu     time.Duration // of this process and the server
	server  time.Duration // of the server
	calls   counts
	events  history
	permits counts // events of the semaphore
}

// compare measures interleaved pairs of batches and prints the ratios.
func (b *bench) compare(ctx context.Context, c contest, pairs int) error {
	sides := []side{c.ours, c.theirs}
	all := []*figures{{calls: counts{}}, {calls: counts{}}}
	before := make([]counts, len(sides))
	for i, s := range sides { // warm caches and pollers
		if err := b.serve(ctx, s.queue); err != nil {
			return err
		}
		if _, err := b.measure(ctx, c, s); err != nil {
			return err
		}
		var err error
		if before[i], err = b.chain(ctx, s.semaphore); err != nil {
			return err
		}
	}
	ratios, err := b.pairs(ctx, c, sides, all, pairs)
	if err != nil {
		return err
	}
	for i, s := range sides {
		after, err := b.chain(ctx, s.semaphore)
		if err != nil {
			return err
		}
		all[i].permits = after.since(before[i])
		if all[i].events, err = b.events(ctx, c, s); err != nil {
			return err
		}
	}
	b.print(c, ratios, all)
	return nil
}

// pairs measures both sides so many times, each first in turn, and adds up what
// they cost. It gives the ratios of throughput.
func (b *bench) pairs(ctx context.Context, c contest, sides []side, all []*figures, pairs int) ([]float64, error) {
	ratios := make([]float64, 0, pairs)
	for i := range pairs {
		var took [2]time.Duration
		for k := range sides {
			at := (i + k) % 2
			cpu, server, calls := cpuTime(b.server), otherTime(b.server), b.tally.now()
			d, err := b.measure(ctx, c, sides[at])
			if err != nil {
				return nil, err
			}
			took[at] = d
			all[at].cpu += cpuTime(b.server) - cpu
			all[at].server += otherTime(b.server) - server
			all[at].calls.add(b.tally.now().since(calls))
		}
		ratio := took[1].Seconds() / took[0].Seconds()
		ratios = append(ratios, ratio)
		say("pair %2d: %s %7.1f runs/s, %s %7.1f runs/s, ratio %.3f\n",
			i+1, c.ours.label, c.rate(took[0]), c.theirs.label, c.rate(took[1]), ratio)
	}
	slices.Sort(ratios)
	return ratios, nil
}

// print says what came of a contest.
func (b *bench) print(c contest, ratios []float64, all []*figures) {
	ours, theirs, label := all[0], all[1], c.theirs.label
	say("\n%s\n", c.title)
	say("  throughput of %s to %s: median %.3f (%d pairs, %.3f to %.3f; at least %.2f is wanted)\n",
		c.ours.label, label, ratios[len(ratios)/2], len(ratios), ratios[0], ratios[len(ratios)-1], c.ratio)
	runs := len(ratios) * c.batch
	each := func(d time.Duration) time.Duration { return (d / time.Duration(runs)).Round(100 * time.Microsecond) }
	say("  processor time, server included: %v a run (the server %v), %s %v (%v): ratio %.3f\n", each(ours.cpu), each(ours.server),
		label, each(theirs.cpu), each(theirs.server), theirs.cpu.Seconds()/ours.cpu.Seconds())
	say("  calls to the server: %.1f a run, %s %.1f\n", ours.calls.each(runs), label, theirs.calls.each(runs))
	say("  history events: %d, of them %d of workflow tasks; %s %d and %d (%s)\n",
		ours.events.all, ours.events.tasks, label, theirs.events.all, theirs.events.tasks, c.events)
	if c.permits != "" {
		say("  events of the semaphore to a permit: %.2f, %s %.2f (%s)\n", ours.permits.each(runs), label,
			theirs.permits.each(runs), c.permits)
	}
	if b.calls {
		ours.calls.print(c.ours.label, runs)
		ours.permits.print(c.ours.label, runs)
		theirs.calls.print(label, runs)
		theirs.permits.print(label, runs)
	}
	say("\n")
}

// measure runs one batch to its end, and gives how long the last took to end.
func (b *bench) measure(ctx context.Context, c contest, s side) (time.Duration, error) {
	began := time.Now()
	ends := make([]time.Time, c.batch)
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(c.width)
	for i := range c.batch {
		b.started++
		id := fmt.Sprintf("bench-%s-%d", s.workflow, b.started)
		group.Go(func() (err error) {
			ends[i], err = b.one(ctx, c, s, id)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return 0, err
	}
	return slices.MaxFunc(ends, time.Time.Compare).Sub(began), nil
}

// untold is how long after its start a run may have ended without this process being
// told: a server now and then forgets who waits for the end of a run, and is asked again
// after 20 or 65 seconds.
const untold = 5 * time.Second

// one runs one workflow, checks its result, and gives when it ended.
func (b *bench) one(ctx context.Context, c contest, s side, id string) (ended time.Time, err error) {
	began := time.Now()
	run, err := b.client.ExecuteWorkflow(ctx, client.StartWorkflowOptions{ID: id, TaskQueue: s.queue}, s.workflow, input{Count: 1})
	if err != nil {
		return ended, err
	}
	var result json.RawMessage
	if err := run.Get(ctx, &result); err != nil {
		return ended, err
	}
	if string(result) != c.want {
		return ended, fmt.Errorf("%s gave %s, not %s", id, result, c.want)
	}
	if ended = time.Now(); ended.Sub(began) < untold {
		return ended, nil
	}
	described, err := b.client.DescribeWorkflow(ctx, id, "")
	if err != nil {
		return ended, err
	}
	return *described.WorkflowCloseTime, nil
}
