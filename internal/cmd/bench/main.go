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
	server, err := devserver.Start(ctx, devserver.Options{Dynamic: dispatch()})
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
	end, err := profile(s.profile)
	if err != nil {
		return err
	}
	defer end()
	for _, item := range chosen {
		if err := item.run(ctx, b); err != nil {
			return fmt.Errorf("%s: %w", item.name, err)
		}
	}
	return nil
}

// dispatch lets the server hand out tasks without a wait of its own, to all rivals
// alike. A development server has one shard for all runs, and looks for the tasks of a
// shard 20 times a second; on a cluster with hundreds of shards few runs ever meet that
// bound, and here it would be half of what a task takes. And what continues as new or is
// started again within a second waits for the rest of it, which long runs meet only here,
// where a server answers at once.
func dispatch() map[string]string {
	return map[string]string{
		"history.transferProcessorMaxPollRPS":    "10000",
		"history.workflowIdReuseMinimalInterval": `"1ms"`,
	}
}

// say prints a line of figures.
func say(format string, args ...any) { _, _ = fmt.Fprintf(os.Stdout, format, args...) }
