// Command soak runs many graphs while their workers are killed and the server is
// restarted, and says whether all that is promised held: every run ends as an
// undisturbed one does, nothing that was committed runs again, and every history can be
// replayed and keeps its workflow tasks short.
//
//	go run ./internal/cmd/soak
//	go run ./internal/cmd/soak -runs 50 -kill-every 5s -restart=false
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"time"
)

func main() {
	if setup := os.Getenv(workerVariable); setup != "" {
		if err := man(setup); err != nil {
			fmt.Fprintln(os.Stderr, "soak: worker:", err)
			os.Exit(1)
		}
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "soak:", err)
		os.Exit(1)
	}
}

// settings are what the flags say.
type settings struct {
	runs, workers, kills int
	killEvery, within    time.Duration
	work                 time.Duration
	restart              bool
	seed                 uint64
}

func run(ctx context.Context, arguments []string) error {
	var s settings
	flags := flag.NewFlagSet("soak", flag.ContinueOnError)
	flags.IntVar(&s.runs, "runs", 300, "runs under fire")
	flags.IntVar(&s.workers, "workers", 3, "worker processes")
	flags.DurationVar(&s.killEvery, "kill-every", 2*time.Second, "a worker is killed, and another one started, so often")
	flags.IntVar(&s.kills, "kills", 0, "no more workers than so many are killed; 0: as many as it takes")
	flags.BoolVar(&s.restart, "restart", true, "the server is killed and started again once, when half of the runs have ended")
	flags.DurationVar(&s.work, "work", time.Second, "how long a piece of work takes")
	flags.DurationVar(&s.within, "within", 20*time.Minute, "all runs must have ended by then")
	flags.Uint64Var(&s.seed, "seed", uint64(os.Getpid()), "decides who is killed") //nolint:gosec // never negative
	if err := flags.Parse(arguments); err != nil {
		return err
	}
	result, err := soak(ctx, s)
	if err != nil {
		return err
	}
	result.print(os.Stdout)
	return result.err()
}
