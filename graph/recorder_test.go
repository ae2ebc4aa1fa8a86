package graph_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill/graph"
)

// fixed is a decider with one answer.
type fixed struct{ d graph.Decision }

func (f fixed) Decide(graph.Question) (graph.Decision, bool) { return f.d, true }

// fill asks until there is no answer and says how many there were.
func fill(r *graph.Recorder) int {
	for n := 0; ; n++ {
		if _, ok := r.Decide(graph.Question{}); !ok {
			return n
		}
	}
}

// A batch is bounded in number and in bytes, so that no local activity fills a
// workflow task; what does not fit is asked again in the next batch.
func TestRecorderBounds(t *testing.T) {
	t.Parallel()
	require.Equal(t, graph.MaxBatchDecisions, fill(graph.NewRecorder(fixed{graph.Decision{To: "a"}})))

	text := func(n int) json.RawMessage { return json.RawMessage(`"` + strings.Repeat("x", n) + `"`) }
	r := graph.NewRecorder(fixed{graph.Decision{Output: text(10 << 10)}})
	require.Equal(t, 6, fill(r))
	raw, err := json.Marshal(r.Decisions())
	require.NoError(t, err)
	require.LessOrEqual(t, len(raw), graph.MaxBatchBytes)

	require.Equal(t, 1, fill(graph.NewRecorder(fixed{graph.Decision{Output: text(graph.MaxBatchBytes)}})), "a large decision stands alone")

	r = graph.NewRecorder(fixed{graph.Decision{Output: text(graph.MaxDecisionBytes)}})
	d, ok := r.Decide(graph.Question{})
	require.True(t, ok)
	require.Equal(t, graph.ErrTypeOutputTooLarge, d.Failure.Type)
	require.Equal(t, d, r.Decisions()[0], "what is recorded is what the machine was told")
}

func TestRecorderStopsWithItsDecider(t *testing.T) {
	t.Parallel()
	require.Zero(t, fill(graph.NewRecorder(graph.Undecided{})))
}

func TestRecordedRepeats(t *testing.T) {
	t.Parallel()
	r := graph.NewRecorded([]graph.Decision{{To: "a"}, {Holds: true}})
	require.Equal(t, 2, r.Left())
	for _, want := range []graph.Decision{{To: "a"}, {Holds: true}} {
		got, ok := r.Decide(graph.Question{})
		require.True(t, ok)
		require.Equal(t, want, got)
	}
	_, ok := r.Decide(graph.Question{})
	require.False(t, ok)
	require.Zero(t, r.Left())
}

// A decision comes back from history as it went in, or a replay would differ.
func TestDecisionRoundTrip(t *testing.T) {
	t.Parallel()
	for _, d := range []graph.Decision{
		{},
		{To: "end"},
		{Holds: true},
		{Output: json.RawMessage("null")},
		{Summary: "s", Show: json.RawMessage("[]")},
		{Failure: graph.Failf("t", "m")},
		{Output: json.RawMessage("12345678901234567890123")},
	} {
		raw, err := json.Marshal(d)
		require.NoError(t, err)
		var back graph.Decision
		require.NoError(t, json.Unmarshal(raw, &back))
		require.Equal(t, d, back)
	}
}
