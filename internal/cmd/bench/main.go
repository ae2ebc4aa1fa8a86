// Command bench compares Tidemill with the same work written by hand, in one
// run on one server, and prints ratios. Absolute times depend on the machine;
// a ratio of medians of interleaved pairs does not.
//
//	go run ./internal/cmd/bench
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"
	"golang.org/x/sync/errgroup"

	"github.com/tidemill/tidemill/internal/devserver"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	pairs := flag.Int("pairs", 11, "interleaved pairs of batches; at least 9 for a figure to quote")
	batch := flag.Int("batch", 60, "runs in a batch")
	width := flag.Int("width", 10, "runs under way at once")
	flag.Parse()

	server, err := devserver.Start(ctx, devserver.Options{})
	if err != nil {
		return err
	}
	defer func() { _ = server.Stop() }()
	c, err := client.DialContext(ctx, client.Options{HostPort: server.Address(), Logger: quiet{}})
	if err != nil {
		return err
	}
	defer c.Close()
	w, err := startWorker(c)
	if err != nil {
		return err
	}
	defer w.Stop()

	b := bench{client: c, server: server.PID(), width: *width}
	for _, contest := range []contest{linear(*batch), local(*batch), fork(max(*batch/forkLength, 4)), mapping(max(*batch/mapLength, 1))} {
		if err := b.compare(ctx, contest, *pairs); err != nil {
			return err
		}
	}
	return nil
}

// say prints a line of figures.
func say(format string, args ...any) { _, _ = fmt.Fprintf(os.Stdout, format, args...) }

// contest is one graph and the same work written by hand.
type contest struct {
	title       string
	graph, hand string // workflow types
	batch       int    // runs in a batch
	want        string // the result of both, as JSON
	ratio       float64
	events      string // what is wanted of them
	below       string // what the workflow id of the graph's own child ends with; empty: it has none
}

// bench runs batches of workflows.
type bench struct {
	client  client.Client
	server  int // process id
	width   int
	started int
}

// compare measures interleaved pairs of batches and prints the ratios.
func (b *bench) compare(ctx context.Context, c contest, pairs int) error {
	for _, name := range []string{c.graph, c.hand} { // warm caches and pollers
		if _, err := b.measure(ctx, c, name); err != nil {
			return err
		}
	}
	ratios := make([]float64, 0, pairs)
	cpu := map[string]time.Duration{}
	for i := range pairs {
		order := []string{c.graph, c.hand}
		if i%2 == 1 {
			slices.Reverse(order)
		}
		took := map[string]time.Duration{}
		for _, name := range order {
			before := cpuTime(b.server)
			d, err := b.measure(ctx, c, name)
			if err != nil {
				return err
			}
			took[name] = d
			cpu[name] += cpuTime(b.server) - before
		}
		ratio := took[c.hand].Seconds() / took[c.graph].Seconds()
		ratios = append(ratios, ratio)
		say("pair %2d: graph %7.1f runs/s, by hand %7.1f runs/s, ratio %.3f\n",
			i+1, c.rate(took[c.graph]), c.rate(took[c.hand]), ratio)
	}
	slices.Sort(ratios)
	events, err := b.events(ctx, c, c.graph, c.below)
	if err != nil {
		return err
	}
	byHand, err := b.events(ctx, c, c.hand, "")
	if err != nil {
		return err
	}
	say("\n%s\n", c.title)
	say("  throughput to hand-written: median %.3f (%d pairs, %.3f to %.3f; at least %.2f is wanted)\n",
		ratios[len(ratios)/2], pairs, ratios[0], ratios[len(ratios)-1], c.ratio)
	runs := time.Duration(pairs * c.batch)
	say("  processor time, server included: %v a run, by hand %v: ratio %.3f\n", cpu[c.graph]/runs, cpu[c.hand]/runs,
		cpu[c.hand].Seconds()/cpu[c.graph].Seconds())
	say("  history events: %d, of them %d of workflow tasks; by hand %d and %d (%s)\n\n",
		events.all, events.tasks, byHand.all, byHand.tasks, c.events)
	return nil
}

func (c contest) rate(d time.Duration) float64 { return float64(c.batch) / d.Seconds() }

// measure runs one batch to its end.
func (b *bench) measure(ctx context.Context, c contest, name string) (time.Duration, error) {
	began := time.Now()
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(b.width)
	for range c.batch {
		b.started++
		id := fmt.Sprintf("bench-%s-%d", name, b.started)
		group.Go(func() error { return b.one(ctx, c, name, id) })
	}
	err := group.Wait()
	return time.Since(began), err
}

// one runs one workflow and checks its result.
func (b *bench) one(ctx context.Context, c contest, name, id string) error {
	run, err := b.client.ExecuteWorkflow(ctx, client.StartWorkflowOptions{ID: id, TaskQueue: queue}, name, input{Count: 1})
	if err != nil {
		return err
	}
	var result json.RawMessage
	if err := run.Get(ctx, &result); err != nil {
		return err
	}
	if string(result) != c.want {
		return fmt.Errorf("%s gave %s, not %s", id, result, c.want)
	}
	return nil
}

// history counts the events of a run.
type history struct{ all, tasks int }

// events counts the histories of one more run and of its child, when it has one.
func (b *bench) events(ctx context.Context, c contest, name, below string) (history, error) {
	id := "bench-events-" + name
	if err := b.one(ctx, c, name, id); err != nil {
		return history{}, err
	}
	var h history
	err := b.count(ctx, &h, id)
	if below != "" && err == nil {
		err = b.count(ctx, &h, id+below)
	}
	return h, err
}

func (b *bench) count(ctx context.Context, h *history, id string) error {
	iterator := b.client.GetWorkflowHistory(ctx, id, "", false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for iterator.HasNext() {
		event, err := iterator.Next()
		if err != nil {
			return err
		}
		h.all++
		switch event.GetEventType() { //nolint:exhaustive // the others are not of workflow tasks
		case enumspb.EVENT_TYPE_WORKFLOW_TASK_SCHEDULED, enumspb.EVENT_TYPE_WORKFLOW_TASK_STARTED,
			enumspb.EVENT_TYPE_WORKFLOW_TASK_COMPLETED, enumspb.EVENT_TYPE_WORKFLOW_TASK_FAILED,
			enumspb.EVENT_TYPE_WORKFLOW_TASK_TIMED_OUT:
			h.tasks++
		default:
		}
	}
	return nil
}
