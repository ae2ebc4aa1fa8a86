package permits_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill/activities/permits"
	"github.com/tidemill/tidemill/admission"
)

// An id that is cut in the middle of a letter is no text: every book refuses it, and
// what asks under it waits for ever.
func TestLongRequestIDs(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, what := range []string{strings.Repeat("é", 400), "x" + strings.Repeat("é", 400), strings.Repeat("水", 300), strings.Repeat("a/", 5_000), strings.Repeat("!", 600)} {
		id := permits.RequestID("run", what, 7)
		r := admission.Request{ID: id, Owner: admission.Owner{Process: "p"}, Agent: "a"}
		require.NoError(t, r.Validate(), what[:8])
		number, ours := permits.NumberOf(id, "run")
		require.True(t, ours)
		require.EqualValues(t, 7, number)
		require.False(t, seen[id])
		seen[id] = true
	}
}
