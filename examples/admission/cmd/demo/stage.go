package main

import (
	"context"
	"errors"
	"log/slog"
	"slices"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/log"

	"github.com/tidemill/tidemill"
	"github.com/tidemill/tidemill/examples/admission"
	"github.com/tidemill/tidemill/internal/devserver"
)

// stage is a server and the service, both on ports of their own.
type stage struct {
	api      *admission.API
	temporal client.Client
	runs     *tidemill.Client
	undo     []func() error // in the order things were set up
}

// raise sets the stage up.
func raise(ctx context.Context) (s *stage, err error) {
	s = &stage{}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.strike())
		}
	}()
	if s.api, err = admission.Listen("127.0.0.1:0"); err != nil {
		return s, err
	}
	s.undo = append(s.undo, s.api.Close)
	server, err := devserver.Start(ctx, devserver.Options{})
	if err != nil {
		return s, err
	}
	s.undo = append(s.undo, server.Stop)
	quiet := log.NewStructuredLogger(slog.New(slog.DiscardHandler)) // what matters is told here
	s.temporal, err = client.DialContext(ctx, client.Options{HostPort: server.Address(), Namespace: devserver.DefaultNamespace, Logger: quiet})
	if err != nil {
		return s, err
	}
	s.undo = append(s.undo, func() error { s.temporal.Close(); return nil })
	s.runs = tidemill.NewClient(s.temporal, tidemill.ClientOptions{})
	return s, nil
}

// work starts a worker, which is stopped by what it returns.
func (s *stage) work(ctx context.Context, options *tidemill.AdmissionOptions) (stop func(), err error) {
	w, err := tidemill.NewWorker(ctx, s.temporal, admission.NewApp(s.api.Address()), tidemill.WorkerOptions{Admission: options})
	if err != nil {
		return nil, err
	}
	if err := w.Start(); err != nil {
		return nil, err
	}
	return w.Stop, nil
}

// strike takes everything down again, the last thing first.
func (s *stage) strike() error {
	var errs []error
	for _, undo := range slices.Backward(s.undo) {
		errs = append(errs, undo())
	}
	return errors.Join(errs...)
}
