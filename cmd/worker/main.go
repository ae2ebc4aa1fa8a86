// Command worker runs the graphs of a directory on a Temporal task queue, with
// the built-in actions. A team with actions of its own builds its own program
// from package tidemill instead; docs/worker.md shows it.
//
//	worker --config worker.yaml
//
// Where the server is comes from TEMPORAL_* and temporal.toml, as with the
// temporal command line. The worker logs to standard error and stops in good
// order on SIGTERM and SIGINT. Exit codes: 0 stopped as asked, 1 failed,
// 2 wrong configuration or graphs, 6 server unreachable.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"go.temporal.io/sdk/contrib/envconfig"
	"go.uber.org/fx"

	"github.com/tidemill/tidemill"
)

// The exit codes.
const (
	exitStopped     = 0
	exitFailed      = 1
	exitUsage       = 2
	exitUnreachable = 6
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stderr)
	stop()
	os.Exit(code)
}

// run is the whole program. It returns the exit code.
func run(ctx context.Context, args []string, errs io.Writer) int {
	flags := flag.NewFlagSet("worker", flag.ContinueOnError)
	flags.SetOutput(errs)
	path := flags.String("config", "worker.yaml", "the worker's configuration")
	level := slog.LevelInfo
	flags.TextVar(&level, "log-level", level, "debug, info, warn or error")
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return exitStopped
	case err != nil:
		return exitUsage
	case flags.NArg() > 0:
		_, _ = fmt.Fprintf(errs, "worker: %q is not a flag; the worker takes --config FILE\n", flags.Arg(0))
		return exitUsage
	}
	c, team, err := load(*path)
	settings, settingsErr := envconfig.LoadDefaultClientOptions()
	if settingsErr != nil {
		settingsErr = fmt.Errorf("worker: the Temporal settings (TEMPORAL_*, temporal.toml) cannot be used: %w", settingsErr)
	}
	if err := errors.Join(err, settingsErr); err != nil {
		_, _ = fmt.Fprintln(errs, err)
		return exitUsage
	}
	logger := slog.New(slog.NewJSONHandler(errs, &slog.HandlerOptions{Level: level}))
	return serve(ctx, logger, app(c, team, settings, logger))
}

// load reads the configuration and the graphs that it names, and reports
// everything that is wrong with either.
func load(path string) (config, *tidemill.App, error) {
	c, err := readConfig(path)
	team := tidemill.NewApp()
	team.AddGraphs(c.graphs...)
	return c, team, errors.Join(err, team.Validate())
}

// serve runs the process until it is told to stop or fails.
func serve(ctx context.Context, logger *slog.Logger, options fx.Option) int {
	process := fx.New(options)
	starting, cancel := context.WithTimeout(ctx, process.StartTimeout())
	defer cancel()
	if err := process.Start(starting); err != nil {
		if ctx.Err() != nil {
			return exitStopped
		}
		logger.Error("the worker did not start", "error", err)
		if tidemill.ErrorType(err) == tidemill.ErrTypeUnreachable {
			return exitUnreachable
		}
		return exitFailed
	}
	code := exitStopped
	select {
	case <-ctx.Done():
	case how := <-process.Wait():
		code = how.ExitCode
	}
	logger.Info("the worker is stopping")
	stopping, cancelStop := context.WithTimeout(context.WithoutCancel(ctx), process.StopTimeout())
	defer cancelStop()
	if err := process.Stop(stopping); err != nil {
		logger.Error("the worker did not stop in good order", "error", err)
		return exitFailed
	}
	logger.Info("the worker has stopped")
	return code
}
