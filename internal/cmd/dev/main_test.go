package main

import (
	"bytes"
	"context"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill/internal/temporaltest"
)

// screen is what dev writes to while the test reads it.
type screen struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

func (s *screen) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// listen takes a port until the test ends.
func listen(t *testing.T) net.Listener {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	return listener
}

func TestDevRunsUntilItIsStopped(t *testing.T) {
	t.Parallel()
	shop := listen(t)
	require.NoError(t, shop.Close())
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var out screen
	ended := make(chan error, 1)
	go func() { ended <- run(ctx, ports{shop: shop.Addr().String(), geocoder: "127.0.0.1:0"}, &out) }()

	temporaltest.Wait(t, time.Minute, "the invitation", func() bool {
		select {
		case err := <-ended:
			require.FailNow(t, "dev ended by itself", "%v", err)
		default:
		}
		return strings.Contains(out.String(), "Ctrl-C")
	})
	for _, want := range []string{"http://127.0.0.1:", "workflow start --address 127.0.0.1:", "--type order-review", "--name resume"} {
		require.Contains(t, out.String(), want)
	}
	stop()
	require.NoError(t, <-ended)
	_, err := net.Dial("tcp", shop.Addr().String())
	require.Error(t, err, "the shop outlives dev")
}

// The server's own words about a port that is taken do not say what to do.
func TestTakenPortsAreNamed(t *testing.T) {
	t.Parallel()
	taken := listen(t).Addr().(*net.TCPAddr)
	for flag, p := range map[string]ports{
		"-port":     {frontend: taken.Port, shop: "127.0.0.1:0", geocoder: "127.0.0.1:0"},
		"-ui-port":  {ui: taken.Port, shop: "127.0.0.1:0", geocoder: "127.0.0.1:0"},
		"-orders":   {shop: taken.String(), geocoder: "127.0.0.1:0"},
		"-geocoder": {shop: "127.0.0.1:0", geocoder: taken.String()},
	} {
		require.ErrorContains(t, run(t.Context(), p, &screen{}), flag)
	}
}

// What is no port is not a port that is taken.
func TestPortsHaveARange(t *testing.T) {
	t.Parallel()
	for _, port := range []int{-5, 99999} {
		require.ErrorContains(t, free(port, "-port"), "a port lies between 1 and 65535")
	}
}
