package admission_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill/admission"
)

// A comparison that finds nothing proves nothing, unless it finds what is
// there: each planted fault shows in grants and answers within a few histories.
// The checks of the book's own structure are off.
func TestOracleFindsPlantedFaults(t *testing.T) {
	t.Parallel()
	for _, name := range slices.Sorted(maps.Keys(admission.Plants())) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for seed := range 60 {
				h := newHistory(uint64(seed))
				h.plant = admission.Plants()[name]
				if found := h.run(callsPerHistory); found != "" {
					require.Contains(t, found, "Error Trace", "a crash is no comparison")
					return
				}
			}
			require.Fail(t, "the fault was not found")
		})
	}
}
