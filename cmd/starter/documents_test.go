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

// Files that name each other are checked together: a graph of another file that
// does not fit, or is not there, is found before any worker has it.
func TestValidateLinks(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	runs := func(id, graph string) string {
		return "id: " + id + "\nentry: x\nnodes:\n  - {id: x, type: workflow, workflow: " + graph + ", input: {k: 1}, next: end}\n"
	}
	outer, inner := write("outer.yaml", runs("outer", "inner")), write("inner.yaml", "id: inner\nentry: x\nnodes: [{id: x, type: set, next: end}]\n")
	strict := write("strict.yaml", "id: inner\nentry: x\ninput_schema: {required: [order]}\nnodes: [{id: x, type: set, next: end}]\n")
	lost, ring := write("lost.yaml", runs("lost", "iner")), write("ring.yaml", runs("inner", "outer"))

	alone := call(t.Context(), "", "validate", outer)
	require.Equal(t, exitCompleted, alone.code)
	require.Contains(t, alone.out, `outer.yaml:4:39: warning[unknown_graph]: there is no graph "inner" among the files`)
	require.Contains(t, alone.out, "outer is valid, apart from the graphs that it names")

	both := call(t.Context(), "", "validate", outer, inner)
	require.Equal(t, exitCompleted, both.code)
	require.Regexp(t, `outer.yaml: outer@[0-9a-f]{8} is valid\n`, both.out)

	wrong := call(t.Context(), "", "validate", outer, strict)
	require.Equal(t, exitUsage, wrong.code)
	require.Contains(t, wrong.out, "outer.yaml:4:53: error[input_schema_validation_failed]")

	misspelt := call(t.Context(), "", "validate", lost, inner)
	require.Contains(t, misspelt.out, "(did you mean inner?)")

	cycle := call(t.Context(), "", "validate", outer, ring)
	require.Equal(t, exitUsage, cycle.code)
	require.Contains(t, cycle.out, "outer.yaml:4:39: error[graph_contains_itself]: the graph \"outer\" contains itself: outer → inner → outer")
	require.Contains(t, cycle.out, "ring.yaml:4:39: error[graph_contains_itself]")
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

// What an editor is given must be the schema alone, in either format.
func TestSchema(t *testing.T) {
	t.Parallel()
	r := call(t.Context(), "", "schema")
	require.Equal(t, exitCompleted, r.code, r.err)
	require.Empty(t, r.err)
	require.JSONEq(t, string(graph.EditorSchema()), r.out)
	require.Equal(t, "https://json-schema.org/draft/2020-12/schema", r.document(t)["$schema"])
	require.Equal(t, r, call(t.Context(), "", "schema", "--output", "json"))

	r = call(t.Context(), "", "schema", "order.yaml")
	require.Equal(t, exitUsage, r.code)
	require.Equal(t, "error: schema: schema takes no argument; 1 arguments were given (usage)\n", r.err)
}

// A folder is what a worker is given, so it is what people want checked: all graphs
// below it, each with the others. One without any is told, not passed over.
func TestValidateFolder(t *testing.T) {
	t.Parallel()
	r := call(t.Context(), "", "validate", "../../examples/order-approval")
	require.Equal(t, exitCompleted, r.code, r.out)
	require.Contains(t, r.out, "order-approval.yaml")
	require.Contains(t, r.out, "order-check.yaml")
	for _, none := range []string{t.TempDir(), "testdata/nowhere"} {
		r = call(t.Context(), "", "validate", none)
		require.Equal(t, exitUsage, r.code)
		require.Contains(t, r.out, "unreadable_file")
	}
}
