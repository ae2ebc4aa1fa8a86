package graph_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill/graph"
)

// Input and state are each within limits that a worker may set, and together
// more than a server takes as one payload: the node must fail, or the server
// ends the run.
func TestTaskTooLarge(t *testing.T) {
	t.Parallel()
	compiled, diagnostics := graph.Compile("both.yaml", []byte(`
version: 1
id: both
entry: use
nodes:
  - {id: use, run: use, args: {text: "${ state.text }"}, on_error: caught, next: end}
  - {id: caught, type: set, output: caught, next: end}
`), graph.CompileOptions{})
	require.NoError(t, diagnostics.Err())
	plan, err := graph.NewPlan(compiled.Document)
	require.NoError(t, err)
	for _, bytes := range []int{900_000, 1_200_000} {
		now := time.Unix(0, 0).UTC()
		state := fmt.Sprintf(`{"text":%q}`, strings.Repeat("s", bytes))
		m, err := graph.New(plan, graph.Start{
			Input: json.RawMessage(state), Limits: graph.Limits{Payload: 1984 << 10, State: 1984 << 10}, Now: now,
		})
		require.NoError(t, err)
		m.Advance(now, graph.Undecided{})
		if 2*bytes <= graph.MaxTask {
			require.Len(t, m.Effects(), 1)
			continue
		}
		require.Empty(t, m.Effects())
		require.JSONEq(t, `"caught"`, string(m.Outcome().Output))
	}
}
