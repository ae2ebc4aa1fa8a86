// Command bench compares Tidemill with the same work written by hand, in one
// run on one server, and prints ratios. Absolute times depend on the machine;
// a ratio of medians of interleaved pairs does not.
//
//	go run ./internal/cmd/bench
//	go run ./internal/cmd/bench -only admission
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"

	"go.temporal.io/sdk/client"

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

// settings are what the flags say.
type settings struct {
	pairs, batch, width int
	only, profile       string
	calls               bool
}

func run(ctx context.Context) error {
	var s settings
	flag.IntVar(&s.pairs, "pairs", 11, "interleaved pairs of batches; at least 9 for a figure to quote")
	flag.IntVar(&s.batch, "batch", 60, "runs in a batch")
	flag.IntVar(&s.width, "width", 10, "runs under way at once, where a contest does not say itself")
	flag.StringVar(&s.only, "only", "", "contests whose names begin with one of these words, joined by commas; empty: all")
	flag.StringVar(&s.profile, "profile", "", "file that takes a processor profile of this process, workers included")
	flag.BoolVar(&s.calls, "calls", false, "print which calls to the server the runs make")
	flag.Parse()

	chosen, err := choose(programme(s), s.only)
	if err != nil {
		return err
	}
	end, err := profile(s.profile)
	if err != nil {
		return err
	}
	defer end()
	for _, quick := range []bool{false, true} {
		if err := s.runOn(ctx, quick, chosen); err != nil {
			return err
		}
	}
	return nil
}

// runOn runs those of the items that are for a quick server, or for one as it is
// delivered, on such a server.
func (s settings) runOn(ctx context.Context, quick bool, items []item) error {
	items = slices.DeleteFunc(slices.Clone(items), func(i item) bool { return i.quick != quick })
	if len(items) == 0 {
		return nil
	}
	server, err := devserver.Start(ctx, devserver.Options{Dynamic: dispatch(quick)})
	if err != nil {
		return err
	}
	defer func() { _ = server.Stop() }()
	tally := new(tally)
	c, err := client.DialContext(ctx, client.Options{HostPort: server.Address(), Logger: quiet{}, ConnectionOptions: tally.options()})
	if err != nil {
		return err
	}
	defer c.Close()
	b := newBench(c, server.PID(), tally, s.calls)
	defer b.stop()
	for _, item := range items {
		if err := item.run(ctx, b); err != nil {
			return fmt.Errorf("%s: %w", item.name, err)
		}
	}
	return nil
}

// dispatch is how the server hands out tasks, to all rivals alike. A development server
// has one shard for all runs, and looks for the tasks of a shard 20 times a second; on a
// cluster with hundreds of shards few runs ever meet that bound, and here it would be
// half of what a task takes.
//
// A quick server has no wait of its own at all: each queue has one partition, which
// the pollers of one worker are always at, and what continues as new within a second
// does not wait for the rest of it. That suits what is measured in hand-overs, and lives
// so long that their steps are compared with each other. The others are compared on a
// server as it is delivered, which waits now and then and leaves processor time over.
func dispatch(quick bool) map[string]string {
	config := map[string]string{
		"history.transferProcessorMaxPollRPS":  "10000",
		"matching.numTaskqueueReadPartitions":  "4",
		"matching.numTaskqueueWritePartitions": "4",
	}
	if quick {
		config["matching.numTaskqueueReadPartitions"] = "1"
		config["matching.numTaskqueueWritePartitions"] = "1"
		config["history.workflowIdReuseMinimalInterval"] = `"1ms"`
	}
	return config
}

// say prints a line of figures.
func say(format string, args ...any) { _, _ = fmt.Fprintf(os.Stdout, format, args...) }
