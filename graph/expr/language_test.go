package expr_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill/graph/expr"
)

// What the language offers besides numbers.
func TestLanguage(t *testing.T) {
	t.Parallel()
	c := setup(t)
	for text, want := range map[string]string{
		"input.?zz.orValue(0)": "0", "input.?n.orValue(0)": "7", "state.?o.?a.?x": "1", "state.?nope": "null",
		"state.?nope.hasValue()": "false", "[1, ?state.?nope, 2]": "[1,2]", "{?'a': state.?nope, 'b': 1}": `{"b":1}`,
		"{'a': state.?nope, 'b': state.?t}": `{"a":null,"b":true}`, "optional.ofNonZeroValue(state.z).hasValue()": "false",
		"state.?name.optMap(s, s.upperAscii()).orValue('')": `"ADA"`,
		"has(state.name)": "true", "has(state.nope)": "false", "has(state.o.a)": "true",
		// A guard protects what it guards (fault A24).
		"has(state.nope) && state.nope.x > 1": "false", "has(state.nope) ? state.nope : 0": "0",
		"state.items.map(i, i * 2)": "[6,2,4]", "state.items.filter(i, i > 1)": "[3,2]", "state.items.all(i, i > 0)": "true",
		"state.items.exists(i, i == 2.0)": "true", "state.items.exists_one(i, i > 2)": "true",
		"state.items.map(state, state + 1)": "[4,2,3]", "[1].map(i, .state.name)": `["ada"]`,
		"'a' + 'b'": `"ab"`, "[1] + [2.0, 'x']": `[1,2,"x"]`, "b'a' + b'b' == b'ab'": "true",
		"'a,b'.split(',')": `["a","b"]`, "['a','b'].join('-')": `"a-b"`, "' x '.trim()": `"x"`, "'abc'.substring(1)": `"bc"`,
		"'%s is %d'.format([state.name, 3])": `"ada is 3"`, "size('é')": "1", "'abc'.matches('b+')": "true",
		"'<b>&' + '\\u2028'":                       `"<b>&\u2028"`,
		"timestamp(run.started) + duration('90s')": `"2030-01-02T03:05:35Z"`, "duration('90m')": `"1h30m0s"`,
		"timestamp('2030-01-02T00:00:00Z') - timestamp('2030-01-01T00:00:00Z')": `"24h0m0s"`, "duration('3s') - duration('1s')": `"2s"`,
		"timestamp('2030-01-02T00:00:00Z') - duration('1h')": `"2030-01-01T23:00:00Z"`, "timestamp(run.started).getHours()": "3",
		"-duration('1s')": `"-1s"`, "{'b': 1, 'a': {'d': 1, 'c': [1.0]}}": `{"a":{"c":[1],"d":1},"b":1}`,
		"error.type": `"http_404"`, "result": `"done"`, "item.id": `"i1"`, "run.lane.user": `"u"`, "run['id']": `"r1"`,
		"state.o": `{"a":{"x":1},"b":[1,2]}`, "state['name']": `"ada"`, "input.a.b[1]": "20", "secret('K')": `"hunter2-K"`,
		"state.t || 1 / 0 > 0": "true", "1 / 0 > 0 || state.t": "true",
	} {
		got, err := eval(t, c, text)
		require.NoError(t, err, text)
		require.Equal(t, want, got, text)
	}
}

// Objects are walked in the order of their keys, whether they come from the
// state or are written in the expression (fault C18).
func TestOneOrder(t *testing.T) {
	t.Parallel()
	c := setup(t)
	const keys = `["a","b","c","d","e","f","g","h"]`
	state := object(t, `{"m":{"h":1,"g":2,"f":3,"e":4,"d":5,"c":6,"b":7,"a":8}}`)
	literal := "{'h':1,'c':2,'f':3,'e':4,'d':5,'g':6,'b':7,'a':8}"
	for _, text := range []string{
		"state.m.map(k, k)", literal + ".map(k, k)", literal + ".filter(k, true)", "{'x': " + literal + "}.x.map(k, k)",
		"(true ? " + literal + " : state.m).map(k, k)", "[" + literal + "][0].map(k, k)",
		"optional.of(" + literal + ").value().map(k, k)", "{'h':1,'c':2,?'a':optional.of(1),'f':3,'e':4,'d':5,'g':6,'b':7}.map(k, k)",
	} {
		e, err := c.Compile(text, everything)
		require.NoError(t, err, text)
		for range 200 {
			got, err := e.Eval(&expr.Vars{State: state})
			require.NoError(t, err, text)
			require.Equal(t, keys, string(got), text)
		}
	}
	got, err := eval(t, c, "{2: 1, 10: 1, 1.5: 1, true: 1, 'a': 1}.map(k, string(k))")
	require.NoError(t, err)
	require.Equal(t, `["true","1.5","2","10","a"]`, got)
}

// Reading one key of the state does not decode the others: an activity may be
// given only the keys that the compiler found.
func TestLazyState(t *testing.T) {
	t.Parallel()
	e, err := setup(t).Compile("state.a", expr.State)
	require.NoError(t, err)
	state := object(t, `{"a":1,"b":2}`)
	state[1].Value = json.RawMessage("not json")
	got, err := e.Eval(&expr.Vars{State: state})
	require.NoError(t, err)
	require.Equal(t, "1", string(got))
}

// An absent value reads as null, so no expression meets a missing name.
func TestAbsentValues(t *testing.T) {
	t.Parallel()
	e, err := setup(t).Compile("[input, result, error, item, run, index, size(state)]", everything)
	require.NoError(t, err)
	for _, v := range []*expr.Vars{nil, {}} {
		got, err := e.Eval(v)
		require.NoError(t, err)
		require.Equal(t, "[null,null,null,null,null,0,0]", string(got))
	}
}

// The cost of an expression is bounded, whatever its data.
func TestCostLimit(t *testing.T) {
	t.Parallel()
	c := setup(t)
	list := "[" + strings.TrimSuffix(strings.Repeat("1,", 1000), ",") + "]"
	big := object(t, `{"l":`+list+`,"s":"`+strings.Repeat("x", 1<<20)+`"}`)
	for _, text := range []string{
		"state.l.all(a, state.l.all(b, a == b && state.l.all(c, c == a)))",
		"state.l.map(a, state.l == state.l)",
		"state.l.map(a, state.s + state.s)",
		"state.l.all(a, !(2 in (state.l + state.l)))",
		"state.l.all(a, state.s == state.s)",
		"state.l.map(a, state.s.replace('x', 'yy'))",
	} {
		e, err := c.Compile(text, expr.State)
		require.NoError(t, err, text)
		_, err = e.Eval(&expr.Vars{State: big})
		require.ErrorContains(t, err, "costs more than", text)
	}
}

// A short expression can hold one value 2^40 times. Nothing may walk them all.
func TestSharedValues(t *testing.T) {
	t.Parallel()
	c := setup(t)
	doubled := "optional.of(['x'])" + strings.Repeat(".optMap(v, [v, v])", 40) + ".value()"
	for text, says := range map[string]string{
		doubled:                           "larger than",
		doubled + " == " + doubled:        "costs more than",
		doubled + " != " + doubled:        "costs more than",
		doubled + " in [" + doubled + "]": "costs more than",
	} {
		_, err := eval(t, c, text)
		require.ErrorContains(t, err, says)
	}
}
