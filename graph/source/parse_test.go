package source_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill/graph/source"
)

// found is the part of a problem that callers match on.
type found struct {
	code    string
	line    int
	column  int
	pointer string
}

func summary(problems []source.Problem) []found {
	var out []found
	for _, p := range problems {
		out = append(out, found{p.Code, p.Pos.Line, p.Pos.Column, p.Pointer})
	}
	return out
}

func requireWorded(t *testing.T, problems []source.Problem) {
	t.Helper()
	for _, p := range problems {
		require.NotEmpty(t, p.Message)
		require.NotEmpty(t, p.Fix)
	}
}

// Every code has a smallest document that yields it, in each form that can.
func TestProblems(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, file, in string
		want           []found
	}{
		{"yaml: nested mapping on a line", "a.yaml", "a: b: c\n", []found{{source.CodeInvalidSyntax, 1, 1, ""}}},
		{"yaml: list inside a map", "a.yaml", "x: 1\nfoo: bar\n- x\nz: 2\n", []found{{source.CodeInvalidSyntax, 3, 1, ""}}},
		{"yaml: list not closed", "a.yaml", "# one\nx: 1\ny: [1, 2\n", []found{{source.CodeInvalidSyntax, 3, 1, ""}}},
		{"yaml: quote not closed", "a.yaml", "a: 'b\n", []found{{source.CodeInvalidSyntax, 1, 1, ""}}},
		{"yaml: tab as indentation", "a.yaml", "a:\n\t- b\n", []found{{source.CodeInvalidSyntax, 2, 2, ""}}},
		{"yaml: wrong indentation", "a.yaml", "a:\n  - b\n c: d\n", []found{{source.CodeInvalidSyntax, 3, 2, ""}}},
		{"yaml: unknown alias", "a.yaml", "a: 1\nb: *x\n", []found{{source.CodeInvalidSyntax, 2, 4, ""}}},
		{"yaml: surrogate escape", "a.yaml", `a: "\ud83d"`, []found{{source.CodeInvalidSyntax, 1, 1, ""}}},
		{"yaml: control character", "a.yaml", "a: \"é\x07\"", []found{{source.CodeInvalidSyntax, 1, 6, ""}}},
		{"yaml: line separator", "a.yaml", "a: \"b\u2028c\"", []found{{source.CodeInvalidSyntax, 1, 6, ""}}},
		{"yaml: next line", "a.yaml", "a: b\u0085c", []found{{source.CodeInvalidSyntax, 1, 5, ""}}},
		{"yaml: broken second document", "a.yaml", "a: 1\n---\nb: [\n", []found{{source.CodeInvalidSyntax, 3, 1, ""}}},
		{"json: comma missing", "a.json", "[1\n 2]", []found{{source.CodeInvalidSyntax, 2, 2, ""}}},
		{"json: trailing comma", "a.json", `{"a":1,}`, []found{{source.CodeInvalidSyntax, 1, 8, ""}}},
		{"json: trailing comma in a list", "a.json", `[1,]`, []found{{source.CodeInvalidSyntax, 1, 4, "/1"}}},
		{"json: colon missing", "a.json", `{"a" 1}`, []found{{source.CodeInvalidSyntax, 1, 6, "/a"}}},
		{"json: key without quotes", "a.json", `{a: 1}`, []found{{source.CodeInvalidSyntax, 1, 2, ""}}},
		{"json: text without quotes", "a.json", `{"é": text}`, []found{{source.CodeInvalidSyntax, 1, 7, "/é"}}},
		{"json: single quotes", "a.json", `{'a': 1}`, []found{{source.CodeInvalidSyntax, 1, 2, ""}}},
		{"json: tilde", "a.json", `[~]`, []found{{source.CodeInvalidSyntax, 1, 2, "/0"}}},
		{"json: value missing", "a.json", `{"a":}`, []found{{source.CodeInvalidSyntax, 1, 6, "/a"}}},
		{"json: end of document", "a.json", `{"a":`, []found{{source.CodeInvalidSyntax, 1, 6, "/a"}}},
		{"json: object not closed", "a.json", `{"a":1`, []found{{source.CodeInvalidSyntax, 1, 7, ""}}},
		{"json: text not closed", "a.json", `{"a":"b}`, []found{{source.CodeInvalidSyntax, 1, 9, "/a"}}},
		{"json: key not closed", "a.json", `{"a`, []found{{source.CodeInvalidSyntax, 1, 4, ""}}},
		{"json: ends in a backslash", "a.json", `"a\`, []found{{source.CodeInvalidSyntax, 1, 4, ""}}},
		{"json: line break in text", "a.json", "[\"ab\ncd\"]", []found{{source.CodeInvalidSyntax, 1, 5, "/0"}}},
		{"json: unknown escape", "a.json", `["ab\q"]`, []found{{source.CodeInvalidSyntax, 1, 5, "/0"}}},
		{"json: comment", "a.json", "{} // no", []found{{source.CodeMultipleDocuments, 1, 4, ""}}},
		{"json: bracket after the end", "a.json", "{}}", []found{{source.CodeInvalidSyntax, 1, 3, ""}}},

		{"invalid UTF-8 in yaml", "a.yaml", "é: é\xff", []found{{source.CodeInvalidUTF8, 1, 5, ""}}},
		{"invalid UTF-8 in json", "a.json", "{\n\"a\": \"\xc3\"}", []found{{source.CodeInvalidUTF8, 2, 7, ""}}},
		{"UTF-16", "a.yaml", "\xff\xfea\x00", []found{{source.CodeInvalidUTF8, 1, 1, ""}}},
		{"json: lone surrogate", "a.json", `{"a":"x\ud800","b":"\udc00"}`, []found{{source.CodeInvalidUTF8, 1, 8, "/a"}, {source.CodeInvalidUTF8, 1, 21, "/b"}}},

		{"empty yaml", "a.yaml", "", []found{{source.CodeEmptyDocument, 1, 1, ""}}},
		{"comments only", "a.yaml", "# hi\n", []found{{source.CodeEmptyDocument, 1, 1, ""}}},
		{"marker only", "a.yaml", "---\n", []found{{source.CodeEmptyDocument, 1, 1, ""}}},
		{"empty json", "a.json", " \n ", []found{{source.CodeEmptyDocument, 1, 1, ""}}},
		{"two yaml documents", "a.yaml", "a: 1\n---\nb: 2\n", []found{{source.CodeMultipleDocuments, 2, 1, ""}}},
		{"two json documents", "a.json", "{}\n {}", []found{{source.CodeMultipleDocuments, 2, 2, ""}}},

		{"yaml: key twice", "a.yaml", "a: {b: 1,\n    b: 2}\n", []found{{source.CodeDuplicateKey, 2, 5, "/a/b"}}},
		{"yaml: key twice, one in quotes", "a.yaml", "a: 1\n\"a\": 1\n", []found{{source.CodeDuplicateKey, 2, 1, "/a"}}},
		{"json: key twice", "a.json", `{"a":1,"\u0061":yes}`, []found{{source.CodeDuplicateKey, 1, 8, "/a"}, {source.CodeAmbiguousScalar, 1, 17, "/a"}}},
		{"yaml: number as a key", "a.yaml", "a:\n  1: x\n", []found{{source.CodeInvalidMapKey, 2, 3, "/a/1"}}},
		{"yaml: true as a key", "a.yaml", "true: x\n", []found{{source.CodeInvalidMapKey, 1, 1, "/true"}}},
		{"yaml: null as a key", "a.yaml", "~: x\n", []found{{source.CodeInvalidMapKey, 1, 1, "/~0"}}},
		{"yaml: empty key", "a.yaml", "? \n: x\n", []found{{source.CodeInvalidMapKey, 1, 2, "/"}}},
		{"yaml: list as a key", "a.yaml", "? [a]\n: b\n", []found{{source.CodeInvalidMapKey, 1, 3, ""}}},
		{"yaml: key that reads as a truth value", "a.yaml", "on: 1\nyes: 2\nn: 3\n", []found{
			{source.CodeAmbiguousScalar, 1, 1, "/on"}, {source.CodeAmbiguousScalar, 2, 1, "/yes"}, {source.CodeAmbiguousScalar, 3, 1, "/n"},
		}},
		{"yaml: key that reads as a time", "a.yaml", "12:30: x\n", []found{{source.CodeAmbiguousScalar, 1, 1, "/12:30"}}},
		{"yaml: key that is infinite", "a.yaml", ".inf: x\n", []found{{source.CodeNonFiniteNumber, 1, 1, "/.inf"}}},
		{"yaml: merge key", "a.yaml", "a: &x {b: 1}\nc:\n  <<: *x\n", []found{{source.CodeUnsupportedMerge, 3, 3, "/c/<<"}}},
		{"yaml: tags", "a.yaml", "a: !custom x\nb: !!int 3\nc: ! 12\nd: &q ! 13\ne: !x [yes]\n!t f: 1\n", []found{
			{source.CodeUnsupportedTag, 1, 4, "/a"},
			{source.CodeUnsupportedTag, 2, 4, "/b"},
			{source.CodeUnsupportedTag, 3, 4, "/c"},
			{source.CodeUnsupportedTag, 4, 4, "/d"},
			{source.CodeUnsupportedTag, 5, 4, "/e"},
			{source.CodeAmbiguousScalar, 5, 8, "/e/0"},
			{source.CodeUnsupportedTag, 6, 1, "/f"},
		}},
		{"yaml: alias inside its value", "a.yaml", "a: &x\n  b: [*x]\n", []found{{source.CodeCyclicAlias, 2, 7, "/a/b/0"}}},
		{"yaml: fault behind an alias is told once", "a.yaml", "a: &x [yes]\nb: *x\n", []found{{source.CodeAmbiguousScalar, 1, 8, "/a/0"}}},
		{"yaml: number too fine", "a.yaml", "a: 0.1234567890123456789\n", []found{{source.CodePrecisionLost, 1, 4, "/a"}}},
		{"json: number too large", "a.json", `[1e400]`, []found{{source.CodePrecisionLost, 1, 2, "/0"}}},
		{"json: not a number", "a.json", `{"a/b": [NaN, -Infinity]}`, []found{{source.CodeNonFiniteNumber, 1, 10, "/a~1b/0"}, {source.CodeNonFiniteNumber, 1, 15, "/a~1b/1"}}},
		{"all at once and in order", "a.yaml", "a: yes\nb:\n  - 0123\n  - {c: .nan}\na: !x y\n", []found{
			{source.CodeAmbiguousScalar, 1, 4, "/a"},
			{source.CodeAmbiguousScalar, 3, 5, "/b/0"},
			{source.CodeNonFiniteNumber, 4, 9, "/b/1/c"},
			{source.CodeDuplicateKey, 5, 1, "/a"},
			{source.CodeUnsupportedTag, 5, 4, "/a"},
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, problems := source.ParseNamed(tt.file, []byte(tt.in))
			require.Equal(t, tt.want, summary(problems))
			requireWorded(t, problems)
		})
	}
}

func TestProblemText(t *testing.T) {
	t.Parallel()
	text := func(in string) string {
		_, problems := source.Parse([]byte(in))
		require.Len(t, problems, 1)
		return problems[0].String()
	}
	require.Equal(t, `1:4: ambiguous_scalar at /a: yes without quotes is text to some readers of YAML and true to others; write "yes" in quotes for text, or true`, text("a: yes"))
	require.Equal(t, `3:1: duplicate_key at /a: the key "a" stands here and on line 1; keep one of the two`, text("a: 1\nb: 2\na: 3"))
	require.Equal(t, `1:4: number_loses_precision at /a: 0.12345678901234567890 cannot be held as a number without changing it: it would become 0.12345678901234568; write "0.12345678901234567890" in quotes for text, or 0.12345678901234568`, text("a: 0.12345678901234567890"))
	require.Equal(t, `1:1: empty_document: the document is empty; write one value, such as {}`, text(""))
	require.Contains(t, text("a: {b: ${ x }}"), "an expression ${ } must stand in quotes")
	require.Contains(t, text("nodes:\n  - id: a\n    run: x\n   next: b\n  - id: c\n"), "4:4: invalid_syntax: did not find expected '-' indicator, in what begins on line 2;")
}

func TestFormIsFound(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, file, in, want string
		problems             []found
	}{
		{"json", "", ` {"a":"\ud83d\ude00"}`, "{\"a\":\"\U0001F600\"}", nil},
		{"flow yaml", "", "{a: b, c: [d, 1]}", `{"a":"b","c":["d",1]}`, nil},
		{"flow yaml that begins like json", "", `{"a": 1, b: c,}`, `{"a":1,"b":"c"}`, nil},
		{"block yaml", "", "a: b", `{"a":"b"}`, nil},
		{"a mark of byte order", "", "\ufeffa: b", `{"a":"b"}`, nil},
		{"json after a mark of byte order", "x.json", "\ufeff[1]", `[1]`, nil},
		{"unknown ending", "graph.txt", `{"a":1}`, `{"a":1}`, nil},
		{"json named yaml", "x.YML", `{"a":1}`, `{"a":1}`, nil},
		{"single value", "", "just text", `"just text"`, nil},
		{"broken json is told as json", "", `{"a": 1`, "", []found{{source.CodeInvalidSyntax, 1, 8, ""}}},
		{"an open brace alone", "", `{`, "", []found{{source.CodeInvalidSyntax, 1, 2, ""}}},
		{"broken flow yaml is told as yaml", "", "{a: 1,\nb: [}", "", []found{{source.CodeInvalidSyntax, 2, 1, ""}}},
		{"yaml named json", "x.JSON", "a: b", "", []found{{source.CodeInvalidSyntax, 1, 1, ""}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			n, problems := source.ParseNamed(tt.file, []byte(tt.in))
			require.Equal(t, tt.problems, summary(problems))
			if tt.problems != nil {
				return
			}
			raw, err := n.JSON()
			require.NoError(t, err)
			require.Equal(t, tt.want, string(raw))
		})
	}
}

func TestLimits(t *testing.T) {
	t.Parallel()
	nest := func(depth int) string { return strings.Repeat("[", depth) + strings.Repeat("]", depth) }
	at := strings.Repeat("/0", source.MaxDepth)
	for _, file := range []string{"a.json", "a.yaml"} {
		_, problems := source.ParseNamed(file, []byte(nest(source.MaxDepth)))
		require.Empty(t, problems, file)
		_, problems = source.ParseNamed(file, []byte(nest(source.MaxDepth+1)))
		require.Equal(t, []found{{source.CodeTooDeep, 1, source.MaxDepth + 1, at}}, summary(problems), file)
		_, problems = source.ParseNamed(file, []byte(strings.Repeat("[", source.MaxBytes)))
		require.NotEmpty(t, problems, file)

		full := `"` + strings.Repeat("x", source.MaxBytes-2) + `"`
		_, problems = source.ParseNamed(file, []byte(full))
		require.Empty(t, problems, file)
		_, problems = source.ParseNamed(file, []byte(full+" "))
		require.Equal(t, []found{{source.CodeDocumentTooLarge, 1, 1, ""}}, summary(problems), file)
	}

	_, problems := source.Parse([]byte(strings.Repeat("- yes\n", source.MaxProblems+10)))
	require.Len(t, problems, source.MaxProblems)
}

// A few hundred bytes must not unfold to gigabytes.
func TestAliasBomb(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("a0: &a0 [x, x, x, x, x, x, x, x, x]\n")
	for i := range 9 {
		name, last := string(rune('1'+i)), "*a"+string(rune('0'+i))
		b.WriteString("a" + name + ": &a" + name + " [" + strings.Repeat(last+", ", 8) + last + "]\n")
	}
	_, problems := source.Parse([]byte(b.String()))
	require.Len(t, problems, 1)
	require.Equal(t, source.CodeTooManyAliases, problems[0].Code)
	require.Equal(t, 5, problems[0].Pos.Line)
	requireWorded(t, problems)
}

func TestAliasAtDepth(t *testing.T) {
	t.Parallel()
	depth := source.MaxDepth - 1
	in := "- &x [[1]]\n- " + strings.Repeat("[", depth-1) + "*x" + strings.Repeat("]", depth-1) + "\n"
	_, problems := source.Parse([]byte(in))
	require.Equal(t, []found{{source.CodeTooDeep, 2, depth + 2, "/1" + strings.Repeat("/0", depth)}}, summary(problems))
}
