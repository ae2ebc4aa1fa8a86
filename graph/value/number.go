package value

import (
	"bytes"
	"math"
	"strconv"
)

// MaxDigits is how many digits a whole number may have when an exponent makes
// it longer than it was written: 1e999999999 must not fill the memory. A number
// written out in full may be of any length.
const MaxDigits = 400

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// number reads a number and writes its canonical form.
func (p *parser) number() *Error {
	n := numberLen(p.in[p.pos:])
	if n == 0 {
		return p.fail(ReasonSyntax)
	}
	out, ok := appendNumber(p.out, p.in[p.pos:p.pos+n])
	if !ok {
		return p.fail(ReasonNumberOutOfRange)
	}
	p.out = out
	p.pos += n
	return nil
}

// numberLen is the length of the JSON number at the start of b, 0 if none.
func numberLen(b []byte) int {
	i := 0
	if i < len(b) && b[i] == '-' {
		i++
	}
	whole := digitsLen(b[i:])
	if whole == 0 || whole > 1 && b[i] == '0' {
		return 0
	}
	i += whole
	if i < len(b) && b[i] == '.' {
		n := digitsLen(b[i+1:])
		if n == 0 {
			return 0
		}
		i += 1 + n
	}
	if i < len(b) && b[i]|0x20 == 'e' {
		i++
		if i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		n := digitsLen(b[i:])
		if n == 0 {
			return 0
		}
		i += n
	}
	return i
}

func digitsLen(b []byte) int {
	n := 0
	for n < len(b) && isDigit(b[n]) {
		n++
	}
	return n
}

// decimal is digits × 10^exp, with no zero at either end of digits; zero has none.
type decimal struct {
	negative bool
	digits   []byte
	exp      int
}

// parseDecimal splits a number of JSON's grammar.
func parseDecimal(lit []byte) decimal {
	d := decimal{negative: lit[0] == '-'}
	lit = bytes.TrimPrefix(lit, []byte("-"))
	mantissa := lit
	if i := bytes.IndexAny(lit, "eE"); i >= 0 {
		mantissa, d.exp = lit[:i], exponent(lit[i+1:])
	}
	whole, fraction, _ := bytes.Cut(mantissa, []byte("."))
	d.digits, d.exp = whole, d.exp-len(fraction)
	if len(fraction) > 0 {
		d.digits = append(append(make([]byte, 0, len(mantissa)), whole...), fraction...)
	}
	d.digits = bytes.TrimLeft(d.digits, "0")
	trimmed := bytes.TrimRight(d.digits, "0")
	d.exp += len(d.digits) - len(trimmed)
	d.digits = trimmed
	return d
}

// exponent reads an exponent, holding it where no sum with a length overflows.
func exponent(b []byte) int {
	const limit = 1 << 30
	n, err := strconv.Atoi(string(b))
	if err != nil || n > limit || n < -limit { // Atoi fails on range alone: the grammar is checked
		if b[0] == '-' {
			return -limit
		}
		return limit
	}
	return n
}

// appendNumber appends the canonical form of a JSON number. It is false when the
// number is out of range.
func appendNumber(dst, lit []byte) ([]byte, bool) {
	if isWholeLiteral(lit) || isShortFraction(lit) {
		return append(dst, lit...), true
	}
	d := parseDecimal(lit)
	if d.isWhole() {
		return d.appendWhole(dst, max(MaxDigits, len(lit)))
	}
	f, err := strconv.ParseFloat(string(lit), 64)
	if err != nil {
		return dst, false
	}
	return appendFloat(dst, f), true
}

// isWholeLiteral reports digits alone, and not -0: the form is canonical already.
func isWholeLiteral(lit []byte) bool {
	if lit[0] == '-' {
		lit = lit[1:]
		if lit[0] == '0' {
			return false
		}
	}
	return digitsLen(lit) == len(lit)
}

// isShortFraction reports a fraction that is canonical already: every decimal of
// up to 15 digits is what its float64 prints as.
func isShortFraction(lit []byte) bool {
	lit = bytes.TrimPrefix(lit, []byte("-"))
	last := lit[len(lit)-1]
	return len(lit) <= 16 && bytes.IndexByte(lit, '.') > 0 && !bytes.ContainsAny(lit, "eE") &&
		last != '0' && !bytes.HasPrefix(lit, []byte("0.000000"))
}

func (d decimal) isWhole() bool { return len(d.digits) == 0 || d.exp >= 0 }

// appendWhole writes all digits of a whole number, at most limit of them.
func (d decimal) appendWhole(dst []byte, limit int) ([]byte, bool) {
	if len(d.digits) == 0 {
		return append(dst, '0'), true
	}
	if d.exp > limit-len(d.digits) {
		return dst, false
	}
	if d.negative {
		dst = append(dst, '-')
	}
	dst = append(dst, d.digits...)
	for range d.exp {
		dst = append(dst, '0')
	}
	return dst, true
}

// appendFloat writes a finite float. One that is whole is written as such: a
// fraction beyond 2^53 is lost in the float, and what is left must read back as
// the same bytes.
func appendFloat(dst []byte, f float64) []byte {
	if f == math.Trunc(f) {
		d := parseDecimal(strconv.AppendFloat(nil, f, 'e', -1, 64))
		dst, _ = d.appendWhole(dst, MaxDigits) // the largest float has 309 digits
		return dst
	}
	if math.Abs(f) >= 1e-6 {
		return strconv.AppendFloat(dst, f, 'f', -1, 64)
	}
	dst = strconv.AppendFloat(dst, f, 'e', -1, 64)
	if n := len(dst); dst[n-3] == '-' && dst[n-2] == '0' { // Go pads the exponent to two digits
		dst = append(dst[:n-2], dst[n-1])
	}
	return dst
}

// KeepsPrecision reports whether a JSON number survives the canonical form with
// its value unchanged. Whole numbers within [MaxDigits] do; a fraction does when
// a float64 prints back as the same decimal. Text that is not a JSON number does
// not.
func KeepsPrecision(literal string) bool {
	lit := []byte(literal)
	if n := numberLen(lit); n == 0 || n != len(lit) {
		return false
	}
	canon, ok := appendNumber(nil, lit)
	if !ok {
		return false
	}
	a, b := parseDecimal(lit), parseDecimal(canon)
	return a.exp == b.exp && bytes.Equal(a.digits, b.digits) || len(a.digits) == 0
}
