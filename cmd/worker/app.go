package main

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/worker"
	"go.uber.org/fx"
	"go.uber.org/fx/fxevent"

	"github.com/tidemill/tidemill"
	"github.com/tidemill/tidemill/activities/permits"
)

// stopWithin is how long the process may take to stop: actions have the worker's
// grace, and are then left behind.
const stopWithin = 30 * time.Second

// app wires the process. Each constructor is a plain function.
func app(c config, team *tidemill.App, settings client.Options, logger *slog.Logger) fx.Option {
	return fx.Options(
		fx.Supply(c, team, settings, logger),
		fx.Provide(newMetrics, newClient),
		fx.Invoke(startWorker),
		fx.StopTimeout(stopWithin),
		fx.WithLogger(func() fxevent.Logger {
			events := &fxevent.SlogLogger{Logger: logger}
			events.UseLogLevel(slog.LevelDebug)
			events.UseErrorLevel(slog.LevelDebug) // main tells the error, once
			return events
		}),
	)
}

// newClient makes the client. It connects when it is first used.
func newClient(
	lifecycle fx.Lifecycle, options client.Options, logger *slog.Logger, metrics client.MetricsHandler,
) (client.Client, error) {
	options.Logger = log.NewStructuredLogger(logger)
	options.MetricsHandler = metrics
	c, err := client.NewLazyClient(options)
	if err != nil {
		return nil, err
	}
	lifecycle.Append(fx.StopHook(c.Close))
	return c, nil
}

// startWorker lets a worker run while the process does. A worker that fails ends
// the process.
func startWorker(
	lifecycle fx.Lifecycle, shutdown fx.Shutdowner, logger *slog.Logger, c client.Client, team *tidemill.App, conf config,
) {
	options := conf.options
	options.Worker.OnFatalError = fatal(shutdown, logger)
	var w worker.Worker
	lifecycle.Append(fx.StartStopHook(
		func(ctx context.Context) error {
			var err error
			if w, err = tidemill.NewWorker(ctx, c, team, options); err != nil {
				return err
			}
			if err := w.Start(); err != nil {
				return err
			}
			return announce(logger, team, options)
		},
		func() { w.Stop() },
	))
}

// fatal ends the process with an error that its supervisor sees.
func fatal(shutdown fx.Shutdowner, logger *slog.Logger) func(error) {
	return func(err error) {
		logger.Error("the worker failed", "error", err)
		if err := shutdown.Shutdown(fx.ExitCode(exitFailed)); err != nil {
			logger.Error("the process cannot be shut down", "error", err)
		}
	}
}

// announce says what the worker offers.
func announce(logger *slog.Logger, team *tidemill.App, o tidemill.WorkerOptions) error {
	warnings, err := team.Warnings()
	if err != nil {
		return errors.Join(errors.New("the graphs changed while the worker started"), err)
	}
	if o.Admission != nil {
		warnings = append(warnings, o.Admission.Warnings()...)
	}
	for _, warning := range warnings {
		logger.Warn(warning)
	}
	graphs, err := team.Graphs()
	if err != nil {
		return err
	}
	said := []any{"task_queue", o.WithDefaults().TaskQueue, "graphs", graphs, "inline_specs", o.InlineSpecs}
	logger.Info("the worker is running", append(said, admits(o.Admission)...)...)
	return nil
}

// admits says under what limits the worker's runs ask for permits, if they do.
func admits(o *tidemill.AdmissionOptions) []any {
	if o == nil {
		return nil
	}
	domains := []string{permits.DefaultDomain}
	for _, d := range o.Domains {
		domains = append(domains, d.Name)
	}
	return []any{"admission_domains", domains, "limits_version", o.Limits.Version}
}
