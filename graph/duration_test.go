package graph_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tidemill/tidemill/graph"
)

func TestParseDuration(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Duration{
		"30s": 30 * time.Second, "1m30s": 90 * time.Second, "7d": 168 * time.Hour, "1.5d": 36 * time.Hour,
		"1d12h": 36 * time.Hour, "0s": 0, "0d": 0, "36500d": 36500 * 24 * time.Hour, "1ns": 1,
	} {
		got, err := graph.ParseDuration(text)
		require.NoError(t, err, text)
		require.Equal(t, graph.Duration(want), got, text)
	}
	none, err := graph.ParseDuration("none")
	require.NoError(t, err)
	require.Equal(t, graph.None, none)
	require.Zero(t, none.Std())
}

// A length that cannot be kept is refused with the reason: an overflow that
// wrapped around would time out at once, and a negative one never.
func TestParseDurationRefuses(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]error{
		"": graph.ErrDurationSyntax, "30": graph.ErrDurationSyntax, "s": graph.ErrDurationSyntax, "1y": graph.ErrDurationSyntax,
		"d": graph.ErrDurationSyntax, "1e3d": graph.ErrDurationSyntax, "NaNd": graph.ErrDurationSyntax, "infd": graph.ErrDurationSyntax,
		"None": graph.ErrDurationSyntax, "1d 2h": graph.ErrDurationSyntax, "1d2d": graph.ErrDurationSyntax, " 1s": graph.ErrDurationSyntax,
		"-1s": graph.ErrDurationNegative, "-1d": graph.ErrDurationNegative, "1d-2h": graph.ErrDurationNegative, "2d-1h": graph.ErrDurationNegative,
		"36501d": graph.ErrDurationOverflow, "99999999999d": graph.ErrDurationOverflow, "36500d1s": graph.ErrDurationOverflow,
		"9999999h": graph.ErrDurationOverflow, "99999999999999999999s": graph.ErrDurationOverflow,
	} {
		_, err := graph.ParseDuration(text)
		require.ErrorIs(t, err, want, "%q", text)
	}
}

func TestDurationString(t *testing.T) {
	t.Parallel()
	for want, d := range map[string]time.Duration{
		"72h": 72 * time.Hour, "10m": 10 * time.Minute, "1h30m": 90 * time.Minute, "1h0m1s": time.Hour + time.Second,
		"20s": 20 * time.Second, "0s": 0, "10ms": 10 * time.Millisecond, "1m0.5s": time.Minute + time.Second/2,
	} {
		require.Equal(t, want, graph.Duration(d).String())
	}
}

// Every duration survives its own notation, in text and in JSON.
func TestDurationRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		d := graph.Duration(rapid.Int64Range(-1, int64(36500*24*time.Hour)).Draw(t, "d"))
		back, err := graph.ParseDuration(d.String())
		require.NoError(t, err)
		require.Equal(t, d, back)
		raw, err := json.Marshal(d)
		require.NoError(t, err)
		var decoded graph.Duration
		require.NoError(t, json.Unmarshal(raw, &decoded))
		require.Equal(t, d, decoded)
	})
}
