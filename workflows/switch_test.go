package workflows_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill/activities"
	"github.com/tidemill/tidemill/graph"
	"github.com/tidemill/tidemill/workflows"
)

// moved pauses between two nodes, the second of which makes 5,000 bytes.
const moved = `
version: 1
id: moved
entry: first
nodes:
  - {id: first, run: fill, args: {bytes: 10}, delta: {first: "${ result }"}, next: ask}
  - {id: ask, type: pause, delta: {answer: "${ result }"}, next: second}
  - {id: second, run: fill, args: {bytes: 5000}, on_error: toobig, next: again}
  - {id: toobig, type: set, output: "${ input.type }", next: again}
  - {id: again, type: pause, next: end}
`

// registerFill adds the action "fill", which makes text of a size.
func registerFill(r *activities.Registry) {
	activities.Register(r, "fill", func(_ context.Context, in struct {
		Bytes int `json:"bytes"`
	},
	) (string, error) {
		return strings.Repeat("x", in.Bytes), nil
	})
}

// A run goes on as it began, whichever worker it meets: limits, attributes and
// the document come from its pin. Two workers that differ would otherwise leave
// it stuck with a non-determinism error, or end it by other rules (fault C13).
func TestConfigurationSwitched(t *testing.T) {
	t.Parallel()
	plain := parts{register: registerFill, edit: func(o *activities.Options) {
		o.SearchAttributes, o.Limits = nil, graph.Limits{Payload: 2000, State: 8000}
		o.AllowInlineSpecs = true
	}}
	rich := parts{register: registerFill, edit: func(o *activities.Options) {
		o.Limits, o.AllowInlineSpecs = graph.Limits{Payload: 1 << 20, State: 1 << 20}, true
	}}
	for name, test := range map[string]struct {
		from, to parts
		upserts  int
		output   string
	}{
		"from a worker with little to one with everything": {plain, rich, 0, `"output_too_large"`},
		"from a worker with everything to one with little": {rich, plain, 3, `"` + strings.Repeat("x", 5000) + `"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := setup(t, test.from)
			spec, err := json.Marshal(map[string]string{"spec": moved})
			require.NoError(t, err)
			run := w.run("moved", json.RawMessage(`{}`), json.RawMessage(spec))
			w.paused(run)

			w.worker.Stop()
			w.start(test.to)
			w.signal(run, workflows.SignalResume, 1)
			w.until(run, "the second pause", pausedAt("again#1"))
			w.signal(run, workflows.SignalResume, 2)
			require.Equal(t, test.output, w.output(run))
			require.JSONEq(t, `{"first":"xxxxxxxxxx","answer":1}`, string(w.status(run).State))
			require.Equal(t, test.upserts, w.upserts(run))
		})
	}
}
