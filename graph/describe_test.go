package graph_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill/graph"
)

func TestDescribe(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"order-review", "every-field", "family"} {
		d := graph.Describe(compiled(t, readFile(t, name+".yaml")))
		golden(t, name+".describe.txt", d.String())
		raw, err := json.MarshalIndent(d, "", "  ")
		require.NoError(t, err)
		golden(t, name+".describe.json", string(raw)+"\n")
	}
}

// Conformance 20: pictures and descriptions are the same every time, and hold
// no value of the document, be it a secret or only a large one.
func TestPicturesHoldNoValues(t *testing.T) {
	t.Parallel()
	doc := act("args: {headers: {X-Mark: marker-1}, token: \"${ secret('T') }\"}\n    output: marker-2\n    delta: {k: marker-3}\n    input_schema: {const: marker-4}")
	c := compiled(t, doc)
	description := graph.Describe(c)
	raw, err := json.Marshal(description)
	require.NoError(t, err)
	for _, text := range []string{string(raw), description.String(), graph.Mermaid(c.Document, nil), graph.DOT(c.Document, nil), graph.SVG(c.Document, nil)} {
		require.NotRegexp(t, `marker-\d`, text)
	}
	require.Equal(t, []string{"T"}, description.Nodes[0].Secrets, "which secrets a node uses is no secret")
	for range 20 {
		require.Equal(t, description.String(), graph.Describe(compiled(t, doc)).String())
		for _, p := range picturings {
			require.Equal(t, p.draw(c.Document, nil), p.draw(compiled(t, doc).Document, nil))
		}
	}
}

// Text of the author must not end a label or become markup in the page that
// shows the picture.
func TestMermaidEscapes(t *testing.T) {
	t.Parallel()
	hostile := `state.x == "<img src=x>" && "a|b\"]; click n1 #quot; ` + "`md`" + `" != ""`
	raw, err := json.Marshal(hostile)
	require.NoError(t, err)
	c := compiled(t, typed("branch", "cases: [{when: "+string(raw)+", to: b}, {when: '"+strings.Repeat("1 == 1 && ", 30)+"true', to: b}]\n    default: end"))
	for line := range strings.SplitSeq(graph.Mermaid(c.Document, nil), "\n") {
		require.LessOrEqual(t, strings.Count(line, `"`), 2, line)
		require.NotContains(t, line, "<img")
		require.NotContains(t, line, "`")
		require.LessOrEqual(t, len([]rune(line)), 240)
	}
}
