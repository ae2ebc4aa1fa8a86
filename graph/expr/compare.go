package expr

import (
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"
)

// equal compares two values as JSON: numbers by their exact value, lists by
// their elements, objects by their members. Values of different kinds differ.
func equal(l, r ref.Val) bool { return new(comparison).equal(l, r) }

// comparison counts its steps, for a small expression can build a value that
// holds another one very many times. What exceeds the limit is not equal, and
// the operator that asked fails.
type comparison struct{ steps uint64 }

func (c *comparison) exhausted() bool { return c.steps > costLimit }

// result gives the operator's answer, unless the comparison was given up.
func (c *comparison) result(yes bool) ref.Val {
	if c.exhausted() {
		return types.WrapErr(tooCostly())
	}
	return types.Bool(yes)
}

func (c *comparison) equal(l, r ref.Val) bool {
	if c.steps++; c.exhausted() {
		return false
	}
	if a, b, ok := bothNumbers(l, r); ok {
		return compareNumbers(a, b) == 0
	}
	switch x := l.(type) {
	case traits.Mapper:
		y, ok := r.(traits.Mapper)
		return ok && c.equalMaps(x, y)
	case traits.Lister:
		y, ok := r.(traits.Lister)
		return ok && c.equalLists(x, y)
	case *types.Optional:
		y, ok := r.(*types.Optional)
		return ok && x.HasValue() == y.HasValue() && (!x.HasValue() || c.equal(x.GetValue(), y.GetValue()))
	}
	return types.Equal(l, r) == types.True
}

func (c *comparison) equalLists(l, r traits.Lister) bool {
	size, other := length(l), length(r)
	if size != other {
		return false
	}
	for i := range size {
		if !c.equal(l.Get(types.Int(i)), r.Get(types.Int(i))) {
			return false
		}
	}
	return true
}

func (c *comparison) equalMaps(l, r traits.Mapper) bool {
	if length(l) != length(r) {
		return false
	}
	for it := l.Iterator(); it.HasNext() == types.True; {
		key := it.Next()
		mine, _ := l.Find(key)
		other, found := r.Find(key)
		if !found || !c.equal(mine, other) {
			return false
		}
	}
	return true
}

func length(v traits.Sizer) int {
	n, _ := v.Size().(types.Int)
	return int(n)
}

func compareNumbers(a, b number) int {
	switch {
	case a.isInt && b.isInt:
		return compareOrdered(a.i, b.i)
	case a.isFraction() && b.isFraction():
		return compareOrdered(a.f, b.f)
	}
	return a.exact().Cmp(b.exact())
}

func compareOrdered[T int64 | float64](a, b T) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// equals and differs are the operators == and !=.
func equals(l, r ref.Val) ref.Val {
	c := new(comparison)
	return c.result(c.equal(l, r))
}

func differs(l, r ref.Val) ref.Val {
	c := new(comparison)
	return c.result(!c.equal(l, r))
}

// ordering makes a comparison operator of the signs that it accepts.
func ordering(op string, accepts func(sign int) bool) func(l, r ref.Val) ref.Val {
	return func(l, r ref.Val) ref.Val {
		if a, b, ok := bothNumbers(l, r); ok {
			return types.Bool(accepts(compareNumbers(a, b)))
		}
		c, ok := l.(traits.Comparer)
		if !ok || l.Type() != r.Type() || notFinite(l) || notFinite(r) {
			return mismatch(op, l, r)
		}
		sign, ok := c.Compare(r).(types.Int)
		if !ok {
			return mismatch(op, l, r)
		}
		return types.Bool(accepts(int(sign)))
	}
}

func notFinite(v ref.Val) bool {
	_, isDouble := v.(types.Double)
	_, finite := asNumber(v)
	return isDouble && !finite
}

// contains is the in operator: a member of a list, or a key of an object.
func contains(v, in ref.Val) ref.Val {
	switch x := in.(type) {
	case traits.Mapper:
		_, found := x.Find(v)
		return types.Bool(found)
	case traits.Lister:
		c := new(comparison)
		for i := range length(x) {
			if c.equal(v, x.Get(types.Int(i))) {
				return types.True
			}
		}
		return c.result(false)
	}
	return mismatch("in", v, in)
}
