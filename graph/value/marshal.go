package value

import (
	"bytes"
	"encoding"
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"unicode/utf8"
)

// Marshal encodes any Go value as encoding/json would and returns the canonical
// form. It refuses what that package lets through or changes silently: strings
// that are not UTF-8, and raw JSON with duplicate keys. A nil [json.RawMessage]
// is null. Errors are [*Error]; for an error of a Go value's own encoder the
// cause is wrapped.
func Marshal(v any) (json.RawMessage, error) {
	if raw, ok := v.(json.RawMessage); ok && raw != nil {
		return Canonical(raw)
	}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, marshalError(err)
	}
	// The encoder writes this escape for bytes that are not UTF-8. Raw JSON inside
	// v may hold it rightly, so the Go value decides.
	broken := bytes.Contains(buf.Bytes(), []byte(`\ufffd`)) && hasInvalidUTF8(reflect.ValueOf(v))
	out, err := canonical(buf.Bytes(), broken)
	if err != nil {
		return nil, err
	}
	return out, nil
}

func marshalError(err error) error {
	if own := new(Error); errors.As(err, &own) {
		return own
	}
	reason := ReasonUnsupported
	unsupported := new(json.UnsupportedValueError)
	if errors.As(err, &unsupported) && isNonFinite(unsupported.Value) {
		reason = ReasonNumberOutOfRange
	}
	return &Error{Reason: reason, Err: err}
}

func isNonFinite(v reflect.Value) bool {
	if !v.IsValid() || !v.CanFloat() {
		return false
	}
	return math.IsNaN(v.Float()) || math.IsInf(v.Float(), 0)
}

// hasInvalidUTF8 looks for a string that is not UTF-8 in what encoding/json
// would encode. It is called only for values that were encoded without an error,
// so there is no cycle.
func hasInvalidUTF8(v reflect.Value) bool {
	if v.Kind() == reflect.Interface {
		v = v.Elem()
	}
	if !v.IsValid() {
		return false
	}
	if bad, known := ownEncoding(v); known {
		return bad
	}
	return partHasInvalidUTF8(v)
}

func partHasInvalidUTF8(v reflect.Value) bool {
	kind := v.Kind()
	if kind == reflect.String {
		return !utf8.ValidString(v.String())
	}
	if kind == reflect.Pointer {
		return hasInvalidUTF8(v.Elem())
	}
	if kind == reflect.Slice || kind == reflect.Array {
		return listHasInvalidUTF8(v)
	}
	if kind == reflect.Map {
		return mapHasInvalidUTF8(v)
	}
	return kind == reflect.Struct && structHasInvalidUTF8(v)
}

func listHasInvalidUTF8(v reflect.Value) bool {
	for i := range v.Len() {
		if hasInvalidUTF8(v.Index(i)) {
			return true
		}
	}
	return false
}

func mapHasInvalidUTF8(v reflect.Value) bool {
	for it := v.MapRange(); it.Next(); { // the order cannot change a yes or no
		if hasInvalidUTF8(it.Key()) || hasInvalidUTF8(it.Value()) {
			return true
		}
	}
	return false
}

func structHasInvalidUTF8(v reflect.Value) bool {
	for i := range v.NumField() {
		f := v.Type().Field(i)
		hidden := f.Tag.Get("json") == "-" || !f.IsExported() && !f.Anonymous
		if !hidden && hasInvalidUTF8(v.Field(i)) {
			return true
		}
	}
	return false
}

// ownEncoding deals with types that encode themselves. What a json.Marshaler
// gives reaches the output unchanged and is checked there.
func ownEncoding(v reflect.Value) (bad, known bool) {
	if !v.CanInterface() {
		return false, false
	}
	if v.Kind() == reflect.Pointer && v.IsNil() {
		return false, true
	}
	if v.CanAddr() && v.Kind() != reflect.Pointer { // the methods may be the pointer's
		v = v.Addr()
	}
	switch m := v.Interface().(type) {
	case json.Marshaler:
		return false, true
	case encoding.TextMarshaler:
		text, err := m.MarshalText()
		return err == nil && !utf8.Valid(text), true
	default:
		return false, false
	}
}
