package value_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill/graph/value"
)

func parse(t *testing.T, text string) value.Object {
	t.Helper()
	o, err := value.ParseObject(json.RawMessage(text))
	require.NoError(t, err)
	return o
}

func requireRaw(t *testing.T, want string, o value.Object) {
	t.Helper()
	require.Equal(t, want, string(o.Raw()))
	require.Len(t, want, o.Size())
}

func TestParseObject(t *testing.T) {
	t.Parallel()
	o := parse(t, ` {"s":"},\"]\\", "n":1.0, "o":{"b":[1,{"x":"}"}],"a":null}, "\n":[], "e":{}} `)
	want := value.Object{
		{Key: "\n", Value: json.RawMessage(`[]`)},
		{Key: "e", Value: json.RawMessage(`{}`)},
		{Key: "n", Value: json.RawMessage(`1`)},
		{Key: "o", Value: json.RawMessage(`{"a":null,"b":[1,{"x":"}"}]}`)},
		{Key: "s", Value: json.RawMessage(`"},\"]\\"`)},
	}
	require.Equal(t, want, o)
	require.Empty(t, parse(t, `{}`))
}

func TestParseObjectRefuses(t *testing.T) {
	t.Parallel()
	tests := map[string]value.Reason{
		`null`:          value.ReasonNotObject,
		`[]`:            value.ReasonNotObject,
		`"{}"`:          value.ReasonNotObject,
		`{"a":1,"a":1}`: value.ReasonDuplicateKey,
		`{}{}`:          value.ReasonSyntax,
		``:              value.ReasonSyntax,
	}
	for in, reason := range tests {
		_, err := value.ParseObject(json.RawMessage(in))
		fault := new(value.Error)
		require.ErrorAs(t, err, &fault, in)
		require.Equal(t, reason, fault.Reason, in)
	}
}

// A value handed out must not let its holder write over the next one.
func TestParseObjectValuesAreApart(t *testing.T) {
	t.Parallel()
	o := parse(t, `{"a":1,"b":2}`)
	a, _ := o.Get("a")
	require.Equal(t, "1999", string(append(a, "999"...)))
	requireRaw(t, `{"a":1,"b":2}`, o)
}

func TestNewObject(t *testing.T) {
	t.Parallel()
	members := []value.Member{
		{Key: "b", Value: json.RawMessage(`1`)},
		{Key: "a", Value: json.RawMessage(`2`)},
		{Key: "b", Value: json.RawMessage(`3`)},
		{Key: "b", Value: json.RawMessage(`4`)},
	}
	given := slices.Clone(members)
	requireRaw(t, `{"a":2,"b":4}`, value.NewObject(members...))
	require.Equal(t, given, members, "the arguments are left as they were")
	requireRaw(t, `{}`, value.NewObject())
}

func TestObjectSetAndGet(t *testing.T) {
	t.Parallel()
	var o value.Object
	for _, key := range []string{"m", "a", "z", "é", "m", ""} {
		o.Set(key, json.RawMessage(`"`+key+`"`))
	}
	requireRaw(t, `{"":"","a":"a","m":"m","z":"z","é":"é"}`, o)

	o.Set("n", value.Null())
	got, ok := o.Get("n")
	require.True(t, ok, "null is a value")
	require.Equal(t, "null", string(got))
	_, ok = o.Get("nn")
	require.False(t, ok)

	o.Set("n", nil)
	requireRaw(t, `{"":"","a":"a","m":"m","n":null,"z":"z","é":"é"}`, o)
	require.Len(t, o.Raw(), o.Size())
}

func TestObjectClone(t *testing.T) {
	t.Parallel()
	o := parse(t, `{"a":1,"c":3}`)
	c := o.Clone()
	c.Set("a", json.RawMessage(`9`))
	c.Set("b", json.RawMessage(`2`))
	requireRaw(t, `{"a":1,"c":3}`, o)
	requireRaw(t, `{"a":9,"b":2,"c":3}`, c)
}

func TestObjectSelect(t *testing.T) {
	t.Parallel()
	o := parse(t, `{"a":1,"b":2,"c":3}`)
	requireRaw(t, `{"a":1,"c":3}`, o.Select([]string{"c", "x", "a", "c"}))
	requireRaw(t, `{}`, o.Select(nil))
	picked := o.Select([]string{"a"})
	picked.Set("a", json.RawMessage(`9`))
	requireRaw(t, `{"a":1,"b":2,"c":3}`, o)
}

func TestObjectEqual(t *testing.T) {
	t.Parallel()
	require.True(t, parse(t, `{"a":1,"b":[]}`).Equal(parse(t, `{"b":[ ],"a":1.0}`)))
	require.True(t, value.Object(nil).Equal(value.Object{}))
	require.False(t, parse(t, `{"a":1}`).Equal(parse(t, `{"a":1,"b":1}`)))
	require.False(t, parse(t, `{"a":1}`).Equal(parse(t, `{"b":1}`)))
	require.False(t, parse(t, `{"a":1}`).Equal(parse(t, `{"a":"1"}`)))
}

// Guards F5: an object inside a Go struct passes through encoding/json unharmed.
func TestObjectJSON(t *testing.T) {
	t.Parallel()
	type holder struct {
		State value.Object `json:"state"`
	}
	var h holder
	require.NoError(t, json.Unmarshal([]byte(`{"state":{"z":1e2,"id":9007199254740993,"h":"\u003c"}}`), &h))
	requireRaw(t, `{"h":"<","id":9007199254740993,"z":100}`, h.State)

	out, err := json.Marshal(h)
	require.NoError(t, err)
	var back holder
	require.NoError(t, json.Unmarshal(out, &back))
	require.True(t, h.State.Equal(back.State), "encoding/json escapes < on the way, the value is the same")

	require.NoError(t, json.Unmarshal([]byte(`{"state":null}`), &h))
	require.Empty(t, h.State)
	require.Error(t, json.Unmarshal([]byte(`{"state":[]}`), &h))
	require.Error(t, json.Unmarshal([]byte(`{"state":{"a":1,"a":2}}`), &h))

	out, err = json.Marshal(holder{})
	require.NoError(t, err)
	require.JSONEq(t, `{"state":{}}`, string(out))
}
