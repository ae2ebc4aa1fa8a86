package expr

import (
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"
)

// equal compares two values as JSON: numbers by their exact value, lists by
// their elements, objects by their members. Values of different kinds differ.
func equal(l, r ref.Val) bool {
	if a, b, ok := bothNumbers(l, r); ok {
		return compareNumbers(a, b) == 0
	}
	switch x := l.(type) {
	case traits.Mapper:
		y, ok := r.(traits.Mapper)
		return ok && equalMaps(x, y)
	case traits.Lister:
		y, ok := r.(traits.Lister)
		return ok && equalLists(x, y)
	case *types.Optional:
		y, ok := r.(*types.Optional)
		return ok && x.HasValue() == y.HasValue() && (!x.HasValue() || equal(x.GetValue(), y.GetValue()))
	}
	return types.Equal(l, r) == types.True
}

func equalLists(l, r traits.Lister) bool {
	size, other := length(l), length(r)
	if size != other {
		return false
	}
	for i := range size {
		if !equal(l.Get(types.Int(i)), r.Get(types.Int(i))) {
			return false
		}
	}
	return true
}

func equalMaps(l, r traits.Mapper) bool {
	if length(l) != length(r) {
		return false
	}
	for it := l.Iterator(); it.HasNext() == types.True; {
		key := it.Next()
		mine, _ := l.Find(key)
		other, found := r.Find(key)
		if !found || !equal(mine, other) {
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
	switch c := in.(type) {
	case traits.Mapper:
		_, found := c.Find(v)
		return types.Bool(found)
	case traits.Lister:
		for i := range length(c) {
			if equal(v, c.Get(types.Int(i))) {
				return types.True
			}
		}
		return types.False
	}
	return mismatch("in", v, in)
}
