package activities_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill/activities"
	"github.com/tidemill/tidemill/graph"
	"github.com/tidemill/tidemill/graph/value"
)

// carryOf is what a run of a graph leaves for the next one.
func carryOf(t *testing.T, c *graph.Compiled, edit func(*activities.Carry)) json.RawMessage {
	t.Helper()
	plan, err := graph.NewPlan(c.Document, c.Closure...)
	require.NoError(t, err)
	machine, err := graph.New(plan, graph.Start{Input: json.RawMessage(`{"order":"7"}`), Lineage: "l", Now: time.Unix(1, 0)})
	require.NoError(t, err)
	carry := activities.Carry{
		Version: activities.CarryVersion, From: "earlier", Runs: 1, Started: time.Unix(1, 0).UTC(),
		Checkpoint: machine.Checkpoint(), Documents: []*graph.Document{c.Document},
	}
	if edit != nil {
		edit(&carry)
	}
	raw, err := value.Marshal(carry)
	require.NoError(t, err)
	return raw
}

// A chain is bound to the graph it began with, whatever its workers have meanwhile;
// the rest of the pin is that of the worker that takes it up.
func TestPinContinued(t *testing.T) {
	t.Parallel()
	gone := compiled(t, small("gone"))
	acts := pinner(t, func(o *activities.Options) { o.ContinueAt = 77 })
	in := activities.PinInput{Graph: "gone", Carry: carryOf(t, gone, nil), Continues: "earlier"}
	pin, err := acts.Pin(t.Context(), in)
	require.NoError(t, err)
	require.Nil(t, pin.Failure)
	require.Equal(t, gone.Fingerprint, pin.Fingerprint)
	require.Nil(t, pin.Document, "history holds it already")
	require.Equal(t, 77, pin.ContinueAt)

	in.Continues = "another" // of a cron schedule: it begins anew
	pin, err = acts.Pin(t.Context(), in)
	require.NoError(t, err)
	require.Equal(t, graph.ErrTypeUnknownGraph, pin.Failure.Type)
}

// What cannot be read is an error of this worker, not of the run: a refusal would be
// recorded, and would lose all that the chain has done.
func TestPinContinuedUnreadable(t *testing.T) {
	t.Parallel()
	own, other := compiled(t, strictGraph), compiled(t, small("other"))
	acts := pinner(t, nil)
	for name, raw := range map[string]json.RawMessage{
		"a later version":  carryOf(t, own, func(c *activities.Carry) { c.Version++ }),
		"another document": carryOf(t, own, func(c *activities.Carry) { c.Documents[0] = other.Document }),
		"no document":      carryOf(t, own, func(c *activities.Carry) { c.Documents = nil }),
		"null document":    carryOf(t, own, func(c *activities.Carry) { c.Documents[0] = nil }),
		"no start":         carryOf(t, own, func(c *activities.Carry) { c.Started = time.Time{} }),
		"no JSON":          json.RawMessage(`{`),
		"no checkpoint":    json.RawMessage(`{"version":1,"from":"earlier","checkpoint":1}`),
	} {
		_, err := acts.Pin(t.Context(), activities.PinInput{Graph: "strict", Carry: raw, Continues: "earlier"})
		require.Error(t, err, name)
	}
	_, err := activities.ParseCarry(carryOf(t, own, func(c *activities.Carry) { c.Version++ }))
	require.ErrorIs(t, err, activities.ErrNewer)
}

// A worker of an earlier release takes up what one of a later release left, as long as
// that says nothing that must not be passed over.
func TestCarryOfALaterRelease(t *testing.T) {
	t.Parallel()
	raw := carryOf(t, compiled(t, strictGraph), nil)
	later := json.RawMessage(strings.TrimSuffix(string(raw), "}") + `,"of_a_later_release":1}`)
	want, err := activities.ParseCarry(raw)
	require.NoError(t, err)
	got, err := activities.ParseCarry(later)
	require.NoError(t, err)
	require.Equal(t, want, got)
}
