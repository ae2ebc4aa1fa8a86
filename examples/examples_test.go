package examples_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill/examples"
	"github.com/tidemill/tidemill/examples/admission"
	"github.com/tidemill/tidemill/examples/order-review/orders"
)

// One worker can have them all: no two examples use a name for different things.
func TestExamplesLiveTogether(t *testing.T) {
	t.Parallel()
	app := examples.NewApp(orders.DefaultAddress, admission.DefaultAddress)
	require.NoError(t, app.Validate())
	graphs, err := app.Graphs()
	require.NoError(t, err)
	for _, id := range []string{"order-review", "order-approval", "order-check", "research", "nightly-batch", "geocode", "map-graphs"} {
		require.Contains(t, graphs, id)
	}
}

// A warning in an example teaches the wrong thing, unless it is what the example
// is about.
func TestExamplesHaveNoWarnings(t *testing.T) {
	t.Parallel()
	warnings, err := examples.NewApp(orders.DefaultAddress, admission.DefaultAddress).Warnings()
	require.NoError(t, err)
	require.Len(t, warnings, 1)
	require.Contains(t, warnings[0], "merge-conflict.yaml")
	require.Contains(t, warnings[0], "possible_conflict")
}
