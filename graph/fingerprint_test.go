package graph_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill/graph"
	"github.com/tidemill/tidemill/graph/source"
)

// everything uses every field of this version, each with its default where it
// has one.
const everything = `
version: 1
id: g
entry: a
max_steps: 1000
deadline: none
state_reducers: {k: overwrite}
nodes:
  - id: a
    type: action
    run: x
    args: {p: "${ state.z + state.b }"}
    timeout: 10m
    retry: {max_attempts: 1, backoff: 1s, coefficient: 1, max_backoff: 1m, non_retryable: []}
    max_interruptions: 10
    cancel_grace: 30s
    next: p
  - {id: p, type: pause, reason: pause, expires: none, next: l}
  - {id: l, type: loop, while: state.go, body: s, done: end, on_exhausted: end, max_iterations: 2}
  - {id: s, type: set, next: l}
`

// nothing is the same graph with every default left out.
const nothing = `
id: g
entry: a
nodes:
  - {id: a, run: x, args: {p: "${ state.z + state.b }"}, next: p}
  - {id: p, type: pause, next: l}
  - {id: l, type: loop, while: state.go, body: s, max_iterations: 2}
  - {id: s, type: set, next: l}
`

// A default that is written and one that is left out are the same graph, and so
// are two spellings of one thing; otherwise a harmless edit would part a run
// from its graph.
func TestOneGraphOneFingerprint(t *testing.T) {
	t.Parallel()
	want := compiled(t, nothing).Fingerprint
	for name, doc := range map[string]string{
		"defaults":     everything,
		"edges":        strings.Replace(nothing, ", next: p}", "}", 1) + "edges: {a: p}\n",
		"end":          strings.Replace(nothing, "max_iterations: 2", "max_iterations: 2.0, done: $end", 1),
		"units":        strings.Replace(nothing, "run: x,", "run: x, timeout: 600s, retry: {backoff_ms: 1000},", 1),
		"reads":        strings.Replace(nothing, "run: x,", "run: x, reads: [z],", 1),
		"key order":    strings.Replace(nothing, "id: a, run: x", "run: x, id: a", 1),
		"condition":    strings.Replace(nothing, "while: state.go", "while: ' state.go '", 1),
		"an alias":     strings.Replace(nothing, `args: {p: "${ state.z + state.b }"}`, `args: &x {p: "${ state.z + state.b }"}`, 1),
		"JSON":         asJSON(t, nothing),
		"JSON, spaced": strings.ReplaceAll(asJSON(t, everything), ",", " ,\n "),
	} {
		require.Equal(t, want, compiled(t, doc).Fingerprint, name)
	}
}

// Whatever changes what a run does changes the fingerprint.
func TestTwoGraphsTwoFingerprints(t *testing.T) {
	t.Parallel()
	seen := map[string]string{compiled(t, nothing).Fingerprint: "the graph"}
	for name, doc := range map[string]string{
		"an id":         strings.Replace(nothing, "id: g", "id: h", 1),
		"a revision":    "revision: '2'\n" + nothing,
		"node order":    strings.Replace(nothing, "  - {id: s, type: set, next: l}\n", "", 1) + "  - {id: s, type: set, next: l}\n  - {id: t, type: set, next: l}\n",
		"a timeout":     strings.Replace(nothing, "run: x,", "run: x, timeout: 1s,", 1),
		"no timeout":    strings.Replace(nothing, "run: x,", "run: x, timeout: none,", 1),
		"no backoff":    strings.Replace(nothing, "run: x,", "run: x, retry: {backoff: 0},", 1),
		"more reads":    strings.Replace(nothing, "run: x,", "run: x, reads: [y2],", 1),
		"an output":     strings.Replace(nothing, "run: x,", "run: x, output: null,", 1),
		"interruptions": strings.Replace(nothing, "run: x,", "run: x, max_interruptions: 0,", 1),
		"a reducer":     "state_reducers: {k: sum}\n" + nothing,
	} {
		fingerprint := compiled(t, doc).Fingerprint
		require.NotContains(t, seen, fingerprint, name)
		seen[fingerprint] = name
	}
}

// The version of a callback is part of the graph: new code is a new graph.
func TestCallbackVersionsCount(t *testing.T) {
	t.Parallel()
	doc := []byte(one("{id: a, type: set, next: {route: {call: pick}}}"))
	prints := map[string]bool{}
	for _, version := range []int{1, 2} {
		c, found := graph.Compile("", doc, graph.CompileOptions{Callbacks: map[string]int{"pick": version}})
		require.Empty(t, found)
		require.Equal(t, []graph.Callback{{Name: "pick", Version: version}}, c.Document.Callbacks)
		prints[c.Fingerprint] = true
	}
	require.Len(t, prints, 2)
}

// A compiled document is what a run pins: read back from its canonical form, or
// compiled again, it is the same document.
func TestNormalFormIsStable(t *testing.T) {
	t.Parallel()
	docs := []string{everything, nothing, readFile(t, "order-review.yaml"), readFile(t, "every-field.yaml"), readFile(t, "family.yaml")}
	for _, w := range warnedDocuments() {
		docs = append(docs, w.doc)
	}
	for _, doc := range docs {
		c := compiled(t, doc)
		parsed, err := graph.ParseDocument(c.Canonical)
		require.NoError(t, err)
		require.Equal(t, c.Document, parsed)

		again, found := graph.CompileDocument(c.Document, graph.CompileOptions{})
		require.NoError(t, found.Err())
		require.Equal(t, string(c.Canonical), string(again.Canonical))
		require.Equal(t, c.Fingerprint, again.Fingerprint)
	}
}

// A payload escapes what HTML would read. A document that came in one must
// still commit the same bytes, or sizes and digests would differ after a
// replay.
func TestDocumentThroughAPayload(t *testing.T) {
	t.Parallel()
	c := compiled(t, one(`{id: a, type: set, output: {t: "<&>"}, next: {cases: [{when: 'input < 1', to: end}], default: end}}`))
	payload, err := json.Marshal(struct{ Document *graph.Document }{c.Document})
	require.NoError(t, err)
	require.Contains(t, string(payload), "u003c")
	var back struct{ Document *graph.Document }
	require.NoError(t, json.Unmarshal(payload, &back))
	require.Equal(t, c.Document, back.Document)

	var node graph.Node
	raw, err := json.Marshal(c.Document.Nodes[0])
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(raw, &node))
	p, err := graph.CompileTask(&node)
	require.NoError(t, err)
	out, _, failure := p.Finish(&graph.Task{Node: &node}, nil, nil)
	require.Nil(t, failure)
	require.Equal(t, c.Document.Nodes[0].Output, out, "byte for byte")
}

// The compiler finds the state keys that a node's activity needs; a key it
// missed would be absent there.
func TestReads(t *testing.T) {
	t.Parallel()
	for fields, want := range map[string][]string{
		"args: {a: '${ state.b.c + state[\"a\"] }'}":                                     {"a", "b"},
		"output: '${ has(state.x) ? state.?z.orValue(1) : 0 }'":                          {"x", "z"},
		"delta: {k: '${ input.x }'}\n    reads: [q, b, q]":                               {"b", "q"},
		"args: {call: make}\n    reads: [x]\n    output: '${ state.a }'":                 {"a", "x"},
		"delta: {k: '${ state.x }'}\n    reads: [x]":                                     {"x"},
		"on_error: {cases: [{when: state.c, to: end}]}\n    output: $${ state.no }":      nil,
		"args: {a: '${ [1].map(state, state) }', b: '${ state.list.map(i, i + 1)[0] }'}": {"list"},
	} {
		node := compiled(t, act(fields)).Document.Nodes[0]
		require.Equal(t, want, node.Reads, fields)
		require.False(t, node.ReadsAll, fields)
	}
	for _, fields := range []string{"args: {a: '${ state }'}", "args: {a: '${ state[input.key] }'}\n    reads: [x]", "args: {call: make}", "args: {call: make}\n    output: '${ state.x }'"} {
		node := compiled(t, act(fields)).Document.Nodes[0]
		require.True(t, node.ReadsAll, fields)
		require.Empty(t, node.Reads, fields)
	}
}

// The run of a long map is given what its items need, wherever that stands; a key
// that was missed would be absent there.
func TestReadsOfChildrenAndMaps(t *testing.T) {
	t.Parallel()
	for item, want := range map[string][2][]string{ // of the item, and of the map
		"run: x, args: {a: '${ state.b + item }'}":                              {{"b"}, {"b"}},
		"run: x, on_error: {output: '${ state.c }'}, args: {a: '${ state.b }'}": {{"b"}, {"b", "c"}},
		"run: x, reads: [q]":                                                      {{"q"}, {"q"}},
		"type: pause, summary: '${ state.z }'":                                    {{"z"}, {"z"}},
		"type: workflow, workflow: b, input: {a: '${ state.k }'}":                 {{"k"}, {"k"}},
		"run: x, args: {a: '${ [1].map(state, state) }', b: '${ item.state.x }'}": {nil, nil},
	} {
		node := compiled(t, mapped(item)).Document.Nodes[0]
		require.Equal(t, want, [2][]string{node.Item.Reads, node.Reads}, item)
		require.False(t, node.ReadsAll || node.Item.ReadsAll, item)
	}
	for item, own := range map[string]bool{
		"type: workflow, workflow: b":                                true,
		"run: x, args: {call: make}":                                 true,
		"run: x, args: {a: '${ state }'}":                            true,
		"run: x, on_error: {output: '${ state }'}":                   false,
		"run: x, reads: [a], on_error: {output: '${ state[item] }'}": false,
	} {
		node := compiled(t, mapped(item)).Document.Nodes[0]
		require.Equal(t, own, node.Item.ReadsAll, item)
		require.True(t, node.ReadsAll, item)
		require.Empty(t, node.Reads, item)
	}
	node := compiled(t, listed("items: '${ state.list }'\n    key: '${ state.k }'\n    output: '${ state.o }'\n    reads: [r]")).Document.Nodes[0]
	require.Equal(t, []string{"r"}, node.Reads, "the map's own values are evaluated where all of the state is")
	require.True(t, compiled(t, child("workflow: b")).Document.Nodes[0].ReadsAll)
	require.False(t, compiled(t, child("workflow: b\n    input: {}")).Document.Nodes[0].ReadsAll)
}

// One child graph, one map and one local action, with every default written out
// and with every one left out.
func TestOneFingerprintOfChildrenAndMaps(t *testing.T) {
	t.Parallel()
	const retry = "retry: {max_attempts: 1, backoff: 1s, coefficient: 1, max_backoff: 1m}"
	for written, left := range map[string]string{
		child("workflow: b\n    timeout: none\n    " + retry):                                                      child("workflow: b"),
		listed("items: [1.0]\n    max_concurrency: 10\n    tolerate: {count: 0}\n    timeout: none\n    " + retry): listed("items: [1]"),
		listed("items: [1]\n    tolerate: {percent: 0}"):                                                           listed("items: [1]"),
		mapped("type: action, run: x, timeout: 10m, max_interruptions: 10"):                                        mapped("run: x"),
		mapped("run: x, on_error: {output: null}"):                                                                 mapped("run: x, on_error: {delta: {k: 1}}"),
		act("mode: local\n    idempotent: true\n    timeout: 1000ms"):                                              act("mode: local\n    idempotent: true\n    timeout: 1s"),
		act("idempotent: true"):                               act("reads: []"),
		inlined("type: set, output: '${ input }', next: end"): child("workflow: {version: 1, id: inner, max_steps: 1000, entry: b, nodes: [{id: b, type: set, output: '${ input }'}], edges: {b: $end}}"),
	} {
		require.Equal(t, compiled(t, left).Fingerprint, compiled(t, written).Fingerprint, written)
	}
	seen := map[string]string{}
	for _, doc := range []string{
		child("workflow: b"), child("workflow: c"), child("workflow: b\n    deadline: 1h"), child("workflow: b\n    deadline: none"),
		child("workflow: b\n    max_steps: 9"), child("workflow: b\n    input: {}"), child("workflow: b\n    timeout: 1h"),
		inlined("type: set, next: end"), inlined("type: set, output: 1, next: end"),
		listed("items: [1]"), listed("items: [2]"), listed("items: [1]\n    key: x"), listed("items: [1]\n    tolerate: {count: 1}"),
		listed("items: [1]\n    tolerate: {percent: 1}"), listed("items: [1]\n    max_concurrency: 9"),
		mapped("run: x"), mapped("run: z"), mapped("type: pause"), act("timeout: 1s"), act("timeout: 1s\n    mode: local\n    idempotent: true"),
	} {
		fingerprint := compiled(t, doc).Fingerprint
		require.NotContains(t, seen, fingerprint, doc)
		seen[fingerprint] = doc
	}
}

// asJSON writes a YAML document as JSON, with the tree that its reader sees.
func asJSON(t *testing.T, doc string) string {
	t.Helper()
	root, problems := source.Parse([]byte(doc))
	require.Empty(t, problems)
	raw, err := root.JSON()
	require.NoError(t, err)
	var indented json.RawMessage
	require.NoError(t, json.Unmarshal(raw, &indented))
	return string(indented)
}
