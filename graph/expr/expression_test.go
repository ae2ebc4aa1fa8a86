package expr_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill/graph/expr"
	"github.com/tidemill/tidemill/graph/value"
)

const everything = expr.State | expr.Input | expr.Result | expr.Failure | expr.Item | expr.Run | expr.Secret

func setup(tb testing.TB) *expr.Compiler {
	tb.Helper()
	c, err := expr.NewCompiler()
	require.NoError(tb, err)
	return c
}

func object(tb testing.TB, text string) value.Object {
	tb.Helper()
	o, err := value.ParseObject(json.RawMessage(text))
	require.NoError(tb, err)
	return o
}

// eval compiles and evaluates over a small state.
func eval(tb testing.TB, c *expr.Compiler, text string) (string, error) {
	tb.Helper()
	e, err := c.Compile(text, everything)
	require.NoError(tb, err, text)
	raw, err := e.Eval(vars(tb))
	return string(raw), err
}

func vars(tb testing.TB) *expr.Vars {
	tb.Helper()
	return &expr.Vars{
		State: object(tb, `{"big":123456789012345678901234567890,"f":2.5,"items":[3,1,2],"max":9223372036854775807,
			"min":-9223372036854775808,"n":9007199254740993,"name":"ada","none":null,"o":{"b":[1,2],"a":{"x":1}},"t":true,"z":{}}`),
		Input:  json.RawMessage(`{"a":{"b":[10,20]},"n":7}`),
		Result: json.RawMessage(`"done"`),
		Error:  json.RawMessage(`{"attempts":2,"type":"http_404"}`),
		Item:   json.RawMessage(`{"id":"i1"}`),
		Index:  4,
		Run:    json.RawMessage(`{"attempt":1,"id":"r1","lane":{"user":"u"},"started":"2030-01-02T03:04:05Z"}`),
		Secret: func(name string) (string, error) { return "hunter2-" + name, nil },
	}
}

// The number rule: integers exact, one type across forms (faults F5, F6).
func TestNumbers(t *testing.T) {
	t.Parallel()
	c := setup(t)
	for text, want := range map[string]string{
		"7 / 2": "3.5", "6 / 2": "3", "2 + 0.5": "2.5", "1.5 + 1.5": "3", "0.1 + 0.2": "0.30000000000000004",
		"7 % 3": "1", "-7 % 3": "-1", "7.0 % 3": "1", "1.0": "1", "-0.0": "0", "2.5 * 2": "5", "1e3": "1000",
		"state.n": "9007199254740993", "state.n + 1": "9007199254740994", "state.n * 1.0": "9007199254740993",
		"state.big": "123456789012345678901234567890", "[state.big][0]": "123456789012345678901234567890",
		"string(state.big)": `"123456789012345678901234567890"`, "string(2.0)": `"2"`, "string(2.5)": `"2.5"`,
		"-state.f": "-2.5", "-(3)": "-3", "state.max - 1": "9223372036854775806", "state.items[6/2 - 1]": "2",
		"9007199254740993 / 3": "3002399751580331", "1 / 3": "0.3333333333333333", "10u + 1": "11",
		"state.t ? 1 : 1.5": "1", "state.t ? 1 : 'none'": "1", "[1, 1.5, 'a']": `[1,1.5,"a"]`,
		"size(state.items) / 2": "1.5", "index + 1": "5", "(1.5 + 1.5) % 2": "1", "1e300 > state.big": "true",
		"1e18 * 2.0": "2000000000000000000",
	} {
		got, err := eval(t, c, text)
		require.NoError(t, err, text)
		require.Equal(t, want, got, text)
	}
}
