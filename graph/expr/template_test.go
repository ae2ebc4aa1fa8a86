package expr_test

import (
	"encoding/json"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill/graph/expr"
)

func TestTemplates(t *testing.T) {
	t.Parallel()
	c := setup(t)
	for raw, want := range map[string]string{
		`"${ state.n }"`:                     `9007199254740993`,
		`"${state.o}"`:                       `{"a":{"x":1},"b":[1,2]}`,
		`"o is ${ state.o }"`:                `"o is {\"a\":{\"x\":1},\"b\":[1,2]}"`,
		`" ${ state.n }"`:                    `" 9007199254740993"`,
		`"${ state.f }${ state.n }"`:         `"2.59007199254740993"`,
		`"${ state.name } & ${state.none}"`:  `"ada & null"`,
		`"${ state.t }!"`:                    `"true!"`,
		`"${ state.big }"`:                   `123456789012345678901234567890`,
		`"${ {\"a\": \"}\"}.a }"`:            `"}"`,
		`"<${ {'a': {'b': '}'}}.a.b }>"`:     `"<}>"`,
		`"${ \"${x}\" }"`:                    `"${x}"`,
		`"${ 'it\\'s }' }"`:                  `"it's }"`,
		`"${ r'\\' + '}' }"`:                 `"\\}"`,
		`"${ '''a'}''' }"`:                   `"a'}"`,
		`"${ 1 // } is a comment\n + 1 }"`:   `2`,
		`"$${ state.n }"`:                    `"${ state.n }"`,
		`"a $${x} ${ state.f }"`:             `"a ${x} 2.5"`,
		`"$$${x}"`:                           `"$${x}"`,
		`"costs $5 {x}"`:                     `"costs $5 {x}"`,
		`"$"`:                                `"$"`,
		`"é${ 'ü' }\u2028<b>"`:               `"éü\u2028<b>"`,
		`{"b":["${ index }",1.0],"a":{}}`:    `{"a":{},"b":[4,1]}`,
		`{"${ state.n }":"${ state.name }"}`: `{"${ state.n }":"ada"}`,
		`{"a":"${ state.?nope }"}`:           `{"a":null}`,
		`[]`:                                 `[]`,
		`"${ [] }"`:                          `[]`,
		`1e2`:                                `100`,
		`["${ 'a' }",[],"",{"k":"${ {} }"}]`: `["a",[],"",{"k":{}}]`,
		`"\n${\n state.name\n}"`:             `"\nada"`,
		`"${ 'a\u0000b' }"`:                  `"a\u0000b"`,
	} {
		tmpl, errs := c.CompileTemplate(json.RawMessage(raw), everything)
		require.Empty(t, errs, raw)
		got, err := tmpl.Eval(vars(t))
		require.NoError(t, err, raw)
		require.Equal(t, want, string(got), raw)
	}
}

// Every error carries the pointer of its string and the place inside it.
func TestTemplateErrors(t *testing.T) {
	t.Parallel()
	c := setup(t)
	for _, test := range []struct {
		raw, pointer, code string
		offset             int
	}{
		{`"${ state.a"`, "", expr.InvalidExpression, 0},
		{`"é ${ 'a}"`, "", expr.InvalidExpression, 2},
		{`"é ${ // x }"`, "", expr.InvalidExpression, 2},
		{`"${}"`, "", expr.InvalidExpression, 2},
		{`{"a/b":["x","é ${ state.a } ${  zz }"]}`, "/a~1b/1", expr.UnknownName, 19},
		{`{"k":"${ result }"}`, "/k", expr.WrongScope, 3},
		{`{"k":{"l":"${ secret('A') }"}}`, "/k/l", expr.SecretNotAllowed, 3},
		{`{`, "", expr.InvalidExpression, 0},
	} {
		_, errs := c.CompileTemplate(json.RawMessage(test.raw), expr.State|expr.Input)
		require.Len(t, errs, 1, test.raw)
		require.Equal(t, test.pointer, errs[0].Pointer, test.raw)
		require.Equal(t, test.code, errs[0].Code, test.raw)
		require.Equal(t, test.offset, errs[0].Offset, test.raw)
	}
	_, errs := c.CompileTemplate(json.RawMessage(`{"b":"${ x }${ y }","a":["${","${ z }"]}`), expr.State)
	pointers := make([]string, len(errs))
	for i, e := range errs {
		pointers[i] = e.Pointer + ":" + strconv.Itoa(e.Offset)
	}
	require.Equal(t, []string{"/a/0:0", "/a/1:3", "/b:3", "/b:9"}, pointers)
}

func TestTemplateFacts(t *testing.T) {
	t.Parallel()
	c := setup(t)
	tmpl, errs := c.CompileTemplate(json.RawMessage(`{"a":"${ state.b } ${ secret('B') }","b":["${ input.x + state.a }"],"c":"${ secret('A') }"}`), everything)
	require.Empty(t, errs)
	require.False(t, tmpl.Literal())
	require.Equal(t, expr.Reads{Keys: []string{"a", "b"}}, tmpl.Reads())
	require.Equal(t, []string{"A", "B"}, tmpl.Secrets())
	require.True(t, tmpl.Uses(expr.Input))
	require.False(t, tmpl.Uses(expr.Result|expr.Run))

	for _, raw := range []string{`{"a":[1,"x"]}`, `"$${ x }"`, `{"${ k }":1}`, `null`} {
		tmpl, errs = c.CompileTemplate(json.RawMessage(raw), 0)
		require.Empty(t, errs, raw)
		require.True(t, tmpl.Literal(), raw)
		require.Equal(t, expr.Reads{}, tmpl.Reads(), raw)
	}
}

func TestTemplateEvalError(t *testing.T) {
	t.Parallel()
	tmpl, errs := setup(t).CompileTemplate(json.RawMessage(`{"a":["x ${ state.max + 1 }"]}`), expr.State)
	require.Empty(t, errs)
	raw, err := tmpl.Eval(vars(t))
	var failure *expr.EvalError
	require.ErrorAs(t, err, &failure)
	require.Equal(t, expr.NumberOutOfRange, failure.Type)
	require.Equal(t, "state.max + 1", failure.Expression)
	require.Nil(t, raw)
}
