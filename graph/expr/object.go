package expr

import (
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"

	"github.com/tidemill/tidemill/graph/value"
)

// object is a map whose keys are sorted, whatever they came from. CEL's own
// maps are walked in Go's random order, which would make an expression give
// another result on each evaluation. Values may still be raw JSON; each is
// decoded when it is first read. An object belongs to one evaluation.
type object struct {
	keys   []ref.Val
	texts  []string // the keys as text, when all are text; else nil
	values []ref.Val
	raw    []json.RawMessage // where values[i] is nil
}

// rawObject wraps the members of a JSON object.
func rawObject(o value.Object) *object {
	m := &object{
		keys: make([]ref.Val, len(o)), texts: make([]string, len(o)),
		values: make([]ref.Val, len(o)), raw: make([]json.RawMessage, len(o)),
	}
	for i, member := range o {
		m.keys[i], m.texts[i], m.raw[i] = types.String(member.Key), member.Key, member.Value
	}
	return m
}

// decodedObject wraps a decoded JSON object.
func decodedObject(decoded map[string]any) *object {
	m := &object{texts: make([]string, 0, len(decoded))}
	for key := range decoded {
		m.texts = append(m.texts, key)
	}
	slices.Sort(m.texts)
	for _, key := range m.texts {
		m.keys = append(m.keys, types.String(key))
		m.values = append(m.values, adapter{}.NativeToValue(decoded[key]))
	}
	return m
}

// sorted gives a map literal its order.
func sorted(v ref.Val) ref.Val {
	m, ok := v.(traits.Mapper)
	if !ok {
		return v
	}
	sortedMap := &object{texts: []string{}}
	for it := m.Iterator(); it.HasNext() == types.True; {
		sortedMap.keys = append(sortedMap.keys, it.Next())
	}
	slices.SortFunc(sortedMap.keys, compareKeys)
	for _, key := range sortedMap.keys {
		sortedMap.values = append(sortedMap.values, m.Get(key))
		text, isText := key.(types.String)
		if !isText {
			sortedMap.texts = nil
		}
		if sortedMap.texts != nil {
			sortedMap.texts = append(sortedMap.texts, string(text))
		}
	}
	return sortedMap
}

func compareKeys(a, b ref.Val) int {
	x, isText := a.(types.String)
	y, both := b.(types.String)
	if isText && both {
		return strings.Compare(string(x), string(y))
	}
	if n, m, ok := bothNumbers(a, b); ok {
		return compareNumbers(n, m)
	}
	return cmp.Or(cmp.Compare(a.Type().TypeName(), b.Type().TypeName()), cmp.Compare(fmt.Sprint(a.Value()), fmt.Sprint(b.Value())))
}

func (m *object) at(i int) ref.Val {
	if m.values[i] == nil {
		m.values[i] = decode(m.raw[i])
	}
	return m.values[i]
}

func (m *object) index(key ref.Val) (int, bool) {
	if text, ok := key.(types.String); ok && m.texts != nil {
		return slices.BinarySearch(m.texts, string(text))
	}
	i := slices.IndexFunc(m.keys, func(k ref.Val) bool { return equal(k, key) })
	return i, i >= 0
}

// Find implements traits.Mapper.
func (m *object) Find(key ref.Val) (ref.Val, bool) {
	i, ok := m.index(key)
	if !ok {
		return nil, false
	}
	return m.at(i), true
}

// Get implements traits.Indexer.
func (m *object) Get(key ref.Val) ref.Val {
	if v, ok := m.Find(key); ok {
		return v
	}
	return types.NewErr("no such key: %v", key.Value())
}

// Contains implements traits.Container.
func (m *object) Contains(key ref.Val) ref.Val {
	_, ok := m.index(key)
	return types.Bool(ok)
}

// Size implements traits.Sizer.
func (m *object) Size() ref.Val { return types.Int(len(m.keys)) }

// IsZeroValue tells optional.ofNonZeroValue about an empty object.
func (m *object) IsZeroValue() bool { return len(m.keys) == 0 }

// Iterator implements traits.Iterable over the sorted keys.
func (m *object) Iterator() traits.Iterator {
	return types.NewRefValList(adapter{}, m.keys).Iterator()
}

// Fold implements traits.Foldable over the sorted members.
func (m *object) Fold(f traits.Folder) {
	for i, key := range m.keys {
		if !f.FoldEntry(key, m.at(i)) {
			return
		}
	}
}

// ConvertToNative is not needed: results leave through encode.
func (m *object) ConvertToNative(t reflect.Type) (any, error) {
	return nil, failed("an object has no native form of type %v", t)
}

// ConvertToType implements ref.Val.
func (m *object) ConvertToType(t ref.Type) ref.Val {
	switch t {
	case types.MapType:
		return m
	case types.TypeType:
		return types.MapType
	}
	return types.WrapErr(failed("an object cannot be converted to %s", t.TypeName()))
}

// Equal implements ref.Val.
func (m *object) Equal(other ref.Val) ref.Val { return types.Bool(equal(m, other)) }

// Type implements ref.Val.
func (m *object) Type() ref.Type { return types.MapType }

// Value implements ref.Val.
func (m *object) Value() any { return m }
