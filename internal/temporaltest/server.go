package temporaltest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"
	sdklog "go.temporal.io/sdk/log"
	"go.temporal.io/sdk/worker"

	"github.com/tidemill/tidemill/internal/devserver"
)

// stopWithin is how long the workers of [Server.Worker] wait for their
// activities; tests that look at a graceful stop set their own.
const stopWithin = 2 * time.Second

// auditWithin is how long reading all histories of a server may take.
const auditWithin = 2 * time.Minute

// Server is a running server with what tests need around it.
type Server struct {
	*devserver.Server

	queues  atomic.Int64
	token   string   // sets this server's task queues apart in logs
	excused sync.Map // workflow ids that are not audited
	killed  atomic.Bool
}

// Start starts a server for one test, audits it and stops it when the test ends. Most
// tests share one instead; see [Shared].
func Start(tb testing.TB, opts devserver.Options) *Server {
	tb.Helper()
	server, err := start(opts)
	require.NoError(tb, err)
	tb.Cleanup(func() { require.NoError(tb, server.end()) })
	return server
}

// end audits what was left behind, and stops the server.
func (s *Server) end() error {
	if s.killed.Load() {
		return s.Stop()
	}
	ctx, cancel := context.WithTimeout(context.Background(), auditWithin)
	defer cancel()
	return errors.Join(s.Audit(ctx), s.Stop())
}

// Kill ends the server at once, as a power cut would.
func (s *Server) Kill() error {
	s.killed.Store(true)
	return s.Server.Kill()
}

func start(opts devserver.Options) (*Server, error) {
	inner, err := devserver.Start(context.Background(), opts)
	if err != nil {
		return nil, err
	}
	_, port, _ := strings.Cut(inner.Address(), ":")
	return &Server{Server: inner, token: port}, nil
}

// TaskQueue returns the name of a task queue that no other test has. It holds
// the test's name, so that a log line or the UI says whose it is.
func (s *Server) TaskQueue(tb testing.TB) string {
	tb.Helper()
	return fmt.Sprintf("%s-%s-%d", plain(tb.Name()), s.token, s.queues.Add(1))
}

// plain keeps of a test's name what can stand in an id without quoting.
func plain(name string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_':
			return r
		default:
			return '-'
		}
	}, name)
}

// Client returns a client of the server that is closed when the test ends. Each
// edit may change its options: the namespace, interceptors, a data converter.
func (s *Server) Client(tb testing.TB, edits ...func(*client.Options)) client.Client {
	tb.Helper()
	opts := client.Options{HostPort: s.Address(), Namespace: devserver.DefaultNamespace, Logger: Logger()}
	for _, edit := range edits {
		edit(&opts)
	}
	c, err := client.DialContext(tb.Context(), opts)
	require.NoError(tb, err)
	tb.Cleanup(c.Close)
	return c
}

// Worker starts a worker with what register adds to it, and stops it when the
// test ends; it returns the worker for tests that stop it sooner. An options
// value without a stop timeout gets a short one.
func (s *Server) Worker(tb testing.TB, c client.Client, queue string, opts worker.Options, register func(worker.Registry)) worker.Worker {
	tb.Helper()
	if opts.WorkerStopTimeout == 0 {
		opts.WorkerStopTimeout = stopWithin
	}
	w := worker.New(c, queue, opts)
	register(w)
	require.NoError(tb, w.Start())
	tb.Cleanup(w.Stop)
	return w
}

// LogVariable names the environment variable that turns on the SDK's log in
// tests: debug, info, warn or error.
const LogVariable = "TIDEMILL_TEST_LOG"

// Logger returns the logger of the tests' clients and workers. It is silent
// unless [LogVariable] is set: tests provoke failures, and what the SDK says
// about those would bury a test's own words.
func Logger() sdklog.Logger {
	var level slog.Level
	if err := level.UnmarshalText([]byte(os.Getenv(LogVariable))); err != nil {
		return sdklog.NewStructuredLogger(slog.New(slog.DiscardHandler))
	}
	return sdklog.NewStructuredLogger(slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: level})))
}
