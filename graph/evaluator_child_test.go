package graph_test

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill/graph"
)

func TestDecideInput(t *testing.T) {
	t.Parallel()
	scope := graph.Scope{State: state(t, `{"order": {"id": 7}, "n": 1}`), Input: json.RawMessage(`{"z": true}`)}
	for fields, want := range map[string]string{
		"workflow: b": `{"n":1,"order":{"id":7}}`,
		"workflow: b\n    input: {id: '${ state.order.id }', in: '${ input.z }'}": `{"id":7,"in":true}`,
		"workflow: b\n    input: '${ state.order }'":                              `{"id":7}`,
		"workflow: b\n    input: {fixed: 1.0}":                                    `{"fixed":1}`,
	} {
		require.JSONEq(t, want, string(asker(t, child(fields), nil)(graph.AskInput, scope).Output), fields)
	}
}

// A child's input is an object. What is not fails the node where the value
// stands, not in the child, where nobody would look for it.
func TestDecideInputFails(t *testing.T) {
	t.Parallel()
	for expression, word := range map[string]string{"state.list": "array", "state.none": "null", "'text'": "string"} {
		d := asker(t, child("workflow: b\n    input: \"${ "+expression+" }\""), nil)(graph.AskInput,
			graph.Scope{State: state(t, `{"list": [1], "none": null}`)})
		require.Equal(t, graph.ErrTypeExpressionFailed, d.Failure.Type)
		require.Equal(t, "nodes/a/input must give an object, and gave "+word, d.Failure.Message)
	}
}

func TestDecideItems(t *testing.T) {
	t.Parallel()
	scope := graph.Scope{State: state(t, `{"list": [{"id": "a"}, {"id": 2}], "p": "x"}`)}
	for fields, want := range map[string]graph.Decision{
		"items: '${ state.list }'": {Output: json.RawMessage(`[{"id":"a"},{"id":2}]`)},
		"items: '${ state.list }'\n    key: '${ state.p }-${ item.id }-${ index }'": {
			Output: json.RawMessage(`[{"id":"a"},{"id":2}]`), Keys: []string{"x-a-0", "x-2-1"},
		},
		"items: '${ state.list }'\n    key: '${ index == 1 }'": {Output: json.RawMessage(`[{"id":"a"},{"id":2}]`), Keys: []string{"false", "true"}},
		"items: [3, '${ state.p }']\n    key: '${ item }'":     {Output: json.RawMessage(`[3,"x"]`), Keys: []string{"3", "x"}},
		"items: [3, 4]\n    key: same":                         {Output: json.RawMessage(`[3,4]`), Keys: []string{"same", "same"}},
		"items: '${ [] }'\n    key: '${ item }'":               {Output: json.RawMessage(`[]`), Keys: []string{}},
	} {
		require.Equal(t, want, asker(t, listed(fields), nil)(graph.AskItems, scope), fields)
	}
}

// A21: a map over something that is no list, or over more than a history holds,
// fails before its first item, and says which key was at fault.
func TestDecideItemsFails(t *testing.T) {
	t.Parallel()
	long, err := json.Marshal(map[string]any{
		"many": make([]int, graph.MaxItems+1), "most": make([]int, graph.MaxItems), "long": strings.Repeat("é", 101), "fits": strings.Repeat("é", 100),
	})
	require.NoError(t, err)
	scope := graph.Scope{State: state(t, string(long))}
	for _, c := range []struct{ fields, errorType, message string }{
		{"items: '${ state.long }'", graph.ErrTypeMapItemsInvalid, "nodes/a/items must give a list, and gave string"},
		{"items: '${ {} }'", graph.ErrTypeMapItemsInvalid, "nodes/a/items must give a list, and gave object"},
		{"items: '${ null }'", graph.ErrTypeMapItemsInvalid, "nodes/a/items must give a list, and gave null"},
		{"items: '${ state.many }'", graph.ErrTypeMapItemsInvalid, "nodes/a/items gave 10001 items, and a map takes at most 10000"},
		{"items: '${ state.missing }'", graph.ErrTypeExpressionFailed, "nodes/a/items: "},
		{"items: [1, 2]\n    key: '${ index == 1 ? null : 1 }'", graph.ErrTypeExpressionFailed, "nodes/a/key must give text, and gave null for item 1"},
		{"items: [1, 2]\n    key: '${ [item] }'", graph.ErrTypeExpressionFailed, "nodes/a/key must give text, and gave array for item 0"},
		{"items: [1, 2]\n    key: '${ state.long }'", graph.ErrTypeExpressionFailed, "nodes/a/key gave 202 bytes, and a key has at most 200 for item 0"},
		{"items: [1, {}]\n    key: '${ item.id }'", graph.ErrTypeExpressionFailed, "for item 0"},
	} {
		d := asker(t, listed(c.fields), nil)(graph.AskItems, scope)
		require.NotNil(t, d.Failure, c.fields)
		require.Equal(t, c.errorType, d.Failure.Type, c.fields)
		require.Contains(t, d.Failure.Message, c.message)
		require.Empty(t, d.Output)
	}
	d := asker(t, listed("items: '${ state.most }'\n    key: '${ state.fits }'"), nil)(graph.AskItems, scope)
	require.Nil(t, d.Failure)
	require.Len(t, d.Keys, graph.MaxItems)
}

// item makes a function that asks about the item of a map.
func itemAsker(t *testing.T, item string) (*graph.Node, func(graph.QuestionKind, graph.Scope) graph.Decision) {
	t.Helper()
	c := compiled(t, mapped(item))
	e, err := graph.NewEvaluator(c.Document, nil)
	require.NoError(t, err)
	node := c.Plan.Node(graph.ItemID("a"))
	require.Same(t, c.Document.Nodes[0].Item, node)
	return node, func(kind graph.QuestionKind, scope graph.Scope) graph.Decision {
		d, ok := e.Decide(graph.Question{Kind: kind, Node: node, Scope: scope})
		require.True(t, ok)
		require.Nil(t, d.Failure)
		return d
	}
}

// Every field of an item sees its item and its number; one that saw those of
// another item would do somebody else's work.
func TestItemsSeeTheirItem(t *testing.T) {
	t.Parallel()
	scope := func(i int) graph.Scope {
		return graph.Scope{Item: json.RawMessage(`{"id":"i` + strconv.Itoa(i) + `"}`), Index: i, State: state(t, `{"s": 1}`), Input: json.RawMessage(`"in"`)}
	}
	for i := range 2 {
		id := "i" + strconv.Itoa(i)
		_, ask := itemAsker(t, "type: pause, summary: '${ item.id }/${ index }', show: '${ item }', output: '${ result + item.id + input }'")
		d := ask(graph.AskPause, scope(i))
		require.Equal(t, id+"/"+strconv.Itoa(i), d.Summary)
		require.JSONEq(t, `{"id":"`+id+`"}`, string(d.Show))
		answered := scope(i)
		answered.Result = json.RawMessage(`"r-"`)
		require.JSONEq(t, `"r-`+id+`in"`, string(ask(graph.AskValues, answered).Output))

		_, ask = itemAsker(t, "type: workflow, workflow: b, input: {it: '${ item.id }', at: '${ index }'}")
		require.JSONEq(t, `{"it":"`+id+`","at":`+strconv.Itoa(i)+`}`, string(ask(graph.AskInput, scope(i)).Output))

		_, ask = itemAsker(t, "run: x, on_error: {output: '${ error.type }-${ item.id }-${ state.s }'}")
		failed := scope(i)
		failed.Error = graph.Failf("broken", "x")
		require.JSONEq(t, `"broken-`+id+`-1"`, string(ask(graph.AskRecover, failed).Output))

		_, ask = itemAsker(t, "run: {activity: X}, args: ['${ item.id }']")
		require.JSONEq(t, `["`+id+`"]`, string(ask(graph.AskArgs, scope(i)).Output))

		node, _ := itemAsker(t, "run: x, args: {a: '${ item.id }', b: '${ index }', c: \"${ secret('T') }\"}, output: '${ result + item.id }'")
		p, err := graph.CompileTask(node)
		require.NoError(t, err)
		task := &graph.Task{Node: node, Item: scope(i).Item, Index: i}
		args, failure := p.Args(task, func(string) (string, error) { return "hush", nil })
		require.Nil(t, failure)
		require.JSONEq(t, `{"a":"`+id+`","b":`+strconv.Itoa(i)+`,"c":"hush"}`, string(args))
		out, _, failure := p.Finish(task, json.RawMessage(`"r-"`), nil)
		require.Nil(t, failure)
		require.JSONEq(t, `"r-`+id+`"`, string(out))
	}
}

// An item's failure is told at its place in the document.
func TestItemFailuresHaveAPlace(t *testing.T) {
	t.Parallel()
	c := compiled(t, mapped("run: x, args: {a: '${ item.missing }'}"))
	p, err := graph.CompileTask(c.Document.Nodes[0].Item)
	require.NoError(t, err)
	_, failure := p.Args(&graph.Task{Node: c.Document.Nodes[0].Item, Item: json.RawMessage(`{}`)}, nil)
	require.Contains(t, failure.Message, "nodes/a/item/args")
}
