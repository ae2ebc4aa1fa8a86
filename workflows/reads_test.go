package workflows_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill/activities"
)

// An activity is given the state keys that its node reads and no others, however
// large the state is: a history that holds all of it again for each node grows with
// the product of the two.
func TestNodesAreGivenWhatTheyRead(t *testing.T) {
	t.Parallel()
	const keys, bytes, nodes = 500, 400, 10 // 200 KB of state
	var document strings.Builder
	document.WriteString("version: 1\nid: wide\nentry: n0\nnodes:\n")
	for i := range nodes {
		next := fmt.Sprintf("n%d", i+1)
		if i == nodes-1 {
			next = "end"
		}
		fmt.Fprintf(&document, "  - {id: n%d, run: act, args: {output: \"${ size(state.key%d) }\"}, delta: {got%d: \"${ result }\"}, next: %s}\n", i, i, i, next)
	}
	state := map[string]string{}
	for i := range keys {
		state[fmt.Sprintf("key%d", i)] = strings.Repeat("x", bytes)
	}
	w := setup(t, parts{graphs: []string{document.String()}, register: func(r *activities.Registry) { newScript().register(r) }})
	run := w.run("wide", state)
	require.Equal(t, fmt.Sprint(bytes), w.output(run))
	given := 0
	for _, event := range w.history(run).GetEvents() {
		scheduled := event.GetActivityTaskScheduledEventAttributes()
		if scheduled == nil {
			continue
		}
		size := len(scheduled.GetInput().GetPayloads()[0].GetData())
		require.Less(t, size, bytes+1500, "the key that it reads, and the facts of the run")
		require.Contains(t, string(scheduled.GetInput().GetPayloads()[0].GetData()), fmt.Sprintf(`"key%d":`, given))
		given++
	}
	require.Equal(t, nodes, given)
}
