// Demo floods a service that three tenants share, on a real Temporal server: once
// without admission, once with the limits of the service, and once with a part for
// each tenant. It prints what the service saw, side by side.
//
//	make demo-admission
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/tidemill/tidemill/examples/admission"
)

// patience bounds the whole; it takes about half a minute.
const patience = 5 * time.Minute

func main() {
	hog := flag.Int("hog", 120, "runs of the tenant that floods the service")
	others := flag.Int("others", 40, "runs of each of the two others")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Stdout, admission.Flood(*hog, *others)); err != nil {
		fmt.Fprintln(os.Stderr, "\ndemo:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer, loads []admission.Load) (err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	stage, err := raise(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stage.strike()) }()
	return show{stage: stage, out: out, loads: loads}.give(ctx)
}
