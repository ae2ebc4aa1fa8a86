package main

import (
	"context"
	"errors"
	"log/slog"
	"slices"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/log"

	"github.com/tidemill/tidemill"
	orderreview "github.com/tidemill/tidemill/examples/order-review"
	"github.com/tidemill/tidemill/examples/order-review/orders"
	"github.com/tidemill/tidemill/internal/devserver"
)

// stage is what the story needs around it: a server, the shop and a worker, all
// on ports of their own.
type stage struct {
	server *devserver.Server
	shop   *orders.Server
	client *tidemill.Client
	undo   []func() error // in the order things were set up
}

// raise sets the stage up.
func raise(ctx context.Context) (s *stage, err error) {
	s = &stage{}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.strike())
		}
	}()
	if s.shop, err = orders.Listen("127.0.0.1:0"); err != nil {
		return s, err
	}
	s.undo = append(s.undo, s.shop.Close)
	if s.server, err = devserver.Start(ctx, devserver.Options{}); err != nil {
		return s, err
	}
	s.undo = append(s.undo, s.server.Stop)
	return s, s.work(ctx)
}

// work connects a client and starts a worker.
func (s *stage) work(ctx context.Context) error {
	quiet := log.NewStructuredLogger(slog.New(slog.DiscardHandler)) // the story is told here
	c, err := client.DialContext(ctx, client.Options{HostPort: s.server.Address(), Namespace: devserver.DefaultNamespace, Logger: quiet})
	if err != nil {
		return err
	}
	s.undo = append(s.undo, func() error { c.Close(); return nil })
	s.client = tidemill.NewClient(c, tidemill.ClientOptions{})

	address := s.shop.Address()
	w, err := tidemill.NewWorker(ctx, c, orderreview.NewApp(address), tidemill.WorkerOptions{
		HTTP: tidemill.HTTPOptions{Hosts: []string{address}, Private: true},
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

// strike takes everything down again, the last thing first.
func (s *stage) strike() error {
	var errs []error
	for _, undo := range slices.Backward(s.undo) {
		errs = append(errs, undo())
	}
	return errors.Join(errs...)
}
