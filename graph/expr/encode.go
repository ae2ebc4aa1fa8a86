package expr

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"

	"github.com/tidemill/tidemill/graph/value"
)

// maxResult bounds a result in bytes. It is above every limit on what a run
// may carry, and keeps a value that repeats another one from filling memory.
const maxResult = 8 << 20

// encode gives a result as canonical JSON.
func encode(v ref.Val) (json.RawMessage, error) { return appendValue(nil, v) }

func appendValue(dst []byte, v ref.Val) ([]byte, error) {
	if len(dst) > maxResult {
		return nil, failed("the result is larger than %d MiB", maxResult>>20)
	}
	switch x := v.(type) {
	case types.Null:
		return append(dst, "null"...), nil
	case types.Bool:
		return strconv.AppendBool(dst, bool(x)), nil
	case types.String:
		return appendText(dst, string(x))
	case types.Int, types.Uint, types.Double, bigInt:
		return appendNumber(dst, v)
	case types.Timestamp:
		return appendText(dst, x.Time.UTC().Format(time.RFC3339Nano))
	case types.Duration:
		return appendText(dst, x.String())
	case *types.Optional:
		if !x.HasValue() {
			return append(dst, "null"...), nil
		}
		return appendValue(dst, x.GetValue())
	case *object:
		return appendObject(dst, x)
	case traits.Mapper:
		return appendValue(dst, sorted(x))
	case traits.Lister:
		return appendList(dst, x)
	}
	return nil, failed("%s has no form in JSON", word(v))
}

func appendText(dst []byte, text string) ([]byte, error) {
	raw, err := value.Marshal(text)
	if err != nil {
		return nil, failed("text that is not valid UTF-8")
	}
	return append(dst, raw...), nil
}

func appendNumber(dst []byte, v ref.Val) ([]byte, error) {
	n, ok := asNumber(v)
	switch {
	case !ok:
		return nil, outOfRange("the result is not a finite number")
	case n.isInt:
		return strconv.AppendInt(dst, n.i, 10), nil
	case n.big != nil:
		return n.big.Append(dst, 10), nil
	}
	raw, err := value.Marshal(n.f)
	if err != nil || math.IsNaN(n.f) {
		return nil, outOfRange("the result is not a finite number")
	}
	return append(dst, raw...), nil
}

func appendObject(dst []byte, m *object) ([]byte, error) {
	if m.texts == nil && len(m.keys) > 0 {
		i := slices.IndexFunc(m.keys, func(k ref.Val) bool { _, ok := k.(types.String); return !ok })
		return nil, failed("the keys of an object must be text, and one is %s", word(m.keys[i]))
	}
	dst = append(dst, '{')
	for i, key := range m.texts {
		if i > 0 {
			dst = append(dst, ',')
		}
		var err error
		if dst, err = appendText(dst, key); err != nil {
			return nil, err
		}
		dst = append(dst, ':')
		if i < len(m.raw) && len(m.raw[i]) > 0 {
			dst = append(dst, m.raw[i]...)
			continue
		}
		if dst, err = appendValue(dst, m.at(i)); err != nil {
			return nil, err
		}
	}
	return append(dst, '}'), nil
}

func appendList(dst []byte, l traits.Lister) ([]byte, error) {
	dst = append(dst, '[')
	for i := range length(l) {
		if i > 0 {
			dst = append(dst, ',')
		}
		var err error
		if dst, err = appendValue(dst, l.Get(types.Int(i))); err != nil {
			return nil, err
		}
	}
	return append(dst, ']'), nil
}

// text gives a value as it appears inside a longer text: text as it is, and
// everything else as JSON.
func text(raw json.RawMessage) (string, error) {
	if !strings.HasPrefix(string(raw), `"`) {
		return string(raw), nil
	}
	decoded, err := value.Decode(raw)
	if err != nil {
		return "", err
	}
	s, _ := decoded.(string)
	return s, nil
}
