package main

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill/graph"
)

var update = flag.Bool("update", false, "rewrite the golden files; read the diff")

// golden compares with a file of testdata.
func golden(t *testing.T, file, got string) {
	t.Helper()
	path := filepath.Join("testdata", file)
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(got), 0o600))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), got)
}

// Every mistake of a document must be told at once, each at its place, in each
// form.
func TestValidateTellsEveryMistake(t *testing.T) {
	t.Parallel()
	for _, format := range []string{formatText, formatJSON, formatSARIF} {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			r := call(t.Context(), "", "validate", "testdata/broken.yaml", "testdata/echo.yaml", "testdata/none.yaml", "--output", format)
			require.Equal(t, exitUsage, r.code)
			require.Empty(t, r.err)
			golden(t, "validate."+format+".golden", r.out)
		})
	}
}

// The JSON form must hold at least the five mistakes, with positions that exist.
func TestValidateGivesPositions(t *testing.T) {
	t.Parallel()
	r := call(t.Context(), "", "validate", "testdata/broken.yaml", "--output=json")
	var v struct {
		Valid       bool
		Files       []checkedFile
		Diagnostics []graph.Diagnostic
	}
	require.NoError(t, json.Unmarshal([]byte(r.out), &v))
	require.False(t, v.Valid)
	require.GreaterOrEqual(t, len(v.Diagnostics), 5)
	for _, d := range v.Diagnostics {
		require.Positive(t, d.Line, "%s", d)
		require.Positive(t, d.Column, "%s", d)
		require.NotEmpty(t, d.Code)
	}
}

// Callbacks live in workers, so one that a document names is no error here.
func TestValidateWarnsOfCallbacks(t *testing.T) {
	t.Parallel()
	const text = "version: 1\nid: picked\nentry: a\nnodes: [{id: a, type: dynamic, choose: {call: pick}, targets: [end]}]\n"
	r := call(t.Context(), text, "validate", "-")
	require.Equal(t, exitCompleted, r.code, r.out)
	require.Contains(t, r.out, "<stdin>:4:")
	require.Contains(t, r.out, "warning[unknown_callback]")
	require.Contains(t, r.out, "0 errors, 1 warning in 1 file")

	require.Equal(t, exitUsage, call(t.Context(), "", "validate").code)
	r = call(t.Context(), text, "validate", "-", "--output", "xml")
	require.Equal(t, exitUsage, r.code)
	require.Equal(t, "error: --output: --output is \"xml\"; write text or json or sarif (usage)\n", r.err)
	require.Equal(t, exitUsage, call(t.Context(), text, "describe", "-", "--output", "sarif").code)
}

// Describe and render must show a document without a server.
func TestDescribeAndRender(t *testing.T) {
	t.Parallel()
	for name, args := range map[string][]string{
		"describe.golden":   {"describe", "testdata/approval.yaml"},
		"render.golden":     {"render", "testdata/approval.yaml", "--format", "mermaid"},
		"render.dot.golden": {"render", "testdata/approval.yaml", "--format", "dot"},
		"render.svg.golden": {"render", "testdata/approval.yaml", "--format", "svg"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := call(t.Context(), "", args...)
			require.Equal(t, exitCompleted, r.code, r.err)
			golden(t, name, r.out)
			r = call(t.Context(), "", append(args, "--output", "json")...)
			require.Equal(t, exitCompleted, r.code)
			require.NotEmpty(t, r.document(t))
			args[1] = "testdata/broken.yaml"
			r = call(t.Context(), "", args...)
			require.Equal(t, exitUsage, r.code)
			require.Contains(t, r.err, "testdata/broken.yaml:7:")
		})
	}
}
