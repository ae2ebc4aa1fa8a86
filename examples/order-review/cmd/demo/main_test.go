package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The demo is the first thing that a newcomer runs: it must work, and tell the
// whole story in order.
func TestDemoTellsTheStory(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	require.NoError(t, run(t.Context(), &out), &out)
	rest := out.String()
	for _, next := range []string{
		"$ temporal workflow start --type order-review --task-queue tidemill",
		"calls    GET /orders/7: 1",
		"pause    approve#1 (approval)",
		"resume   temporal workflow signal --workflow-id 'order-7'",
		"$ temporal workflow signal --workflow-id 'order-7'",
		`output   {"order":"7","parcel":"P1","status":"delivered"}`,
		"parcels  1",
	} {
		_, after, found := strings.Cut(rest, next)
		require.True(t, found, "%q does not follow in:\n%s", next, &out)
		rest = after
	}
}

// A step that sees something else must end the demo with an error.
func TestExpectations(t *testing.T) {
	t.Parallel()
	require.NoError(t, expect("calls", 1, 1))
	require.EqualError(t, expect("calls", 1, 2), "calls: want 1, got 2")
}
