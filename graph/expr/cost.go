package expr

import (
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"
)

// weight is the work of walking a value without going into its members.
func weight(v ref.Val) uint64 {
	switch x := v.(type) {
	case types.String:
		return uint64(len(x)) / 10
	case types.Bytes:
		return uint64(len(x)) / 10
	case traits.Sizer:
		return uint64(length(x))
	}
	return 0
}

// deepWeight is the work of walking a value with everything in it.
func deepWeight(v ref.Val) uint64 {
	switch x := v.(type) {
	case *object:
		total := uint64(len(x.keys))
		for i := range x.keys {
			total += deepWeight(x.at(i))
		}
		return total
	case traits.Lister:
		total := uint64(length(x))
		for i := range length(x) {
			total += deepWeight(x.Get(types.Int(i)))
		}
		return total
	}
	return weight(v)
}
