package activities_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill/activities"
	"github.com/tidemill/tidemill/graph"
)

// exported is a run of graph ring that has just begun, with its documents.
func exported(t *testing.T, acts *activities.Activities) graph.Export {
	t.Helper()
	pin, err := acts.Pin(t.Context(), activities.PinInput{Graph: "ring"})
	require.NoError(t, err)
	require.Nil(t, pin.Failure)
	plan, err := graph.NewPlan(pin.Document, pin.Graphs...)
	require.NoError(t, err)
	m, err := graph.New(plan, graph.Start{Input: json.RawMessage(`{"order":"7"}`), Lineage: "first", Now: time.Now().UTC()})
	require.NoError(t, err)
	return graph.Export{
		Version: graph.ExportVersion, WorkflowID: "w", RunID: "r", Input: json.RawMessage(`{"order":"7"}`),
		Checkpoint: m.Checkpoint(), Document: pin.Document, Graphs: pin.Graphs,
	}
}

func redriving(t *testing.T, e graph.Export, more func(*graph.RunOptions)) activities.PinInput {
	t.Helper()
	raw, err := json.Marshal(e)
	require.NoError(t, err)
	options := graph.RunOptions{Checkpoint: raw}
	if more != nil {
		more(&options)
	}
	written, err := json.Marshal(options)
	require.NoError(t, err)
	return activities.PinInput{Graph: "ring", Options: written}
}

// The pin of a redriven run says how it was redriven, and does not hold a second time
// what may be a megabyte.
func TestPinOfARedrivenRun(t *testing.T) {
	t.Parallel()
	acts := pinner(t, nil)
	in := redriving(t, exported(t, acts), func(o *graph.RunOptions) { o.MaxSteps, o.Deadline = 7, graph.Duration(time.Hour) })
	pin, err := acts.Pin(t.Context(), in)
	require.NoError(t, err)
	require.Nil(t, pin.Failure)
	require.Empty(t, pin.Options.Checkpoint)
	require.Equal(t, 7, pin.Redriving.MaxSteps)
	require.Equal(t, graph.Duration(time.Hour), pin.Redriving.Deadline)
	require.False(t, pin.Redriving.Corrected)
	require.WithinDuration(t, time.Now(), pin.Redriving.Now, time.Minute)
	raw, err := json.Marshal(pin)
	require.NoError(t, err)
	require.NotContains(t, string(raw), `"checkpoint"`)
}

// Nothing of an export is trusted: its documents are compiled as an author's would be,
// only where the worker takes documents at all, and must be those of the run.
func TestDocumentsOfAnExport(t *testing.T) {
	t.Parallel()
	whole := exported(t, pinner(t, nil))
	bare := func(allow bool) *activities.Activities {
		acts, err := activities.New(activities.Options{AllowInlineSpecs: allow})
		require.NoError(t, err)
		return acts
	}
	edited := whole
	document := *whole.Document
	document.Revision = "another"
	edited.Document = &document
	alone := whole
	alone.Document, alone.Graphs = nil, nil
	broken := whole
	document.Entry = "nowhere"
	broken.Document = &document
	for _, c := range []struct {
		name  string
		e     graph.Export
		allow bool
		want  string
	}{
		{"taken where documents are", whole, true, ""},
		{"not taken elsewhere", whole, false, graph.ErrTypeCheckpointDefinition},
		{"without its document", alone, true, graph.ErrTypeUnknownGraph},
		{"one that does not compile", broken, true, graph.ErrTypeInvalidDocument},
	} {
		pin, err := bare(c.allow).Pin(t.Context(), redriving(t, c.e, nil))
		require.NoError(t, err)
		if c.want == "" {
			require.Nil(t, pin.Failure, c.name)
			require.Equal(t, whole.Checkpoint.Fingerprint, pin.Fingerprint)
			continue
		}
		require.NotNil(t, pin.Failure, c.name)
		require.Equal(t, c.want, pin.Failure.Type, c.name)
	}
	document.Entry = whole.Document.Entry
	pin, err := bare(true).Pin(t.Context(), redriving(t, edited, nil))
	require.NoError(t, err)
	require.Equal(t, graph.ErrTypeCheckpointDefinition, pin.Failure.Type)
	require.Contains(t, pin.Failure.Message, "not the one")

	pin, err = pinner(t, func(o *activities.Options) { o.Limits.State = 600 }).Pin(t.Context(), redriving(t, whole, nil))
	require.NoError(t, err)
	require.Equal(t, graph.ErrTypeStateTooLarge, pin.Failure.Type)
}

// A child is started where its parent says it stood, or not at all.
func TestPinOfARedrivenChild(t *testing.T) {
	t.Parallel()
	acts := pinner(t, nil)
	pinned, err := acts.Pin(t.Context(), activities.PinInput{Graph: "strict", Input: json.RawMessage(`{"order":"7"}`)})
	require.NoError(t, err)
	plan, err := graph.NewPlan(pinned.Document)
	require.NoError(t, err)
	start := graph.ChildStart{Version: 2, Fingerprint: pinned.Fingerprint, Root: "w", Address: "c#1", Lineage: "first"}
	m, err := graph.New(plan, graph.Start{Input: json.RawMessage(`{}`), Now: time.Now().UTC(), Child: &start})
	require.NoError(t, err)
	start.Redriven = &graph.Export{Version: graph.ExportVersion, RunID: "r", Checkpoint: m.Checkpoint()}
	pin := func(s graph.ChildStart) activities.Pin {
		raw, err := json.Marshal(s)
		require.NoError(t, err)
		pin, err := acts.Pin(t.Context(), activities.PinInput{Graph: "strict", Input: json.RawMessage(`{}`), Child: raw, HasParent: true})
		require.NoError(t, err)
		return pin
	}
	require.Nil(t, pin(start).Failure, "its input was checked when it first began")
	other := start
	other.Address = "c#2"
	require.Equal(t, graph.ErrTypeInvalidCheckpoint, pin(other).Failure.Type)
	other = start
	other.Redriven = nil
	require.Equal(t, graph.ErrTypeInputSchema, pin(other).Failure.Type)
}
