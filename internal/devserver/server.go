package devserver

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os/exec"
	"strconv"
	"syscall"
	"time"

	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/log"
)

const (
	// startAttempts bounds how often a server is started anew: another process may
	// take a port between the moment it was found free and the moment it is bound.
	startAttempts = 3
	// readyWithin is how long a server may take until it answers; seen are one to
	// five seconds, more on a loaded machine.
	readyWithin = time.Minute
	// stopWithin is how long a server may take to end in good order.
	stopWithin = 5 * time.Second
)

// Server is a running development server. Its methods may be called from several
// goroutines.
type Server struct {
	binary  string
	address string
	ui      string
	process *process
}

// PID is the process id of the server.
func (s *Server) PID() int { return s.process.cmd.Process.Pid }

// Start starts a server and returns when it answers. The context bounds the
// start only; the server lives until [Server.Stop]. It returns [ErrNoBinary] when
// there is nothing to start, and an error with the end of the server's log when
// the server ends by itself.
func Start(ctx context.Context, opts Options) (*Server, error) {
	binary, err := Binary()
	if err != nil {
		return nil, err
	}
	for attempt := 1; ; attempt++ {
		server, err := startOnce(ctx, binary, opts)
		if err == nil {
			return server, nil
		}
		if attempt == startAttempts || ctx.Err() != nil {
			return nil, fmt.Errorf("devserver: %s server start-dev: %w", binary, err)
		}
	}
}

func startOnce(ctx context.Context, binary string, opts Options) (*Server, error) {
	port, uiPort, err := opts.ports()
	if err != nil {
		return nil, err
	}
	proc, err := startProcess(binary, opts.args(port, uiPort), opts.Log)
	if err != nil {
		return nil, err
	}
	server := &Server{binary: binary, address: net.JoinHostPort("127.0.0.1", strconv.Itoa(port)), process: proc}
	if opts.UI {
		server.ui = "http://" + net.JoinHostPort("127.0.0.1", strconv.Itoa(uiPort))
	}
	if err := server.awaitReady(ctx, append([]string{DefaultNamespace}, opts.Namespaces...)); err != nil {
		return nil, errors.Join(err, server.Kill())
	}
	return server, nil
}

// Address is the host and port of the frontend.
func (s *Server) Address() string { return s.address }

// UI is the address of the web UI; empty when the server has none.
func (s *Server) UI() string { return s.ui }

// Stop ends the server, by force if it takes more than a few seconds. Stopping
// twice is harmless.
func (s *Server) Stop() error { return s.process.stop(syscall.SIGTERM, stopWithin) }

// Kill ends the server at once, as a power cut would. With Options.Database set
// a new server on the same file goes on from there.
func (s *Server) Kill() error { return s.process.stop(syscall.SIGKILL, stopWithin) }

// CLI runs the temporal command line against the server, as a user would type it
// after `temporal`, and returns what it printed. The caller's own Temporal
// settings do not reach it. An error holds what went to standard error.
func (s *Server) CLI(ctx context.Context, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, s.binary, args...)
	cmd.Env = s.Environment()
	out, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return out, fmt.Errorf("devserver: temporal %q: %w: %s", args, err, exit.Stderr)
	}
	if err != nil {
		return out, fmt.Errorf("devserver: temporal %q: %w", args, err)
	}
	return out, nil
}

// awaitReady returns when the server answers for each of the namespaces.
func (s *Server) awaitReady(ctx context.Context, namespaces []string) error {
	ctx, cancel := context.WithTimeout(ctx, readyWithin)
	defer cancel()

	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		err := s.probe(ctx, namespaces)
		if err == nil {
			return nil
		}
		select {
		case <-s.process.ended:
			return fmt.Errorf("the server ended by itself: %s", s.process.lastWords())
		case <-ctx.Done():
			return fmt.Errorf("no answer: %w: %w: %s", ctx.Err(), err, s.process.lastWords())
		case <-tick.C:
		}
	}
}

func (s *Server) probe(ctx context.Context, namespaces []string) error {
	quiet := log.NewStructuredLogger(slog.New(slog.DiscardHandler)) // failed dials are expected
	for _, namespace := range namespaces {
		c, err := client.DialContext(ctx, client.Options{HostPort: s.address, Namespace: namespace, Logger: quiet})
		if err != nil {
			return err
		}
		_, err = c.CountWorkflow(ctx, &workflowservice.CountWorkflowExecutionsRequest{Namespace: namespace})
		c.Close()
		if err != nil {
			return err
		}
	}
	return nil
}
