package expr_test

import (
	"cmp"
	"fmt"
	"math/big"
	"strconv"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tidemill/tidemill/graph/expr"
	"github.com/tidemill/tidemill/graph/value"
)

// genNumber draws the numbers at which rounding and overflow begin.
func genNumber() *rapid.Generator[string] {
	return rapid.OneOf(
		rapid.Map(rapid.Int64(), func(n int64) string { return strconv.FormatInt(n, 10) }),
		rapid.Map(rapid.Int64Range(-20, 20), func(n int64) string { return strconv.FormatInt(n, 10) }),
		rapid.SampledFrom([]string{
			"0.5", "-2.5", "0.1", "9007199254740991", "9007199254740992", "9007199254740993", "9223372036854775807",
			"-9223372036854775808", "9223372036854775808", "123456789012345678901234567890", "1.5e-7",
		}),
	)
}

func rational(t require.TestingT, text string) *big.Rat {
	r, ok := new(big.Rat).SetString(text)
	require.True(t, ok, text)
	return r
}

// Integer arithmetic is exact or refused; comparison is always exact. The
// model is rational arithmetic (faults F5, F6).
func TestNumbersAgreeWithRationals(t *testing.T) {
	t.Parallel()
	c := setup(t)
	programs := map[string]*expr.Expression{}
	for _, op := range []string{"+", "-", "*", "/", "<", "==", "in"} {
		text := "input.a " + op + " input.b"
		if op == "in" {
			text = "input.a in [input.b]"
		}
		e, err := c.Compile(text, expr.Input)
		require.NoError(t, err)
		programs[op] = e
	}
	rapid.Check(t, func(t *rapid.T) {
		a, b := genNumber().Draw(t, "a"), genNumber().Draw(t, "b")
		in, err := value.Canonical(fmt.Appendf(nil, `{"a":%s,"b":%s}`, a, b))
		require.NoError(t, err)
		v := &expr.Vars{Input: in}
		x, y := rational(t, a), rational(t, b)
		for op, want := range map[string]bool{"<": x.Cmp(y) < 0, "==": x.Cmp(y) == 0, "in": x.Cmp(y) == 0} {
			got, err := programs[op].Bool(v)
			require.NoError(t, err)
			require.Equal(t, want, got, "%s %s %s", a, op, b)
		}
		xf, _ := x.Float64()
		yf, _ := y.Float64()
		allowed, integers := fits(x) && fits(y), x.IsInt() && y.IsInt()
		for op, result := range map[string]outcome{
			"+": {new(big.Rat).Add(x, y), xf + yf, integers},
			"-": {new(big.Rat).Sub(x, y), xf - yf, integers},
			"*": {new(big.Rat).Mul(x, y), xf * yf, integers},
		} {
			checkArithmetic(t, programs[op], v, result, allowed)
		}
		if y.Sign() != 0 {
			result := outcome{new(big.Rat).Quo(x, y), xf / yf, false}
			if integers {
				result.float, _ = result.exact.Float64()
				result.integer = result.exact.IsInt()
			}
			checkArithmetic(t, programs["/"], v, result, allowed)
		}
	})
}

// outcome is what an operation should give: an integer, exactly, or a double.
type outcome struct {
	exact   *big.Rat
	float   float64
	integer bool
}

// fits reports whether a number is a fraction or a 64-bit integer.
func fits(r *big.Rat) bool { return !r.IsInt() || r.Num().IsInt64() }

func checkArithmetic(t *rapid.T, e *expr.Expression, v *expr.Vars, want outcome, allowed bool) {
	got, err := e.Eval(v)
	if !allowed || want.integer && !want.exact.Num().IsInt64() {
		var failure *expr.EvalError
		require.ErrorAs(t, err, &failure, "%s gave %s on %s", e.Text(), got, v.Input)
		require.Equal(t, expr.NumberOutOfRange, failure.Type)
		return
	}
	require.NoError(t, err, "%s on %s", e.Text(), v.Input)
	if want.integer {
		require.Equal(t, want.exact.Num().String(), string(got), "%s on %s", e.Text(), v.Input)
		return
	}
	f, _ := rational(t, string(got)).Float64()
	require.Zero(t, cmp.Compare(want.float, f), "%s on %s: got %s, want %v", e.Text(), v.Input, got, want.float)
}

// Whatever is in the state comes out of an expression unchanged, and text that
// holds no expression comes out of a template unchanged.
func TestValuesPassThrough(t *testing.T) {
	t.Parallel()
	c := setup(t)
	direct, err := c.Compile("state.v", expr.State)
	require.NoError(t, err)
	rebuilt, err := c.Compile("{'v': [state.v]}.v[0]", expr.State)
	require.NoError(t, err)
	mapped, err := c.Compile("[state.v].map(x, x).filter(x, x == state.v)[0]", expr.State)
	require.NoError(t, err)
	rapid.Check(t, func(t *rapid.T) {
		raw, err := value.Marshal(genJSON(3).Draw(t, "value"))
		require.NoError(t, err)
		v := &expr.Vars{State: value.NewObject(value.Member{Key: "v", Value: raw})}
		for _, e := range []*expr.Expression{direct, rebuilt, mapped} {
			got, err := e.Eval(v)
			require.NoError(t, err)
			require.Equal(t, string(raw), string(got), e.Text())
		}
	})
}

func genJSON(depth int) *rapid.Generator[any] {
	kinds := []*rapid.Generator[any]{
		rapid.Just[any](nil), rapid.Bool().AsAny(), rapid.String().AsAny(), rapid.Int64().AsAny(), rapid.Float64().AsAny(),
	}
	if depth > 0 {
		kinds = append(kinds,
			rapid.SliceOfN(genJSON(depth-1), 0, 3).AsAny(),
			rapid.MapOfN(rapid.String(), genJSON(depth-1), 0, 3).AsAny(),
		)
	}
	return rapid.OneOf(kinds...)
}

// One expression serves many activities at the same time.
func TestConcurrentEval(t *testing.T) {
	t.Parallel()
	c := setup(t)
	e, err := c.Compile("state.items.map(i, {'b': i, 'a': state.o.a.x}).filter(m, m.b >= 1.0 && state.name.matches('a+'))", everything)
	require.NoError(t, err)
	tmpl, errs := c.CompileTemplate([]byte(`{"x":"${ state.o } and ${ secret('K') }"}`), everything)
	require.Empty(t, errs)
	shared := vars(t)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 50 {
				got, err := e.Eval(shared)
				if err != nil || string(got) != `[{"a":1,"b":3},{"a":1,"b":1},{"a":1,"b":2}]` {
					t.Errorf("got %s, %v", got, err)
				}
				if _, err := tmpl.Eval(shared); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
}

// No text breaks the compiler, and no error lies outside its text.
func FuzzCompile(f *testing.F) {
	for _, text := range []string{
		"state.a + 1", "{'a': [1, ?state.?b]}", "state.l.map(x, x.y)", "r'\\' + \"}\"", "secret('A')", "a ? b : c", "((((", "`", "state[", "'''",
		"run.lane.user", "input.?a.orValue(0)", "optional.of(1).optMap(x, x)", "\x00", "1e400", "é.ü",
	} {
		f.Add(text)
	}
	c := setup(f)
	f.Fuzz(func(t *testing.T, text string) {
		e, err := c.Compile(text, everything)
		if err == nil {
			if raw, err := e.Eval(vars(t)); err == nil {
				canonical, err := value.Canonical(raw)
				require.NoError(t, err)
				require.Equal(t, string(canonical), string(raw))
			}
			return
		}
		var errs expr.Errors
		require.ErrorAs(t, err, &errs)
		require.NotEmpty(t, errs)
		for _, one := range errs {
			require.LessOrEqual(t, one.Offset, len([]rune(text)))
			require.GreaterOrEqual(t, one.Offset, 0)
		}
	})
}

// No text breaks the templates, and a text without ${ stays as it is.
func FuzzTemplate(f *testing.F) {
	for _, text := range []string{"a ${ state.n } b", "$${", "${", "${ '}' }", "${ r\"}\" }", "${ // }\n 1 }", "${ {'a': {}} }", "$$${ 1 }"} {
		f.Add(text)
	}
	c := setup(f)
	f.Fuzz(func(t *testing.T, text string) {
		raw, err := value.Marshal(text)
		if err != nil {
			return
		}
		tmpl, errs := c.CompileTemplate(raw, everything)
		if len(errs) > 0 {
			return
		}
		got, err := tmpl.Eval(vars(t))
		if err == nil && tmpl.Literal() {
			require.LessOrEqual(t, len(got), len(raw))
		}
	})
}
