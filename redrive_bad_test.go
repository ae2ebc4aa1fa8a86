package tidemill_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill"
	"github.com/tidemill/tidemill/graph"
)

// Row 87: whoever has an export that cannot be gone on with is told what is wrong with it and
// where another one comes from, before anything is started.
func TestDamagedExportsAreRefused(t *testing.T) {
	t.Parallel()
	m := newMill()
	w := setupMill(t, m, wheel, part)
	m.set(w.queue, "broken")
	run, err := w.runs.Start(t.Context(), tidemill.StartOptions{Graph: "wheel", ID: w.queue})
	require.NoError(t, err)
	_, err = w.runs.Await(t.Context(), run.ID, tidemill.AwaitOptions{})
	require.NoError(t, err)
	e, err := w.runs.Checkpoint(t.Context(), run.ID, tidemill.CheckpointOptions{Deep: true})
	require.NoError(t, err)
	whole, err := json.Marshal(e)
	require.NoError(t, err)
	m.called(run.ID)
	for _, c := range []struct {
		name string
		edit func(checkpoint map[string]any)
		want string
		says string
	}{
		{"another version", func(cp map[string]any) { cp["version"] = 99 }, graph.ErrTypeInvalidCheckpoint, "starter checkpoint --deep"},
		{"negative visits", func(cp map[string]any) { first(cp, "nodes")["visits"] = -1 }, graph.ErrTypeInvalidCheckpoint, "take it again from the run"},
		{"an unknown node", func(cp map[string]any) { first(cp, "nodes")["node"] = "nowhere" }, graph.ErrTypeInvalidCheckpoint, `"nowhere"`},
		{"a negative budget", func(cp map[string]any) { cp["steps_left"] = -1 }, graph.ErrTypeInvalidCheckpoint, "take it again from the run"},
		{"a damaged cursor", func(cp map[string]any) { first(cp, "activations")["node"] = "nowhere" }, graph.ErrTypeInvalidCheckpoint, "take it again from the run"},
		{"no cursor", func(cp map[string]any) { first(cp, "activations")["address"] = "a" }, graph.ErrTypeInvalidCheckpoint, "take it again from the run"},
		{"too large to carry", func(cp map[string]any) { cp["state"] = map[string]any{"text": strings.Repeat("x", 3<<20)} }, graph.ErrTypeStateTooLarge, "at most"},
	} {
		var export map[string]any
		require.NoError(t, json.Unmarshal(whole, &export))
		checkpoint, ok := export["checkpoint"].(map[string]any)
		require.True(t, ok)
		c.edit(checkpoint)
		damaged, err := json.Marshal(export)
		require.NoError(t, err)
		_, err = w.runs.Redrive(t.Context(), run.ID, tidemill.RedriveOptions{Export: damaged})
		require.Equal(t, c.want, tidemill.ErrorType(err), "%s: %v", c.name, err)
		require.ErrorContains(t, err, c.says, c.name)
	}
	report, err := w.runs.Status(t.Context(), run.ID)
	require.NoError(t, err)
	require.Equal(t, run.RunID, report.RunID, "nothing was started")
	require.Empty(t, m.called(run.ID))
}

// first is the first entry of a list of a checkpoint.
func first(checkpoint map[string]any, list string) map[string]any {
	return checkpoint[list].([]any)[0].(map[string]any) //nolint:forcetypeassert // a test ends there
}
