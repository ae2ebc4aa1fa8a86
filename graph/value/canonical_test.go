package value_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tidemill/tidemill/graph/value"
)

func TestCanonicalText(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ in, want string }{
		"keys sorted":              {`{"b":1,"a":2}`, `{"a":2,"b":1}`},
		"keys sorted by bytes":     {`{"é":1,"z":2,"Z":3,"":4,"aa":5,"a":6}`, `{"":4,"Z":3,"a":6,"aa":5,"z":2,"é":1}`},
		"not by UTF-16 units":      {"{\"\U0001F600\":1,\"\uFB01\":2}", "{\"\uFB01\":2,\"\U0001F600\":1}"},
		"escaped keys by content":  {`{"\u0062":1,"a":2}`, `{"a":2,"b":1}`},
		"nested objects":           {`{"b":{"d":1,"c":[{"f":1,"e":2}]},"a":0}`, `{"a":0,"b":{"c":[{"e":2,"f":1}],"d":1}}`},
		"space dropped":            {" \t\r\n{ \"a\" : [ 1 , 2 ] , \"b\" : { } , \"c\" : [ ] } \n", `{"a":[1,2],"b":{},"c":[]}`},
		"space in text kept":       {`" a\tb "`, `" a\tb "`},
		"words":                    {`[null,true,false]`, `[null,true,false]`},
		"html left alone":          {`"<b>&\u003c\u003e\u0026"`, `"<b>&<>&"`},
		"slash left alone":         {`"a\/b"`, `"a/b"`},
		"short escapes":            {`"\u0008\u0009\u000a\u000c\u000d\u0022\u005c"`, `"\b\t\n\f\r\"\\"`},
		"other controls":           {`"\u0000\u0001\u000B\u001F"`, `"\u0000\u0001\u000b\u001f"`},
		"delete is no control":     {`"\u007f"`, "\"\u007f\""},
		"line separators escaped":  {"\"\u2028\u2029\u2027\u202a\"", "\"\\u2028\\u2029\u2027\u202a\""},
		"pair becomes a character": {`"\ud83d\ude00"`, "\"\U0001F600\""},
		"upper-case hex":           {`"\u00E9\u00e9"`, `"éé"`},
		"replacement character":    {`"\ufffd"`, "\"\uFFFD\""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := value.Canonical([]byte(tt.in))
			require.NoError(t, err)
			require.Equal(t, tt.want, string(got))
		})
	}
}

// Guards F5 and F10: integers beyond 2^53 must not pass through a float.
func TestCanonicalNumber(t *testing.T) {
	t.Parallel()
	digits40 := "1234567890123456789012345678901234567891"
	digits500 := strings.Repeat("7", 500)
	tests := []struct{ in, want string }{
		{"0", "0"},
		{"-0", "0"},
		{"-0.0", "0"},
		{"0e5", "0"},
		{"0E-999999999999999999999", "0"},
		{"1.0", "1"},
		{"1e3", "1000"},
		{"1E+3", "1000"},
		{"10e-1", "1"},
		{"12.50e1", "125"},
		{"1.500", "1.5"},
		{"-1.0", "-1"},
		{"9007199254740993", "9007199254740993"},
		{"-9223372036854775809", "-9223372036854775809"},
		{"9007199254740993.0", "9007199254740993"},
		{digits40, digits40},
		{digits500, digits500},
		{digits500 + ".0", digits500},
		{"1e21", "1" + strings.Repeat("0", 21)},
		{"1.5e300", "15" + strings.Repeat("0", 299)},
		{"1e399", "1" + strings.Repeat("0", 399)},
		{"0.1", "0.1"},
		{"0.10", "0.1"},
		{"-0.5", "-0.5"},
		{"0.00000012345678", "1.2345678e-7"},
		{"123456789.012345", "123456789.012345"},
		{"1234567890.1234567", "1234567890.1234567"},
		{"1234567890.12345678", "1234567890.1234567"},
		{"1.10", "1.1"},
		{"0.000001", "0.000001"},
		{"0.0000001", "1e-7"},
		{"1e-7", "1e-7"},
		{"1.5e-07", "1.5e-7"},
		{"1e-10", "1e-10"},
		{"123456.789e-200", "1.23456789e-195"},
		{"5e-324", "5e-324"},
		{"1e-400", "0"},
		{"-1e-400", "0"},
		{"1e-999999999999999999999", "0"},
		{"0.1234567890123456789", "0.12345678901234568"},
		{"9007199254740993.5", "9007199254740994"},
		{"1000000000000000000000.5", "1" + strings.Repeat("0", 21)},
		{"-123.456", "-123.456"},
	}
	for _, tt := range tests {
		t.Run(tt.in, func(t *testing.T) {
			t.Parallel()
			got, err := value.Canonical([]byte(tt.in))
			require.NoError(t, err)
			require.Equal(t, tt.want, string(got))
			again, err := value.Canonical(got)
			require.NoError(t, err)
			require.Equal(t, tt.want, string(again))
		})
	}
}

// A float written by ECMAScript's rule reads back as the same float.
func TestCanonicalFloats(t *testing.T) {
	t.Parallel()
	floats := []float64{
		0.3, 1.0 / 3, math.Pi, math.SmallestNonzeroFloat64, 2.2250738585072014e-308, 1e-6, 9.99e-7,
		4503599627370495.5, math.MaxFloat64, -math.MaxFloat64, 1 << 53, 123456789012345680,
	}
	for _, f := range floats {
		got, err := value.Marshal(f)
		require.NoError(t, err)
		back, err := strconv.ParseFloat(string(got), 64)
		require.NoError(t, err)
		require.Equal(t, strconv.FormatFloat(f, 'g', -1, 64), strconv.FormatFloat(back, 'g', -1, 64))
	}
}

func TestCanonicalRefuses(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat("[", value.MaxDepth+1) + strings.Repeat("]", value.MaxDepth+1)
	tests := []struct {
		name, in string
		want     value.Error
	}{
		{"empty", "", value.Error{Reason: value.ReasonSyntax}},
		{"space only", "  ", value.Error{Reason: value.ReasonSyntax, Offset: 2}},
		{"two values", "1 2", value.Error{Reason: value.ReasonSyntax, Offset: 2}},
		{"open object", `{"a":1`, value.Error{Reason: value.ReasonSyntax, Offset: 6}},
		{"open array", `[1,`, value.Error{Reason: value.ReasonSyntax, Offset: 3, Path: "/1"}},
		{"open string", `"abc`, value.Error{Reason: value.ReasonSyntax, Offset: 4}},
		{"trailing comma", `[1,]`, value.Error{Reason: value.ReasonSyntax, Offset: 3, Path: "/1"}},
		{"trailing comma in object", `{"a":1,}`, value.Error{Reason: value.ReasonSyntax, Offset: 7}},
		{"missing colon", `{"a" 1}`, value.Error{Reason: value.ReasonSyntax, Offset: 5, Path: "/a"}},
		{"bare key", `{a:1}`, value.Error{Reason: value.ReasonSyntax, Offset: 1}},
		{"half a word", `[tru]`, value.Error{Reason: value.ReasonSyntax, Offset: 1, Path: "/0"}},
		{"leading zero", `{"n":01}`, value.Error{Reason: value.ReasonSyntax, Offset: 5, Path: "/n"}},
		{"plus sign", `+1`, value.Error{Reason: value.ReasonSyntax}},
		{"minus alone", `-`, value.Error{Reason: value.ReasonSyntax}},
		{"no digit after point", `1.`, value.Error{Reason: value.ReasonSyntax}},
		{"no digit before point", `.5`, value.Error{Reason: value.ReasonSyntax}},
		{"no digit in exponent", `1e+`, value.Error{Reason: value.ReasonSyntax}},
		{"not a number", `NaN`, value.Error{Reason: value.ReasonSyntax}},
		{"control character", "\"a\nb\"", value.Error{Reason: value.ReasonSyntax, Offset: 2}},
		{"unknown escape", `"a\x"`, value.Error{Reason: value.ReasonSyntax, Offset: 2}},
		{"short escape", `"\u12"`, value.Error{Reason: value.ReasonSyntax, Offset: 1}},
		{"not hex", `"\u12g4"`, value.Error{Reason: value.ReasonSyntax, Offset: 1}},
		{"backslash at the end", `"\`, value.Error{Reason: value.ReasonSyntax, Offset: 1}},
		{"byte order mark", "\ufeff1", value.Error{Reason: value.ReasonSyntax}},
		{"invalid UTF-8", "{\"a\":\"x\xff\"}", value.Error{Reason: value.ReasonInvalidUTF8, Offset: 7, Path: "/a"}},
		{"invalid UTF-8 in a key", "{\"\xc3\":1}", value.Error{Reason: value.ReasonInvalidUTF8, Offset: 2}},
		{"surrogate in UTF-8", "\"\xed\xa0\x80\"", value.Error{Reason: value.ReasonInvalidUTF8, Offset: 1}},
		{"overlong UTF-8", "\"\xc0\xaf\"", value.Error{Reason: value.ReasonInvalidUTF8, Offset: 1}},
		{"lone high surrogate", `["\ud800"]`, value.Error{Reason: value.ReasonInvalidUTF8, Offset: 2, Path: "/0"}},
		{"lone low surrogate", `"\udc00"`, value.Error{Reason: value.ReasonInvalidUTF8, Offset: 1}},
		{"two high surrogates", `"\ud800\ud800"`, value.Error{Reason: value.ReasonInvalidUTF8, Offset: 1}},
		{"surrogate then text", `"\ud800abcdef"`, value.Error{Reason: value.ReasonInvalidUTF8, Offset: 1}},
		{"same key twice", `{"a":1,"b":2,"a":3}`, value.Error{Reason: value.ReasonDuplicateKey, Offset: 13, Path: "/a"}},
		{"same key, equal value", `{"a":1,"a":1}`, value.Error{Reason: value.ReasonDuplicateKey, Offset: 7, Path: "/a"}},
		{"same key, escaped", `{"a":1,"\u0061":1}`, value.Error{Reason: value.ReasonDuplicateKey, Offset: 7, Path: "/a"}},
		{"first of two repeats", `{"b":1,"a":1,"b":1,"a":1}`, value.Error{Reason: value.ReasonDuplicateKey, Offset: 13, Path: "/b"}},
		{"same key, nested", `[{"x/~":{"k":1,"k":2}}]`, value.Error{Reason: value.ReasonDuplicateKey, Offset: 15, Path: "/0/x~1~0/k"}},
		{"exponent bomb", `{"n":1e999999999}`, value.Error{Reason: value.ReasonNumberOutOfRange, Offset: 5, Path: "/n"}},
		{"exponent beyond int", `1e99999999999999999999`, value.Error{Reason: value.ReasonNumberOutOfRange}},
		{"one digit too many", `1e400`, value.Error{Reason: value.ReasonNumberOutOfRange}},
		{"fraction too large", strings.Repeat("9", 400) + ".5", value.Error{Reason: value.ReasonNumberOutOfRange}},
		{"too deep", deep, value.Error{Reason: value.ReasonTooDeep, Offset: value.MaxDepth, Path: strings.Repeat("/0", value.MaxDepth)}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := value.Canonical([]byte(tt.in))
			require.Nil(t, got)
			fault := new(value.Error)
			require.ErrorAs(t, err, &fault)
			require.Equal(t, tt.want, *fault)
		})
	}
}

func TestCanonicalAtMaxDepth(t *testing.T) {
	t.Parallel()
	in := strings.Repeat("[", value.MaxDepth) + strings.Repeat("]", value.MaxDepth)
	got, err := value.Canonical([]byte(in))
	require.NoError(t, err)
	require.Equal(t, in, string(got))
}

// The result must not change when the caller reuses the buffer it passed.
func TestCanonicalCopies(t *testing.T) {
	t.Parallel()
	in := []byte(`{"a":"text"}`)
	got, err := value.Canonical(in)
	require.NoError(t, err)
	in[6] = 'X'
	require.NotContains(t, string(got), "X")
}

// The byte counts that the size limits of policies rest on.
func TestCanonicalSizes(t *testing.T) {
	t.Parallel()
	tests := []struct {
		in   any
		want int
	}{
		{[]any{}, 2},
		{[]any{1, 2, 3}, 7},
		{map[string]any{}, 2},
		{map[string]any{"a": 1}, 7},
		{map[string]any{"a": 1.0}, 7}, // 1.0 and 1 are one value
		{true, 4},
		{nil, 4},
		{"abc", 5},
		{"é", 4},
		{"\n\t\b\f\r\"\\", 16},
		{"\x01", 8},
		{"\u2028", 8},
		{"/<>&\x7f", 7},
		{1e-7, 4},
	}
	for _, tt := range tests {
		got, err := value.Marshal(tt.in)
		require.NoError(t, err)
		require.Len(t, string(got), tt.want, "%v", tt.in)
	}
}

func TestErrorText(t *testing.T) {
	t.Parallel()
	_, err := value.Canonical([]byte(`{"a":[1,{"b":1,"b":2}]}`))
	require.EqualError(t, err, "value: duplicate_key at /a/1/b (byte 15): the object holds this key twice; keep one of them")

	cause := errors.New("no form")
	err = &value.Error{Reason: value.ReasonUnsupported, Err: cause}
	require.EqualError(t, err, "value: unsupported at the top level (byte 0): JSON has no form for this Go value: no form")
	require.ErrorIs(t, err, cause)
}

func TestDecode(t *testing.T) {
	t.Parallel()
	got, err := value.Decode(json.RawMessage(`{"n":9007199254740993,"f":1.50,"l":[null,true,"<"],"o":{}}`))
	require.NoError(t, err)
	require.Equal(t, map[string]any{
		"n": json.Number("9007199254740993"),
		"f": json.Number("1.5"),
		"l": []any{nil, true, "<"},
		"o": map[string]any{},
	}, got)

	_, err = value.Decode(json.RawMessage(`{"a":1,"a":2}`))
	require.ErrorContains(t, err, "duplicate_key")
}

// Decoding gives what encoding/json gives, whatever is empty or nested.
func TestDecodeAgreesWithEncoder(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		raw, err := value.Marshal(anyValue(4).Draw(t, "value"))
		require.NoError(t, err)
		dec := json.NewDecoder(bytes.NewReader(raw))
		dec.UseNumber()
		var want any
		require.NoError(t, dec.Decode(&want))
		got, err := value.Decode(raw)
		require.NoError(t, err)
		require.Equal(t, want, got)
	})
}

func TestEqual(t *testing.T) {
	t.Parallel()
	tests := []struct {
		a, b string
		want bool
	}{
		{`1`, `1.0`, true},
		{`-0`, `0`, true},
		{`{"a":1,"b":2}`, `{ "b":2e0, "a":1 }`, true},
		{`9007199254740993`, `9007199254740992`, false},
		{`"1"`, `1`, false},
		{`null`, ``, false},
		{`{`, `}`, false},
		{`1`, `}`, false},
	}
	for _, tt := range tests {
		require.Equal(t, tt.want, value.Equal(json.RawMessage(tt.a), json.RawMessage(tt.b)), "%s and %s", tt.a, tt.b)
	}
}

// Guards F12: a transport that escapes < > & must not change the digest.
func TestDigest(t *testing.T) {
	t.Parallel()
	plain := value.Digest(json.RawMessage(`{"prompt":"<b>&"}`))
	require.Equal(t, plain, value.Digest(json.RawMessage(`{ "prompt": "\u003cb\u003e\u0026" }`)))
	require.Len(t, plain, 64)
	require.NotEqual(t, plain, value.Digest(json.RawMessage(`{"prompt":"<b>"}`)))
	// The well-known SHA-256 of the two bytes {}.
	require.Equal(t, "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a", value.Digest(json.RawMessage(` {} `)))
	require.NotEqual(t, value.Digest(json.RawMessage(`{`)), value.Digest(json.RawMessage(`[`)))
}

func TestKindOf(t *testing.T) {
	t.Parallel()
	tests := []struct {
		in   string
		want value.Kind
		name string
	}{
		{`null`, value.KindNull, "null"},
		{`true`, value.KindBool, "boolean"},
		{`false`, value.KindBool, "boolean"},
		{`-1`, value.KindNumber, "number"},
		{`0`, value.KindNumber, "number"},
		{`""`, value.KindString, "string"},
		{`[]`, value.KindArray, "array"},
		{`{}`, value.KindObject, "object"},
		{``, value.KindInvalid, "invalid"},
		{` 1`, value.KindInvalid, "invalid"},
	}
	for _, tt := range tests {
		require.Equal(t, tt.want, value.KindOf(json.RawMessage(tt.in)), tt.in)
		require.Equal(t, tt.name, value.KindOf(json.RawMessage(tt.in)).String())
	}
	require.Equal(t, value.KindNull, value.KindOf(value.Null()))
}

func TestKeepsPrecision(t *testing.T) {
	t.Parallel()
	for _, kept := range []string{"0", "-0", "0.0", "0.1", "1.10", "1e3", "1e-7", "9007199254740993", "1e399", "5e-324", "123.456e2"} {
		require.True(t, value.KeepsPrecision(kept), kept)
	}
	for _, lost := range []string{"0.1234567890123456789", "1e400", "1e-400", "9007199254740993.5", "", "x", "01", "1 "} {
		require.False(t, value.KeepsPrecision(lost), lost)
	}
}
