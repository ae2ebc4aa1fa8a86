package expr

import (
	"cel.dev/cel-go/common/operators"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"
)

func tooCostly() error {
	return failed("the expression costs more than %d units; split the work, or do it in an action", costLimit)
}

// costs prices our own functions, which CEL does not know.
type costs struct{}

// CallCost implements CEL's estimator: one unit a call, and one for each ten
// characters or each element that the call reads or makes.
func (costs) CallCost(function, _ string, args []ref.Val, result ref.Val) *uint64 {
	var units uint64
	switch function {
	case operators.Add:
		units = 1 + weight(result)
	case sortedName:
		units = 1 + weight(result)
	case operators.In:
		size := weight(args[1])
		units = 1 + min(size*(1+deepWeight(args[0])), size+deepWeight(args[1]))
	case equalName, notEqualName:
		units = 1 + min(deepWeight(args[0]), deepWeight(args[1]))
	default:
		return nil
	}
	return &units
}

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

// deepWeight is the work of walking a value with everything in it. It stops
// counting soon after the limit, and decodes nothing.
func deepWeight(v ref.Val) uint64 { return addWeight(0, v) }

func addWeight(total uint64, v ref.Val) uint64 {
	total += 1 + weight(v)
	switch x := v.(type) {
	case *object:
		for i, member := range x.values {
			if total > costLimit {
				break
			}
			if member == nil {
				total += uint64(len(x.raw[i])) / 10
				continue
			}
			total = addWeight(total, member)
		}
	case traits.Lister:
		for i := 0; i < length(x) && total <= costLimit; i++ {
			total = addWeight(total, x.Get(types.Int(i)))
		}
	}
	return total
}
