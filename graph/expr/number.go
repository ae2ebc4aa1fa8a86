package expr

import (
	"fmt"
	"math"
	"math/big"
	"reflect"

	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
)

// bigInt is an integer that does not fit into 64 bits. It has CEL's integer
// type, so that conversions accept it, and no arithmetic.
type bigInt struct{ n *big.Int }

// ConvertToNative implements ref.Val.
func (b bigInt) ConvertToNative(reflect.Type) (any, error) {
	return nil, &fault{NumberOutOfRange, "an integer beyond 64 bits has no native form"}
}

// ConvertToType implements ref.Val.
func (b bigInt) ConvertToType(t ref.Type) ref.Val {
	switch t {
	case types.StringType:
		return types.String(b.n.String())
	case types.IntType:
		return b
	case types.DoubleType:
		f, _ := new(big.Float).SetInt(b.n).Float64()
		return types.Double(f)
	case types.TypeType:
		return types.IntType
	}
	return types.WrapErr(&fault{NumberOutOfRange, "an integer beyond 64 bits cannot be converted to " + t.TypeName()})
}

// Equal implements ref.Val.
func (b bigInt) Equal(other ref.Val) ref.Val { return types.Bool(equal(b, other)) }

// Type implements ref.Val.
func (b bigInt) Type() ref.Type { return types.IntType }

// Value implements ref.Val.
func (b bigInt) Value() any { return b.n }

// number is a JSON number in its one normal form: an int64, else a longer
// integer, else a fraction.
type number struct {
	i     int64
	big   *big.Int // set for a longer integer
	f     float64
	isInt bool
}

func (n number) isFraction() bool { return !n.isInt && n.big == nil }

// float gives the nearest double of an int64 or a fraction.
func (n number) float() float64 {
	if n.isInt {
		return float64(n.i)
	}
	return n.f
}

// val gives the number to CEL.
func (n number) val() ref.Val {
	switch {
	case n.isInt:
		return types.Int(n.i)
	case n.big != nil:
		return bigInt{n.big}
	}
	return types.Double(n.f)
}

// exact gives the number as a rational, for comparisons across forms.
func (n number) exact() *big.Rat {
	switch {
	case n.isInt:
		return new(big.Rat).SetInt64(n.i)
	case n.big != nil:
		return new(big.Rat).SetInt(n.big)
	}
	return new(big.Rat).SetFloat64(n.f)
}

// asNumber normalises a CEL value; ok is false when it is no number, or not a
// finite one.
func asNumber(v ref.Val) (n number, ok bool) {
	switch x := v.(type) {
	case types.Int:
		return number{i: int64(x), isInt: true}, true
	case types.Uint:
		return fromBig(new(big.Int).SetUint64(uint64(x))), true
	case types.Double:
		n, err := fromFloat(float64(x))
		return n, err == nil
	case bigInt:
		return number{big: x.n}, true
	}
	return number{}, false
}

func fromBig(n *big.Int) number {
	if n.IsInt64() {
		return number{i: n.Int64(), isInt: true}
	}
	return number{big: n}
}

// fromFloat makes whole doubles integers, so that 1.5 + 1.5 is the integer 3
// at once and not only after a trip through JSON.
func fromFloat(f float64) (number, error) {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return number{}, outOfRange("the result is not a finite number")
	}
	if f != math.Trunc(f) {
		return number{f: f}, nil
	}
	whole, _ := new(big.Float).SetFloat64(f).Int(nil)
	return fromBig(whole), nil
}

// parseNumber reads a canonical JSON number. Whatever holds no fraction there
// is written without an exponent, so only doubles have a point or an e.
func parseNumber(text string) (ref.Val, error) {
	if n, ok := new(big.Int).SetString(text, 10); ok {
		return fromBig(n).val(), nil
	}
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		return nil, fmt.Errorf("expr: not a number: %q", text)
	}
	f, _ := r.Float64()
	n, err := fromFloat(f)
	if err != nil {
		return nil, err
	}
	return n.val(), nil
}

func outOfRange(message string) error { return &fault{NumberOutOfRange, message} }

func failed(format string, args ...any) error {
	return &fault{ExpressionFailed, fmt.Sprintf(format, args...)}
}
