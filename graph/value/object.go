package value

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// Member is one key of an [Object] and its canonical value.
type Member struct {
	Key   string
	Value json.RawMessage // an empty value is written as null
}

// Object is a JSON object split at its top level: sorted by key, no key twice.
// It is how a run holds its state. Nil is the empty object.
//
// Keys must be UTF-8 and values canonical; [ParseObject] and UnmarshalJSON see
// to that, the other methods rely on it. The bytes of a value are never changed
// in place, so copies may share them.
type Object []Member

// ParseObject splits the top level of a JSON object in any form. It fails with
// [ReasonNotObject] for other values, null included.
func ParseObject(raw json.RawMessage) (Object, error) {
	canon, err := Canonical(raw)
	if err != nil {
		return nil, err
	}
	if KindOf(canon) != KindObject {
		return nil, &Error{Reason: ReasonNotObject}
	}
	return split(canon), nil
}

// NewObject sorts the members. Of two with the same key the later one wins.
func NewObject(members ...Member) Object {
	o := slices.Clone(members)
	slices.SortStableFunc(o, func(a, b Member) int { return strings.Compare(a.Key, b.Key) })
	kept := o[:0]
	for i, m := range o {
		if i+1 == len(o) || o[i+1].Key != m.Key {
			kept = append(kept, m)
		}
	}
	return kept
}

func (o Object) find(key string) (int, bool) {
	return slices.BinarySearchFunc(o, key, func(m Member, k string) int { return strings.Compare(m.Key, k) })
}

// Get returns the value of key. The second result tells a null from no key.
func (o Object) Get(key string) (json.RawMessage, bool) {
	i, ok := o.find(key)
	if !ok {
		return nil, false
	}
	return o[i].Value, true
}

// Set puts a canonical value under key, in place, keeping the order.
func (o *Object) Set(key string, v json.RawMessage) {
	i, ok := o.find(key)
	if ok {
		(*o)[i].Value = v
		return
	}
	*o = slices.Insert(*o, i, Member{Key: key, Value: v})
}

// Clone copies the members, so that Set on one leaves the other alone. The bytes
// of the values are shared.
func (o Object) Clone() Object { return slices.Clone(o) }

// Select returns the members whose keys are listed; keys the object does not
// hold are left out. The list may be in any order and may repeat a key.
func (o Object) Select(keys []string) Object {
	var picked []Member
	for _, key := range keys {
		if i, ok := o.find(key); ok {
			picked = append(picked, o[i])
		}
	}
	return NewObject(picked...)
}

// Size is the length in bytes of the canonical form, found without building it.
func (o Object) Size() int {
	n := 2 + max(0, len(o)-1)
	for _, m := range o {
		n += stringLen(m.Key) + 1 + len(m.raw())
	}
	return n
}

// Raw returns the canonical form.
func (o Object) Raw() json.RawMessage {
	out := append(make([]byte, 0, o.Size()), '{')
	for i, m := range o {
		if i > 0 {
			out = append(out, ',')
		}
		out = AppendString(out, m.Key)
		out = append(out, ':')
		out = append(out, m.raw()...)
	}
	return append(out, '}')
}

func (m Member) raw() json.RawMessage {
	if len(m.Value) == 0 {
		return Null()
	}
	return m.Value
}

// MarshalJSON gives the canonical form; nil is {}.
func (o Object) MarshalJSON() ([]byte, error) { return o.Raw(), nil }

// UnmarshalJSON reads an object in any form; null gives the empty object.
func (o *Object) UnmarshalJSON(data []byte) error {
	if string(bytes.TrimSpace(data)) == "null" {
		*o = nil
		return nil
	}
	parsed, err := ParseObject(data)
	if err != nil {
		return err
	}
	*o = parsed
	return nil
}

// Equal reports whether both objects hold the same keys and the same bytes.
func (o Object) Equal(p Object) bool {
	return slices.EqualFunc(o, p, func(a, b Member) bool {
		return a.Key == b.Key && bytes.Equal(a.raw(), b.raw())
	})
}
