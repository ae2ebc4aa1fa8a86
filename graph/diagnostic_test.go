package graph_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill/graph"
)

func TestDiagnosticText(t *testing.T) {
	t.Parallel()
	d := graph.Diagnostic{Severity: graph.SeverityError, Code: "c", Message: "m"}
	require.Equal(t, "error[c]: m", d.String())
	d.File = "f.yaml"
	require.Equal(t, "f.yaml: error[c]: m", d.String())
	d.Pointer = "/nodes/0"
	require.Equal(t, "f.yaml:/nodes/0: error[c]: m", d.String())
	d.Line, d.Column, d.Fix = 3, 4, "mend it"
	require.Equal(t, "f.yaml:3:4: error[c]: m (mend it)", d.String())
}

// Warnings alone are no error, however they are passed on.
func TestDiagnosticsErr(t *testing.T) {
	t.Parallel()
	warning := graph.Diagnostic{Severity: graph.SeverityWarning, Code: "w", Message: "m"}
	fault := graph.Diagnostic{Severity: graph.SeverityError, Code: "e", Message: "m"}
	require.NoError(t, graph.Diagnostics(nil).Err())
	require.NoError(t, graph.Diagnostics{warning}.Err())
	require.EqualError(t, graph.Diagnostics{warning, fault}.Err(), "error[e]: m")
	require.Equal(t, "warning[w]: m", graph.Diagnostics{warning}.Error())
	require.Equal(t, graph.Diagnostics{warning}, graph.Diagnostics{warning, fault}.Warnings())
}

// Tools read the list without a case for its absence.
func TestDiagnosticsJSON(t *testing.T) {
	t.Parallel()
	raw, err := json.Marshal(graph.Diagnostics(nil))
	require.NoError(t, err)
	require.JSONEq(t, `[]`, string(raw))
	raw, err = json.Marshal(graph.Diagnostics{{Severity: graph.SeverityError, Code: "c", Line: 1, Column: 2, Message: "m"}})
	require.NoError(t, err)
	require.JSONEq(t, `[{"severity": "error", "code": "c", "line": 1, "column": 2, "pointer": "", "message": "m"}]`, string(raw))
}
