package value_test

import (
	"encoding/json"
	"errors"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill/graph/value"
)

// text encodes itself, as a type of a user may.
type text string

func (t text) MarshalText() ([]byte, error) { return []byte(t), nil }

var errOwn = errors.New("cannot be encoded")

type failing struct{}

func (failing) MarshalJSON() ([]byte, error) { return nil, errOwn }

type tagged struct {
	B     string          `json:"b"`
	A     json.RawMessage `json:"a"`
	Empty string          `json:"empty,omitempty"`
	Skip  string          `json:"-"`
	plain string
}

func TestMarshal(t *testing.T) {
	t.Parallel()
	one := 1
	tests := map[string]struct {
		in   any
		want string
	}{
		"nil":                 {nil, `null`},
		"nil raw":             {json.RawMessage(nil), `null`},
		"raw":                 {json.RawMessage(`{"b":1.0,"a":9007199254740993}`), `{"a":9007199254740993,"b":1}`},
		"raw inside":          {map[string]json.RawMessage{"x": json.RawMessage(` [1e2] `)}, `{"x":[100]}`},
		"map":                 {map[string]any{"b": 1, "a": []string{"<&>"}}, `{"a":["<&>"],"b":1}`},
		"integer keys":        {map[int]string{10: "x", 9: "y"}, `{"10":"x","9":"y"}`},
		"number":              {json.Number("12345678901234567890"), `12345678901234567890`},
		"uint64":              {uint64(math.MaxUint64), `18446744073709551615`},
		"float":               {[]float64{1, 1e-7, 0.1, math.Copysign(0, -1)}, `[1,1e-7,0.1,0]`},
		"pointer":             {&one, `1`},
		"bytes":               {[]byte("hi"), `"aGk="`},
		"struct":              {tagged{B: "x", plain: "y"}, `{"a":null,"b":"x"}`},
		"object":              {value.NewObject(value.Member{Key: "k", Value: json.RawMessage(`1`)}), `{"k":1}`},
		"nil object":          {value.Object(nil), `{}`},
		"replacement in text": {"\ufffd", "\"\ufffd\""},
		"replacement in raw":  {[]any{json.RawMessage(`"\ufffd"`), "ok", text("ok"), 1.5, &one, tagged{}, map[string]int{"k": 1}}, "[\"\ufffd\",\"ok\",\"ok\",1.5,1,{\"a\":null,\"b\":\"\"},{\"k\":1}]"},
		"hidden text that is not encoded": {
			[]any{json.RawMessage(`"\ufffd"`), tagged{Skip: "\xff", plain: "\xff"}, (*text)(nil)},
			"[\"\ufffd\",{\"a\":null,\"b\":\"\"},null]",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := value.Marshal(tt.in)
			require.NoError(t, err)
			require.Equal(t, tt.want, string(got))
		})
	}
}

// Guards F12 and F10: encoding/json would replace bad text and keep equal keys.
func TestMarshalRefuses(t *testing.T) {
	t.Parallel()
	bad := "a\xffb"
	loop := map[string]any{}
	loop["self"] = loop
	tests := map[string]struct {
		in     any
		reason value.Reason
		path   string
	}{
		"text":             {bad, value.ReasonInvalidUTF8, ""},
		"text in a list":   {[]string{"ok", bad}, value.ReasonInvalidUTF8, "/1"},
		"text in an array": {[2]any{1, bad}, value.ReasonInvalidUTF8, "/1"},
		"text in a map":    {map[string]any{"k": bad}, value.ReasonInvalidUTF8, "/k"},
		"text in a struct": {&tagged{B: bad}, value.ReasonInvalidUTF8, "/b"},
		"key":              {map[string]any{bad: 1}, value.ReasonInvalidUTF8, ""},
		"own text":         {[]any{text(bad)}, value.ReasonInvalidUTF8, "/0"},
		"raw text":         {json.RawMessage("\"\xff\""), value.ReasonInvalidUTF8, ""},
		"raw text inside":  {[]any{json.RawMessage("\"\xff\"")}, value.ReasonInvalidUTF8, "/0"},
		"raw equal keys":   {[]any{json.RawMessage(`{"a":1,"a":1}`)}, value.ReasonDuplicateKey, "/0/a"},
		"raw empty":        {json.RawMessage{}, value.ReasonSyntax, ""},
		"NaN":              {math.NaN(), value.ReasonNumberOutOfRange, ""},
		"infinity":         {[]float64{math.Inf(-1)}, value.ReasonNumberOutOfRange, ""},
		"channel":          {make(chan int), value.ReasonUnsupported, ""},
		"function":         {map[string]any{"f": func() {}}, value.ReasonUnsupported, ""},
		"complex":          {complex(1, 2), value.ReasonUnsupported, ""},
		"cycle":            {loop, value.ReasonUnsupported, ""},
		"bad number":       {json.Number("1x"), value.ReasonUnsupported, ""},
		"own error":        {failing{}, value.ReasonUnsupported, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := value.Marshal(tt.in)
			require.Nil(t, got)
			fault := new(value.Error)
			require.ErrorAs(t, err, &fault)
			require.Equal(t, tt.reason, fault.Reason)
			require.Equal(t, tt.path, fault.Path)
		})
	}
}

func TestMarshalKeepsCause(t *testing.T) {
	t.Parallel()
	_, err := value.Marshal(failing{})
	require.ErrorIs(t, err, errOwn)
}
