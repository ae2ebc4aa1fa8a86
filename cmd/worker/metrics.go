package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	prom "github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/uber-go/tally/v4"
	"github.com/uber-go/tally/v4/prometheus"
	"go.temporal.io/sdk/client"
	sdktally "go.temporal.io/sdk/contrib/tally"
	"go.uber.org/fx"
)

// flushEvery is how often counted metrics become visible.
const flushEvery = time.Second

// headerWithin is how long a scraper may take to say what it wants.
const headerWithin = 5 * time.Second

// newMetrics hands the SDK's metrics to a Prometheus endpoint at metrics.listen,
// under /metrics. Without an address metrics are dropped.
func newMetrics(lifecycle fx.Lifecycle, c config, logger *slog.Logger) client.MetricsHandler {
	if c.metricsListen == "" {
		return client.MetricsNopHandler
	}
	registry := prom.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	reporter := prometheus.NewReporter(prometheus.Options{
		Registerer: registry, Gatherer: registry, DefaultTimerType: prometheus.HistogramTimerType,
		OnRegisterError: func(err error) { logger.Warn("a metric cannot be exported", "error", err) },
	})
	scope, closer := tally.NewRootScope(tally.ScopeOptions{
		CachedReporter: reporter, Separator: prometheus.DefaultSeparator,
		SanitizeOptions: &sdktally.PrometheusSanitizeOptions,
	}, flushEvery)
	mux := http.NewServeMux()
	mux.Handle("/metrics", reporter.HTTPHandler())
	server := &http.Server{Handler: mux, ReadHeaderTimeout: headerWithin}
	lifecycle.Append(fx.StartStopHook(
		func(ctx context.Context) error { return listen(ctx, server, c.metricsListen, logger) },
		func(ctx context.Context) error { return errors.Join(server.Shutdown(ctx), closer.Close()) },
	))
	return sdktally.NewMetricsHandler(sdktally.NewPrometheusNamingScope(scope))
}

// listen begins to serve metrics. That the address is taken is told at once.
func listen(ctx context.Context, server *http.Server, address string, logger *slog.Logger) error {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return fmt.Errorf("metrics.listen: %w", err)
	}
	logger.Info("metrics are served", "address", listener.Addr().String(), "path", "/metrics")
	go func() {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			logger.Error("metrics are no longer served", "error", err)
		}
	}()
	return nil
}
