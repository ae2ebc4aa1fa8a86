package source_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill/graph/source"
	"github.com/tidemill/tidemill/graph/value"
)

func at(line, column int) source.Position { return source.Position{Line: line, Column: column} }

func text(s string, pos source.Position) *source.Node {
	return &source.Node{Kind: source.String, Text: s, Pos: pos}
}

// Columns count characters: é is two bytes and 😀 is four.
func TestPositions(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		in   string
		want *source.Node
	}{
		"yaml": {
			"é:\n  - \"😀\": x\n    w: true\n  - [~, 1.50]\n",
			&source.Node{Kind: source.Object, Pos: at(1, 1), Members: []source.Member{{
				Key: "é", KeyPos: at(1, 1), Value: &source.Node{Kind: source.Array, Pos: at(2, 3), Items: []*source.Node{
					{Kind: source.Object, Pos: at(2, 5), Members: []source.Member{
						{Key: "😀", KeyPos: at(2, 5), Value: text("x", at(2, 10))},
						{Key: "w", KeyPos: at(3, 5), Value: &source.Node{Kind: source.Bool, Bool: true, Pos: at(3, 8)}},
					}},
					{Kind: source.Array, Pos: at(4, 5), Items: []*source.Node{
						{Kind: source.Null, Pos: at(4, 6)},
						{Kind: source.Number, Text: "1.50", Pos: at(4, 9)},
					}},
				}},
			}}},
		},
		"json": {
			"{\"é\":\r\n  [{\"😀\": \"x\", \"w\": true},\r[null,\n1.50]]}",
			&source.Node{Kind: source.Object, Pos: at(1, 1), Members: []source.Member{{
				Key: "é", KeyPos: at(1, 2), Value: &source.Node{Kind: source.Array, Pos: at(2, 3), Items: []*source.Node{
					{Kind: source.Object, Pos: at(2, 4), Members: []source.Member{
						{Key: "😀", KeyPos: at(2, 5), Value: text("x", at(2, 10))},
						{Key: "w", KeyPos: at(2, 15), Value: &source.Node{Kind: source.Bool, Bool: true, Pos: at(2, 20)}},
					}},
					{Kind: source.Array, Pos: at(3, 1), Items: []*source.Node{
						{Kind: source.Null, Pos: at(3, 2)},
						{Kind: source.Number, Text: "1.50", Pos: at(4, 1)},
					}},
				}},
			}}},
		},
		"alias": {
			"a: &x {k: v}\nb: *x\n",
			&source.Node{Kind: source.Object, Pos: at(1, 1), Members: []source.Member{
				{Key: "a", KeyPos: at(1, 1), Value: &source.Node{Kind: source.Object, Pos: at(1, 4), Members: []source.Member{
					{Key: "k", KeyPos: at(1, 8), Value: text("v", at(1, 11))},
				}}},
				{Key: "b", KeyPos: at(2, 1), Value: &source.Node{Kind: source.Object, Pos: at(2, 4), Members: []source.Member{
					{Key: "k", KeyPos: at(1, 8), Value: text("v", at(1, 11))},
				}}},
			}},
		},
		"alias as a key": {
			"a: &x k\n*x : v\n",
			&source.Node{Kind: source.Object, Pos: at(1, 1), Members: []source.Member{
				{Key: "a", KeyPos: at(1, 1), Value: text("k", at(1, 4))},
				{Key: "k", KeyPos: at(2, 1), Value: text("v", at(2, 6))},
			}},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n, problems := source.Parse([]byte(tt.in))
			require.Empty(t, problems)
			require.Equal(t, tt.want, n)
		})
	}
}

func TestGet(t *testing.T) {
	t.Parallel()
	n, problems := source.Parse([]byte("a: {b: 1}\nc: x\n"))
	require.Empty(t, problems)
	require.Equal(t, "1", n.Get("a").Get("b").Text)
	require.Equal(t, at(2, 1), n.Member("c").KeyPos)
	require.Nil(t, n.Get("x").Get("y"), "a missing node has no members")
	require.Nil(t, n.Get("c").Member("x"), "text has no members")
}

func TestCopySharesNothing(t *testing.T) {
	t.Parallel()
	const in = "a: [{b: 1}, x]\n"
	n, _ := source.Parse([]byte(in))
	fresh, _ := source.Parse([]byte(in))
	c := n.Copy()
	require.Equal(t, n, c)
	c.Members[0].Key = "z"
	c.Members[0].Value.Items[0].Members[0].Value.Text = "9"
	c.Members[0].Value.Items[1] = nil
	require.Equal(t, fresh, n)
	require.Nil(t, (*source.Node)(nil).Copy())
}

// A tree made by hand is checked like a document.
func TestJSONOfMadeTree(t *testing.T) {
	t.Parallel()
	raw, err := (*source.Node)(nil).JSON()
	require.NoError(t, err)
	require.Equal(t, "null", string(raw))

	bad := []*source.Node{
		{Kind: source.Number, Text: "0x1"},
		{Kind: source.String, Text: "\xff"},
		{Kind: source.Object, Members: []source.Member{{Key: "a"}, {Key: "a"}}},
	}
	for _, n := range bad {
		_, err := n.JSON()
		fault := new(value.Error)
		require.ErrorAs(t, err, &fault)
	}
}
