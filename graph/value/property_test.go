package value_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/big"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tidemill/tidemill/graph/value"
)

// anyValue draws a Go value that JSON can hold.
func anyValue(depth int) *rapid.Generator[any] {
	leaf := []*rapid.Generator[any]{
		rapid.Just[any](nil),
		rapid.Bool().AsAny(),
		rapid.String().AsAny(),
		rapid.Int64().AsAny(),
		rapid.Float64().AsAny(),
	}
	if depth > 0 {
		leaf = append(leaf,
			rapid.SliceOfN(anyValue(depth-1), 0, 4).AsAny(),
			rapid.MapOfN(rapid.String(), anyValue(depth-1), 0, 4).AsAny())
	}
	return rapid.OneOf(leaf...)
}

func TestObjectRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		in := rapid.MapOf(rapid.String(), anyValue(3)).Draw(t, "object")
		raw, err := value.Marshal(in)
		require.NoError(t, err)
		o, err := value.ParseObject(raw)
		require.NoError(t, err)
		require.Equal(t, string(raw), string(o.Raw()))
		require.Equal(t, len(raw), o.Size())
		require.Len(t, o, len(in))
		for key, v := range in {
			want, err := value.Marshal(v)
			require.NoError(t, err)
			got, ok := o.Get(key)
			require.True(t, ok)
			require.Equal(t, string(want), string(got))
		}
	})
}

func TestAppendStringAgreesWithEncoder(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.StringOf(rapid.OneOf(rapid.Rune(), rapid.RuneFrom([]rune("\x00\x07\b\t\n\v\f\r\x1f\"\\/<>&\x7f\u2027\u2028\u2029\u202a")))).Draw(t, "text")
		var buf bytes.Buffer
		enc := json.NewEncoder(&buf)
		enc.SetEscapeHTML(false)
		require.NoError(t, enc.Encode(s))
		got := value.AppendString([]byte("x"), s)
		require.Equal(t, "x"+strings.TrimSuffix(buf.String(), "\n"), string(got))
		require.Equal(t, len(got)-1+len(`{:1}`), value.Object{{Key: s, Value: json.RawMessage("1")}}.Size())
	})
}

// A whole number keeps its value whatever form it is written in; another one is
// the nearest float.
func TestNumberKeepsValue(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		lit := rapid.StringMatching(`-?(0|[1-9][0-9]{0,30})(\.[0-9]{1,30})?([eE][-+]?[0-9]{1,2})?`).Draw(t, "number")
		got, err := value.Canonical([]byte(lit))
		require.NoError(t, err)
		want, _ := new(big.Rat).SetString(lit)
		have, ok := new(big.Rat).SetString(string(got))
		require.True(t, ok)
		if want.IsInt() {
			require.Zero(t, want.Cmp(have), "%s became %s", lit, got)
			require.NotContains(t, string(got), "e")
			return
		}
		w, _ := want.Float64()
		h, _ := have.Float64()
		require.InDelta(t, w, h, 0, "%s became %s", lit, got)
		require.Equal(t, value.KeepsPrecision(lit), want.Cmp(have) == 0)
	})
}

// FuzzCanonical checks the form against encoding/json: what is accepted is valid
// JSON of the same value, what is refused is invalid or refused on purpose.
func FuzzCanonical(f *testing.F) {
	for _, seed := range []string{
		`{"b":[1.0,1e3,-0],"a":"\u2028<"}`, `{"a":1,"a":2}`, `"\ud800"`, `1e999`, ` [ ] `, "\"\xff\"", `"\ud83d\ude00"`, `[[[`, `0.1e-7`, `tru`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := value.Canonical(data)
		if err != nil {
			requireRightlyRefused(t, data, err)
			return
		}
		require.True(t, json.Valid(data), "accepted text that is not JSON")
		require.True(t, utf8.Valid(got))
		again, err := value.Canonical(got)
		require.NoError(t, err)
		require.Equal(t, string(got), string(again))
		require.Equal(t, string(canonicalBySlowPath(t, data)), string(got))
		_, err = value.Decode(data)
		require.NoError(t, err)
	})
}

func requireRightlyRefused(t *testing.T, data []byte, err error) {
	t.Helper()
	fault := new(value.Error)
	require.ErrorAs(t, err, &fault)
	require.LessOrEqual(t, fault.Offset, len(data))
	if fault.Reason == value.ReasonSyntax {
		require.False(t, json.Valid(data), "refused JSON as a syntax error: %v", err)
	}
}

// canonicalBySlowPath goes through encoding/json, which sorts keys itself; the
// values come from that package, only the numbers' form from this one.
func canonicalBySlowPath(t *testing.T, data []byte) json.RawMessage {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var v any
	require.NoError(t, dec.Decode(&v))
	out, err := value.Marshal(v)
	require.NoError(t, err)
	return out
}

func benchmarkInput() []byte {
	var b strings.Builder
	b.WriteString(`{"items":[`)
	for i := range 12 {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"amount":%d.25,"id":%d,"name":"order number %d","ok":true}`, i, i*1000, i)
	}
	b.WriteString(`],"note":"one kilobyte of canonical text"}`)
	return []byte(b.String())
}

func BenchmarkCanonical(b *testing.B) {
	data := benchmarkInput()
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := value.Canonical(data); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkParseObject(b *testing.B) {
	data := benchmarkInput()
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := value.ParseObject(data); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDecode(b *testing.B) {
	data := benchmarkInput()
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := value.Decode(data); err != nil {
			b.Fatal(err)
		}
	}
}
