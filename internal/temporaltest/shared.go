package temporaltest

import (
	"fmt"
	"os"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill/internal/devserver"
)

// Shared is the one server of a test package. Its server starts when the first
// test asks for it, so that running only unit tests costs nothing.
type Shared struct {
	opts devserver.Options

	mu      sync.Mutex
	running bool // Main is at work, so somebody will stop the server
	server  *Server
	err     error
}

// NewShared returns a Shared whose server will have these options.
func NewShared(opts devserver.Options) *Shared { return &Shared{opts: opts} }

// Main runs the tests, audits every history they left on the server, and stops it;
// TestMain hands its result to os.Exit. A history with a workflow task that holds too
// much fails the run, see [Audit], and so does a server that does not stop.
func (s *Shared) Main(m *testing.M) int {
	s.setRunning(true)
	code := m.Run()
	s.setRunning(false)

	s.mu.Lock()
	defer s.mu.Unlock()
	if s.server == nil {
		return code
	}
	if err := s.server.end(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return max(code, 1)
	}
	return code
}

// Server returns the shared server, starting it if this is the first call. When
// it cannot start, the test fails with the reason.
func (s *Shared) Server(tb testing.TB) *Server {
	tb.Helper()
	server, err := s.get()
	require.NoError(tb, err)
	return server
}

func (s *Shared) get() (*Server, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.running {
		return nil, fmt.Errorf("temporaltest: the shared server has nobody to stop it: add `func TestMain(m *testing.M) { os.Exit(temporal.Main(m)) }`")
	}
	if s.server == nil && s.err == nil {
		s.server, s.err = start(s.opts)
	}
	return s.server, s.err
}

func (s *Shared) setRunning(running bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running = running
}
