package graph_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill/graph"
)

// A fork with its defaults written and one with them left out are one graph; a
// change of any of them is another.
func TestForkFingerprint(t *testing.T) {
	t.Parallel()
	want := compiled(t, forked(sound, toJoin, toJoin)).Fingerprint
	require.Equal(t, want, compiled(t, forked(sound+", join_policy: all, merge: reject_conflicts, max_concurrency: 2", toJoin, toJoin)).Fingerprint)
	seen := map[string]string{want: "the defaults"}
	for _, fields := range []string{
		", join_policy: any", ", join_policy: first_success", ", join_policy: collect", ", join_policy: {quorum: 1}", ", join_policy: {quorum: 2}",
		", merge: ordered_last_wins", ", merge: {call: m}", ", merge: {call: o}", ", max_concurrency: 1",
	} {
		fingerprint := compiled(t, forked(sound+fields, toJoin, toJoin)).Fingerprint
		require.Empty(t, seen[fingerprint], fields)
		seen[fingerprint] = fields
	}
}

// A fork made in Go is the fork written as text, and a compiled one compiles
// again to itself.
func TestForkBuilder(t *testing.T) {
	t.Parallel()
	b := graph.NewBuilder("g")
	b.Add(
		graph.Node{
			ID: "a", Type: graph.TypeFork, Branches: []string{"b", "c"}, Join: "j",
			JoinPolicy: &graph.JoinPolicy{Kind: graph.JoinQuorum, N: 1}, MergeCall: "m",
		},
		graph.Node{ID: "b", Run: &graph.Run{Name: "x"}, OnError: &graph.OnError{Output: b.Value(1), Delta: b.Value(map[string]int{"k": 2})}, Next: graph.To("j")},
		graph.Node{ID: "c", Run: &graph.Run{Name: "z"}, Next: graph.To("j")},
		graph.Node{ID: "j", Type: graph.TypeJoin, Next: graph.To(graph.End)},
	)
	built, found := b.Compile(graph.CompileOptions{})
	require.NoError(t, found.Err())
	text := compiled(t, forked(sound+", join_policy: {quorum: 1}, merge: {call: m}", "on_error: {output: 1, delta: {k: 2}}, next: j", toJoin))
	require.Equal(t, string(text.Canonical), string(built.Canonical))

	again, found := graph.CompileDocument(text.Document, graph.CompileOptions{})
	require.NoError(t, found.Err())
	require.Equal(t, text.Fingerprint, again.Fingerprint)
}

// More branches than may be open at once are fine; they wait their turn.
func TestForkOfManyBranches(t *testing.T) {
	t.Parallel()
	var ids []string
	var nodes strings.Builder
	for i := range 600 {
		id := "b" + strings.Repeat("x", i%3) + text(t, i)
		ids = append(ids, id)
		nodes.WriteString("  - {id: " + id + ", run: x, next: j}\n")
	}
	c := compiled(t, header+"  - {id: a, type: fork, branches: ["+strings.Join(ids, ", ")+"], join: j}\n"+nodes.String()+"  - {id: j, type: join, next: end}\n")
	require.Equal(t, 500, c.Document.Nodes[0].MaxConcurrency)
}

// keyed is an object of one key, as a callback gives it.
func keyed(key string, v json.RawMessage) (any, error) {
	if v == nil {
		return nil, errors.New("nothing was given")
	}
	return map[string]any{key: v}, nil
}

// What a merge callback is given and may give, and what a branch recovers with.
func TestDecideForks(t *testing.T) {
	t.Parallel()
	known := callbacks{
		"ok":     func(s graph.Scope) (any, error) { return keyed("all", s.Input) },
		"number": gives(7),
		"panics": func(graph.Scope) (any, error) { panic("no") },
	}
	subject := json.RawMessage(`[{"delta":{},"id":"b","output":1}]`)
	for name, failure := range map[string]string{"ok": "", "number": "an object", "panics": "panicked", "absent": "no such callback"} {
		c := compiled(t, forked(sound+", merge: {call: "+name+"}", toJoin, toJoin))
		e, err := graph.NewEvaluator(c.Document, known)
		require.NoError(t, err)
		d, ok := e.Decide(graph.Question{Kind: graph.AskMerge, Node: &c.Document.Nodes[0], Subject: subject})
		require.True(t, ok)
		if failure == "" {
			require.JSONEq(t, `{"all":[{"delta":{},"id":"b","output":1}]}`, string(d.Delta.Raw()))
			continue
		}
		require.Equal(t, graph.ErrTypeForkMergeFailed, d.Failure.Type)
		require.Contains(t, d.Failure.Message, failure)
	}

	c := compiled(t, forked(sound, `on_error: {output: "${ error.message }", delta: {at: "${ error.address }", k: "${ state.k + 1 }"}}, next: j`, toJoin))
	e, err := graph.NewEvaluator(c.Document, nil)
	require.NoError(t, err)
	d, _ := e.Decide(graph.Question{Kind: graph.AskRecover, Node: &c.Document.Nodes[1], Scope: graph.Scope{
		State: state(t, `{"k":1}`), Error: &graph.Failure{Type: "x", Message: "gone", Address: "b#1"},
	}})
	require.Nil(t, d.Failure)
	require.Equal(t, `"gone"`, string(d.Output))
	require.JSONEq(t, `{"at":"b#1","k":2}`, string(d.Delta.Raw()))
}
