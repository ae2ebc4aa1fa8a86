package graph_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tidemill/tidemill/graph"
)

func TestKeyed(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		text string
		over graph.Address
		rest string
	}{
		{"each#1/acme", "each#1", "acme"},
		{"each#1~2/acme", "each#1~2", "acme"},
		{"each#1/acme/charge#1", "each#1", "acme/charge#1"},
		{"review#1/each#2/acme", "review#1/each#2", "acme"},
		{"each#1/3/deep#1/acme", "each#1/3/deep#1", "acme"},
		{"each#1/", "each#1", ""},
		{"each#1/007", "each#1", "007"},
		{"each#1/3", "", ""},
		{"ship#1", "", ""},
		{"ship", "", ""},
		{"/acme", "", ""},
		{"", "", ""},
	} {
		over, rest, ok := graph.Keyed(row.text)
		require.Equal(t, row.over != "", ok, row.text)
		require.Equal(t, row.over, over, row.text)
		require.Equal(t, row.rest, rest, row.text)
	}
}

// An address is never taken for one with a key in it, and what is taken apart is
// all there.
func TestKeyedKeepsAddresses(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOfN(rapid.SampledFrom([]string{"a#1", "b#2~3", "4", "5~2", "acme", "", "x y"}), 1, 5).Draw(t, "parts")
		text := strings.Join(parts, "/")
		over, rest, ok := graph.Keyed(text)
		_, err := graph.ParseAddress(text)
		if ok {
			require.Error(t, err)
			require.Equal(t, text, string(over)+"/"+rest)
			_, err = graph.ParseAddress(string(over))
			require.NoError(t, err)
		}
	})
}

// An item is named by its key, also below a map below an item, while no other has it.
func TestItemsByKey(t *testing.T) {
	t.Parallel()
	inner := `{version: 1, id: inner, entry: all, nodes: [{id: all, type: map, items: [a, b], key: "${ item }", max_concurrency: 1, item: {run: act}, next: end}]}`
	doc := mapOver(`, items: "${ state.list }", key: "${ item }", max_concurrency: 1, item: {type: workflow, input: {}, workflow: ` + inner + `}`)
	s := tell(t, doc, `{"list":["eu","eu/n","y","y","1","s p"]}`, plays{"all/item": {outputs(`1`), blocks()}})
	s.advance()
	require.True(t, s.step(noon))
	e := s.export()
	for _, row := range []struct{ over, rest, want string }{
		{"m#1", "s p", "m#1/5"},
		{"m#1", "eu", "m#1/0"},
		{"m#1", "eu/all#1/b", "m#1/0/all#1/b"},
		{"m#1/0/all#1", "b", "m#1/0/all#1/1"},
	} {
		got, failure := e.Item(graph.Address(row.over), row.rest)
		require.Nil(t, failure, row.rest)
		require.Equal(t, graph.Address(row.want), got)
	}
	for _, row := range []struct{ over, rest, says string }{
		{"m#1", "z", `its keys are eu, eu/n, y, y, s p`},
		{"m#1", "e", `no item of the map m#1 has a key that "e" begins with`},
		{"m#1", "1", `its keys are`},
		{"m#1", "y", `may be m#1/2, m#1/3; name the item of the map by its number`},
		{"m#1", "eu/n", `may be m#1/0/n, m#1/1`},
		{"s#1", "eu", `"s#1/eu" is no address, for s#1 is no map whose items have keys`},
	} {
		_, failure := e.Item(graph.Address(row.over), row.rest)
		require.NotNil(t, failure, row.rest)
		require.Equal(t, graph.ErrTypeInvalidRunOptions, failure.Type)
		require.Contains(t, failure.Message, row.says)
	}
}

// A map with a run of its own is as good, and a refusal does not list all of its keys.
func TestItemsOfALongMapByKey(t *testing.T) {
	t.Parallel()
	const items = graph.MaxInlineItems + 10
	keys := make([]string, items)
	for i := range keys {
		keys[i] = fmt.Sprintf(`"k%d"`, i)
	}
	s := tell(t, mapOver(`, key: "${ item }"`), `{"list":[`+strings.Join(keys, ",")+`]}`, nil)
	s.steadily(100)
	e := s.export()
	got, failure := e.Item("m#1", "k205")
	require.Nil(t, failure)
	require.Equal(t, graph.Address("m#1/205"), got)
	_, failure = e.Item("m#1", "none")
	require.Contains(t, failure.Message, "k9 and 200 more")
}
