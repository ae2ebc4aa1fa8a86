package main

import (
	"context"
	"errors"
	"io"
	"log/slog"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/log"

	"github.com/tidemill/tidemill"
	"github.com/tidemill/tidemill/internal/devserver"
	"github.com/tidemill/tidemill/internal/trial"
)

// liveServer is the server that test cases run on: that of --address, which somebody
// has chosen for it, or else a development server that is gone afterwards. The
// environment does not choose: it may name one that people work with.
func (p *program) liveServer(ctx context.Context) (*trial.Server, func(), error) {
	options, stop := client.Options{Namespace: devserver.DefaultNamespace}, func() {}
	if p.connection.address != "" {
		var err error
		if options, err = p.connection.options(p.err); err != nil {
			return nil, nil, err
		}
	} else {
		server, err := devserver.Start(ctx, devserver.Options{})
		if err != nil {
			return nil, nil, noServer(err)
		}
		options.HostPort = server.Address()
		stop = func() { _ = server.Stop() }
	}
	options.Logger = log.NewStructuredLogger(slog.New(slog.NewTextHandler(io.Discard, nil))) // fakes fail on purpose
	dialing, cancel := context.WithTimeout(ctx, dialWithin)
	defer cancel()
	c, err := client.DialContext(dialing, options)
	if err != nil {
		stop()
		return nil, nil, &tidemill.RunError{
			Type: tidemill.ErrTypeUnreachable, Err: err,
			Message: "no Temporal server answers at " + options.HostPort + "; check --address",
		}
	}
	return trial.New(c, options.Logger), func() { c.Close(); stop() }, nil
}

// noServer says how to come by a server.
func noServer(err error) error {
	message := err.Error()
	if errors.Is(err, devserver.ErrNoBinary) {
		message = "--server starts a development server, and there is no temporal command line on PATH: install it " +
			"(https://docs.temporal.io/cli), set " + devserver.BinaryVariable + " to its path, or name a server with --address"
	}
	return &tidemill.RunError{Type: tidemill.ErrTypeUnreachable, Err: err, Message: message}
}
