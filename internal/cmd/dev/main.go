// Dev runs everything one needs to try Tidemill on one machine, until Ctrl-C: a
// Temporal server with its web UI, the services that examples call, and a worker with
// the graphs of all examples. Nothing of it outlives the program.
//
//	make dev
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

	"github.com/tidemill/tidemill/examples/admission"
	"github.com/tidemill/tidemill/examples/order-review/orders"
)

// ports are where dev listens.
type ports struct {
	frontend int    // of the server; 7233 is where every Temporal tool looks
	ui       int    // of its web UI
	shop     string // host and port
	geocoder string // host and port
}

func main() {
	var p ports
	flag.IntVar(&p.frontend, "port", 7233, "port of the Temporal server")
	flag.IntVar(&p.ui, "ui-port", 8233, "port of the web UI")
	flag.StringVar(&p.shop, "orders", orders.DefaultAddress, "host and port of the example's shop")
	flag.StringVar(&p.geocoder, "geocoder", admission.DefaultAddress, "host and port of the service that the graph geocode calls")
	flag.Parse()
	if flag.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "dev: %q is no flag; dev takes nothing else\n", flag.Arg(0))
		os.Exit(2)
	}

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, p, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "dev:", err)
		os.Exit(1)
	}
}

// run sets everything up, says what to try, and takes it down when ctx is done.
func run(ctx context.Context, p ports, out io.Writer) (err error) {
	var s setting
	defer func() { err = errors.Join(err, s.stop()) }()
	say := func(text string) { _, _ = fmt.Fprintln(out, text) }
	say("starting a Temporal server, the services of the examples and a worker …")
	if err := s.start(ctx, p); err != nil {
		if ctx.Err() != nil {
			return nil // Ctrl-C while starting
		}
		return err
	}
	say(s.invitation(p))
	<-ctx.Done()
	say("\nstopping …")
	return nil
}
