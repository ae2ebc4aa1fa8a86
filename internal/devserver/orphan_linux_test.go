package devserver_test

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill/internal/devserver"
)

const orphanVariable = "TIDEMILL_TEST_ORPHAN"

// TestMain lets the test binary be the caller that dies in
// [TestServerDiesWithItsCaller].
func TestMain(m *testing.M) {
	if os.Getenv(orphanVariable) == "" {
		os.Exit(m.Run())
	}
	server, err := devserver.Start(context.Background(), devserver.Options{})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	_, _ = fmt.Fprintln(os.Stdout, server.Address()) // a caller that reads nothing fails by itself
	select {}                                        // until killed
}

// A test binary that panics, times out or is killed runs no clean-up; its server
// would eat the machine's memory until somebody looks.
func TestServerDiesWithItsCaller(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	require.NoError(t, err)
	caller := exec.CommandContext(t.Context(), self)
	caller.Env = append(os.Environ(), orphanVariable+"=1")
	caller.Stderr = os.Stderr
	out, err := caller.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, caller.Start())
	address, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	address = strings.TrimSpace(address)
	conn, err := net.Dial("tcp", address)
	require.NoError(t, err)
	require.NoError(t, conn.Close())

	require.NoError(t, caller.Process.Kill())
	require.Error(t, caller.Wait())
	require.Eventually(t, func() bool {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			return true
		}
		_ = conn.Close()
		return false
	}, 10*time.Second, 20*time.Millisecond)
}
