package graph_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A node's input is in history once, with the node that gave it; it goes to the
// next activity only where something looks at it.
func TestWhatATaskIsSentWith(t *testing.T) {
	t.Parallel()
	for fields, sent := range map[string]bool{
		"":                                 false,
		"args: {x: input}, ":               false, // a word, no expression
		`args: {x: "${ state.x }"}, `:      false,
		`args: {x: "${ input.x }"}, `:      true,
		`output: "${ [result, input] }", `: true,
		`delta: {x: "${ input }"}, `:       true,
		"args: {call: f}, ":                true,
		"input_schema: {type: object}, ":   true,
		`on_error: {cases: [{when: "input.x", to: end}]}, `: false, // the run's to evaluate
	} {
		s := tell(t, oneAction(fields), `{"x":1}`, nil).run()
		require.Equal(t, `{"x":1}`, string(s.tasks[0].Input))
		require.Equal(t, sent, s.tasks[0].Sent().Input != nil, fields)
	}
}
