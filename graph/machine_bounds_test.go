package graph_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill/graph"
)

// heavy is a play that fails and was caused by something with long details, as the
// item of a map fails that runs a child graph whose own map failed.
func heavy(errorType string, bytes int) play {
	p := fails(errorType)
	p.ending.Failure.Cause = &graph.Failure{
		Type: "inner", Message: "inside", Details: raw(`"` + strings.Repeat("x", bytes) + `"`),
	}
	return p
}

// numbers is the input of a list of so many items.
func numbers(n int) string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprint(i)
	}
	return `{"list":[` + strings.Join(list, ",") + `]}`
}

// A key that is the number of another item is no name: an answer to item 1 that is
// sent again, once item 1 is answered, must not answer the item whose key is 1.
func TestAKeyThatIsANumberIsNoName(t *testing.T) {
	t.Parallel()
	doc := mapOver(`, key: "${ item }", item: {type: pause}`)
	s := tell(t, doc, `{"list":[1,2,7,"1/x","4~2"]}`, nil).run()
	var names []string
	for _, p := range s.m.Pauses() {
		names = append(names, p.Alias)
	}
	require.Equal(t, []string{"", "", "m#1/7", "", ""}, names)
	require.Nil(t, s.answer(graph.Answer{PauseID: "m#1/1", Input: raw(`1`)}))
	require.Equal(t, graph.ErrTypePauseClosed, s.answer(graph.Answer{PauseID: "m#1/1", Input: raw(`1`)}).Type)
	require.Nil(t, s.answer(graph.Answer{PauseID: "m#1/7", Input: raw(`7`)}))
	require.Len(t, s.m.Pauses(), 3)
}

// What caused the failures of items counts to what a run carries, and the details
// of the map's own failure stay within what a server takes.
func TestHeavyFailuresOfItems(t *testing.T) {
	t.Parallel()
	script := plays{"m/item": times(25, heavy("bad", 60<<10))}
	most := 0
	tolerant := tell(t, mapOver(`, tolerate: {percent: 100}, max_concurrency: 25, output: "${ result.failed }"`), numbers(25), script)
	tolerant.watch = func() {
		text, err := json.Marshal(tolerant.m.Checkpoint())
		require.NoError(t, err)
		most = max(most, len(text))
	}
	tolerant.run()
	require.Equal(t, "25", string(tolerant.m.Outcome().Output))
	require.Less(t, most, graph.DefaultStateLimit+2*(64<<10))

	const items = 110
	script = plays{"m/item": times(items, heavy("bad", 4<<10))}
	failing := tell(t, mapOver(`, tolerate: {count: 108}, max_concurrency: 200, key: "${ item }"`), numbers(items), script).run()
	failure := failing.m.Outcome().Failure
	require.Equal(t, "map_tolerance_exceeded/bad/inner", failureTypes(failure))
	require.Less(t, len(failure.Details), 128<<10)
	var result struct{ Items []struct{ Key string } }
	require.NoError(t, json.Unmarshal(failure.Details, &result))
	require.Len(t, result.Items, 100, "each failed item is named, up to a hundred")
}

// The result of a map's own run goes to the run above as one payload. What is too
// long for that fails the map, and never the task that would close the run.
func TestALongMapWhoseResultIsTooLong(t *testing.T) {
	t.Parallel()
	const items = graph.MaxInlineItems + 1
	small := func(s *story) { s.start.Limits = graph.Limits{Payload: 16 << 10} }
	s := tell(t, mapOver(`, tolerate: {percent: 100}, max_concurrency: 500, output: "${ result.failed }"`), numbers(items),
		plays{"m/item": times(items, fails("bad"))}, small).run()
	require.Equal(t, graph.StatusFailed, s.m.Status())
	require.Equal(t, graph.ErrTypeOutputTooLarge, s.m.Outcome().Failure.Type)
	require.Contains(t, s.m.Outcome().Failure.Message, "the map")
}

// A refusal lists some of the open pauses: hundreds of refusals that each list
// hundreds of pauses would be more than a report to the parent can hold.
func TestARefusalListsSomePauses(t *testing.T) {
	t.Parallel()
	s := tell(t, mapOver(`, max_concurrency: 200, item: {type: pause}`), numbers(200), nil).run()
	refused := s.answer(graph.Answer{PauseID: "m#1/200", Input: raw(`1`)})
	require.Equal(t, graph.ErrTypeUnknownPause, refused.Type)
	require.Contains(t, refused.Message, "m#1/9 and 190 more")
	require.Less(t, len(refused.Message), 500)
}

// A map holds the input that it was given while its items run, and hands it to a
// run of its own, so it counts to what the run carries.
func TestTheInputOfAMapIsCarried(t *testing.T) {
	t.Parallel()
	doc := "entry: a\nnodes:\n  - {id: a, run: act, next: m}\n" +
		"  - {id: m, type: map, items: \"${ state.list }\", item: {run: act}, output: 1, next: end}\n"
	text := func(size int) string { return `"` + strings.Repeat("x", size) + `"` }
	small := func(s *story) { s.start.Limits = graph.Limits{State: 8_000} }
	for size, want := range map[int]graph.Status{1_000: graph.StatusCompleted, 2_500: graph.StatusFailed} {
		s := tell(t, doc, `{"list":[`+text(2_000)+`]}`, plays{"a": {outputs(text(size))}, "m/item": {outputs(`1`)}}, small).run()
		require.Equal(t, want, s.m.Status(), "%d: %v", size, s.m.Outcome().Failure)
		if want == graph.StatusFailed {
			require.Equal(t, graph.ErrTypeStateTooLarge, s.m.Outcome().Failure.Type)
			require.Equal(t, graph.Address("m#1"), s.m.Outcome().Failure.Address, "before any item has run")
		}
	}
}

// A writer of JSON may escape what canonical text does not. What a map holds is
// read back as it was, so that an item is given the same bytes.
func TestAMapIsReadBackAsItWas(t *testing.T) {
	t.Parallel()
	s := tell(t, mapOver(", max_concurrency: 1"), `{"list":["<a>","<b>"]}`, plays{"m#1/0": {outputs(`"<&>"`)}}).run()
	written, err := json.Marshal(s.m.Checkpoint())
	require.NoError(t, err)
	parsed, failure := graph.ParseCheckpoint(written)
	require.Nil(t, failure)
	require.Equal(t, s.m.Checkpoint().Activations[0].Mapping, parsed.Activations[0].Mapping)
}
