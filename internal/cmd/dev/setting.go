package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"slices"
	"strconv"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/log"

	"github.com/tidemill/tidemill"
	"github.com/tidemill/tidemill/examples"
	"github.com/tidemill/tidemill/examples/admission"
	"github.com/tidemill/tidemill/examples/features"
	"github.com/tidemill/tidemill/examples/order-review/orders"
	"github.com/tidemill/tidemill/internal/devserver"
)

// setting is what runs while dev does.
type setting struct {
	server *devserver.Server
	undo   []func() error // in the order things were started
}

// start starts the services, the server and the worker.
func (s *setting) start(ctx context.Context, p ports) error {
	if err := errors.Join(free(p.frontend, "-port"), free(p.ui, "-ui-port")); err != nil {
		return err
	}
	shop, err := orders.Listen(p.shop)
	if err != nil {
		return fmt.Errorf("%w: stop what listens there, or choose another address with -orders", err)
	}
	s.undo = append(s.undo, shop.Close)
	geocoder, err := admission.Listen(p.geocoder)
	if err != nil {
		return fmt.Errorf("%w: stop what listens there, or choose another address with -geocoder", err)
	}
	s.undo = append(s.undo, geocoder.Close)
	s.server, err = devserver.Start(ctx, devserver.Options{Port: p.frontend, UI: true, UIPort: p.ui})
	if err != nil {
		return err
	}
	s.undo = append(s.undo, s.server.Stop)
	return s.work(ctx, p)
}

// work starts a worker with the graphs of all examples, which also takes documents
// that a run brings along.
func (s *setting) work(ctx context.Context, p ports) error {
	logger := log.NewStructuredLogger(slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})))
	c, err := client.DialContext(ctx, client.Options{HostPort: s.server.Address(), Namespace: devserver.DefaultNamespace, Logger: logger})
	if err != nil {
		return err
	}
	s.undo = append(s.undo, func() error { c.Close(); return nil })
	w, err := tidemill.NewWorker(ctx, c, examples.NewApp(p.shop, p.geocoder), tidemill.WorkerOptions{
		HTTP:        tidemill.HTTPOptions{Hosts: []string{p.shop, "localhost", "127.0.0.1"}, Private: true},
		Secrets:     tidemill.EnvSecrets(features.SecretName),
		InlineSpecs: true,
		Admission:   admission.Options(), // nothing but the graph geocode needs a permit
	})
	if err != nil {
		return err
	}
	if err := w.Start(); err != nil {
		return err
	}
	s.undo = append(s.undo, func() error { w.Stop(); return nil })
	return nil
}

// stop ends everything, the last started first.
func (s *setting) stop() error {
	var errs []error
	for _, undo := range slices.Backward(s.undo) {
		errs = append(errs, undo())
	}
	return errors.Join(errs...)
}

// free returns an error when something listens on the port already: the server's
// own message would not say what to do.
func free(port int, flag string) error {
	const most = 1<<16 - 1
	if port < 0 || port > most {
		return fmt.Errorf("%s is %d; a port lies between 1 and %d", flag, port, most)
	}
	listener, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return fmt.Errorf("port %d is taken: stop what listens there, or choose another with %s", port, flag)
	}
	return listener.Close()
}

// invitation says where things are and what to try.
func (s *setting) invitation(p ports) string {
	temporal := "temporal"
	if _, err := exec.LookPath(temporal); err != nil {
		temporal = "bin/temporal" // where make puts it
	}
	address := ""
	if p.frontend != 7233 {
		address = " --address " + s.server.Address()
	}
	return fmt.Sprintf(`
  UI       %[1]s/namespaces/default/workflows
  server   %[2]s, task queue %[3]s
  shop     http://%[4]s/calls counts what runs ask of it
  graphs   order-review, with the orders 3 (small), 7 and 9 (large), broken, and any unknown one;
           order-approval, research, nightly-batch, geocode, and one for each feature: docs/examples.md shows them

Try, in another terminal:

  %[5]s workflow start%[6]s --type order-review --task-queue %[3]s --workflow-id order-7 --input '{"order":"7"}'
  %[5]s workflow signal%[6]s --workflow-id order-7 --name resume --input '{"approved":true}'
  %[5]s workflow result%[6]s --workflow-id order-7

Ctrl-C stops everything.`, s.server.UI(), s.server.Address(), tidemill.DefaultTaskQueue, p.shop, temporal, address)
}
