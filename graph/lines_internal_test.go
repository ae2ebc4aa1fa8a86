package graph

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill/graph/source"
)

// An error inside a text is shown at its own character: quotes and escapes
// stand between the text and the document, and a character is not a byte.
func TestLinesInside(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		doc    string
		offset int
		want   int // column in line 1
	}{
		{`plain text`, 6, 7},
		{`"double"`, 3, 5},
		{`"a\nb\u00e9c"`, 2, 5},
		{`"a\nb\u00e9c"`, 4, 12},
		{`"\ud83d\ude00x"`, 1, 14},
		{`"\x41b"`, 1, 6},
		{`"\U0001F600b"`, 1, 12},
		{`"é→x"`, 2, 4},
		{`'it''s x'`, 3, 6},
		{`'it''s x'`, 5, 8},
		{`'ab'`, 2, 4},
	} {
		doc := []byte("[" + c.doc + "]") // in a list, where JSON is known as JSON
		root, problems := source.Parse(doc)
		require.Empty(t, problems, c.doc)
		node := root.Items[0]
		got := newLines(doc).inside(node, c.offset)
		require.Equal(t, source.Position{Line: 1, Column: c.want + 1}, got, "%s, character %d of %q", c.doc, c.offset, node.Text)
	}
}

// Where the place cannot be told, the start of the value is right at least.
func TestLinesInsideGivesUp(t *testing.T) {
	t.Parallel()
	for _, doc := range []string{"|\n  one\n  two\n", ">\n  one\n  two\n", "\"one\n  two\"", "'one\n  two'", "one\n  two"} {
		node, problems := source.Parse([]byte(doc))
		require.Empty(t, problems, doc)
		require.Equal(t, node.Pos, newLines([]byte(doc)).inside(node, 5), doc)
	}
	node := &source.Node{Kind: source.String, Pos: source.Position{Line: 9, Column: 9}, Text: "abc"}
	require.Equal(t, node.Pos, newLines([]byte("x")).inside(node, 1), "a place outside of the text")
}

func TestPointerFind(t *testing.T) {
	t.Parallel()
	root, problems := source.Parse([]byte("a/b: [1, {c~d: 2}]\n"))
	require.Empty(t, problems)
	at := pointer("").key("a/b").item(1).key("c~d")
	require.Equal(t, pointer("/a~1b/1/c~0d"), at)
	require.Equal(t, "2", at.find(root).value.Text)
	require.Equal(t, source.Position{Line: 1, Column: 11}, at.find(root).key)
	require.Equal(t, "2", (at + "/x/y").find(root).value.Text, "what is missing is shown where it is missing")
}
