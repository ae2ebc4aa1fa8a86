package workflows

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill/activities"
)

// A run that followed the rules of its worker instead of its own would not replay.
func TestCore(t *testing.T) {
	t.Parallel()
	r := &run{pin: activities.Pin{Core: 2}}
	require.True(t, r.core(1))
	require.True(t, r.core(2))
	require.False(t, r.core(3))
}

// Rules that this code does not know, or no longer knows, must not be guessed.
func TestMustFollow(t *testing.T) {
	t.Parallel()
	for core := oldestCore; core <= activities.Core; core++ {
		require.NotPanics(t, (&run{pin: activities.Pin{Core: core}}).mustFollow, "core %d", core)
	}
	for _, core := range []int{0, oldestCore - 1, activities.Core + 1} {
		require.Panics(t, (&run{pin: activities.Pin{Core: core}}).mustFollow, "core %d", core)
	}
}
