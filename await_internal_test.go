package tidemill

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"

	"github.com/tidemill/tidemill/internal/temporaltest"
)

// Waiting for a server that is gone must end, or a script hangs for ever.
func TestWatcherGivesUp(t *testing.T) {
	t.Parallel()
	c, err := client.NewLazyClient(client.Options{HostPort: "127.0.0.1:1", Logger: temporaltest.Logger()})
	require.NoError(t, err)
	t.Cleanup(c.Close)
	w := watcher{client: NewClient(c, ClientOptions{}), id: "x", patience: time.Millisecond, lost: make(chan error, 1)}
	w.watch(t.Context())
	require.Equal(t, ErrTypeUnreachable, ErrorType(<-w.lost))
}

// A version that is not understood must not be called old.
func TestOlderThan(t *testing.T) {
	t.Parallel()
	for version, want := range map[string]bool{
		"1.28.9": true, "0.99.0": true, "1.29.0": false, "1.32.2": false, "2.0.0": false, "dev": false, "": false,
	} {
		require.Equal(t, want, olderThan(version, 1, 29), version)
	}
}

// A text is cut at a character: half of one is not UTF-8.
func TestShorten(t *testing.T) {
	t.Parallel()
	require.Equal(t, "abc", shorten("abc", 3))
	require.Equal(t, "é…", shorten("éééé", 6))
	require.Equal(t, "ab…", shorten("abcdef", 5))
}
