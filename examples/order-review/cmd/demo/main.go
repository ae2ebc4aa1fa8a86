// Demo tells the story of one order on a real Temporal server, unattended: a run
// is started, calls the shop over HTTP, waits for a person, is resumed with
// Temporal's own command line, and ends with a result. Each step is checked; a
// wrong value ends the program with exit code 1.
//
//	make demo
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// patience bounds the whole story; it takes about ten seconds.
const patience = 3 * time.Minute

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "\ndemo:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer) (err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	stage, err := raise(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stage.strike()) }()
	return story{stage: stage, out: out}.tell(ctx)
}
