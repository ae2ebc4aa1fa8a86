package workflows

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A run that does not come to rest at 20,000 events says so while there is time: the
// server ends it at 51,200, and with it everything that is open.
func TestOverlongHistoryIsTold(t *testing.T) {
	t.Parallel()
	require.Equal(t, "it waits", alarming(19_999, "it waits"))
	require.Equal(t, "it has 20000 events, and servers end a run at 51,200; it waits", alarming(20_000, "it waits"))
}
