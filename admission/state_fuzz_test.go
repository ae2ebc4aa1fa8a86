package admission_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemill/tidemill/admission"
)

// exercise makes every kind of call on a book, and looks at it after each turn.
func exercise(tb testing.TB, b *admission.Book) {
	tb.Helper()
	now := noon
	for i := range 6 {
		turn := b.Decide(now)
		require.NoError(tb, b.Check())
		require.Empty(tb, b.Recount())
		b.Status(now)
		for _, d := range turn.Decisions {
			b.Explain(now, d.ID)
		}
		for _, o := range turn.Ask {
			b.Gone(now, o)
		}
		for _, p := range b.Holders(2) {
			b.Release(now, p.ID, p.Token)
		}
		for _, what := range []string{"A=1", "rate:R=1", "a"} {
			_ = b.Submit(now, request(fmt.Sprint("new", i, what), what)) // the limits may not know it
		}
		require.NoError(tb, b.SetLimit(now, "A", i))
		require.NoError(tb, b.SetRate(now, "R", admission.Rate{Limit: i, Per: time.Second}))
		b.Resume(now, "")
		now = now.Add(time.Minute)
	}
	reborn(tb, b)
	b.Shed(now, 0)
	require.NoError(tb, b.Check())
}

// FuzzState reads any bytes: they are refused, or make a book that takes any
// call and writes itself again.
func FuzzState(f *testing.F) {
	for seed := range uint64(6) {
		h := newHistory(seed)
		require.Empty(f, h.run(15))
		raw, err := json.Marshal(h.book.State())
		require.NoError(f, err)
		f.Add(raw)
	}
	f.Add([]byte(`{"version":1,"limits":{},"overrides":{},"clock":0,"token":0,"seq":0}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		s, err := admission.ParseState(raw)
		if err != nil {
			require.ErrorIs(t, err, admission.ErrInvalidState)
			return
		}
		b, err := admission.Restore(s)
		require.NoError(t, err)
		exercise(t, b)
	})
}

// spoil changes one place of a JSON value: another value is put there, it is
// taken away, or doubled.
func spoil(rnd *rand.Rand, v any) any {
	pool := []any{
		nil, true, "", "A", "R", "a", "h/1", "global", "queue", json.Number("0"), json.Number("1"), json.Number("-1"), json.Number("7"),
		json.Number("1893585600000000000"), json.Number("9223372036854775807"), json.Number("31622400000000000"),
		map[string]any{},
		[]any{},
	}
	other := pool[rnd.IntN(len(pool))]
	switch at := v.(type) {
	case map[string]any:
		names := slices.Sorted(maps.Keys(at))
		if len(names) == 0 || rnd.IntN(12) == 0 {
			return other
		}
		name := names[rnd.IntN(len(names))]
		if rnd.IntN(10) == 0 {
			delete(at, name)
			return at
		}
		at[name] = spoil(rnd, at[name])
		return at
	case []any:
		if len(at) == 0 || rnd.IntN(12) == 0 {
			return other
		}
		i := rnd.IntN(len(at))
		switch rnd.IntN(12) {
		case 0:
			return append(at, at[i])
		case 1:
			return slices.Delete(at, i, i+1)
		}
		at[i] = spoil(rnd, at[i])
		return at
	default:
		return other
	}
}

// A state in which something was changed is refused, or makes a sound book: no
// state, wherever it comes from, may bring down a workflow.
func TestSpoiledStates(t *testing.T) {
	t.Parallel()
	seeds := [][]byte{}
	for seed := range uint64(5) {
		h := newHistory(seed)
		require.Empty(t, h.run(70))
		raw, err := json.Marshal(h.book.State())
		require.NoError(t, err)
		seeds = append(seeds, raw)
	}
	raw, err := json.Marshal(busy(t).State())
	require.NoError(t, err)
	seeds = append(seeds, raw, raw, raw)
	accepted, refused := 0, 0
	for i := range uint64(*spoils) {
		rnd := rand.New(rand.NewPCG(i, 9))
		decoder := json.NewDecoder(bytes.NewReader(seeds[rnd.IntN(len(seeds))]))
		decoder.UseNumber()
		var v any
		require.NoError(t, decoder.Decode(&v))
		for range 1 + rnd.IntN(3) {
			v = spoil(rnd, v)
		}
		raw, err := json.Marshal(v)
		require.NoError(t, err)
		s, err := admission.ParseState(raw)
		if err != nil {
			refused++
			require.ErrorIs(t, err, admission.ErrInvalidState)
			continue
		}
		accepted++
		b, err := admission.Restore(s)
		require.NoError(t, err)
		func() {
			defer func() {
				if r := recover(); r != nil {
					require.Fail(t, "panic", "spoil %d: %v\n%s", i, r, raw)
				}
			}()
			exercise(t, b)
		}()
	}
	require.Greater(t, accepted, *spoils/20, "changes that are let through are the point")
	require.Greater(t, refused, *spoils/20)
}
