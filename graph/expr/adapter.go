package expr

import (
	"encoding/json"

	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"

	"github.com/tidemill/tidemill/graph/value"
)

// adapter turns decoded JSON into CEL values, keeping numbers exact and
// objects sorted.
type adapter struct{}

// NativeToValue implements types.Adapter.
func (a adapter) NativeToValue(v any) ref.Val {
	switch x := v.(type) {
	case ref.Val:
		return x
	case json.Number:
		n, err := parseNumber(x.String())
		if err != nil {
			return types.WrapErr(err)
		}
		return n
	case map[string]any:
		return decodedObject(x)
	case []any:
		elements := make([]ref.Val, len(x))
		for i, e := range x {
			elements[i] = a.NativeToValue(e)
		}
		return types.NewRefValList(a, elements)
	case map[ref.Val]ref.Val:
		return sorted(types.NewRefValMap(a, x))
	}
	return types.DefaultTypeAdapter.NativeToValue(v)
}

// decode gives CEL one raw value. An absent value reads as null.
func decode(raw json.RawMessage) ref.Val {
	if len(raw) == 0 {
		return types.NullValue
	}
	if value.KindOf(raw) == value.KindObject {
		o, err := value.ParseObject(raw)
		if err != nil {
			return types.WrapErr(failed("a value in scope is not JSON: %v", err))
		}
		return rawObject(o)
	}
	decoded, err := value.Decode(raw)
	if err != nil {
		return types.WrapErr(failed("a value in scope is not JSON: %v", err))
	}
	return adapter{}.NativeToValue(decoded)
}
