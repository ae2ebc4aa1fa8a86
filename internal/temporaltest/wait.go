package temporaltest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Wait calls condition until it returns true, and fails the test when that takes
// longer than within. What names the state that is waited for, as in
// "the run to be paused". The condition runs on the test's goroutine, so it may
// use require.
func Wait(tb testing.TB, within time.Duration, what string, condition func() bool) {
	tb.Helper()
	deadline := time.NewTimer(within)
	defer deadline.Stop()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !condition() {
		select {
		case <-deadline.C:
			require.FailNowf(tb, "waited in vain", "for %s, during %v", what, within)
		case <-tick.C:
		}
	}
}
