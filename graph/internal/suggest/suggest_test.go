package suggest_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill/graph/internal/suggest"
)

func TestNearest(t *testing.T) {
	t.Parallel()
	known := []string{"timeout", "retry", "result", "state"}
	for word, want := range map[string]string{
		"timout": "timeout", "tiemout": "timeout", "rety": "retry", "reslut": "result",
		"state": "state", "x": "", "unrelated": "", "": "",
	} {
		require.Equal(t, want, suggest.Nearest(word, known), "word %q", word)
	}
}

// A tie must not depend on the order in which the known words are listed.
func TestNearestBreaksTiesByName(t *testing.T) {
	t.Parallel()
	require.Equal(t, "cat", suggest.Nearest("bat", []string{"rat", "cat", "hat"}))
	require.Equal(t, "cat", suggest.Nearest("bat", []string{"hat", "cat", "rat"}))
}
