package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/contrib/envconfig"
	"go.temporal.io/sdk/log"

	"github.com/tidemill/tidemill"
)

// connection is where the server is. Flags win over the environment, and that
// over temporal.toml: as with the temporal command line.
type connection struct{ address, namespace, profile string }

// dialWithin is how long a server may take to answer at first.
const dialWithin = 10 * time.Second

// options are the settings of the Temporal client.
func (c connection) options(logs io.Writer) (client.Options, error) {
	options, err := envconfig.LoadClientOptions(envconfig.LoadClientOptionsRequest{ConfigFileProfile: c.profile})
	if err != nil {
		return options, usage(fmt.Sprintf("the Temporal settings cannot be used: %v; see TEMPORAL_* and temporal.toml", err), "temporal settings")
	}
	if c.address != "" {
		options.HostPort = c.address
	}
	if c.namespace != "" {
		options.Namespace = c.namespace
	}
	options.Logger = log.NewStructuredLogger(slog.New(slog.NewTextHandler(logs, &slog.HandlerOptions{Level: slog.LevelError})))
	return options, nil
}

// withRuns calls f with a client of the server, and closes it.
func (p *program) withRuns(ctx context.Context, f func(*tidemill.Client) error) error {
	options, err := p.connection.options(p.err)
	if err != nil {
		return err
	}
	dialing, cancel := context.WithTimeout(ctx, dialWithin)
	defer cancel()
	c, err := client.DialContext(dialing, options)
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		address := cmp.Or(options.HostPort, client.DefaultHostPort)
		return &tidemill.RunError{Type: tidemill.ErrTypeUnreachable, Err: err, Message: fmt.Sprintf(
			"no Temporal server answers at %s (%v); check that it runs, and --address or TEMPORAL_ADDRESS", address, reason(err))}
	}
	defer c.Close()
	return f(tidemill.NewClient(c, tidemill.ClientOptions{Namespace: cmp.Or(options.Namespace, client.DefaultNamespace)}))
}

// reason is the innermost cause of a failed dial: the rest repeats it.
func reason(err error) error {
	for inner := errors.Unwrap(err); inner != nil; inner = errors.Unwrap(err) {
		err = inner
	}
	return err
}
