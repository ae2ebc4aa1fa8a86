package expr

import (
	"math"
	"math/big"

	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"
)

// add is + for numbers, text, bytes, lists, durations and timestamps.
func add(l, r ref.Val) ref.Val {
	if a, b, ok := bothNumbers(l, r); ok {
		return arithmetic("+", a, b, addInts, func(x, y float64) float64 { return x + y })
	}
	if addable(l, r) {
		return l.(traits.Adder).Add(r)
	}
	return mismatch("+", l, r)
}

func addable(l, r ref.Val) bool {
	switch l.(type) {
	case types.String:
		_, ok := r.(types.String)
		return ok
	case types.Bytes:
		_, ok := r.(types.Bytes)
		return ok
	case traits.Lister:
		_, ok := r.(traits.Lister)
		return ok
	case types.Duration:
		return isTime(r)
	case types.Timestamp:
		_, ok := r.(types.Duration)
		return ok
	}
	return false
}

func isTime(v ref.Val) bool {
	switch v.(type) {
	case types.Duration, types.Timestamp:
		return true
	}
	return false
}

// subtract is - for numbers, durations and timestamps.
func subtract(l, r ref.Val) ref.Val {
	if a, b, ok := bothNumbers(l, r); ok {
		return arithmetic("-", a, b, subtractInts, func(x, y float64) float64 { return x - y })
	}
	_, duration := l.(types.Duration)
	if _, takes := r.(types.Duration); isTime(l) && (takes || !duration && isTime(r)) {
		return l.(traits.Subtractor).Subtract(r)
	}
	return mismatch("-", l, r)
}

func multiply(l, r ref.Val) ref.Val {
	if a, b, ok := bothNumbers(l, r); ok {
		return arithmetic("*", a, b, multiplyInts, func(x, y float64) float64 { return x * y })
	}
	return mismatch("*", l, r)
}

// divide gives an integer when the division is whole, else the double nearest
// to the exact quotient.
func divide(l, r ref.Val) ref.Val {
	a, b, ok := bothNumbers(l, r)
	switch {
	case !ok:
		return mismatch("/", l, r)
	case a.big != nil || b.big != nil:
		return tooLong("/")
	case b.float() == 0:
		return types.WrapErr(failed("division by zero"))
	case a.isInt && b.isInt:
		return divideInts(a.i, b.i)
	}
	return fromResult(a.float() / b.float())
}

func divideInts(a, b int64) ref.Val {
	if a%b != 0 {
		f, _ := new(big.Rat).SetFrac(big.NewInt(a), big.NewInt(b)).Float64()
		return fromResult(f)
	}
	if a == math.MinInt64 && b == -1 {
		return overflow("/")
	}
	return types.Int(a / b)
}

// modulo is % on integers, with the sign of the dividend.
func modulo(l, r ref.Val) ref.Val {
	a, b, ok := bothNumbers(l, r)
	switch {
	case !ok:
		return mismatch("%", l, r)
	case a.big != nil || b.big != nil:
		return tooLong("%")
	case !a.isInt || !b.isInt:
		return types.WrapErr(failed("%% takes integers, and one of these numbers has a fraction"))
	case b.i == 0:
		return types.WrapErr(failed("division by zero"))
	}
	return types.Int(a.i % b.i)
}

func negate(v ref.Val) ref.Val {
	if d, ok := v.(types.Duration); ok {
		return d.Negate()
	}
	n, ok := asNumber(v)
	switch {
	case !ok:
		return types.WrapErr(failed("- takes a number, not %s", word(v)))
	case n.big != nil:
		return tooLong("-")
	case n.isFraction():
		return types.Double(-n.f)
	case n.i == math.MinInt64:
		return overflow("-")
	}
	return types.Int(-n.i)
}

func bothNumbers(l, r ref.Val) (a, b number, ok bool) {
	a, okA := asNumber(l)
	b, okB := asNumber(r)
	return a, b, okA && okB
}

// arithmetic applies ints where both sides are integers, and floats where one
// has a fraction.
func arithmetic(op string, a, b number, ints func(x, y int64) (int64, bool), floats func(x, y float64) float64) ref.Val {
	switch {
	case a.big != nil || b.big != nil:
		return tooLong(op)
	case a.isInt && b.isInt:
		if n, ok := ints(a.i, b.i); ok {
			return types.Int(n)
		}
		return overflow(op)
	}
	return fromResult(floats(a.float(), b.float()))
}

func addInts(a, b int64) (int64, bool) {
	c := a + b
	return c, (c > a) == (b > 0)
}

func subtractInts(a, b int64) (int64, bool) {
	c := a - b
	return c, (c < a) == (b > 0)
}

func multiplyInts(a, b int64) (int64, bool) {
	if a == 0 || b == 0 {
		return 0, true
	}
	c := a * b
	wrapped := a == -1 && b == math.MinInt64 || b == -1 && a == math.MinInt64
	return c, !wrapped && c/b == a
}

func fromResult(f float64) ref.Val {
	n, err := fromFloat(f)
	if err != nil {
		return types.WrapErr(err)
	}
	return n.val()
}

func overflow(op string) ref.Val {
	return types.WrapErr(outOfRange("the result of " + op + " does not fit into a 64-bit integer"))
}

func tooLong(op string) ref.Val {
	return types.WrapErr(outOfRange("an integer beyond 64 bits can be passed on and compared, but not used with " + op))
}

// mismatch says that an operator does not take these two kinds of values. An
// error among them is passed on, for it is the cause.
func mismatch(op string, l, r ref.Val) ref.Val {
	for _, v := range []ref.Val{l, r} {
		if types.IsUnknownOrError(v) {
			return v
		}
	}
	return types.WrapErr(failed("%s does not take %s and %s", op, word(l), word(r)))
}

// word names the kind of a value as a user of JSON knows it.
func word(v ref.Val) string {
	switch x := v.(type) {
	case types.Null:
		return "null"
	case types.Bool:
		return "a boolean"
	case types.String:
		return "text"
	case types.Double:
		if math.IsNaN(float64(x)) || math.IsInf(float64(x), 0) {
			return "a number that is not finite"
		}
		return "a number"
	case types.Int, types.Uint, bigInt:
		return "a number"
	case traits.Mapper:
		return "an object"
	case traits.Lister:
		return "a list"
	case *types.Optional:
		return "an optional value (end it with .orValue(…))"
	}
	return "a " + v.Type().TypeName()
}
