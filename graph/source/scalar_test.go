package source_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill/graph/source"
)

// Guards F9: readers of YAML disagree on each of these, so none may pass as a
// value or as a key without quotes. In quotes every one is text.
func TestAmbiguousScalars(t *testing.T) {
	t.Parallel()
	ambiguous := strings.Fields(`
		yes Yes YES no No NO on On ON off Off OFF y Y n N
		True TRUE False FALSE Null NULL
		0123 00 -01 +0 +1 +1.5 1. .5 -.5 1.e5 01.5 1_000 1_000.5 0x1F 0X1f -0x1 0o17 0b101
		12:30 12:30:45 1:00 -12:30 12:30:45.5 22:22
		2024-01-01 2024-1-1 2024-01-01T10:00:00Z 2024-01-01t10:00:00+02:00 2024-01-01T10:00:00.5-0800 2024-01-01T10:00`)
	ambiguous = append(ambiguous, "2024-01-01 10:00:00", "2024-01-01 10:00:00 +1")
	nonFinite := strings.Fields(`.inf .Inf .INF -.inf +.inf .nan .NaN .NAN NaN Infinity -Infinity`)
	check := func(text, code string) {
		n, problems := source.Parse([]byte("k: " + text + "\n"))
		require.Equal(t, []found{{code, 1, 4, "/k"}}, summary(problems), text)
		require.Contains(t, problems[0].Fix, `"`+text+`"`, "the advice names the text")
		require.Equal(t, source.String, n.Get("k").Kind)

		_, problems = source.Parse([]byte("- " + text + ": x\n"))
		require.Equal(t, []found{{code, 1, 3, "/0/" + text}}, summary(problems), text)

		n, problems = source.Parse([]byte(`"` + text + `": '` + text + "'\n"))
		require.Empty(t, problems, text)
		require.Equal(t, text, n.Get(text).Text)
	}
	for _, text := range ambiguous {
		check(text, source.CodeAmbiguousScalar)
	}
	for _, text := range nonFinite {
		check(text, source.CodeNonFiniteNumber)
	}
}

// JSON has no such values at all; the advice is the same.
func TestAmbiguousScalarsInJSON(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"yes", "True", "NULL", "0123", "+1", "1.", ".5", "0x1F", "1_000", "2024-01-01"} {
		_, problems := source.ParseNamed("a.json", []byte(`{"a": [0, `+text+`]}`))
		require.Equal(t, []found{{source.CodeAmbiguousScalar, 1, 11, "/a/1"}}, summary(problems), text)
	}
}

func TestPlainText(t *testing.T) {
	t.Parallel()
	texts := []string{
		"30s", "168h", "7d", "1h30m", "10m", "1.5s", "v1", "1.2.3", "1.10.0", "127.0.0.1", "127.0.0.1:80", "host:80", "a:b",
		"yesterday", "not", "one", "null1", "nil", "none", "end", "truey", "-", "--", "-x", "+x", ".", "..", ".x", "0x", "0xZZ", "0b2", "1a", "1e", "1e5x",
		"2024-01", "2024-01-01x", "12:", "x12:30", "12:30pm", "12-30", "1,000", "1/2", "50%", "$end", "${ state.x }", "result.body", "N/A", "Inf", "No way", "é", "_1",
		"http://x.example/y", "state.order.total > 1000", "input.approved", "error.type == 'http_404'", "=", "a=b", "<<x",
	}
	for _, text := range texts {
		n, problems := source.Parse([]byte("k: " + text + "\n"))
		if text == "-" || text == "12:" { // these two are structure, not text
			continue
		}
		require.Empty(t, problems, text)
		require.Equal(t, &source.Node{Kind: source.String, Text: text, Pos: source.Position{Line: 1, Column: 4}}, n.Get("k"), text)
	}
}

func TestPlainValues(t *testing.T) {
	t.Parallel()
	tests := []struct {
		in   string
		kind source.Kind
		json string
	}{
		{"", source.Null, "null"},
		{"~", source.Null, "null"},
		{"null", source.Null, "null"},
		{"true", source.Bool, "true"},
		{"false", source.Bool, "false"},
		{"0", source.Number, "0"},
		{"-0", source.Number, "0"},
		{"1.0", source.Number, "1"},
		{"1.10", source.Number, "1.1"},
		{"1e3", source.Number, "1000"},
		{"1E-7", source.Number, "1e-7"},
		{"9007199254740993", source.Number, "9007199254740993"},
		{"1234567890123456789012345678901234567890", source.Number, "1234567890123456789012345678901234567890"},
		{`""`, source.String, `""`},
		{`"null"`, source.String, `"null"`},
		{`'12'`, source.String, `"12"`},
		{"|\n  yes\n", source.String, `"yes\n"`},
		{">-\n  12\n  13\n", source.String, `"12 13"`},
		{"one\n  two", source.String, `"one two"`},
		{`"\u2028\x07\e"`, source.String, `"\u2028\u0007\u001b"`},
		{`! "12"`, source.String, `"12"`},
		{"a!b", source.String, `"a!b"`},
		{"&x 5", source.Number, "5"},
		{"{}", source.Object, "{}"},
		{"[]", source.Array, "[]"},
		{"{a, b: }", source.Object, `{"a":null,"b":null}`},
	}
	for _, tt := range tests {
		n, problems := source.Parse([]byte("k: " + tt.in + "\n"))
		require.Empty(t, problems, tt.in)
		k := n.Get("k")
		require.Equal(t, tt.kind, k.Kind, tt.in)
		raw, err := k.JSON()
		require.NoError(t, err)
		require.Equal(t, tt.json, string(raw), tt.in)
	}
}
