package main

import (
	"bytes"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestMain(m *testing.M) {
	if setup := os.Getenv(workerVariable); setup != "" {
		if err := man(setup); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}

// The invariants of the soak hold in a small one, with a worker killed in the middle:
// what the soak looks for is found out with every change, not once a month. That it
// would be seen when they do not hold is shown by TestJudge.
func TestSmallSoak(t *testing.T) {
	t.Parallel()
	r, err := soak(t.Context(), settings{
		runs: 21, workers: 2, kills: 1, killEvery: time.Second, work: 50 * time.Millisecond, within: 5 * time.Minute, seed: 7,
	})
	require.NoError(t, err)
	var table bytes.Buffer
	r.print(&table)
	require.NoError(t, r.err(), "%s", table.String())
	require.Equal(t, 1, r.kills)
	for _, k := range kinds() {
		require.Equal(t, 3, r.ended[k.id], k.id)
	}
	require.Positive(t, r.verdict.remote.executions)
	require.Positive(t, r.verdict.local.executions)
	require.Greater(t, r.replayed, 21, "the children and the book are left out")
}
